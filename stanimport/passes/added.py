"""Densities in loops of lanes that are NaN only where the target is, too, which rejects the draw by itself.

For an argument that is none or outside of its domain a density gives NaN, and whoever calls it must look whether any
lane has one: one more pass over all lanes, since XLA makes a kernel of each reduction. What increases the target is
looked at anyway. NaN gets there through functions that keep it, and through local variables that are read as a whole.
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple, Union

from ..ir import gprob, traversal
from ..ir.likeness import same
from ..ir.uses import ESCAPES, assigns, walk_statements, written
from .surroundings import Surroundings

Stmts = tuple[gprob.Stmt, ...]
Write = Union[gprob.Assign, gprob.Accumulate]
_WRAPPERS = (gprob.Promote, gprob.Fitted, gprob.Copied, gprob.Converted)  # values that are those of another expression


def run(body: Stmts, around: Surroundings) -> Stmts:
    """The body with those densities marked as `added`."""
    return _block(body, False)


def _block(body: Stmts, in_lanes: bool) -> Stmts:
    out = [_inside(s, in_lanes) for s in body]
    for j, s in enumerate(out):
        if isinstance(s, gprob.Factor) and not s.jacobian:  # which methods without Jacobians leave out
            for name in dict.fromkeys(e.name for e in _kept(s.value) if isinstance(e, gprob.Var)):
                out[:j] = _mark_writes(out[:j], name, in_lanes)
            if in_lanes:
                out[j] = replace(s, value=_marked(s.value))
    return body if all(a is b for a, b in zip(body, out)) else tuple(out)


def _inside(s: gprob.Stmt, in_lanes: bool) -> gprob.Stmt:
    """The statement with the blocks in it done. The body of a recurrence is no block of lanes, but of one iteration."""
    if isinstance(s, gprob.Recur):
        return s
    lanes = in_lanes or isinstance(s, gprob.For) and s.lanes
    return traversal.with_bodies(s, lambda b: _block(b, lanes))


def _keeps(e: gprob.Expr) -> bool:
    """Whether an expression is NaN where one of its parts is."""
    return isinstance(e, _WRAPPERS) or isinstance(e, gprob.Apply) and e.function.keeps_nan


def _kept(e: gprob.Expr) -> Iterator[gprob.Expr]:
    """An expression and the parts of it that make it NaN if they are."""
    waiting = [e]
    while waiting:
        top = waiting.pop()
        yield top
        if _keeps(top):
            waiting += [c for c in traversal.children(top) if isinstance(c, gprob.Expr)]


def _marked(e: gprob.Expr) -> gprob.Expr:
    """The expression with the densities marked that make it NaN."""
    if _keeps(e):
        return traversal.rewrite_parts(e, _marked)
    if isinstance(e, gprob.Apply) and e.function.distribution is not None and not e.function.random:
        return replace(e, added=True)
    return e


class _Place(NamedTuple):
    """Where a variable is written: the statement, and the loops and sides of branches around it in its block."""

    write: Write
    loops: tuple[str, ...]
    sides: tuple[tuple[int, int], ...]
    in_lanes: bool

    @property
    def adds(self) -> bool:
        """Whether NaN that was there stays."""
        if isinstance(self.write, gprob.Accumulate):
            return True
        own = self.write.place.read()
        return any(same(e, own) for e in _kept(self.write.value))

    @property
    def is_once(self) -> bool:
        """Whether every iteration writes elements of its own."""
        steps = self.write.place.steps
        indices = steps[0].indices if len(steps) == 1 else ()
        named = [i.value.name for i in indices if isinstance(i, gprob.Single) and isinstance(i.value, gprob.Var)]
        return set(self.loops) <= set(named)

    def excludes(self, other: _Place) -> bool:
        """Whether the elements that one writes the other does not, since they stand on both sides of a branch."""
        sides = dict(self.sides)
        return self.is_once and other.is_once and any(sides.get(k, side) != side for k, side in other.sides)


def _mark_writes(before: Sequence[gprob.Stmt], name: str, in_lanes: bool) -> list[gprob.Stmt]:
    """The statements before an increment by a variable, with the densities marked that are in what it becomes."""
    out = list(before)
    start = next((i for i, s in enumerate(out) if isinstance(s, gprob.Declare) and s.name == name), None)
    if start is None or any(isinstance(s, ESCAPES) for s in walk_statements(out[start:])):
        return out
    places = list(_places(out[start + 1 :], name, in_lanes))
    known = [p for p in places if p is not None]
    if len(known) < len(places):
        return out
    chosen = [p.write for i, p in enumerate(known) if p.in_lanes and _stays(p, known[i + 1 :])]
    out[start + 1 :] = [_with_marks(s, chosen) for s in out[start + 1 :]]
    declared = out[start]
    if in_lanes and isinstance(declared, gprob.Declare) and declared.value and all(p.adds for p in known):
        out[start] = replace(declared, value=_marked(declared.value))
    return out


def _stays(place: _Place, later: Sequence[_Place]) -> bool:
    """Whether NaN that is written at a place is there to the end."""
    return (place.adds or place.is_once) and all(p.adds or p.excludes(place) for p in later)


def _places(
    body: Sequence[gprob.Stmt], name: str, in_lanes: bool, loops: tuple[str, ...] = (),
    sides: tuple[tuple[int, int], ...] = (),
) -> Iterator[_Place | None]:  # fmt: skip
    """Where the variable is written, in the order of the text; None for a place of which it is not told how."""
    for s in body:
        if name not in written((s,)):
            continue
        if isinstance(s, (gprob.Assign, gprob.Accumulate)):
            yield _Place(s, loops, sides, in_lanes)
        elif isinstance(s, gprob.For) and name not in assigns(s):
            yield from _places(s.body, name, in_lanes or s.lanes, (*loops, s.name), sides)
        elif isinstance(s, gprob.If):
            for i, block in enumerate((s.then, s.otherwise)):
                yield from _places(block, name, in_lanes, loops, (*sides, (id(s), i)))
        else:
            yield None


def _with_marks(s: gprob.Stmt, chosen: Sequence[Write]) -> gprob.Stmt:
    """The statement with the densities marked in those of its writes that are chosen."""
    if isinstance(s, (gprob.Assign, gprob.Accumulate)) and any(s is c for c in chosen):
        return replace(s, value=_marked(s.value))
    return traversal.with_bodies(s, lambda b: tuple(_with_marks(t, chosen) for t in b))
