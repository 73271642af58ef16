"""Rewritings after which a term reads the elements that it depends on, and no others.

They change what stands in which statement, not what a program computes: local variables that are set once are replaced
by their values, statements over whole containers become loops over components, sums become terms of their own.
"""
from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass, field, replace
from typing import Any

from stanlib import registry
from stanlib.registry import Function
from stanlib.types import INT, REAL, Type, dimensions

from ..ir import gprob, traversal, typed, uses
from ..ir.fresh import Fresh
from ..ir.gprob import is_density
from .components import component, flattened, is_container, size
from .parameters import Stmts, call


def normalized(body: Stmts, tainted: Callable[[Stmts], Set[str]], sizes: dict[str, gprob.Sized], names: Fresh) -> Stmts:
    """The body with all of these; `tainted` tells which variables of a body depend on discrete parameters."""
    body = _with_conditions(_without_continue(traversal.rewrite(body, _flat_index)))
    body = _inlined(body, tainted(body))
    found = tainted(body)
    body = _released(body, found)
    return tuple(_by_component(body, found, dict(sizes), names))


def _flat_index(node: Any) -> Any:
    return flattened(node) if isinstance(node, gprob.Index) else node


# --- iterations that end early ---------------------------------------------------------------------------------------


def _without_continue(body: Stmts) -> Stmts:
    """`if (c) { ...; continue; } rest` in a loop as `if (c) { ... } else { rest }`."""
    out: list[gprob.Stmt] = []
    for at, s in enumerate(body):
        s = traversal.with_bodies(s, _without_continue)
        if isinstance(s, gprob.If) and not s.otherwise and s.then and isinstance(s.then[-1], gprob.Continue):
            if not any(isinstance(t, (gprob.Break, gprob.Continue)) for t in s.then[:-1]):
                rest_ = _without_continue(body[at + 1 :])
                return (*out, replace(s, then=s.then[:-1], otherwise=rest_))
        out.append(s)
    return tuple(out)


# --- branches that assign to one place -------------------------------------------------------------------------------


def _with_conditions(body: Stmts) -> Stmts:
    """`if (c) x = a; else x = b;` as `x = c ? a : b;`."""
    return tuple(_with_condition(traversal.with_bodies(s, _with_conditions)) for s in body)


def _with_condition(s: gprob.Stmt) -> gprob.Stmt:
    if not isinstance(s, gprob.If) or len(s.then) != 1 or len(s.otherwise) != 1:
        return s
    a, b = s.then[0], s.otherwise[0]
    if not isinstance(a, gprob.Assign) or not isinstance(b, gprob.Assign) or not same(a.place, b.place):
        return s
    return replace(a, span=s.span, value=gprob.Cond(a.place.type, s.span, s.condition, a.value, b.value))


def same(a: Any, b: Any) -> bool:
    """Whether two nodes are alike but for their spans."""
    if type(a) is not type(b):
        return False
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if not isinstance(a, traversal.NODES):
        return bool(a == b)
    return all(same(getattr(a, f), getattr(b, f)) for f in a.__dataclass_fields__ if f != "span")


# --- variables that are set once -------------------------------------------------------------------------------------


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

    def node(self, e: Any) -> Any:
        if isinstance(e, gprob.Var) and e.name in self.known and not self.known[e.name].at:
            return self.known[e.name].value
        if isinstance(e, gprob.Index):
            return self.indexed(flattened(e))
        return e

    def indexed(self, e: gprob.Index) -> gprob.Expr:
        """`m[a, b]` of a variable that is set component by component; and indices of what has taken its place."""
        found = self.known.get(e.base.name) if isinstance(e.base, gprob.Var) else None
        if found is not None and len(e.indices) == len(found.at):
            if all(isinstance(i, gprob.Single) for i in e.indices):
                at = {n: i.value for n, i in zip(found.at, e.indices) if isinstance(i, gprob.Single)}
                out: gprob.Expr = substituted(found.value, at)
                return out
        if not isinstance(e.base, (gprob.Var, gprob.Index)) and len(e.indices) == 1:
            index = e.indices[0]
            if isinstance(index, gprob.Single) and dimensions(e.base.type) == 1:
                return component(e.base, index.value)
        return e

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


def _indices(place: gprob.Place) -> tuple[str, ...]:
    if len(place.steps) != 1 or place.steps[0].item:
        return ()
    return tuple(
        i.value.name if isinstance(i, gprob.Single) and isinstance(i.value, gprob.Var) else ""
        for i in place.steps[0].indices
    )


