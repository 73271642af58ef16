"""Counters that go along with a loop, by numbers that data tell, as numbers of each iteration alone.

In data of unequal lengths, one after the other, a counter says where the next ones begin:

    int pos = 1; for (j in 1:J) { segment(y, pos, s[j]) ~ normal(a[j], sigma); pos += s[j]; }

What an iteration adds depends on nothing that the loop changes, so that the counter is known before it, a sum of what
the iterations before have added. The loop then has a counter of its own in every iteration, and none needs another.
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from stanlib.types import INT, array

from ...ir import gprob, traversal
from ...ir.calls import apply
from ...ir.uses import ESCAPES, declared, differing, mentions, names_in, walk_statements, writes, written
from ..binding_times import BindingTimes
from ..surroundings import Surroundings

Stmts = tuple[gprob.Stmt, ...]


def run(body: Stmts, around: Surroundings) -> Stmts:
    """The body with counters of their own in the iterations of loops over what is not data alone."""
    if not any(isinstance(s, gprob.For) for s in walk_statements(body)):
        return body
    return tuple(_Positions(around, body).block(body, frozenset()))


class _Positions:
    """`times` tells what is data, the indices of loops among them, `traced` what is known while the model is traced."""

    def __init__(self, around: Surroundings, body: Stmts):
        self.names, self.traced = around.names, around.times(body)
        self.times: BindingTimes = replace(around, traces=False).times(body)

    def block(self, body: Sequence[gprob.Stmt], varying: frozenset[str]) -> Iterator[gprob.Stmt]:
        """The statements of a block; `varying` is what differs between iterations of the loops around."""
        for s in body:
            yield from self.loop(s, varying) if isinstance(s, gprob.For) else (self.inside(s, varying),)

    def inside(self, s: gprob.Stmt, varying: frozenset[str]) -> gprob.Stmt:
        """A statement with loops inside of it."""
        if isinstance(s, gprob.For):
            varying |= differing(s)
        elif isinstance(s, gprob.While):
            varying |= written(s.body)
        return traversal.with_bodies(s, lambda b: tuple(self.block(b, varying)))

    def loop(self, s: gprob.For, varying: frozenset[str]) -> Iterator[gprob.Stmt]:
        """A loop, with what tells its counters before it, and their last values behind."""
        behind: list[gprob.Stmt] = []
        for name in self._counters(s):
            by = _Added(s, name).of(s.body)
            if by is not None and self._is_known(by, s, varying):
                before, s, after = self._own(s, name, by)
                yield from before
                behind.append(after)
        yield self.inside(s, varying)
        yield from behind

    def _is_known(self, by: gprob.Expr, s: gprob.For, varying: frozenset[str]) -> bool:
        """Whether data tell what iterations add; and, to sum that up, how many there are, in all loops around alike."""
        if self.times.is_dynamic(by) or self.times.draws(by):
            return False
        bounds = (s.lower, s.upper)
        has_size = not mentions(bounds, varying) and not any(map(self.traced.is_dynamic, bounds))
        return has_size or s.name not in names_in(by)

    def _counters(self, s: gprob.For) -> list[str]:
        """The ints from outside that a loop over what is not data alone counts with, and looks at."""
        body = list(walk_statements(s.body))
        if s.lanes or any(isinstance(t, ESCAPES) for t in body) or not self._computes(body):
            return []
        changed = written(s.body) - declared(s.body)
        if mentions((s.lower, s.upper), written(s.body)):  # they are read again behind, and in every iteration
            return []
        own = {n for t in body if isinstance(t, gprob.Assign) for n in writes(t) if n in changed and _is_count(t, n)}
        return [n for n in sorted(own) if all(_is_count(t, n) for t in body if n in writes(t)) and _is_read(n, body)]

    def _computes(self, body: Sequence[gprob.Stmt]) -> bool:
        """Whether statements do anything that is not known from data."""
        own = (t for t in body if not any(True for _ in traversal.bodies(t)))
        return any(self.times.is_dynamic(t) or isinstance(t, (gprob.Observe, gprob.Sample)) for t in own)

    def _own(self, s: gprob.For, name: str, by: gprob.Expr) -> tuple[Stmts, gprob.For, gprob.Stmt]:
        """What stands before a loop, the loop with a counter of its own in every iteration, and what stands behind."""
        counter, now = gprob.Var(INT, s.span, name), self.names.helper(name)
        count = _count(s)
        if s.name not in names_in(by):
            before: Stmts = ()
            first = apply("subtract", gprob.Var(INT, s.span, s.name), s.lower)
            begin, total = _plus(counter, _times(first, by)), _times(count, by)
        else:
            before, added, total = self._sums(s, by, count)
            begin = apply("subtract", _plus(counter, _at(added, s, s.name)), by)
        declaration = gprob.Declare(s.span, now, gprob.Sized(INT), None, begin)
        loop = replace(s, body=(declaration, *_renamed(_without_last(s.body, name), name, now)))
        return before, loop, gprob.Assign(s.span, gprob.Place(name, INT, s.span), _plus(counter, total))

    def _sums(self, s: gprob.For, by: gprob.Expr, count: gprob.Expr) -> tuple[Stmts, gprob.Var, gprob.Var]:
        """What the iterations have added with each, the variables that hold these numbers, and all together."""
        many, span = array(INT, 1), s.span
        added = gprob.Var(many, span, self.names.helper("added"))
        total = gprob.Var(INT, span, self.names.helper("total"))
        index = self.names.helper(s.name)
        place = gprob.Place(added.name, many, span, (gprob.Step(INT, (gprob.Single(_number(s, index)),)),))
        each = gprob.Assign(span, place, _read_as(by, {s.name: index}))
        return (
            gprob.Declare(span, added.name, gprob.Sized(many, (count,))),
            gprob.For(span, index, s.lower, s.upper, (each,)),
            gprob.Declare(span, total.name, gprob.Sized(INT), None, apply("sum", added)),
            gprob.Assign(span, gprob.Place(added.name, many, span), apply("cumulative_sum", added)),
        ), added, total  # fmt: skip


class _Added:
    """What statements of a loop add to a counter, told from what the loop does not change; None if it can't be."""

    def __init__(self, loop: gprob.For, name: str):
        self.name, self.loop = name, loop
        self.changed = differing(loop) - {loop.name}
        self.local: dict[str, gprob.Expr] = {}
        for s in loop.body:
            if isinstance(s, gprob.Declare) and s.sized.type == INT and s.value is not None and self._is_once(s.name):
                if (value := self._told(s.value)) is not None:
                    self.local[s.name] = value

    def _is_once(self, name: str) -> bool:
        return sum(name in writes(t) for t in walk_statements(self.loop.body)) == 1

    def of(self, body: Stmts) -> gprob.Expr | None:
        """What all statements of a body add."""
        out: gprob.Expr = gprob.int_const(0, self.loop.span)
        for s in body:
            if self.name not in written((s,)):
                continue
            by = self._statement(s)
            if by is None:
                return None
            out = _plus(out, by)
        return out

    def _statement(self, s: gprob.Stmt) -> gprob.Expr | None:
        """What a statement adds that counts, or one inside of which others do."""
        if isinstance(s, gprob.Assign):
            by = _step(s, self.name)
            return None if by is None else self._told(by)
        if isinstance(s, gprob.If):
            condition, sides = self._told(s.condition), [self.of(b) for b in traversal.bodies(s)]
            then, otherwise = sides
            if condition is None or then is None or otherwise is None:
                return None
            return gprob.Cond(INT, s.span, condition, then, otherwise)
        if isinstance(s, gprob.For):
            each, count = self.of(s.body), self._told(_count(s))
            return None if each is None or count is None else _times(count, each)
        return None

    def _told(self, e: gprob.Expr) -> gprob.Expr | None:
        """An expression of what the loop does not change, in which nothing has effects; None for any other."""
        e = _instead(e, self.local)
        effects = (n for n in traversal.walk(e) if isinstance(n, (gprob.CallUser, gprob.TargetValue)))
        return None if mentions(e, self.changed) or any(effects) else e


