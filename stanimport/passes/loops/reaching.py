"""Which iterations of a recurrence get to the rows that are theirs: the index of another one may be out of range."""
from __future__ import annotations

from stanlib.types import INT

from ...ir import gprob, traversal
from .accesses import of_statement


def telling(body: tuple[gprob.Stmt, ...], row: str, reached: str) -> tuple[gprob.Stmt, ...]:
    """The statements, each that reads or writes a variable `row` itself behind one that sets `reached` to 1."""
    out: list[gprob.Stmt] = []
    for s in body:
        if any(a.name == row for a in of_statement(traversal.with_bodies(s, lambda _: ()))):
            place = gprob.Place(reached, INT, s.span)
            out.append(gprob.Assign(s.span, place, gprob.int_const(1, s.span)))
        out.append(traversal.with_bodies(s, lambda b: telling(b, row, reached)))
    return tuple(out)
