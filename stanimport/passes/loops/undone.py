"""Recurrences of roots or logarithms that read earlier ones as squares or exponentials: they carry what is inside."""
from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from stanlib.types import REAL

from ...ir import gprob, traversal
from ...ir.calls import apply
from ...ir.fresh import Fresh
from .accesses import of_statement
from .carried import Carried


def under_inverse(
    body: tuple[gprob.Stmt, ...], c: Carried, loop: gprob.For, names: Fresh
) -> tuple[gprob.Stmt, ...]:  # fmt: skip
    """`x[n] = sqrt(e)` with x[n - 1] read as `square(x[n - 1])` alone carries e: the root is taken of all n at once.

    What follows a negative e is NaN: where nothing but x does, that is seen to afterwards.
    """
    writes = [s for s in body if any(a.name == c.row for a in of_statement(s))]
    if not c.distance or len(writes) != 1 or not isinstance(writes[0], gprob.Assign) or writes[0].place.steps:
        return body
    value = writes[0].value
    if not isinstance(value, gprob.Apply) or not value.function.inverse or value.type != REAL:
        return body
    inverse, reads = value.function.inverse, set(c.before)
    total = sum(isinstance(n, gprob.Var) and n.name in reads for n in traversal.walk(body))
    if total != sum(_is_call(n, inverse, reads) for n in traversal.walk(body)):
        return body
    c.inverse = inverse
    c.function = value.function.name
    c.loop = loop.name if len(body) == 1 else ""
    e = value.arguments[0]
    kept = (replace(writes[0], value=e),) if c.loop else _defined(writes[0], e, names)
    inside = tuple(t for s in body for t in (kept if s is writes[0] else (s,)))
    undone: Callable[[Any], Any] = lambda n: n.arguments[0] if _is_call(n, inverse, reads) else n
    out: tuple[gprob.Stmt, ...] = traversal.rewrite(inside, undone)
    return out


def _defined(s: gprob.Assign, e: gprob.Expr, names: Fresh) -> tuple[gprob.Stmt, gprob.Stmt]:
    """The assignment of what a root or logarithm is taken of, NaN where that is negative."""
    name, span = names.helper("inside"), e.span
    inside, zero = gprob.Var(REAL, span, name), gprob.Const(REAL, span, 0.0)
    nan = gprob.Const(REAL, span, math.nan)
    value = gprob.Cond(REAL, span, apply("logical_lt", inside, zero), nan, inside)
    return gprob.Declare(span, name, gprob.Sized(REAL), None, e), replace(s, value=value)


def _is_call(node: object, name: str, variables: set[str]) -> bool:
    return (
        isinstance(node, gprob.Apply) and node.function.name == name and isinstance(node.arguments[0], gprob.Var)
        and node.arguments[0].name in variables
    )  # fmt: skip
