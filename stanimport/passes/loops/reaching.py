"""Which iterations of a recurrence get to the rows that are theirs: the index of another one may be out of range.

Of a loop inside of it that is told before the loop, by those conditions in it that its iterations share: a variable
that they set would keep them from running side by side. Where another condition decides it can't be told.
"""
from __future__ import annotations

from collections.abc import Sequence, Set

from stanlib.types import INT

from ...ir import gprob, traversal
from ...ir.calls import apply
from ...ir.uses import declared, mentions, written
from .accesses import of_statement
from .affine import Linear, difference, is_nonnegative, linear, with_loop

Stmts = tuple[gprob.Stmt, ...]


def is_certain(body: Sequence[gprob.Stmt], row: str) -> bool:
    """Whether every iteration gets to its row: none of them may find the index out of range."""
    return any(_gets_to(s, row) for s in body)


def is_inside(index: gprob.Expr, sizes: Sequence[gprob.Expr], loop: gprob.For) -> bool:
    """Whether an index that moves with a loop is in range in every iteration, whatever the data.

    `sizes` are those from its axis on, none where they aren't known.
    """
    if not sizes:
        return False
    row, ranges = linear(index), with_loop({}, loop)
    first, last = row.plus(Linear({}, -1)), linear(sizes[0]).plus(row, -1)
    return is_nonnegative(first, ranges) and is_nonnegative(last, ranges)


def is_open(body: Sequence[gprob.Stmt], row: str, changing: Set[str] = frozenset()) -> bool:
    """Whether what the iterations of a loop inside change decides if an iteration gets to its row.

    `changing` differ between iterations of loops around.
    """
    return not is_certain(body, row) and any(_is_open(s, row, changing) for s in body)


def _is_open(s: gprob.Stmt, row: str, changing: Set[str]) -> bool:
    """The same of a statement: of its bounds or its condition, or of statements inside of it."""
    if isinstance(s, gprob.For):
        decided = mentions((s.lower, s.upper), changing) and _asks(s, row)
        return decided or is_open(s.body, row, _differing(s, changing))
    if not isinstance(s, gprob.If):
        return False
    if mentions(s.condition, changing):
        return any(_asks(t, row) for side in traversal.bodies(s) for t in side)
    return any(is_open(side, row, changing) for side in traversal.bodies(s))


def _asks(s: gprob.Stmt, row: str) -> bool:
    """Whether a row is read or written anywhere in a statement."""
    return any(a.name == row for a in of_statement(s))


def telling(body: Stmts, row: str, reached: str) -> Stmts:
    """The statements, and one that sets `reached` to 1 before the first of each branch that gets to the row."""
    for k, s in enumerate(body):
        if _gets_to(s, row):
            return (*body[:k], _told(s, reached), *body[k:])
    out: list[gprob.Stmt] = []
    for s in body:
        if isinstance(s, gprob.For):
            out += [*_before(s, row, reached), s]
        else:
            out.append(traversal.with_bodies(s, lambda b: telling(b, row, reached)))
    return tuple(out)


def _told(s: gprob.Stmt, reached: str) -> gprob.Stmt:
    return gprob.Assign(s.span, gprob.Place(reached, INT, s.span), gprob.int_const(1, s.span))


def _gets_to(s: gprob.Stmt, row: str) -> bool:
    """Whether a statement reads or writes a row wherever it is reached itself."""
    own = traversal.with_bodies(s, lambda _: ()) if isinstance(s, (gprob.If, gprob.For)) else s
    if _asks(own, row):
        return True
    return isinstance(s, gprob.For) and _runs(s) and is_certain(s.body, row)


def _runs(loop: gprob.For) -> bool:
    """Whether a loop has an iteration whatever the data."""
    more = difference(linear(loop.upper), linear(loop.lower))
    return more is not None and more >= 0


def _differing(loop: gprob.For, changing: Set[str]) -> Set[str]:
    """What differs between the iterations of a loop, or of those around it."""
    return changing | {loop.name} | written(loop.body) | declared(loop.body)


def _before(loop: gprob.For, row: str, reached: str) -> Stmts:
    """What tells before a loop whether an iteration of it gets to the row."""
    inside = _of_inner(loop.body, row, reached)
    return _under(apply("logical_lte", loop.lower, loop.upper), inside, (), loop)


def _of_inner(body: Stmts, row: str, reached: str) -> Stmts:
    """The same of statements in a loop."""
    if is_certain(body, row):
        return (_told(body[0], reached),)
    out: list[gprob.Stmt] = []
    for s in body:
        if isinstance(s, gprob.For):
            out += _before(s, row, reached)
        elif isinstance(s, gprob.If):
            then, otherwise = (_of_inner(side, row, reached) for side in (s.then, s.otherwise))
            out += _under(s.condition, then, otherwise, s)
    return tuple(out)


def _under(condition: gprob.Expr, then: Stmts, otherwise: Stmts, s: gprob.Stmt) -> Stmts:
    return (gprob.If(s.span, condition, then, otherwise),) if then or otherwise else ()
