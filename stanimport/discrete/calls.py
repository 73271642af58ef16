"""Calls of functions with containers of discrete parameters, replaced by what the functions compute.

A sum over elements inside a function is then one term per element, as outside of it.
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, replace
from typing import Any

from stanlib.types import REAL, dimensions

from ..ir import gprob, traversal, typed, uses
from ..ir.fresh import Fresh
from .components import is_container
from .nodes import substituted, with_names
from .parameters import Stmts, call, variable

_DEEP = 8  # functions that call functions

Functions = Mapping[str, gprob.FunDef]


def without_calls(body: Stmts, tainted: Set[str], functions: Functions, names: Fresh) -> Stmts:
    """The body without calls of such functions, where they compute one value and return it at their end."""
    return tuple(_Calls(tainted, functions, names).block(body, 0))


@dataclass(frozen=True)
class _Calls:
    tainted: Set[str]
    functions: Functions
    names: Fresh

    def block(self, body: Stmts, depth: int) -> Iterator[gprob.Stmt]:
        for s in body:
            s = self.increment(traversal.rewrite_parts(s, lambda e: traversal.rewrite(e, self.whole)))
            found = next(self.calls(s), None) if depth < _DEEP and not traversal.bodies(s) else None
            if found is None:
                yield traversal.with_bodies(s, lambda b: tuple(self.block(b, depth)))
                continue
            made, value = self.inlined(found)
            yield from self.block((*made, _with(s, found, value)), depth + 1)

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

    def calls(self, node: object) -> Iterator[gprob.CallUser]:
        """The calls in a statement that are evaluated in any case."""
        if isinstance(node, gprob.CallUser) and self.can_be(node):
            yield node
        for c in traversal.children(node):
            if not isinstance(node, (gprob.Cond, gprob.Logical)):
                yield from self.calls(c)

    def can_be(self, e: gprob.CallUser) -> bool:
        f = self.functions.get(e.function)
        several = any(is_container(a.type) and uses.mentions(a, self.tainted) for a in e.arguments)
        return f is not None and several and _is_plain(f) and all(map(self.is_simple, e.arguments))

    def is_simple(self, a: gprob.Expr) -> bool:
        """Whether an argument can stand in many places, or be a variable."""
        return _is_part(a) or dimensions(a.type) < 2 or uses.mentions(a, self.tainted)

    def inlined(self, e: gprob.CallUser) -> tuple[Stmts, gprob.Expr]:
        """The statements of a function, and the expression that it returns."""
        f = self.functions[e.function]
        own = dict.fromkeys(n for s in uses.walk_statements(f.body) for n in (*uses.counts(s), *uses.defines(s)))
        body = with_names(f.body, {n: self.names.helper(n) for n in own})
        made: list[gprob.Stmt] = []
        given = {p.name: self.argument(a, made) for p, a in zip(f.parameters, e.arguments)}
        *first, last = substituted(body, given)
        assert isinstance(last, gprob.Return) and last.value is not None
        return (*made, *first), last.value

    def argument(self, a: gprob.Expr, made: list[gprob.Stmt]) -> gprob.Expr:
        if _is_part(a) or is_container(a.type) and uses.mentions(a, self.tainted):
            return a
        shape = (call("size", a.span, a),) if is_container(a.type) else ()
        name = self.names.helper("argument")
        made.append(gprob.Declare(a.span, name, gprob.Sized(a.type, shape), None, a))
        return variable(a.type, a.span, name)


def _is_plain(f: gprob.FunDef) -> bool:
    """Whether a function only computes, and returns once, at its end."""
    allowed = (gprob.Declare, gprob.Assign, gprob.If, gprob.For, gprob.While)
    return bool(f.body) and isinstance(f.body[-1], gprob.Return) and all(
        isinstance(s, allowed) for s in uses.walk_statements(f.body[:-1])
    )  # fmt: skip


def _is_part(e: gprob.Expr) -> bool:
    if isinstance(e, gprob.Promote):
        return _is_part(e.value)
    return isinstance(e, (gprob.Var, gprob.Const)) or isinstance(e, gprob.Index) and _is_part(e.base)


def _with(s: gprob.Stmt, old: gprob.Expr, new: gprob.Expr) -> gprob.Stmt:
    def change(e: gprob.Expr) -> gprob.Expr:
        if e is old:
            return new
        out: gprob.Expr = traversal.rewrite_parts(e, change)
        return out

    out: gprob.Stmt = traversal.rewrite_parts(s, change)
    return replace(out)
