"""Terms of the target that iterations of a loop do not have, for who asks which of them have one."""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

import numpy as np

# In double precision where an iteration has no term, for who asks: no log density is exactly this.
NOTHING = float(np.finfo(np.float64).tiny)


class _Marks(NamedTuple):
    term: float = 0.0
    in_place: bool = False


_NONE = _Marks()
_marks: ContextVar[_Marks] = ContextVar("marks", default=_NONE)


@contextmanager
def marked(in_place: bool = False) -> Iterator[None]:
    """Inside, terms that an iteration does not have are NOTHING instead of 0, so that they can be told from others.

    With `in_place` there is a term for every iteration, also where a condition on data chooses among them.
    """
    token = _marks.set(_Marks(NOTHING, in_place))
    try:
        yield
    finally:
        _marks.reset(token)


def absent() -> float:
    """What stands for a term that an iteration does not have."""
    return _marks.get().term


def is_in_place() -> bool:
    """Whether iterations that a condition leaves out are to have terms all the same."""
    return _marks.get().in_place
