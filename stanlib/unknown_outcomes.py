"""Observed data that are to be predicted: what stands in their places need not be what their laws allow."""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_UNKNOWN: ContextVar[bool] = ContextVar("unknown_outcomes", default=False)
_SYMBOLS: ContextVar[bool] = ContextVar("symbols", default=False)
_MOVED: ContextVar[Mapping[str, Any] | None] = ContextVar("moved_outcomes", default=None)


@contextmanager
def unknown_outcomes(unknown: bool = True) -> Iterator[None]:
    """Within it no outcome of a law is refused, as long as `unknown` is true."""
    token = _UNKNOWN.set(unknown)
    try:
        yield
    finally:
        _UNKNOWN.reset(token)


@contextmanager
def moved_outcomes(moved: Mapping[str, object]) -> Iterator[None]:
    """Within it models take these values in the places of data of those names, whatever they are declared as."""
    token = _MOVED.set(moved)
    try:
        with unknown_outcomes():
            yield
    finally:
        _MOVED.reset(token)


@contextmanager
def finite_symbols() -> Iterator[None]:
    """Within it outcomes to be predicted may be symbols, for finite numbers alone: what is missing is not predicted."""
    token = _SYMBOLS.set(True)
    try:
        yield
    finally:
        _SYMBOLS.reset(token)


def are_symbols() -> bool:
    """Whether what is no number yet stands for a finite one."""
    return _SYMBOLS.get()


def with_moved(data: Mapping[str, object]) -> dict[str, Any]:
    """The data of a model with what is to be in the places of some."""
    return {**data, **(_MOVED.get() or {})}


def are_unknown() -> bool:
    """Whether values of observed data merely stand for those to be predicted."""
    return _UNKNOWN.get()
