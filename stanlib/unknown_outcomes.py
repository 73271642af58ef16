"""Observed data that are to be predicted: what stands in their places need not be what their laws allow."""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_UNKNOWN: ContextVar[bool] = ContextVar("unknown_outcomes", default=False)


@contextmanager
def unknown_outcomes(unknown: bool = True) -> Iterator[None]:
    """Within it no outcome of a law is refused, as long as `unknown` is true."""
    token = _UNKNOWN.set(unknown)
    try:
        yield
    finally:
        _UNKNOWN.reset(token)


def are_unknown() -> bool:
    """Whether values of observed data merely stand for those to be predicted."""
    return _UNKNOWN.get()
