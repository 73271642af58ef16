"""Containers whose components are set by several statements, such as data beside what is missing: `z[known] = given;
z[missing] = unknown;`.

Which statement has set a component, and in which iteration, is known from data. So a component is what that statement
gives it. Where discrete parameters decide whether it does (`if (z[n] == 1) m[n] = a;`), it is that, or as it was.
"""
from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import field
from typing import Any

from stanlib.dataclass import dataclass
from stanlib.types import INT, array, dimensions

from ..ir import gprob, traversal, uses
from ..ir.calls import call, raw
from ..ir.fresh import Fresh
from ..ir.likeness import same
from ..ir.renaming import with_names
from ..ir.traversal import substituted
from .branches import flattened_read
from .components import component
from .parameters import Stmts, variable


def in_pieces(body: Stmts, tainted: Set[str], static: Set[str], names: Fresh) -> tuple[Stmts, Stmts]:
    """Statements that record who has set which component, and the body with values in place of components."""
    known: list[gprob.Stmt] = []
    for s in body:
        if isinstance(s, gprob.Declare) and s.name in tainted and s.site is None and dimensions(s.sized.type):
            found = _Container(s, body, tainted, static, names)
            if found.is_in_pieces():
                made, body = found.replaced()
                known += made
    return tuple(known), body


_MOST = 4  # pieces that depend on those before: each doubles the value


def _as_one(s: gprob.If) -> gprob.Assign | None:
    """`if (c) m[n] = a;` as `m[n] = c ? a : m[n];`, where all branches assign to one place or do nothing."""
    places = [t.place for t in uses.walk_statements((s,)) if isinstance(t, gprob.Assign)]
    value = _value(s, places[0]) if places else None
    return None if value is None else gprob.Assign(s.span, places[0], value)


def _value(s: gprob.Stmt, place: gprob.Place) -> gprob.Expr | None:
    """What a statement gives a place; None where it does more than that."""
    if isinstance(s, gprob.Assign):
        return s.value if same(s.place, place) else None
    if not isinstance(s, gprob.If) or len(s.then) > 1 or len(s.otherwise) > 1:
        return None
    sides = [_value(side[0], place) if side else flattened_read(place) for side in (s.then, s.otherwise)]
    if sides[0] is None or sides[1] is None or uses.mentions(s.condition, {place.name}):
        return None
    return gprob.Cond(place.type, s.span, s.condition, sides[0], sides[1])


@dataclass
class _Piece:
    """Components that one statement sets: under conditions, at indices that depend on loops.

    `before` is the record of who has set them before, of a piece whose value depends on what they were.
    """

    indices: tuple[gprob.Expr, ...]
    value: gprob.Expr
    around: tuple[gprob.Stmt, ...] = ()
    statement: int = 0
    number: int = 0
    at: dict[str, str] = field(default_factory=dict)  # the record of every loop
    before: str = ""

    @property
    def loops(self) -> list[gprob.For]:
        return [s for s in self.around if isinstance(s, gprob.For)]

    @property
    def is_once(self) -> bool:
        """Whether it sets every component at most once: all loops around it are among its indices."""
        names = [i.name for i in self.indices if isinstance(i, gprob.Var)]
        return all(names.count(loop.name) == 1 for loop in self.loops)


    def interferes(self, other: "_Piece") -> bool:
        """Whether one loop sets components by both of them, and maybe one of them by both, in different iterations."""
        shared = [a for a in self.loops if any(a is b for b in other.loops)]
        if self.statement != other.statement or not shared:
            return False
        if any(_differ(a, b) for a, b in zip(self.indices, other.indices)):
            return False
        return not all(self.is_apart(other, loop) for loop in shared)

    def is_apart(self, other: "_Piece", loop: gprob.For) -> bool:
        """Whether the two set different components in different iterations of a loop, which is an index of both."""
        own = gprob.Var(INT, loop.span, loop.name)
        return any(same(a, own) and same(b, own) for a, b in zip(self.indices, other.indices))


def _differ(a: gprob.Expr, b: gprob.Expr) -> bool:
    return isinstance(a, gprob.Const) and isinstance(b, gprob.Const) and a.value != b.value


