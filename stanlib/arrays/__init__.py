"""The array namespaces: modules of primitives under the same names for NumPy, JAX and PyTorch.

Library functions are written over one of them, `xp`, chosen at each call from the arguments: NumPy, unless one of
them belongs to JAX or PyTorch. So whatever depends on data alone is computed once, in NumPy, even while JAX traces.
base.py says what each primitive does.
"""
from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import Any

from .base import Namespace

_NUMPY, _TORCH, _JAX, _LANES = 0, 1, 2, 3
_NAMES = ("numpy", "torch", "jax", "lanes")
_kinds: dict[type, int] = {}
_modules: list[Namespace | None] = [None, None, None, None]


def namespace(args: Iterable[object]) -> Namespace:
    """The namespace that can compute with all of these arguments."""
    return module(_kind(args))


def differs_between_lanes(args: Iterable[object]) -> bool:
    """Whether any argument has one value per iteration of a vectorised loop (stanlib.lanes)."""
    return _kind(args) == _LANES


def named(library: str) -> Namespace:
    """The namespace of "numpy", "jax" or "torch"."""
    return module(_NAMES.index(library))


def module(kind: int) -> Namespace:
    found = _modules[kind]
    if found is None:
        found = _modules[kind] = importlib.import_module(f"{__name__}.{_NAMES[kind]}")
    return found


def is_of_data(args: Iterable[object]) -> bool:
    """Whether no argument belongs to JAX or PyTorch: then it comes from data alone."""
    return _kind(args) == _NUMPY


def tracing() -> object:
    """What JAX and PyTorch are tracing now, to compare with what they trace at another time; None where it is nothing.

    A library that is loaded between two looks, as JAX for a solver, was tracing nothing at the first.
    """
    jax, torch = "jax" in sys.modules, "torch" in sys.modules
    return _of_jax()() if jax else None, _of_torch()() if torch else None


@cache
def _of_jax() -> Callable[[], object]:
    """What tells what JAX traces in this thread."""
    from concurrent.futures import ThreadPoolExecutor

    try:
        from jax.extend.core import get_opaque_trace_state
    except ImportError:  # of a JAX before 0.10
        from jax.core import get_opaque_trace_state

    state = partial(get_opaque_trace_state, convention="nnx")
    with ThreadPoolExecutor(1) as other:
        nothing = other.submit(state).result()  # of a thread that traces nothing; this one may

    def found() -> object:
        now = state()
        return None if now == nothing else now

    return found


@cache
def _of_torch() -> Callable[[], object]:
    from torch._C import _functorch

    level: Callable[[], object] = _functorch.maybe_current_level
    return level


def uses_jax(args: Iterable[object]) -> bool:
    """Whether any argument belongs to JAX."""
    return _kind(args) == _JAX


def _kind(args: Iterable[Any]) -> int:
    """The highest of the arguments' kinds, of those in tuples and lists too; NumPy's if there are none."""
    kind = _NUMPY
    for a in args:
        t = type(a)
        k = _kind(a) if t is tuple or t is list else _kinds.get(t)
        if k is None:
            k = _kinds[t] = _kind_of_type(t)
        if k > kind:
            kind = k
    return kind


def _kind_of_type(t: type) -> int:
    library = getattr(t, "LIBRARY", None)  # a source of random numbers
    if library is not None:
        return _NAMES.index(library)
    root = t.__module__.partition(".")[0]
    if root in ("jax", "jaxlib"):
        return _JAX
    return _TORCH if any(c.__module__.partition(".")[0] == "torch" for c in t.__mro__) else _NUMPY
