"""Local variables that are set once, replaced by their values."""
from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence, Set
from dataclasses import field
from typing import Any

from stanlib.dataclass import dataclass
from stanlib.types import INT, Type, dimensions

from ..ir import gprob, traversal, uses
from ..ir.traversal import substituted
from .components import component, flattened, plain
from .parameters import Stmts


@dataclass
class _Definition:
    """The value of a variable, or of its component at the indices `at` of loops."""

    value: gprob.Expr
    at: tuple[str, ...] = ()


@dataclass
class _Inliner:
    """Replaces local variables that are set once, and depend on discrete parameters or are ints."""

    tainted: Set[str]
    writes: Counter[str]
    steady: set[str]  # names whose value stays what it is wherever they can be read
    known: dict[str, _Definition] = field(default_factory=dict)

    def whole(self, body: Stmts) -> Iterator[gprob.Stmt]:
        """The body itself: what no later statement of it writes is steady from there on."""
        done: Counter[str] = Counter()
        declared = {s.name: s for s in body if isinstance(s, gprob.Declare)}
        for s in body:
            yield from self.statement(s, declared)
            done.update(n for t in uses.walk_statements((s,)) for n in uses.writes(t))
            self.steady |= {n for n in done if done[n] == self.writes[n]}

    def block(self, body: Stmts) -> Iterator[gprob.Stmt]:
        declared = {s.name: s for s in body if isinstance(s, gprob.Declare)}
        for s in body:
            yield from self.statement(s, declared)

    def statement(self, s: gprob.Stmt, declared: dict[str, gprob.Declare]) -> Iterator[gprob.Stmt]:
        s = self.replaced(s)
        self.note(s, declared)
        if isinstance(s, gprob.For):
            self.steady.add(s.name)
        yield traversal.with_bodies(s, lambda b: tuple(self.block(b)))

    def replaced(self, s: gprob.Stmt) -> gprob.Stmt:
        out: gprob.Stmt = traversal.rewrite_parts(s, self.expression)
        return out

    def expression(self, e: gprob.Expr) -> gprob.Expr:
        out: gprob.Expr = traversal.rewrite(e, self.node)
        return out

    def node(self, e: object) -> Any:
        if isinstance(e, gprob.Var) and e.name in self.known and not self.known[e.name].at:
            return self.known[e.name].value
        if isinstance(e, gprob.Index):
            return self.indexed(flattened(e))
        return e

    def indexed(self, e: gprob.Index) -> Any:
        """`m[a, b]` of a variable that is set component by component; and indices of what has taken its place."""
        found = self.known.get(e.base.name) if isinstance(e.base, gprob.Var) else None
        if found is not None and len(e.indices) >= len(found.at) > 0:
            first, rest = e.indices[: len(found.at)], e.indices[len(found.at) :]
            if all(isinstance(i, gprob.Single) for i in first):
                at = {n: i.value for n, i in zip(found.at, first) if isinstance(i, gprob.Single)}
                return _part(substituted(found.value, at), rest, e)
        if not isinstance(e.base, (gprob.Var, gprob.Index)) and len(e.indices) == 1:
            index = e.indices[0]
            if isinstance(index, gprob.Single) and dimensions(e.base.type) == 1:
                return component(e.base, index.value)
        return plain(e)

    def note(self, s: gprob.Stmt, declared: dict[str, gprob.Declare]) -> None:
        """What a statement says of variables that are set by it alone."""
        if isinstance(s, gprob.Declare) and s.value is not None and self.writes[s.name] == 1:
            self.define(s.name, s.sized.type, s.value, ())
        elif isinstance(s, gprob.Assign) and not s.place.steps and s.place.name in declared:
            if declared[s.place.name].value is None and self.writes[s.place.name] == 2:
                self.define(s.place.name, s.place.type, s.value, ())
        elif isinstance(s, gprob.For):
            self.note_loop(s, declared, ())

    def note_loop(self, loop: gprob.For, declared: dict[str, gprob.Declare], around: tuple[str, ...]) -> None:
        """A loop that sets the components of variables declared around it."""
        at = (*around, loop.name)
        inner = _Inliner(self.tainted, self.writes, self.steady | set(at), dict(self.known))
        for s in inner.block(loop.body):
            if isinstance(s, gprob.For):
                self.note_loop(s, declared, at)
            if not isinstance(s, gprob.Assign) or s.place.name not in declared:
                continue
            d = declared[s.place.name]
            if d.value is None and self.writes[d.name] == 2 and _indices(s.place) == at:
                self.steady |= set(at)
                self.define(d.name, s.place.type, s.value, at)
                self.steady -= set(at)

    def define(self, name: str, t: Type, value: gprob.Expr, at: tuple[str, ...]) -> None:
        if not (name in self.tainted or t == INT):
            if uses.names_in(value) <= self.steady | set(at):
                self.steady.add(name)
            return
        if uses.names_in(value) <= self.steady | set(at):
            self.known[name] = _Definition(value, at)
            self.steady.add(name)


def _part(value: gprob.Expr, indices: Sequence[gprob.IndexExpr], e: gprob.Expr) -> gprob.Expr:
    """The part of a value that indices select, of the type of `e`."""
    if all(isinstance(i, gprob.Single) for i in indices):
        for i in indices:
            assert isinstance(i, gprob.Single)
            value = component(value, i.value)
        return value
    return gprob.Index(e.type, e.span, value, tuple(indices))


def _indices(place: gprob.Place) -> tuple[str, ...]:
    if len(place.steps) != 1 or place.steps[0].item:
        return ()
    return tuple(
        i.value.name if isinstance(i, gprob.Single) and isinstance(i.value, gprob.Var) else ""
        for i in place.steps[0].indices
    )


def inlined(body: Stmts, tainted: Set[str]) -> Stmts:
    writes = Counter(n for s in uses.walk_statements(body) for n in uses.writes(s))
    read = {n.name for n in traversal.walk(body) if isinstance(n, gprob.Var)}
    steady = {n for n in read if n not in writes and n not in uses.loop_indices(body)}
    steady -= {s.name for s in uses.walk_statements(body) if isinstance(s, gprob.ForEach)}
    return tuple(_Inliner(tainted, writes, steady).whole(body))
