"""`int n = 1; while (n <= N) { ...; n += 1; }` as `for (n in 1:N) ...`, whose iterations can be told apart."""
from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass

from stanlib.types import INT

from ..ir import gprob, traversal, uses
from ..ir.fresh import Fresh
from .nodes import substituted
from .parameters import Stmts, call, variable


def without_whiles(body: Stmts, tainted: Set[str], names: Fresh) -> Stmts:
    """The body with loops over a counter in place of such loops, where discrete parameters stand in them."""
    return tuple(_rewritten(body, frozenset(tainted), names))


def _rewritten(body: Stmts, tainted: Set[str], names: Fresh) -> Iterator[gprob.Stmt]:
    """The statements with such loops; one whose counter is used behind it stays as it is."""
    for at, s in enumerate(body):
        s = traversal.with_bodies(s, lambda b: tuple(_rewritten(b, tainted, names)))
        found = _counted(s) if isinstance(s, gprob.While) and _depends(s, tainted) else None
        if found is None or any(_mentions(t, found.counter) for t in body[at + 1 :]):
            yield s
            continue
        index = names.helper(found.counter)
        inner = substituted(found.body, {found.counter: variable(INT, s.span, index)})
        yield gprob.For(s.span, index, variable(INT, s.span, found.counter), found.upper, inner)


@dataclass(frozen=True)
class _Counted:
    """The counter of a loop, the last value for which it runs, and its body without the step."""

    counter: str
    upper: gprob.Expr
    body: Stmts


def _counted(s: gprob.While) -> _Counted | None:
    """What a loop counts; None where it does not step by 1 at its end up to a bound that it leaves as it is."""
    c = s.condition
    if not isinstance(c, gprob.Apply) or c.function.name not in ("logical_lte", "logical_lt") or not s.body:
        return None
    counter, upper = c.arguments
    if not isinstance(counter, gprob.Var) or (counter.type, upper.type) != (INT, INT):
        return None
    *inner, last = s.body
    changed = uses.written(tuple(inner))
    left = any(isinstance(t, (gprob.Break, gprob.Continue)) for t in uses.walk_statements(s.body))
    if left or not _is_step(last, counter.name) or uses.names_in((counter, upper)) & changed:
        return None
    if uses.mentions(upper, {counter.name}):
        return None
    if c.function.name == "logical_lt":
        upper = call("subtract", s.span, upper, gprob.int_const(1, s.span))
    return _Counted(counter.name, upper, tuple(inner))


def _is_step(s: gprob.Stmt, name: str) -> bool:
    """Whether a statement adds 1 to a variable."""
    if not isinstance(s, gprob.Assign) or s.place.name != name or s.place.steps or not isinstance(s.value, gprob.Apply):
        return False
    a, *others = s.value.arguments
    one = isinstance(others[0], gprob.Const) and others[0].value == 1 if others else False
    return s.value.function.name == "add" and isinstance(a, gprob.Var) and a.name == name and one


def _depends(s: gprob.Stmt, tainted: Set[str]) -> bool:
    return any((uses.reads(t) | set(uses.writes(t))) & tainted for t in uses.walk_statements((s,)))


def _mentions(s: gprob.Stmt, name: str) -> bool:
    return any(name in uses.reads(t) or name in uses.writes(t) for t in uses.walk_statements((s,)))