def substituted(node: Any, values: dict[str, gprob.Expr]) -> Any:
    """A node with expressions in place of variables."""
    return traversal.rewrite(node, lambda n: values.get(n.name, n) if isinstance(n, gprob.Var) else n)


def _inlined(body: Stmts, tainted: Set[str]) -> Stmts:
    writes = Counter(n for s in uses.walk_statements(body) for n in uses.writes(s))
    read = {n.name for n in traversal.walk(body) if isinstance(n, gprob.Var)}
    steady = {n for n in read if n not in writes and n not in uses.loop_indices(body)}
    steady -= {s.name for s in uses.walk_statements(body) if isinstance(s, gprob.ForEach)}
    return tuple(_Inliner(tainted, writes, steady).whole(body))


# --- sums as terms of their own --------------------------------------------------------------------------------------


def _released(body: Stmts, tainted: Set[str]) -> Stmts:
    """`real lp = 0; ... lp += x; ... target += lp;` as `target += x;` wherever x is added, and sums term by term."""
    for name in _accumulators(body, tainted):
        body = tuple(_without_accumulator(body, name))
    return tuple(_split(body, tainted))


def _accumulators(body: Stmts, tainted: Set[str]) -> Iterator[str]:
    """Local reals of the body that are only added to, and in the end to the target."""
    for s in body:
        if isinstance(s, gprob.Declare) and s.name in tainted and s.sized.type == REAL:
            told = sum(isinstance(t, typed.Increment) and _is_var(t.value, s.name) for t in body)
            statements = list(uses.walk_statements(body))
            changes = [t for t in statements if s.name in uses.assigns(t)]
            added = [_addend(t, s.name) for t in changes]
            reads = sum(isinstance(n, gprob.Var) and n.name == s.name for n in traversal.walk(body))
            clean = all(a is not None and not uses.mentions(a, {s.name}) for a in added)
            if s.value is not None and told == 1 and clean and reads == 1 + len(changes):
                yield s.name


def _is_var(e: gprob.Expr, name: str) -> bool:
    return isinstance(e, gprob.Var) and e.name == name


def _addend(s: gprob.Stmt, name: str) -> gprob.Expr | None:
    """x of `name = name + x`."""
    if isinstance(s, gprob.Assign) and not s.place.steps and isinstance(s.value, gprob.Apply):
        if s.value.function.name == "add" and _is_var(s.value.arguments[0], name):
            return s.value.arguments[1]
    return None


def _without_accumulator(body: Stmts, name: str) -> Iterator[gprob.Stmt]:
    for s in body:
        if isinstance(s, gprob.Declare) and s.name == name:
            assert s.value is not None
            yield typed.Increment(s.span, "target", s.value)
        elif isinstance(s, typed.Increment) and _is_var(s.value, name):
            continue
        elif name in uses.assigns(s) and (added := _addend(s, name)) is not None:
            yield typed.Increment(s.span, "target", added)
        else:
            yield traversal.with_bodies(s, lambda b: tuple(_without_accumulator(b, name)))


def _split(body: Stmts, tainted: Set[str]) -> Iterator[gprob.Stmt]:
    for s in body:
        if isinstance(s, typed.Increment) and s.kind == "target" and uses.mentions(s.value, tainted):
            yield from (typed.Increment(s.span, s.kind, e) for e in _summands(s.value))
        else:
            yield traversal.with_bodies(s, lambda b: tuple(_split(b, tainted)))


def _summands(e: gprob.Expr) -> Iterator[gprob.Expr]:
    if isinstance(e, gprob.Apply) and e.function.name == "add" and e.type == REAL:
        for a in e.arguments:
            yield from _summands(a)
    elif isinstance(e, gprob.Apply) and e.function.name == "sum" and e.type == REAL:
        yield e.arguments[0]
    else:
        yield e


# --- statements over whole containers --------------------------------------------------------------------------------


def _by_component(body: Stmts, tainted: Set[str], sizes: dict[str, gprob.Sized], names: Fresh) -> Iterator[gprob.Stmt]:
    for s in body:
        if isinstance(s, gprob.Declare):
            sizes[s.name] = s.sized
        if isinstance(s, (typed.Tilde, typed.Increment)) and uses.mentions(s, tainted):
            yield from _Components(tainted, sizes, names).statement(s)
        else:
            yield traversal.with_bodies(s, lambda b: tuple(_by_component(b, tainted, sizes, names)))


Exprs = tuple[gprob.Expr, ...]
Rebuild = Callable[[list[gprob.Expr]], gprob.Stmt]


