"""Which iterations of a recurrence get to the rows that are theirs: the index of another one may be out of range.

A loop inside of it counts as a whole, as if it always gets there: a variable that its iterations set would keep them
from running side by side.
"""
from __future__ import annotations

from collections.abc import Sequence

from stanlib.types import INT

from ...ir import gprob, traversal
from .accesses import of_statement


def is_certain(body: Sequence[gprob.Stmt], row: str) -> bool:
    """Whether every iteration gets to its row: none of them may find the index out of range."""
    return any(_gets_to(s, row) for s in body)


def telling(body: tuple[gprob.Stmt, ...], row: str, reached: str) -> tuple[gprob.Stmt, ...]:
    """The statements, and one that sets `reached` to 1 before the first of each branch that gets to the row."""
    out: list[gprob.Stmt] = []
    for k, s in enumerate(body):
        if _gets_to(s, row):
            place = gprob.Place(reached, INT, s.span)
            return (*out, gprob.Assign(s.span, place, gprob.int_const(1, s.span)), *body[k:])
        out.append(traversal.with_bodies(s, lambda b: telling(b, row, reached)))
    return tuple(out)


def _gets_to(s: gprob.Stmt, row: str) -> bool:
    """Whether a statement reads or writes a row wherever it is reached itself."""
    own = traversal.with_bodies(s, lambda _: ()) if isinstance(s, gprob.If) else s
    return any(a.name == row for a in of_statement(own))
