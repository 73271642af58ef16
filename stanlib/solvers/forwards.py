"""Whether what is computed is derived forwards alone, as solvers do that carry derivatives along."""
from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar

_forwards: ContextVar[bool] = ContextVar("forwards", default=False)


def derived_forwards() -> bool:
    """Whether it is: loops need no derivative in reverse then, and have none."""
    return _forwards.get()


@contextlib.contextmanager
def forwards() -> Iterator[None]:
    """What is computed inside is derived forwards alone."""
    token = _forwards.set(True)
    try:
        yield
    finally:
        _forwards.reset(token)
