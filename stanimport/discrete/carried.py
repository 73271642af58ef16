"""Variables that hold what the iteration before has set: after `before = z[t];` it is z[t - 1] in the next one."""
from __future__ import annotations

from collections.abc import Set
from dataclasses import replace
from typing import Any

from stanlib.types import INT

from ..ir import gprob, traversal, uses
from ..ir.calls import call
from ..ir.likeness import same
from ..ir.traversal import substituted
from .parameters import Stmts


def without_carried(body: Stmts, tainted: Set[str]) -> Stmts:
    """The body with the value itself in place of such variables."""
    body = tuple(traversal.with_bodies(s, lambda b: without_carried(b, tainted)) for s in body)
    for at, s in enumerate(body):
        if isinstance(s, gprob.Declare) and s.name in tainted and s.value is not None and s.site is None:
            users = [i for i in range(at + 1, len(body)) if _mentions(body[i], s.name)]
            loop = body[users[0]] if len(users) == 1 else None
            if isinstance(loop, gprob.For) and (made := _Carried(s, loop, body[at : users[0]]).loop()) is not None:
                return without_carried((*body[:at], *body[at + 1 : users[0]], made, *body[users[0] + 1 :]), tainted)
    return body


def _mentions(s: gprob.Stmt, name: str) -> bool:
    return any(name in uses.reads(t) or name in uses.writes(t) for t in uses.walk_statements((s,)))


class _Carried:
    """A declaration, the loop that alone uses the variable, and the statements from one to the other."""

    def __init__(self, declared: gprob.Declare, loop: gprob.For, between: Stmts):
        self.name, self.loop_ = declared.name, loop
        assert declared.value is not None
        self.start = declared.value
        self.changed = uses.written(between[1:]) | uses.written(loop.body)

    def loop(self) -> gprob.For | None:
        """The loop without the variable; None where it carries on more than one value."""
        loop, name = self.loop_, self.name
        sets = [i for i, s in enumerate(loop.body) if name in uses.written((s,))]
        if len(sets) != 1 or uses.mentions((loop.lower, loop.upper), {name}) or loop.name in uses.names_in(self.start):
            return None
        s = loop.body[sets[0]]
        if not isinstance(s, gprob.Assign) or s.place.steps or uses.mentions(s.value, {name}):
            return None
        if uses.names_in((self.start, s.value)) & self.changed:
            return None
        index = gprob.Var(INT, s.span, loop.name)
        one_less = call("subtract", s.span, index, gprob.int_const(1, s.span))
        previous = folded(substituted(s.value, {loop.name: one_less}))
        first = folded(substituted(previous, {loop.name: loop.lower}))
        if not same(first, self.start):
            begins = call("logical_eq", s.span, index, loop.lower)
            previous = gprob.Cond(s.place.type, s.span, begins, self.start, previous)
        before, after = loop.body[: sets[0]], loop.body[sets[0] + 1 :]
        return replace(loop, body=(*substituted(before, {name: previous}), *substituted(after, {name: s.value})))


def folded(node: object) -> Any:
    """Sums and differences of integers in an expression as integers."""
    return traversal.rewrite(node, _folded)


def _folded(e: object) -> Any:
    """The integer that `2 + 1` or `2 - 1` is, and x of `x + 0`; everything else as it is."""
    if not isinstance(e, gprob.Apply) or e.function.name not in ("add", "subtract") or e.type != INT:
        return e
    a, b = e.arguments
    if not isinstance(b, gprob.Const) or not isinstance(b.value, int):
        return e
    plus = b.value if e.function.name == "add" else -b.value
    if isinstance(a, gprob.Const) and isinstance(a.value, int):
        return gprob.int_const(a.value + plus, e.span)
    return a if plus == 0 else e
