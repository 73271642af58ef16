"""Handing over: what is called with values of many iterations is computed by the parts that know of lanes.

Those enter themselves here when they are loaded, which is before any such value can exist; so the library's functions,
indexing and values need not know them.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

_takers: dict[str, Callable[..., Any]] = {}


def taker(function: Callable[..., object]) -> Callable[..., Any]:
    """Decorator: a function that calls are handed over to by its name."""
    _takers[function.__name__] = function
    return function


def hand_over(name: str, *arguments: object, **options: object) -> Any:
    """What the part that knows of lanes makes of a call."""
    return _takers[name](*arguments, **options)
