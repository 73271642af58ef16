"""Functions of SciPy whose modules are loaded at the first call: most programs need none, and need not wait."""
from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from .base import Array, Real


def later(module: str, name: str) -> Callable[..., Any]:
    """The function of a module that is loaded when it is first called."""
    found: Callable[..., Any] | None = None

    def function(*arguments: Real | tuple[Array | str, ...], **options: object) -> Any:
        nonlocal found
        if found is None:
            found = getattr(importlib.import_module(module), name)
        return found(*arguments, **options)

    function.__name__ = function.__qualname__ = name
    return function
