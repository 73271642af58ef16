"""What data alone decide in a loop that the backend traces, computed in a loop of its own where shapes depend on it.

    for (n in 1:N) { x = tanh(x) + b[n] * k; if (y[n] > 0) k = n; }
    for (n in 1:k) ...

Nothing that a traced loop assigns to is known while a model is traced, though k depends on the data y alone. So

    k_ = k; for (n in 1:N) if (y[n] > 0) k = n;         // which runs in Python
    for (n in 1:N) { x = tanh(x) + b[n] * k_; if (y[n] > 0) k_ = n; }

where the second loop needs no k_ if nothing in it reads that.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import replace
from typing import Any

from ...ir import gprob, traversal
from ...ir.gprob import Loop
from ...ir.uses import declared, escapes, leaves, names_in, reads, walk_statements, writes, written
from ..binding_times import BindingTimes, own_shapes
from ..surroundings import Surroundings

Stmts = tuple[gprob.Stmt, ...]
_SETS = (gprob.Declare, gprob.Assign)


def run(body: Stmts, around: Surroundings) -> Stmts:
    """The body with such loops in front of those that are traced."""
    if not around.traces or not any(isinstance(s, gprob.For) for s in walk_statements(body)):
        return body
    asked = _asked(body, around)
    if not asked & {n for s in walk_statements(body) if isinstance(s, gprob.For) for n in written(s.body)}:
        return body
    return tuple(_Decided(around, body, asked).block(body))


def _asked(body: Stmts, around: Surroundings) -> set[str]:
    """The variables that decide shapes, or how often loops run, and those that their values come from."""
    found: set[str] = set()
    for s in walk_statements(body):
        if isinstance(s, gprob.For):
            found |= names_in((s.lower, s.upper))
        found |= names_in(tuple(own_shapes(s, around.functions)))
    return _with_sources(body, found)


def _with_sources(body: Stmts, names: set[str]) -> set[str]:
    """Some variables, and those that their values in a body come from."""
    found = set(names)
    while True:
        before = len(found)
        for leaf, path in leaves(body):
            if found.intersection(writes(leaf)):
                found |= reads(leaf).union(*(reads(p) for p in path))
        if len(found) == before:
            return found


class _Decided:
    """`known` tells what is data, the indices of loops among them; `traced` what is known while a model is traced."""

    def __init__(self, around: Surroundings, body: Stmts, asked: Set[str]):
        self.around, self.asked, self.sizes = around, asked, around.sizes_in(body)
        self.traced = around.times(body)
        self.known: BindingTimes = replace(around, traces=False).times(body)

    def block(self, body: Sequence[gprob.Stmt]) -> Iterator[gprob.Stmt]:
        """The statements of a block that is in no loop."""
        for s in body:
            if isinstance(s, gprob.For):
                yield from self.loop(s)
            elif isinstance(s, gprob.If) and not self.known.is_dynamic(s.condition):
                yield traversal.with_bodies(s, lambda b: tuple(self.block(b)))
            else:
                yield s

    def loop(self, s: gprob.For) -> Iterator[gprob.Stmt]:
        """A loop, with what data decide in it in front, and other names for that inside of it."""
        parts = self._parts(s) if self._is_traced(s) else set()
        own = sorted(parts - declared(s.body))
        if not self.asked & set(own):
            yield s
            return
        rest = _without_unread(s, parts)
        names = {n: self.around.names.helper(n) for n in own if n in written(rest.body)}
        for n, new in names.items():
            sized = self.sizes[n]
            yield gprob.Declare(s.span, new, sized, None, gprob.Var(sized.type, s.span, n))
        yield self._slice(s, parts)
        yield _named(rest, names)

    def _is_traced(self, s: gprob.For) -> bool:
        """Whether the backend traces a loop of which data tell how often it runs."""
        bounds = (s.lower, s.upper)
        return self.traced.loops.get(id(s)) == Loop.TRACED and not any(map(self.known.is_dynamic, bounds))

    def _parts(self, s: gprob.For) -> set[str]:
        """The variables asked for that data decide in a loop, and those that decide them there."""
        if escapes(s.body):
            return set()
        inside = written(s.body)
        decided = {n for n in inside if n in self.asked} - self._changing(s)
        return _with_sources(s.body, decided) & inside  # none of which changes: what reads such a one does too

    def _changing(self, s: gprob.For) -> set[str]:
        """What a loop writes that depends on more than data."""
        found: set[str] = set()
        while True:
            before = len(found)
            for leaf, path in leaves(s.body):
                if not isinstance(leaf, _SETS) or any(self._moves(t, found) for t in (leaf, *path)):
                    found.update(writes(leaf))
            if len(found) == before:
                return found

    def _moves(self, s: gprob.Stmt, changing: Set[str]) -> bool:
        """Whether what a statement itself computes depends on more than data."""
        own: list[Any] = [c for c in traversal.children(s) if not isinstance(c, gprob.Stmt)]
        moves = any(self.known.is_dynamic(c) or self.known.draws(c) for c in own)
        return moves or isinstance(s, gprob.While) or bool(reads(s) & changing)

    def _slice(self, s: gprob.For, parts: set[str]) -> gprob.For:
        """The loop with what sets some variables alone; its own variables have names of their own."""
        body = tuple(_only(s.body, lambda t: bool(parts.intersection(writes(t)))))
        own = [s.name, *(t.name for t in walk_statements(body) if isinstance(t, (gprob.For, gprob.Declare)))]
        names = {n: self.around.names.helper(n) for n in dict.fromkeys(own)}
        return _named(replace(s, body=body), names)


def _without_unread(s: gprob.For, parts: set[str]) -> gprob.For:
    """The loop without what sets those variables that nothing else in it reads, its bounds among it."""
    needed = names_in((s.lower, s.upper))
    while True:
        before = len(needed)
        for leaf, path in leaves(s.body):
            if not parts.issuperset(writes(leaf)) or needed.intersection(writes(leaf)) or not writes(leaf):
                needed |= reads(leaf).union(*(reads(p) for p in path))
        if len(needed) == before:
            break
    unread = parts - needed
    return replace(s, body=tuple(_only(s.body, lambda t: not writes(t) or not unread.issuperset(writes(t)))))


def _only(body: Stmts, kept: Callable[[gprob.Stmt], bool]) -> Iterator[gprob.Stmt]:
    """Some of the statements, with the loops and branches around."""
    for s in body:
        if traversal.bodies(s):
            inner = traversal.with_bodies(s, lambda b: tuple(_only(b, kept)))
            if any(traversal.bodies(inner)):
                yield inner
        elif kept(s):
            yield s


def _named(s: gprob.For, names: dict[str, str]) -> gprob.For:
    """A loop with other names for some variables."""

    def change(node: object) -> object:
        if isinstance(node, (gprob.Var, gprob.Place, gprob.For, gprob.Declare)) and node.name in names:
            return replace(node, name=names[node.name])
        return node

    out: object = traversal.rewrite(s, change)
    assert isinstance(out, gprob.For)
    return out
