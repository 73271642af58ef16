"""Primitives that are JAX's for JAX's arrays, and NumPy's for data."""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .. import numpy as _np
from .. import uses_jax


def lift(name: str, traced: Callable[..., object]) -> Callable[..., Any]:
    """JAX's function for JAX's arrays, NumPy's for everything else."""
    concrete = getattr(_np, name)

    @functools.wraps(traced)
    def call(*args: Any, **options: Any) -> Any:
        return traced(*args, **options) if uses_jax(args) else concrete(*args, **options)

    return call