def _step(s: gprob.Assign, name: str) -> gprob.Expr | None:
    """What a statement adds to a counter; None if it does something else."""
    value = s.value
    if s.place.name != name or s.place.steps or s.place.base != INT or not isinstance(value, gprob.Apply):
        return None
    operator, parts = value.function.name, value.arguments
    if operator not in ("add", "subtract") or len(parts) != 2:
        return None
    one, other = parts if operator == "subtract" or _is(parts[0], name) else parts[::-1]
    if not _is(one, name) or mentions(other, {name}):
        return None
    return other if operator == "add" else apply("minus", other)


def _is(e: gprob.Expr, name: str) -> bool:
    return isinstance(e, gprob.Var) and e.name == name


def _is_count(s: gprob.Stmt, name: str) -> bool:
    return isinstance(s, (gprob.For, gprob.If)) or isinstance(s, gprob.Assign) and _step(s, name) is not None


def _is_read(name: str, body: Sequence[gprob.Stmt]) -> bool:
    """Whether statements do more with a counter than to count."""
    steps = [t for t in body if isinstance(t, gprob.Assign) and t.place.name == name]
    reading = [t for t in body if not any(t is s for s in steps) and not any(True for _ in traversal.bodies(t))]
    around = [t for t in body if any(True for _ in traversal.bodies(t))]
    heads = [e for t in around for e in _heads(t)]
    return mentions((*reading, *heads), {name})