@dataclass
class _Components:
    tainted: Set[str]
    sizes: dict[str, gprob.Sized]
    names: Fresh

    def statement(self, s: gprob.Stmt) -> Iterator[gprob.Stmt]:
        """A law over many outcomes as a loop with a law over one."""
        if isinstance(s, typed.Tilde):
            law = s.distribution
            if isinstance(law.lpdf, Function) and law.lpdf.distribution is not None:
                made = self.loop(s, (s.value, *law.arguments), law.lpdf, lambda a: self.tilde(s, a))
                yield from made or (s,)
                return
        elif isinstance(s, typed.Increment) and is_density(s.value):
            e = s.value
            yield from self.loop(s, e.arguments, e.function, lambda a: self.increment(s, a)) or (s,)
            return
        elif isinstance(s, typed.Increment) and is_container(s.value.type):
            made = self.sum(s)
            yield from made or (s,)
            return
        yield s

    def tilde(self, s: typed.Tilde, arguments: list[gprob.Expr]) -> gprob.Stmt:
        return replace(s, value=arguments[0], distribution=replace(s.distribution, arguments=tuple(arguments[1:])))

    def increment(self, s: typed.Increment, arguments: list[gprob.Expr]) -> gprob.Stmt:
        assert isinstance(s.value, gprob.Apply)
        return replace(s, value=replace(s.value, arguments=tuple(arguments)))

    def loop(self, s: gprob.Stmt, arguments: Exprs, law: Function, rebuilt: Rebuild) -> Stmts:
        """The loop; nothing where the law is that of one outcome, or the parts of its arguments can't be told apart."""
        own = law.distribution.dims
        many = [dimensions(a.type) > d for a, d in zip(arguments, own)]
        if not any(many) or not any(m and uses.mentions(a, self.tainted) for a, m in zip(arguments, many)):
            return ()
        index, kept = self.names.helper("n"), _Kept(self, s)
        i = gprob.Var(INT, s.span, index)
        arguments = tuple(map(kept, arguments))
        found = [n for a, m in zip(arguments, many) if m and (n := self.size(a)) is not None]
        parts = [component(a, i) if m else a for a, m in zip(arguments, many)]
        if not found:
            return ()
        if registry.exact(law.name).get(tuple(p.type for p in parts)) is None:
            return ()
        checks = [self.agree(s, found[0], n) for n in found[1:] if not same(n, found[0])]
        body = rebuilt(parts)
        return (*kept.made, *checks, gprob.For(s.span, index, gprob.int_const(1, s.span), found[0], (body,)))

    def agree(self, s: gprob.Stmt, a: gprob.Expr, b: gprob.Expr) -> gprob.Stmt:
        """Containers of different sizes are an error."""
        message = gprob.Message(s.span, "reject", ("containers that belong together have the sizes ", a, " and ", b))
        return gprob.If(s.span, call("logical_neq", s.span, a, b), (message,))

    def size(self, e: gprob.Expr) -> gprob.Expr | None:
        """The number of components of a container; None where only running tells it."""
        found = size(e, self.sizes)
        if found is None and not uses.mentions(e, self.tainted):
            return call("size", e.span, e)
        return found

    def sum(self, s: typed.Increment) -> tuple[gprob.Stmt, ...]:
        count = self.size(s.value)
        if count is None:
            return ()
        index = self.names.helper("n")
        one = component(s.value, gprob.Var(INT, s.span, index))
        term = tuple(self.statement(typed.Increment(s.span, s.kind, one)))
        return (gprob.For(s.span, index, gprob.int_const(1, s.span), count, term),)


@dataclass
class _Kept:
    """Containers that no discrete parameter decides are computed once, before the loop over their components."""

    components: _Components
    statement: gprob.Stmt
    made: list[gprob.Stmt] = field(default_factory=list)

    def __call__(self, e: gprob.Expr) -> gprob.Expr:
        if not isinstance(e, (gprob.Apply, gprob.CallUser)) or not is_container(e.type):
            return e
        if uses.mentions(e, self.components.tainted):
            return replace(e, arguments=tuple(map(self, e.arguments)))
        if dimensions(e.type) != 1:
            return e
        count = self.components.size(e)
        assert count is not None
        sized = gprob.Sized(e.type, (count,))
        name = self.components.names.helper("kept")
        self.made.append(gprob.Declare(self.statement.span, name, sized, None, e))
        self.components.sizes[name] = sized
        return gprob.Var(e.type, e.span, name)