class _Container:
    def __init__(self, declared: gprob.Declare, body: Stmts, tainted: Set[str], static: Set[str], names: Fresh):
        self.declared, self.name, self.body = declared, declared.name, body
        self.tainted, self.static, self.names = tainted, static, names
        self.dims = dimensions(declared.sized.type)
        self.pieces: list[_Piece] = []
        self.whole: gprob.Expr | None = declared.value
        self.sets = [i for i, s in enumerate(body) if self.name in uses.written((s,))]
        self.count = 0

    def is_in_pieces(self) -> bool:
        """Whether all that sets components is understood, and nothing reads them before."""
        if len(self.sets) < 2 or not uses.names_in(self.declared.sized.shape) <= self.static:
            return False
        between = (self.body[i] for i in range(self.sets[0] + 1, self.sets[-1]) if i not in self.sets)
        if any(map(self.reads, between)) or not any(map(self.reads, self.body[self.sets[-1] + 1 :])):
            return False
        start = self.sets[0]
        for i in self.sets[1:]:
            s, first = self.body[i], len(self.pieces)
            if isinstance(s, gprob.Assign) and not s.place.steps and not self.reads(s):
                self.pieces, self.whole, start = [], s.value, i
            elif not self.understood(s, ()):
                return False
            for p in self.pieces[first:]:
                p.statement = i
        if any(p.interferes(q) for i, p in enumerate(self.pieces) for q in self.pieces[:i]):
            return False
        steady = all(self.is_steady(p.value, p.statement) for p in self.pieces)
        if sum(map(self.continues, self.pieces)) > _MOST or self.whole is None and self.continues(self.pieces[0]):
            return False
        return bool(self.pieces) and steady and (self.whole is None or self.is_steady(self.whole, start))

    def continues(self, p: _Piece) -> bool:
        """Whether the value of a piece depends on what its components were before."""
        return uses.mentions(p.value, {self.name})

    def reads(self, s: gprob.Stmt) -> bool:
        return any(isinstance(n, gprob.Var) and n.name == self.name for n in traversal.walk(s))

    def is_steady(self, value: gprob.Expr, at: int) -> bool:
        """Whether what a statement gives components is the same in all statements after it."""
        return not uses.names_in(value) & (uses.written(self.body[at:]) - {self.name})

    def understood(self, s: gprob.Stmt, around: tuple[gprob.Stmt, ...]) -> bool:
        """Adds the pieces that a statement sets; whether they could be told."""
        if self.name not in uses.written((s,)):
            return not uses.breaks((s,)) and not self.reads(s)
        here = self.static | {a.name for a in around if isinstance(a, gprob.For)}
        if isinstance(s, gprob.For) and uses.names_in((s.lower, s.upper)) <= here:
            return all([self.understood(t, (*around, s)) for t in s.body])
        if isinstance(s, gprob.If) and uses.names_in(s.condition) <= here:
            return all([self.understood(t, (*around, s)) for t in (*s.then, *s.otherwise)])
        if isinstance(s, gprob.If) and (one := _as_one(s)) is not None:
            s = one
        return isinstance(s, gprob.Assign) and self.assigned(s, around, here)

    def assigned(self, s: gprob.Assign, around: tuple[gprob.Stmt, ...], known: Set[str]) -> bool:
        """Adds the piece of one assignment; whether it could be told."""
        if not s.place.steps:
            return False
        step = s.place.steps[0]
        if len(s.place.steps) > 1 or step.item or not uses.names_in(step) <= known:
            return False
        if all(isinstance(i, gprob.Single) for i in step.indices) and len(step.indices) == self.dims:
            indices = tuple(i.value for i in step.indices if isinstance(i, gprob.Single))
            piece = _Piece(indices, s.value, around)
            self.pieces.append(piece)
            return not self.continues(piece) or piece.is_once and self.reads_own(piece)
        if uses.mentions(s.value, {self.name}):
            return False
        return self.dims == 1 and len(step.indices) == 1 and self.several(s, step.indices[0], around)

    def reads_own(self, p: _Piece) -> bool:
        """Whether the value of a piece depends on no other components than those that it sets."""
        found = [n for n in traversal.walk(p.value) if isinstance(n, gprob.Var) and n.name == self.name]
        own = [n for n in traversal.walk(p.value) if isinstance(n, gprob.Index) and self.is_at(n, p.indices)]
        return len(found) == len(own)

    def is_at(self, e: gprob.Index, indices: tuple[gprob.Expr, ...]) -> bool:
        given = tuple(i.value for i in e.indices if isinstance(i, gprob.Single))
        return isinstance(e.base, gprob.Var) and e.base.name == self.name and same(given, indices)

    def several(self, s: gprob.Assign, index: gprob.IndexExpr, around: tuple[gprob.Stmt, ...]) -> bool:
        """A statement that sets components at several indices, as a loop."""
        if isinstance(index, gprob.Multi):
            count = call("size", s.span, index.value)
        elif isinstance(index, gprob.Range) and index.lower is not None and index.upper is not None:
            count = call("add", s.span, call("subtract", s.span, index.upper, index.lower), gprob.int_const(1, s.span))
        else:
            return False
        name = self.names.helper("n")
        i = variable(INT, s.span, name)
        place = gprob.Index(s.place.base, s.span, variable(s.place.base, s.span, self.name), (index,))
        one = component(place, i)
        assert isinstance(one, gprob.Index) and isinstance(one.indices[0], gprob.Single)
        loop = gprob.For(s.span, name, gprob.int_const(1, s.span), count, ())
        self.pieces.append(_Piece((one.indices[0].value,), component(s.value, i), (*around, loop)))
        return True

    # --- records

    def replaced(self) -> tuple[Stmts, Stmts]:
        """Statements that record who has set a component, in which iteration; the body with values in its place."""
        self.who = self.names.helper("piece")
        known = [self.filled(self.who)]
        for number, p in enumerate(self.pieces, 1):
            p.number = number
            for loop in p.loops:
                p.at[loop.name] = self.names.helper("at")
                known.append(self.filled(p.at[loop.name]))
        for p in self.pieces:
            if self.continues(p):
                p.before = self.names.helper("piece")
                known.append(self.copied(p.before))
            known += self.recorded(p)
        end = self.sets[-1] + 1
        body = (*self.body[:end], *traversal.rewrite(self.body[end:], self.read))
        return (tuple(known), body) if self.count else ((), self.body)

    def filled(self, name: str) -> gprob.Stmt:
        t, span, shape = array(INT, self.dims), self.declared.span, self.declared.sized.shape
        zero = raw("discrete_filled__", t, span, gprob.int_const(0, span), *shape)
        return gprob.Declare(span, name, gprob.Sized(t, shape), None, zero)

    def copied(self, name: str) -> gprob.Stmt:
        """The record of who has set components so far."""
        t, span = array(INT, self.dims), self.declared.span
        return gprob.Declare(span, name, gprob.Sized(t, self.declared.sized.shape), None, variable(t, span, self.who))

    def recorded(self, p: _Piece) -> Iterator[gprob.Stmt]:
        span = self.declared.span
        indices = tuple(map(gprob.Single, p.indices))
        values: dict[str, gprob.Expr] = {self.who: gprob.int_const(p.number, span)}
        values |= {at: variable(INT, span, loop) for loop, at in p.at.items()}
        places = (gprob.Place(n, array(INT, self.dims), span, (gprob.Step(INT, indices),)) for n in values)
        body: Stmts = tuple(gprob.Assign(span, place, v) for place, v in zip(places, values.values()))
        new = {loop.name: self.names.helper(loop.name) for loop in p.loops}
        yield from with_names(tuple(self.inside(p, body)), new)

    def inside(self, p: _Piece, body: Stmts) -> Stmts:
        """The body in the loops and branches around a piece."""
        below: Any = None
        for s in reversed(p.around):
            if isinstance(s, gprob.If):
                there = any(self.holds(t, below, p) for t in s.then)
                body = (gprob.If(s.span, s.condition, body if there else (), () if there else body),)
            elif isinstance(s, gprob.For):
                body = (gprob.For(s.span, s.name, s.lower, s.upper, body),)
            below = s
        return body

    def holds(self, s: gprob.Stmt, below: Any, p: _Piece) -> bool:
        if below is not None:
            return s is below
        return isinstance(s, gprob.Assign) and s.value is p.value

    def read(self, e: object) -> Any:
        """What stands in place of one component."""
        if not isinstance(e, gprob.Index) or not isinstance(e.base, gprob.Var) or e.base.name != self.name:
            return e
        indices = [i.value for i in e.indices if isinstance(i, gprob.Single)]
        if len(indices) < self.dims or len(e.indices) > self.dims or uses.mentions(tuple(indices), self.tainted):
            return e
        self.count += 1
        return self.value(e, self.pieces, self.who)

    def value(self, e: gprob.Index, pieces: list[_Piece], who: str) -> gprob.Expr:
        """The component that an index selects, of what some pieces have made; `who` is the record of them."""
        out = self.whole
        if out is not None:
            for i in e.indices:
                assert isinstance(i, gprob.Single)
                out = component(out, i.value)
        for at, p in enumerate(pieces):
            value = substituted(p.value, {loop: self.recorded_at(name, e) for loop, name in p.at.items()})
            if p.before:
                value = self.with_own(value, self.value(e, pieces[:at], p.before))
            if out is None:
                out = value
            else:
                number = gprob.int_const(p.number, e.span)
                here = call("logical_eq", e.span, self.recorded_at(who, e), number)
                out = gprob.Cond(e.type, e.span, here, value, out)
        assert out is not None
        return out

    def with_own(self, value: gprob.Expr, before: gprob.Expr) -> gprob.Expr:
        """The value with what the component was before in place of it."""

        def read(n: object) -> Any:
            own = isinstance(n, gprob.Index) and isinstance(n.base, gprob.Var) and n.base.name == self.name
            return before if own else n

        out: gprob.Expr = traversal.rewrite(value, read)
        return out

    def recorded_at(self, name: str, e: gprob.Index) -> gprob.Expr:
        return gprob.Index(INT, e.span, variable(array(INT, self.dims), e.span, name), e.indices)
