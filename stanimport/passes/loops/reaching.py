"""Which iterations of a recurrence get to the rows that are theirs: the index of another one may be out of range.

Of a loop inside of it that is told before the loop, by those conditions in it that its iterations share: a variable
that they set would keep them from running side by side. Where another condition decides, the row counts as one that is
got to, and the index is looked at.
"""
from __future__ import annotations

from collections.abc import Sequence, Set

from stanlib.types import INT

from ...ir import gprob, traversal
from ...ir.calls import apply
from ...ir.uses import declared, mentions, written
from .accesses import of_statement

Stmts = tuple[gprob.Stmt, ...]


def is_certain(body: Sequence[gprob.Stmt], row: str, changing: Set[str] = frozenset()) -> bool:
    """Whether every iteration counts as one that gets to its row: none of them may find the index out of range.

    `changing` differ between iterations of loops around; what conditions on them decide is not told.
    """
    return any(_gets_to(s, row, changing) for s in body)


def telling(body: Stmts, row: str, reached: str) -> Stmts:
    """The statements, and one that sets `reached` to 1 before the first of each branch that gets to the row."""
    out: list[gprob.Stmt] = []
    for k, s in enumerate(body):
        if _gets_to(s, row):
            return (*out, _told(s, reached), *body[k:])
        if isinstance(s, gprob.For):
            out += [*_before(s, row, reached, frozenset()), s]
        else:
            out.append(traversal.with_bodies(s, lambda b: telling(b, row, reached)))
    return tuple(out)


def _told(s: gprob.Stmt, reached: str) -> gprob.Stmt:
    return gprob.Assign(s.span, gprob.Place(reached, INT, s.span), gprob.int_const(1, s.span))


def _gets_to(s: gprob.Stmt, row: str, changing: Set[str] = frozenset()) -> bool:
    """Whether a statement counts as reading or writing a row wherever it is reached itself."""
    own = traversal.with_bodies(s, lambda _: ()) if isinstance(s, (gprob.If, gprob.For)) else s
    if any(a.name == row for a in of_statement(own)):
        return True
    if isinstance(s, gprob.For):
        return is_certain(s.body, row, _differing(s, changing))
    decided = isinstance(s, gprob.If) and mentions(s.condition, changing)
    return decided and any(is_certain(side, row, changing) for side in traversal.bodies(s))


def _differing(loop: gprob.For, changing: Set[str]) -> Set[str]:
    """What differs between the iterations of a loop, or of those around it."""
    return changing | {loop.name} | written(loop.body) | declared(loop.body)


def _before(loop: gprob.For, row: str, reached: str, changing: Set[str]) -> Stmts:
    """What tells before a loop whether an iteration of it gets to the row; `changing` differ within loops around it."""
    inside = tuple(t for s in loop.body for t in _of_inner(s, row, reached, _differing(loop, changing)))
    return _under(apply("logical_lte", loop.lower, loop.upper), inside, (), changing, loop)


def _of_inner(s: gprob.Stmt, row: str, reached: str, changing: Set[str]) -> Stmts:
    if _gets_to(s, row, changing):
        return (_told(s, reached),)
    if isinstance(s, gprob.For):
        return _before(s, row, reached, changing)
    if not isinstance(s, gprob.If):
        return ()
    sides = [tuple(t for u in side for t in _of_inner(u, row, reached, changing)) for side in (s.then, s.otherwise)]
    return _under(s.condition, sides[0], sides[1], changing, s)


def _under(condition: gprob.Expr, then: Stmts, otherwise: Stmts, changing: Set[str], s: gprob.Stmt) -> Stmts:
    """Statements under a condition; by themselves where it is not known yet."""
    if not then and not otherwise:
        return ()
    return (*then, *otherwise) if mentions(condition, changing) else (gprob.If(s.span, condition, then, otherwise),)
