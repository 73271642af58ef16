"""`int n = 1; while (n <= N) { ...; n += 1; }` as `for (n in 1:N) ...`, whose iterations can be told apart."""
from __future__ import annotations

from collections.abc import Set
from functools import partial

from stanlib.dataclass import dataclass
from stanlib.types import INT

from ..ir import counters, gprob, traversal, uses
from ..ir.fresh import Fresh
from ..ir.traversal import substituted
from .parameters import Stmts, variable


def without_whiles(body: Stmts, tainted: Set[str], names: Fresh) -> Stmts:
    """The body with loops over a counter in place of such loops, where discrete parameters stand in them."""
    return _rewritten(body, body, frozenset(tainted), names, False)


def _rewritten(body: Stmts, whole: Stmts, tainted: Set[str], names: Fresh, repeats: bool) -> Stmts:
    """The statements of a body of the whole with such loops; `repeats` says whether the body is run several times."""
    out: list[gprob.Stmt] = []
    for at, old in enumerate(body):
        again = repeats or isinstance(old, (gprob.For, gprob.ForEach, gprob.While))
        inside = partial(_rewritten, whole=whole, tainted=tainted, names=names, repeats=again)
        s = traversal.with_bodies(old, inside)
        found = _counted(s) if isinstance(s, gprob.While) and _depends(s, tainted) else None
        if found is not None and _is_forgotten(found.counter, body[:at], old, whole, repeats):
            index = names.helper(found.counter)
            inner = substituted(found.body, {found.counter: variable(INT, s.span, index)})
            s = gprob.For(s.span, index, variable(INT, s.span, found.counter), found.upper, inner)
        out.append(s)
    return tuple(out)


@dataclass(frozen=True)
class _Counted:
    """The counter of a loop, the last value for which it runs, and its body without the step."""

    counter: str
    upper: gprob.Expr
    body: Stmts


def _counted(s: gprob.While) -> _Counted | None:
    """What a loop counts; None where it does not step by 1 at its end up to a bound that it leaves as it is."""
    if isinstance(s.condition, gprob.Logical) or not s.body:
        return None
    if uses.breaks(s.body):
        return None
    *inner, last = s.body
    changed = uses.written(tuple(inner))
    for bound in counters.bounds(s.condition):
        name = bound.counter.name
        is_left = name not in changed and not uses.mentions(bound.last, {*changed, name})
        if bound.is_above and is_left and counters.step(name, last) == 1:
            return _Counted(name, bound.last, tuple(inner))
    return None


def _depends(s: gprob.Stmt, tainted: Set[str]) -> bool:
    return any((uses.reads(t) | set(uses.writes(t))) & tainted for t in uses.walk_statements((s,)))


def _is_forgotten(name: str, before: Stmts, s: gprob.Stmt, whole: Stmts, repeats: bool) -> bool:
    """Whether nothing asks for a counter's value after its loop: nothing mentions it but the loop and what stands
    before it, which sets it anew where that is run again."""
    if _mentions(whole, name) != _mentions((*before, s), name):
        return False
    first = next((t for t in before if _mentions((t,), name) or isinstance(t, gprob.Declare) and t.name == name), None)
    return not repeats or isinstance(first, gprob.Declare) or _sets_anew(first, name)


def _sets_anew(s: gprob.Stmt | None, name: str) -> bool:
    return isinstance(s, gprob.Assign) and not s.place.steps and name not in uses.reads(s)


def _mentions(body: Stmts, name: str) -> int:
    """How many statements use or set a variable, besides declarations."""
    inner = (t for t in uses.walk_statements(body) if not isinstance(t, gprob.Declare) or name in uses.reads(t))
    return sum(name in uses.reads(t) or name in uses.writes(t) for t in inner)
