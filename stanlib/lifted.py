"""Under which conditions code runs that is traced as a body of its own, or for many lanes or draws at once.

Where JAX maps a branch over lanes it runs both sides in all of them, and a `while` for as long as any lane wants: one
that no program asked to run could go on for ever, and what it prints nobody wants to read.
"""
from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

_around: ContextVar[tuple[tuple[Any, bool], ...] | None] = ContextVar("around", default=None)


def lifted_under() -> tuple[tuple[Any, bool], ...] | None:
    """The conditions around such code and how they must be; None of other code."""
    return _around.get()


@contextlib.contextmanager
def lifting(*conditions: tuple[object, bool]) -> Iterator[None]:
    """What is traced inside is code of its own, which runs where conditions are so."""
    token = _around.set((*(_around.get() or ()), *conditions))
    try:
        yield
    finally:
        _around.reset(token)
