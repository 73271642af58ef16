"""`while` over parameters whose counter decides shapes, as a loop over the counter with a `break`, which is unrolled.

A backend that traces control flow knows no shape that depends on a variable of a traced `while`. Where the variable
only counts up to a bound that data tell, every value that it takes is known beforehand:

    int n = 1; while (n <= N && v[n] > 0) { target += log_sum_exp(v[1:n]); n += 1; }
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from stanlib.types import INT

from ..ir import gprob, traversal
from ..ir.uses import mentions, names_in, walk_statements, writes, written
from .binding_times import BindingTimes, shape_expressions
from .nests import Nest
from .normalize import apply
from .surroundings import Surroundings

Stmts = tuple[gprob.Stmt, ...]
_BELOW = {"logical_lt": False, "logical_lte": True}  # comparisons with a bound, and whether they include it


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
    for counter, bound, is_first in _bounds(s.condition):
        first = _first(counter.name, before, times)
        at = _step(counter, s.body)
        if first is None or at is None or times.is_dynamic(bound) or mentions(bound, written(s.body)):
            continue
        # what stands before the comparison is evaluated, and may throw, where the counter has passed its bound, too
        passed = apply("add", INT, (bound, gprob.int_const(1, s.span)))
        last = bound if is_first else apply("max", INT, (first, passed))
        loop = gprob.For(s.span, around.names.helper(counter.name), first, last, s.body)
        if _decides_shapes(counter.name, loop, times):
            return replace(loop, body=_iteration(s, loop.name, counter, at))
    return None


def _bounds(condition: gprob.Expr, is_first: bool = True) -> Iterator[tuple[gprob.Var, gprob.Expr, bool]]:
    """Variables that a condition compares with a bound, the largest value below it, and whether that comes first."""
    if isinstance(condition, gprob.Logical) and condition.operator == "&&":
        yield from _bounds(condition.left, is_first)
        yield from _bounds(condition.right, False)
    elif isinstance(condition, gprob.Apply) and condition.function.name in _BELOW:
        counter, bound = condition.arguments
        if isinstance(counter, gprob.Var) and counter.type == bound.type == INT:
            if not _BELOW[condition.function.name]:
                bound = apply("subtract", INT, (bound, gprob.int_const(1, bound.span)))
            yield counter, bound, is_first


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


def _step(counter: gprob.Var, body: Stmts) -> int | None:
    """Which statement of the body counts, where only one does, by one and in every iteration."""
    if [n for s in walk_statements(body) for n in writes(s)].count(counter.name) != 1:
        return None
    if any(isinstance(s, gprob.Continue) for s in walk_statements(body)):
        return None
    for i, s in enumerate(body):
        if isinstance(s, gprob.Assign) and s.place.name == counter.name and not s.place.steps:
            value = s.value
            is_one = isinstance(value, gprob.Apply) and value.function.name == "add" and {
                _plain(a) for a in value.arguments
            } == {counter.name, 1}  # fmt: skip
            return i if is_one else None
    return None


def _plain(e: gprob.Expr) -> object:
    return e.name if isinstance(e, gprob.Var) else e.value if isinstance(e, gprob.Const) else None


def _decides_shapes(name: str, loop: gprob.For, times: BindingTimes) -> bool:
    nest = Nest.of(loop, lambda e: not times.is_dynamic(e))
    shapes = [e for e in shape_expressions(loop.body, nest, times.callees) if times.is_dynamic(e)]
    return any(name in names_in(e) for e in shapes)


def _iteration(s: gprob.While, index: str, counter: gprob.Var, at: int) -> Stmts:
    """The body where the counter is the loop's index, and one more behind the statement that counts."""
    now = gprob.Var(INT, s.span, index)
    then = apply("add", INT, (now, gprob.int_const(1, s.span)))
    over = apply("logical_negation", INT, (_instead(s.condition, counter.name, now),))
    step = s.body[at]
    assert isinstance(step, gprob.Assign)
    return (
        gprob.If(s.span, over, (gprob.Break(s.span),)),
        *(_instead(t, counter.name, now) for t in s.body[:at]), replace(step, value=then),
        *(_instead(t, counter.name, then) for t in s.body[at + 1 :]),
    )  # fmt: skip


def _instead(node: Any, name: str, value: gprob.Expr) -> Any:
    """A node that reads `value` where it has read a variable."""
    return traversal.rewrite(node, lambda n: value if isinstance(n, gprob.Var) and n.name == name else n)
