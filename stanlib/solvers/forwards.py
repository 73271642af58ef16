"""Whether what is computed is derived forwards alone, as solvers do that carry derivatives along."""
from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar


class Loops:
    """Whether loops that run as long as a condition says were found in what was derived forwards alone."""

    found = False


_forwards: ContextVar[Loops | None] = ContextVar("forwards", default=None)


def derived_forwards() -> bool:
    """Whether it is: loops need no derivative in reverse then, and have none."""
    return _forwards.get() is not None


def loops_forwards() -> bool:
    """The same, asked by a loop, of which who derives is told: nothing with it inside can be derived in reverse."""
    loops = _forwards.get()
    if loops is not None:
        loops.found = True
    return loops is not None


@contextlib.contextmanager
def forwards(loops: Loops | None = None) -> Iterator[None]:
    """What is computed inside is derived forwards alone; `loops` are told of."""
    token = _forwards.set(Loops() if loops is None else loops)
    try:
        yield
    finally:
        _forwards.reset(token)
