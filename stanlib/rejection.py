"""What `reject(...)` does: in a model it rejects the draw, elsewhere it is an error.

While JAX traces a branch that may not be taken, nothing is known yet: there a rejection is a log density of -inf, which
the functions of a program pass on as NaN in what they return.
"""
from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar

_quiet: ContextVar[bool] = ContextVar("quiet", default=False)


@contextlib.contextmanager
def rejecting_draws() -> Iterator[None]:
    """Inside, a rejection is a value and not an error: in models, and in branches that are traced."""
    token = _quiet.set(True)
    try:
        yield
    finally:
        _quiet.reset(token)


def is_error() -> bool:
    """Whether a rejection here is an error."""
    return not _quiet.get()