def _heads(s: gprob.Stmt) -> tuple[gprob.Expr, ...]:
    """What decides how statements inside of one run."""
    if isinstance(s, gprob.For):
        return s.lower, s.upper
    return (s.condition,) if isinstance(s, (gprob.If, gprob.While)) else ()


def _count(s: gprob.For) -> gprob.Expr:
    """How many iterations a loop has."""
    size = s.upper
    if not (isinstance(s.lower, gprob.Const) and s.lower.value == 1):
        size = apply("add", apply("subtract", s.upper, s.lower), gprob.int_const(1, s.span))
    return apply("max", gprob.int_const(0, s.span), size)


def _number(s: gprob.For, index: str) -> gprob.Expr:
    """The number of an iteration, from 1."""
    at = gprob.Var(INT, s.span, index)
    if isinstance(s.lower, gprob.Const) and s.lower.value == 1:
        return at
    return _plus(apply("subtract", at, s.lower), gprob.int_const(1, s.span))


def _at(added: gprob.Var, s: gprob.For, index: str) -> gprob.Expr:
    return gprob.Index(INT, s.span, added, (gprob.Single(_number(s, index)),))


def _plus(a: gprob.Expr, b: gprob.Expr) -> gprob.Expr:
    if isinstance(a, gprob.Const) and a.value == 0:
        return b
    return apply("add", a, b)


def _times(a: gprob.Expr, b: gprob.Expr) -> gprob.Expr:
    if isinstance(b, gprob.Const) and b.value == 1:
        return a
    return apply("multiply", a, b)


def _instead(node: object, values: Mapping[str, gprob.Expr]) -> Any:
    def changed(e: object) -> object:
        return values.get(e.name, e) if isinstance(e, gprob.Var) else e

    return traversal.rewrite(node, changed) if values else node


def _read_as(e: gprob.Expr, names: Mapping[str, str]) -> gprob.Expr:
    out: gprob.Expr = _instead(e, {old: gprob.Var(INT, e.span, new) for old, new in names.items()})
    return out


def _without_last(body: Stmts, name: str) -> Stmts:
    """Statements without those at the end that count for the next iteration."""
    while body and isinstance(body[-1], gprob.Assign) and body[-1].place.name == name:
        body = body[:-1]
    return body


def _renamed(body: Stmts, name: str, now: str) -> Stmts:
    """Statements that have a variable by another name."""
    def changed(node: Any) -> object:
        is_it = isinstance(node, (gprob.Var, gprob.Place)) and node.name == name
        return replace(node, name=now) if is_it else node

    return tuple(traversal.rewrite(s, changed) for s in body)
