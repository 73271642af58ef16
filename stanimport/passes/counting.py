"""`while` with a counter, as a loop over the counter.

Where data tell the bound, and nothing else ends the loop, it is a `for` like any other, with its counter behind it:

    int n = 1; while (n <= N) { target += normal_lpdf(y[n] | mu, 1); n += 1; }

Where parameters end it, too, and the counter decides shapes, it is a `for` with a `break`, which is unrolled. A backend
that traces control flow knows no shape that depends on a variable of a traced `while`. Where the variable goes up or
down, in steps of constants, to a bound that data tell, every value that it may take is known beforehand:

    int n = 1; while (n <= N && v[n] > 0) { target += log_sum_exp(v[1:n]); n += 1; }

Where steps differ, or `continue` leaves some out, the loop goes through all values, and the body runs for
those that the counter takes. `passes/unknown_sizes.py` refuses what is left.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from stanlib.types import INT

from ..ir import counters, gprob, traversal
from ..ir.calls import apply
from ..ir.uses import ESCAPES, breaks, mentions, names_in, walk_statements, writes, written
from .binding_times import BindingTimes, shape_expressions
from .nests import Nest
from .surroundings import Surroundings

Stmts = tuple[gprob.Stmt, ...]


def run(body: Stmts, around: Surroundings) -> Stmts:
    """The body with such loops in the place of `while`."""
    if not any(isinstance(s, gprob.While) for s in walk_statements(body)):
        return body
    of_data = replace(around, traces=False).times(body)  # what depends on data and indices of loops
    body = _block(body, lambda s, before: _plain(s, before, around, of_data))
    if not around.traces:
        return body
    times = around.times(body)
    return _block(body, lambda s, before: _counted(s, before, around, times))


def _block(body: Stmts, change: Callable[[gprob.While, Sequence[gprob.Stmt]], Stmts]) -> Stmts:
    """The statements with what `change` makes of each `while` and those before it; nothing leaves it."""
    out: list[gprob.Stmt] = []
    for s in body:
        s = traversal.with_bodies(s, lambda b: _block(b, change))
        out += (change(s, out) if isinstance(s, gprob.While) else ()) or (s,)
    return tuple(out)


def _plain(s: gprob.While, before: Sequence[gprob.Stmt], around: Surroundings, times: BindingTimes) -> Stmts:
    """The loop over a counter that goes by one to a bound of data, and what the counter is then; else nothing."""
    found = next(iter(counters.bounds(s.condition)), None)
    if found is None or isinstance(s.condition, gprob.Logical) or times.is_dynamic(s.condition):
        return ()
    counter, by = found.counter, 1 if found.is_above else -1
    steps = counters.steps(counter.name, s.body)
    leaves = breaks(s.body)
    if leaves or steps != [by] or not _is_top(counter.name, s.body) or times.draws(found.last):
        return ()
    if mentions(found.last, written(s.body)):
        return ()
    known = _first(counter.name, before, s.body, times)
    first: gprob.Expr = known if isinstance(known, (gprob.Const, gprob.Var)) else counter  # it is written down often
    index = gprob.Var(INT, s.span, around.names.helper(counter.name))
    lower, upper = (first, found.last) if by > 0 else (found.last, first)
    now = index if by > 0 else apply("subtract", apply("add", first, found.last), index)
    loop = gprob.For(s.span, index.name, lower, upper, _Known(counter.name, now).block(s.body, 0)[0])
    body = tuple(t for t in loop.body if counter.name not in writes(t))
    end = apply("max" if by > 0 else "min", first, apply("add", found.last, _int(by, s)))
    place = gprob.Place(counter.name, INT, s.span)
    return replace(loop, body=body), gprob.Assign(s.span, place, end)


def _counted(s: gprob.While, before: Sequence[gprob.Stmt], around: Surroundings, times: BindingTimes) -> Stmts:
    """The loop over the counter; nothing for a `while` that stays one."""
    if not times.is_dynamic(s.condition):
        return ()
    changed = written(s.body)
    for found in counters.bounds(s.condition):
        counter, up = found.counter, found.is_above
        first, steps = _first(counter.name, before, s.body, times), counters.steps(counter.name, s.body)
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
            return (replace(loop, body=_iteration(s, counter, now, set(map(abs, steps)) == {1})),)
    return ()


def _int(value: int, s: gprob.Stmt) -> gprob.Expr:
    return gprob.int_const(value, s.span)


def _first(name: str, before: Sequence[gprob.Stmt], loop: Stmts, times: BindingTimes) -> gprob.Expr | None:
    """What the counter begins with, if data tell, and nothing has changed since or changes in the loop."""
    for i, s in reversed(list(enumerate(before))):
        value = s.value if isinstance(s, (gprob.Declare, gprob.Assign)) else None
        is_own = isinstance(s, gprob.Declare) and s.name == name or (
            isinstance(s, gprob.Assign) and s.place.name == name and not s.place.steps
        )
        if is_own:
            changed = written((*before[i:], *loop))
            return value if value is not None and not times.is_dynamic(value) and not mentions(value, changed) else None
        if name in written((s,)):
            return None
    return None


def _decides_shapes(name: str, loop: gprob.For, times: BindingTimes) -> bool:
    nest = Nest.of(loop, times)
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
            ends = {by for made, by in (then, otherwise) if not (made and isinstance(made[-1], ESCAPES))}
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
