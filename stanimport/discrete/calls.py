"""Calls of functions with containers of discrete parameters, replaced by what the functions compute.

A sum over elements inside a function is then one term per element, as outside of it.
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from typing import Any

from stanlib.dataclass import dataclass
from stanlib.types import REAL, dimensions

from ..ir import gprob, traversal, typed, uses
from ..ir.calls import call
from ..ir.fresh import Fresh
from ..ir.opening import calls_in, ends_once, is_part, opened
from .components import is_container
from .parameters import Stmts

_DEEP = 8  # functions that call functions

Functions = Mapping[str, gprob.FunDef]


def without_calls(body: Stmts, tainted: Set[str], functions: Functions, names: Fresh) -> Stmts:
    """The body without calls of such functions, where they compute one value and return it at their end.

    Those that call themselves stay: in the place of a call there would be others, and calls again at the end.
    """
    once = {name: g for name, f in functions.items() if (g := ends_once(f, names)) is not None and _is_plain(g)}
    plain = {name: f for name, f in once.items() if not _comes_back(name, once)}
    return tuple(_Calls(tainted, plain, names).block(body, 0))


@dataclass(frozen=True)
class _Calls:
    tainted: Set[str]
    functions: Functions
    names: Fresh

    def block(self, body: Stmts, depth: int) -> Iterator[gprob.Stmt]:
        for s in body:
            s = self.increment(traversal.rewrite_parts(s, lambda e: traversal.rewrite(e, self.whole)))
            found = next((e for e in calls_in(s) if self.can_be(e)), None) if depth < _DEEP else None
            if found is None:
                yield traversal.with_bodies(s, lambda b: tuple(self.block(b, depth)))
                continue
            made = opened(s, found, self.functions[found.function], self.stays, self.names)
            yield from self.block(made, depth + 1)

    def increment(self, s: gprob.Stmt) -> gprob.Stmt:
        """`y ~ law(z);` with a law of the program as `target += law_lpdf(y | z);`."""
        if isinstance(s, typed.Tilde) and isinstance(s.distribution.lpdf, str):
            d = s.distribution
            if d.lower is None and d.upper is None and str(d.lpdf) in self.functions:
                value = gprob.CallUser(REAL, s.span, str(d.lpdf), (s.value, *d.arguments))
                if self.can_be(value):
                    return typed.Increment(s.span, "target", value)
        return s

    def whole(self, e: object) -> Any:
        """`reduce_sum(f, x, grainsize, ...)` as f of all of x, where that can be replaced; other nodes as they are."""
        if not isinstance(e, gprob.Apply) or e.function.variadic is None or e.function.variadic.kind != "reduce_sum":
            return e
        f, x, _, *rest = e.arguments
        if not isinstance(f, gprob.FunctionValue) or not isinstance(f.function, str):
            return e
        last = call("size", x.span, x)
        made = gprob.CallUser(e.type, e.span, f.function, (x, gprob.int_const(1, e.span), last, *rest))
        return made if self.can_be(made) else e

    def can_be(self, e: gprob.CallUser) -> bool:
        f = self.functions.get(e.function)
        several = any(is_container(a.type) and uses.mentions(a, self.tainted) for a in e.arguments)
        return f is not None and several and all(map(self.is_simple, e.arguments))

    def is_simple(self, a: gprob.Expr) -> bool:
        """Whether an argument can stand in many places, or be a variable."""
        return is_part(a) or dimensions(a.type) < 2 or uses.mentions(a, self.tainted)

    def stays(self, a: gprob.Expr) -> bool:
        """Whether an argument stands wherever a function reads its parameter."""
        return is_part(a) or is_container(a.type) and uses.mentions(a, self.tainted)


def _comes_back(name: str, functions: Functions) -> bool:
    """Whether a function calls itself, maybe by way of others."""
    waiting = [name]
    for one in waiting:  # which grows
        nodes = traversal.walk(functions[one].body) if one in functions else ()
        called = dict.fromkeys(n.function for n in nodes if isinstance(n, gprob.CallUser))
        waiting += [n for n in called if n not in waiting[1:]]
    return name in waiting[1:]


def _is_plain(f: gprob.FunDef) -> bool:
    """Whether a function only computes."""
    allowed = (gprob.Declare, gprob.Assign, gprob.If, gprob.For, gprob.While, gprob.Return)
    return uses.always_returns(f.body) and all(isinstance(s, allowed) for s in uses.walk_statements(f.body))
