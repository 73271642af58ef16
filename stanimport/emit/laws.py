"""Laws as Python expressions: distributions of the backend, and what normalises truncated ones."""
from __future__ import annotations

import ast

from stanlib.registry import Function

from ..ir import gprob
from ..ir.fresh import stem
from .asty import Builder
from .expressions import Expressions


def distribution(expr: Expressions, d: gprob.Distribution, b: Builder) -> ast.expr:
    arguments = [expr(a) for a in d.arguments]
    made = b.call(f"dist.{d.family}", *arguments)
    if d.lower is None and d.upper is None:
        return made
    if d.is_half:
        return b.call("ppl.half", made, *truncation_bounds(expr, d, b))
    function = "ppl.restrict" if d.on_domain else "ppl.truncate"
    return b.call(function, made, log_normalizer(expr, d, b), *truncation_bounds(expr, d, b))


def truncation_bounds(expr: Expressions, d: gprob.Distribution, b: Builder) -> list[ast.expr]:
    lower = b.const(None) if d.lower is None else expr(d.lower)
    return [lower] if d.upper is None else [lower, expr(d.upper)]


def log_normalizer(expr: Expressions, d: gprob.Distribution, b: Builder) -> ast.expr:
    """The log probability between the bounds of a truncation, one entry per observation."""
    arguments = [expr(a) for a in d.arguments]
    discrete = d.lpdf.name.endswith("_lpmf") if isinstance(d.lpdf, Function) else stem(d.lpdf).endswith("_lpmf")
    below = None
    if d.lower is not None:
        below = expr(d.lower)
        below = b.binary(below, "-", b.const(1)) if discrete else below
    if d.upper is None:
        assert below is not None
        return cumulative(expr, d.lccdf, below, arguments, b)
    top = cumulative(expr, d.lcdf, expr(d.upper), arguments, b)
    if below is None:
        return top
    return b.call("fn.log_diff_exp", top, cumulative(expr, d.lcdf, below, arguments, b))


def cumulative(
    expr: Expressions, f: Function | str | None, bound: ast.expr, arguments: list[ast.expr], b: Builder
) -> ast.expr:
    if isinstance(f, Function):
        return b.call("ppl.terms", b.dotted(f"fn.{f.symbol}"), bound, *arguments)
    assert f is not None
    return expr.called(expr.functions.identifier(f), [bound, *arguments], b)
