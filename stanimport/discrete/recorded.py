"""`while` loops whose steps data alone decide: `while (t > 1) { ...; t -= 1; }`, or with `t = next[t];` at their end.

The values that the steps go through are recorded beforehand, and the loop is one over their number.
"""
from __future__ import annotations

from collections.abc import Set

from stanlib.dataclass import dataclass
from stanlib.types import INT, array

from ..ir import gprob, traversal, uses
from ..ir.calls import call, raw
from ..ir.fresh import Fresh
from ..ir.renaming import renamed, with_names
from ..ir.traversal import substituted
from .parameters import Discrete, Stmts, refuse, variable

_PLAIN = (gprob.Assign, gprob.If)


def with_recorded_steps(body: Stmts, tainted: Set[str], static: Set[str], names: Fresh) -> tuple[Stmts, Stmts]:
    """Statements that record steps, and the body with loops over them.

    Args:
        static: The variables that depend on data alone.
    """
    known: Stmts = ()
    for at, s in enumerate(body):
        if isinstance(s, gprob.While) and _depends(s, tainted):
            found = _steps(s, body, at, static | uses.declared(known))
            if found is not None:
                made, loop, last = found.recorded(names)
                known += made
                body = (*body[:at], loop, *substituted(body[at + 1 :], last))
    return known, body


def _depends(s: gprob.Stmt, tainted: Set[str]) -> bool:
    return any((uses.reads(t) | set(uses.writes(t))) & tainted for t in uses.walk_statements((s,)))


@dataclass(frozen=True)
class _Steps:
    """A loop in two: its statements before the step, and the step; the counters with their first values."""

    loop: gprob.While
    inner: Stmts
    step: Stmts
    start: dict[str, gprob.Expr]

    def recorded(self, names: Fresh) -> tuple[Stmts, gprob.Stmt, dict[str, gprob.Expr]]:
        """Statements that record the counters of every iteration, the loop, and the last value of every counter."""
        span, one = self.loop.span, gprob.int_const(1, self.loop.span)
        count, index = names.helper("steps"), names.helper("step")
        steps, i = variable(INT, span, count), variable(INT, span, index)
        counting = gprob.Assign(span, gprob.Place(count, INT, span), call("add", span, steps, one))
        last = {n: names.helper(n) for n in self.start}
        records = {n: names.helper(n) for n in self.start}
        run = gprob.While(span, self.loop.condition, (*self.step, counting))
        made: list[gprob.Stmt] = [gprob.Declare(span, count, gprob.Sized(INT), None, gprob.int_const(0, span))]
        made += with_names((*self._declared(), run), last)
        t = array(INT, 1)
        for name in records.values():
            zeros = raw("discrete_filled__", t, span, gprob.int_const(0, span), steps)
            made.append(gprob.Declare(span, name, gprob.Sized(t, (steps,)), None, zeros))
        at = gprob.Step(INT, (gprob.Single(i),))
        sets = tuple(
            gprob.Assign(span, gprob.Place(r, t, span, (at,)), variable(INT, span, n)) for n, r in records.items()
        )  # fmt: skip
        again = gprob.For(span, index, one, steps, (*sets, *self.step))
        made += renamed((*self._declared(), again), names)
        here: dict[str, gprob.Expr] = {
            n: gprob.Index(INT, span, variable(t, span, r), at.indices) for n, r in records.items()
        }
        loop = gprob.For(span, index, one, steps, substituted(self.inner, here))
        return tuple(made), loop, {n: variable(INT, span, name) for n, name in last.items()}

    def _declared(self) -> Stmts:
        return tuple(gprob.Declare(e.span, n, gprob.Sized(INT), None, e) for n, e in self.start.items())


def _steps(s: gprob.While, body: Stmts, at: int, static: Set[str]) -> _Steps | None:
    """The steps of a loop; None where data alone do not decide them, or they do not stand at its end."""
    start: dict[str, gprob.Expr] = {}
    for t in body[:at]:
        if isinstance(t, gprob.Declare) and t.sized.type == INT and t.name in uses.written(s.body):
            if t.value is None or not uses.names_in(t.value) <= static:
                return None
            start[t.name] = t.value
    number = len(s.body)
    while number and _is_step(s.body[number - 1], start.keys(), static):
        number -= 1
    inner, step = s.body[:number], s.body[number:]
    changed = uses.written(step)
    start = {n: e for n, e in start.items() if n in changed}
    others = uses.written((*body[at + 1 :], *inner)) | {n for t in body[:at] for n in _set(t)}
    left = uses.breaks(s.body)
    if left or changed & others or not uses.names_in(s.condition) <= static | changed or not changed:
        return None
    return _Steps(s, inner, step, start)


def _set(s: gprob.Stmt) -> set[str]:
    """What a statement assigns to, but for its declarations."""
    return uses.written((s,)) - ({s.name} if isinstance(s, gprob.Declare) else set())


def _is_step(s: gprob.Stmt, counters: Set[str], static: Set[str]) -> bool:
    """Whether a statement sets counters from data and counters."""
    inner = list(uses.walk_statements((s,)))
    read = {n for t in inner for n in uses.reads(t)}
    return all(isinstance(t, _PLAIN) for t in inner) and uses.written((s,)) <= counters and read <= static | counters


def verify_steps(body: Stmts, discrete: dict[str, Discrete]) -> None:
    """
    Raises:
        StanSemanticError: for a `while` loop that goes from one element of a discrete parameter to others by itself.
    """
    for s in body:  # one inside of another loop or branch has a table over all elements, if that is small enough
        if not isinstance(s, gprob.While):
            continue
        changed = uses.written(s.body) | uses.loop_indices(s.body)
        for e in traversal.walk(s.body):
            if not isinstance(e, gprob.Index) or not isinstance(e.base, gprob.Var) or e.base.name not in discrete:
                continue
            if uses.mentions(e.indices, changed):
                message = f"a while loop can't go over elements of {e.base.name!r} in steps that it decides itself"
                hint = "write a for loop, or let data alone decide the steps, at the end of the loop"
                refuse(message, s.span, hint)
