"""Ints that data alone decide and that change from one iteration to the next, such as `pos += length[i];`.

Each iteration's value is recorded beforehand, so that what depends on it can be told when data are known.
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import field, replace

from stanlib.dataclass import dataclass
from stanlib.types import INT, array

from ..ir import gprob, traversal, uses
from ..ir.calls import call, raw
from ..ir.fresh import Fresh
from ..ir.renaming import with_names
from ..ir.traversal import substituted
from .loops import within
from .parameters import Stmts


def without_counters(body: Stmts, tainted: Set[str], static: Set[str], names: Fresh) -> tuple[Stmts, Stmts]:
    """Statements that record the values of counters, and the body that reads what they have recorded."""
    found = _counters(body, static)
    if not found or not any(_meets(s, path, found, tainted) for s, path in within(body)):
        return (), body
    recorder = _Recorder(found, names)
    made = tuple(recorder.block(body, ()))
    return (*recorder.declared(), *recorder.renamed(recorder.known)), made


def _meets(s: gprob.Stmt, path: Sequence[gprob.Stmt], counters: Set[str], tainted: Set[str]) -> bool:
    """Whether counters decide about something that discrete parameters decide about too."""
    read = uses.reads(s).union(*(uses.reads(p) for p in path))
    return bool(read & counters) and bool((read | set(uses.writes(s))) & tainted)


def _counters(body: Stmts, static: Set[str]) -> set[str]:
    """Ints of the body that change, and that depend on data alone."""
    leaves = list(within(body))
    found = {
        s.name for s in body if isinstance(s, gprob.Declare) and s.sized.type == INT and s.value is not None
        and sum(s.name in uses.writes(t) for t, _ in leaves) > 1
    }  # fmt: skip
    while True:
        known = static | found
        wrong = {n for s, path in leaves for n in uses.writes(s) if n in found and not _is_known(s, path, known)}
        if not wrong:
            return found
        found -= wrong


def _is_known(s: gprob.Stmt, path: Sequence[gprob.Stmt], known: Set[str]) -> bool:
    here = set(known)
    for p in path:
        if not isinstance(p, (gprob.For, gprob.If)) or not uses.reads(p) <= here:
            return False
        if uses.breaks((p,)):
            return False
        here.update(uses.counts(p))
    return isinstance(s, (gprob.Declare, gprob.Assign)) and uses.reads(s) <= here


@dataclass
class _Loop:
    """A loop around a record, and the variable for the most iterations that it has."""

    loop: gprob.For
    count: str


@dataclass
class _Recorder:
    counters: Set[str]
    names: Fresh
    known: list[gprob.Stmt] = field(default_factory=list)  # computes the counters, and records them
    loops: list[_Loop] = field(default_factory=list)
    records: list[tuple[str, tuple[_Loop, ...]]] = field(default_factory=list)

    def block(self, body: Stmts, path: tuple[_Loop, ...]) -> Iterator[gprob.Stmt]:
        """The statements with records in place of counters; `known` gets what computes them."""
        now: dict[str, gprob.Expr] = {}
        for s in body:
            changed = uses.written((s,)) & self.counters
            if not changed:
                yield self.replaced(s, now, path)
                continue
            if not traversal.bodies(s):
                self.known.append(s)
                yield s
            elif isinstance(s, gprob.For):
                yield self.loop(s, now, path)
            else:
                assert isinstance(s, gprob.If)
                yield self.branch(s, now, path)
            now.clear()

    def loop(self, s: gprob.For, now: dict[str, gprob.Expr], path: tuple[_Loop, ...]) -> gprob.Stmt:
        head = self.bounded(s, now, path)
        one = _Loop(s, self.names.helper("count"))
        self.loops.append(one)
        outer, self.known = self.known, []
        made = tuple(self.block(s.body, (*path, one)))
        self.known, inner = outer, tuple(self.known)
        self.known.append(replace(s, body=inner))
        return replace(head, body=made)

    def bounded(self, s: gprob.For, now: dict[str, gprob.Expr], path: tuple[_Loop, ...]) -> gprob.For:
        bounds = {n: self.value(n, now, path) for n in uses.names_in((s.lower, s.upper)) & self.counters}
        return replace(s, lower=substituted(s.lower, bounds), upper=substituted(s.upper, bounds))

    def branch(self, s: gprob.If, now: dict[str, gprob.Expr], path: tuple[_Loop, ...]) -> gprob.Stmt:
        """A branch with records in place of counters; `known` gets one that computes them on both sides."""
        condition = substituted(s.condition, self.values(uses.names_in(s.condition), now, path))
        sides, known = [], []
        for side in (s.then, s.otherwise):
            outer, self.known = self.known, []
            sides.append(tuple(self.block(side, path)))
            self.known, inner = outer, tuple(self.known)
            known.append(inner)
        self.known.append(replace(s, then=known[0], otherwise=known[1]))
        return replace(s, condition=condition, then=sides[0], otherwise=sides[1])

    def replaced(self, s: gprob.Stmt, now: dict[str, gprob.Expr], path: tuple[_Loop, ...]) -> gprob.Stmt:
        read = {n for t in uses.walk_statements((s,)) for n in uses.reads(t)}
        values = self.values(read, now, path)
        out: gprob.Stmt = substituted(s, values) if values else s
        return out

    def values(self, read: Set[str], now: dict[str, gprob.Expr], path: tuple[_Loop, ...]) -> dict[str, gprob.Expr]:
        return {n: self.value(n, now, path) for n in sorted(read & self.counters)}

    def value(self, name: str, now: dict[str, gprob.Expr], path: tuple[_Loop, ...]) -> gprob.Expr:
        """What stands for a counter here."""
        if name not in now:
            record, span = self.names.helper(name), path[0].loop.span if path else self.known[0].span
            self.records.append((record, path))
            t = array(INT, len(path))
            steps = (gprob.Step(INT, tuple(self.at(p.loop) for p in path)),) if path else ()
            self.known.append(gprob.Assign(span, gprob.Place(record, t, span, steps), gprob.Var(INT, span, name)))
            whole = gprob.Var(t, span, record)
            now[name] = gprob.Index(INT, span, whole, steps[0].indices) if steps else whole
        return now[name]

    def at(self, loop: gprob.For) -> gprob.Single:
        """The number of an iteration."""
        i: gprob.Expr = gprob.Var(INT, loop.span, loop.name)
        if isinstance(loop.lower, gprob.Const) and loop.lower.value == 1:
            return gprob.Single(i)
        return gprob.Single(_plus_one(call("subtract", loop.span, i, loop.lower)))

    def declared(self) -> Iterator[gprob.Stmt]:
        """Declares the records, with the most iterations that each loop has."""
        for p in self.loops:
            yield gprob.Declare(p.loop.span, p.count, gprob.Sized(INT), None, gprob.int_const(0, p.loop.span))
        if any(path for _, path in self.records):
            yield from self.renamed(tuple(self.counting(self.known)))
        for name, path in self.records:
            span = self.known[0].span
            shape = tuple(gprob.Var(INT, span, p.count) for p in path)
            t = array(INT, len(path))
            start = raw("discrete_filled__", t, span, gprob.int_const(0, span), *shape) if path else None
            yield gprob.Declare(span, name, gprob.Sized(t, shape), None, start or gprob.int_const(0, span))

    def renamed(self, body: Sequence[gprob.Stmt]) -> Stmts:
        """Statements with names of their own for counters and loops."""
        loops = (n for s in uses.walk_statements(tuple(body)) for n in uses.counts(s))
        own = dict.fromkeys((*sorted(self.counters), *loops))
        return with_names(tuple(body), {n: self.names.helper(n) for n in own})

    def counting(self, known: Sequence[gprob.Stmt]) -> Iterator[gprob.Stmt]:
        """The statements that compute counters, with the most iterations of each loop in place of records."""
        records = {name for name, _ in self.records}
        for s in known:
            if isinstance(s, gprob.Assign) and s.place.name in records:
                continue
            if isinstance(s, gprob.For):
                count = next(p.count for p in self.loops if p.loop.name == s.name)
                length = _plus_one(call("subtract", s.span, s.upper, s.lower))
                longest = call("max", s.span, gprob.Var(INT, s.span, count), length)
                yield gprob.Assign(s.span, gprob.Place(count, INT, s.span), longest)
            yield traversal.with_bodies(s, lambda b: tuple(self.counting(b)))


def _plus_one(e: gprob.Expr) -> gprob.Expr:
    return call("add", e.span, e, gprob.int_const(1, e.span))
