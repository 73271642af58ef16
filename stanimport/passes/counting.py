"""`while` over parameters whose counter decides shapes, as a loop over the counter with a `break`, which is unrolled.

A backend that traces control flow knows no shape that depends on a variable of a traced `while`. Where the variable
goes up or down, in steps of constants, to a bound that data tell, every value that it may take is known beforehand:

    int n = 1; while (n <= N && v[n] > 0) { target += log_sum_exp(v[1:n]); n += 1; }

Where steps differ, or `continue` leaves some out, the loop goes through all values, and the body runs for
those that the counter takes. `passes/unknown_sizes.py` refuses what is left.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from stanlib.types import INT

from ..ir import counters, gprob, traversal
from ..ir.calls import apply
from ..ir.uses import mentions, names_in, walk_statements, writes, written
from .binding_times import BindingTimes, shape_expressions
from .nests import Nest
from .surroundings import Surroundings

Stmts = tuple[gprob.Stmt, ...]
_ESCAPES = (gprob.Break, gprob.Continue, gprob.Return)


def run(body: Stmts, around: Surroundings) -> Stmts:
    """The body with such loops in the place of `while`."""
    if not any(isinstance(s, gprob.While) for s in walk_statements(body)):
        return body
    return _block(body, around, around.times(body))


def _block(body: Stmts, around: Surroundings, times: BindingTimes) -> Stmts:
    out: list[gprob.Stmt] = []
    for s in body:
        s = traversal.with_bodies(s, lambda b: _block(b, around, times))
        made = _counted(s, out, around, times) if isinstance(s, gprob.While) else None
        out.append(made or s)
    return tuple(out)


def _counted(s: gprob.While, before: Sequence[gprob.Stmt], around: Surroundings, times: BindingTimes) -> Any:
    """The loop over the counter; None for a `while` that stays one."""
    if not times.is_dynamic(s.condition):
        return None
    changed = written(s.body)
    for found in counters.bounds(s.condition):
        counter, up = found.counter, found.is_above
        first, steps = _first(counter.name, before, times), counters.steps(counter.name, s.body)
        if first is None or times.is_dynamic(found.last) or mentions((found.last, first), changed):
            continue
        if not steps or any((by > 0) != up for by in steps):
            continue
        # what stands before the comparison is evaluated, and may throw, where the counter has passed its bound, too
        distance = apply("subtract", *((found.last, first) if up else (first, found.last)))
        beyond = apply("max", _int(0, s), apply("add", distance, _int(1, s)))
        last = distance if found.is_first else beyond
        loop = gprob.For(s.span, around.names.helper(counter.name), _int(0, s), last, s.body)
        if _decides_shapes(counter.name, loop, times):
            now = apply("add" if up else "subtract", first, gprob.Var(INT, s.span, loop.name))
            return replace(loop, body=_iteration(s, counter, now, set(map(abs, steps)) == {1}))
    return None


def _int(value: int, s: gprob.Stmt) -> gprob.Expr:
    return gprob.int_const(value, s.span)


def _first(name: str, before: Sequence[gprob.Stmt], times: BindingTimes) -> gprob.Expr | None:
    """What the counter begins with, if data tell, and nothing has changed since."""
    for i, s in reversed(list(enumerate(before))):
        value = s.value if isinstance(s, (gprob.Declare, gprob.Assign)) else None
        is_own = isinstance(s, gprob.Declare) and s.name == name or (
            isinstance(s, gprob.Assign) and s.place.name == name and not s.place.steps
        )
        if is_own:
            changed = written(tuple(before[i:]))
            return value if value is not None and not times.is_dynamic(value) and not mentions(value, changed) else None
        if name in written((s,)):
            return None
    return None


def _decides_shapes(name: str, loop: gprob.For, times: BindingTimes) -> bool:
    nest = Nest.of(loop, lambda e: not times.is_dynamic(e))
    shapes = [e for e in shape_expressions(loop.body, nest, times.callees) if times.is_dynamic(e)]
    return any(name in names_in(e) for e in shapes)


def _iteration(s: gprob.While, counter: gprob.Var, now: gprob.Expr, by_one: bool) -> Stmts:
    """The body where the counter has the value `now`; where it goes in longer steps, only in iterations of its own."""
    over = apply("logical_negation", _instead(s.condition, counter.name, now))
    body = (gprob.If(s.span, over, (gprob.Break(s.span),)), *_Known(counter.name, now).block(s.body, 0)[0])
    if by_one and len(counters.steps(counter.name, s.body)) == 1 and _is_top(counter.name, s.body):
        return body
    there = apply("logical_eq", counter, now)
    return (gprob.If(s.span, there, body),)


def _is_top(name: str, body: Stmts) -> bool:
    """Whether every iteration that goes on has counted, in a statement of the body itself."""
    at = next((i for i, s in enumerate(body) if name in writes(s)), len(body))
    return at < len(body) and not any(isinstance(s, gprob.Continue) for s in walk_statements(body[:at]))


class _Known:
    """Statements in which the counter is read as its value `now` and the steps taken since, where these are known."""

    def __init__(self, name: str, now: gprob.Expr):
        self.name, self.now = name, now

    def block(self, body: Stmts, steps: int | None) -> tuple[Stmts, int | None]:
        out = []
        for s in body:
            s, steps = self.statement(s, steps)
            out.append(s)
        return tuple(out), steps

    def statement(self, s: gprob.Stmt, steps: int | None) -> tuple[gprob.Stmt, int | None]:
        """A statement before which so many steps were taken, None if that is not known, and how many behind it."""
        if isinstance(s, gprob.If):
            then, otherwise = self.block(s.then, steps), self.block(s.otherwise, steps)
            ends = {by for made, by in (then, otherwise) if not (made and isinstance(made[-1], _ESCAPES))}
            after = ends.pop() if len(ends) == 1 else None
            return replace(s, condition=self.read(s.condition, steps), then=then[0], otherwise=otherwise[0]), after
        if any(True for _ in traversal.bodies(s)):  # a loop
            known = None if self.name in written((s,)) else steps
            return self.read(s, known), known
        if self.name in writes(s):
            assert isinstance(s, gprob.Assign)
            if steps is None:
                return s, None
            steps += counters.step(self.name, s)
            return replace(s, value=self.value(steps)), steps
        return self.read(s, steps), steps

    def read(self, node: object, steps: int | None) -> Any:
        return node if steps is None else _instead(node, self.name, self.value(steps))

    def value(self, steps: int) -> gprob.Expr:
        return apply("add", self.now, gprob.int_const(steps, self.now.span)) if steps else self.now


def _instead(node: object, name: str, value: gprob.Expr) -> Any:
    """A node that reads `value` where it has read a variable."""
    return traversal.rewrite(node, lambda n: value if isinstance(n, gprob.Var) and n.name == name else n)
