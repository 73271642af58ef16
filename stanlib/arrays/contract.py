"""The array namespaces against their contract, for whoever checks types."""
from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import jax, numpy, torch
    from .base import Namespace

    NUMPY: Namespace = numpy
    JAX: Namespace = jax
    TORCH: Namespace = torch
