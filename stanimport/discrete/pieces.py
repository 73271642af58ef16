"""Containers whose components are set by several statements, such as data beside what is missing: `z[known] = given;
z[missing] = unknown;`.

Which statement has set a component, and in which iteration, is known from data. So a component is what that statement
gives it.
"""
from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass, field
from typing import Any

from stanlib.types import INT, array, dimensions

from ..ir import gprob, traversal, uses
from ..ir.fresh import Fresh
from .components import component
from .nodes import substituted, with_names
from .parameters import Stmts, call, raw, variable


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


@dataclass
class _Piece:
    """Components that one statement sets: under conditions, at indices that depend on loops."""

    indices: tuple[gprob.Expr, ...]
    value: gprob.Expr
    around: tuple[gprob.Stmt, ...] = ()
    statement: int = 0
    number: int = 0
    at: dict[str, str] = field(default_factory=dict)  # the record of every loop

    @property
    def loops(self) -> list[gprob.For]:
        return [s for s in self.around if isinstance(s, gprob.For)]


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
        between = self.body[self.sets[0] + 1 : self.sets[-1] + 1]
        if any(self.reads(s) for s in between) or not any(self.reads(s) for s in self.body[self.sets[-1] + 1 :]):
            return False
        start = self.sets[0]
        for i in self.sets[1:]:
            s, first = self.body[i], len(self.pieces)
            if isinstance(s, gprob.Assign) and not s.place.steps:
                self.pieces, self.whole, start = [], s.value, i
            elif not self.understood(s, ()):
                return False
            for p in self.pieces[first:]:
                p.statement = i
        steady = all(self.is_steady(p.value, p.statement) for p in self.pieces)
        return bool(self.pieces) and steady and (self.whole is None or self.is_steady(self.whole, start))

    def reads(self, s: gprob.Stmt) -> bool:
        return any(isinstance(n, gprob.Var) and n.name == self.name for n in traversal.walk(s))

    def is_steady(self, value: gprob.Expr, at: int) -> bool:
        """Whether what a statement gives components is the same in all statements after it."""
        return not uses.names_in(value) & (uses.written(self.body[at:]) - {self.name})

    def understood(self, s: gprob.Stmt, around: tuple[gprob.Stmt, ...]) -> bool:
        """Adds the pieces that a statement sets; whether they could be told."""
        if self.name not in uses.written((s,)):
            return not isinstance(s, (gprob.Break, gprob.Continue))
        here = self.static | {a.name for a in around if isinstance(a, gprob.For)}
        if isinstance(s, gprob.For) and uses.names_in((s.lower, s.upper)) <= here:
            return all([self.understood(t, (*around, s)) for t in s.body])
        if isinstance(s, gprob.If) and uses.names_in(s.condition) <= here:
            return all([self.understood(t, (*around, s)) for t in (*s.then, *s.otherwise)])
        return isinstance(s, gprob.Assign) and self.assigned(s, around, here)

    def assigned(self, s: gprob.Assign, around: tuple[gprob.Stmt, ...], known: Set[str]) -> bool:
        step = s.place.steps[0]
        if len(s.place.steps) > 1 or step.item or not uses.names_in(step) <= known:
            return False
        if all(isinstance(i, gprob.Single) for i in step.indices) and len(step.indices) == self.dims:
            indices = tuple(i.value for i in step.indices if isinstance(i, gprob.Single))
            self.pieces.append(_Piece(indices, s.value, around))
            return True
        return self.dims == 1 and len(step.indices) == 1 and self.several(s, step.indices[0], around)

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
        known += [s for p in self.pieces for s in self.recorded(p)]
        end = self.sets[-1] + 1
        body = (*self.body[:end], *traversal.rewrite(self.body[end:], self.read))
        return (tuple(known), body) if self.count else ((), self.body)

    def filled(self, name: str) -> gprob.Stmt:
        t, span, shape = array(INT, self.dims), self.declared.span, self.declared.sized.shape
        zero = raw("discrete_filled__", t, span, gprob.int_const(0, span), *shape)
        return gprob.Declare(span, name, gprob.Sized(t, shape), None, zero)

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

    def read(self, e: Any) -> Any:
        """What stands in place of one component."""
        if not isinstance(e, gprob.Index) or not isinstance(e.base, gprob.Var) or e.base.name != self.name:
            return e
        indices = [i.value for i in e.indices if isinstance(i, gprob.Single)]
        if len(indices) < self.dims or len(e.indices) > self.dims or uses.mentions(tuple(indices), self.tainted):
            return e
        self.count += 1
        out: gprob.Expr | None = None
        if self.whole is not None:
            out = self.whole
            for i in indices:
                out = component(out, i)
        for p in self.pieces:
            value = substituted(p.value, {loop: self.recorded_at(at, e) for loop, at in p.at.items()})
            if out is None:
                out = value
            else:
                number = gprob.int_const(p.number, e.span)
                here = call("logical_eq", e.span, self.recorded_at(self.who, e), number)
                out = gprob.Cond(e.type, e.span, here, value, out)
        return out

    def recorded_at(self, name: str, e: gprob.Index) -> gprob.Expr:
        return gprob.Index(INT, e.span, variable(array(INT, self.dims), e.span, name), e.indices)
