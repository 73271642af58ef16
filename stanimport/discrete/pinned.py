"""Terms that can be tabulated for an element that is 0 though data say that it is 1: none of their laws throws there.

    for (t in 2:T) z[t] ~ bernoulli(z[t - 1] * phi);        // array[T] int<lower=seen, upper=1> z

What the table says of values beyond the bounds of an element counts for nothing. Without a condition on them it is the
same for all elements, and XLA fills it at once.
"""
from __future__ import annotations

from typing import Any

from ..ir import gprob, traversal, typed, uses
from .parameters import Stmts
from .sites import Site
from .terms import LEAVES_THAT_ADD
from .zeros import simpler

_LAWS = ("bernoulli_lpmf", "bernoulli_logit_lpmf")


def may_be_zero(s: Site, body: Stmts) -> bool:
    """Whether a site is one of elements up to 1 whose lower bounds data give, and a term throws at 0 only if at 1."""
    lower, upper = s.discrete.bound("lower"), s.discrete.bound("upper")
    if s.missing or s.guards or isinstance(lower, gprob.Const) or not isinstance(upper, gprob.Const):
        return False
    return upper.value == 1 and _is_harmless(body, s.index, False)


def _is_harmless(body: Stmts, index: str, chosen: bool) -> bool:
    """Whether statements throw where the value is 0 only if they do for others; `chosen` are those for 0 alone."""
    return all(_is_harmless_one(s, index, chosen) for s in body)


def _is_harmless_one(s: gprob.Stmt, index: str, chosen: bool) -> bool:
    """The same of one statement."""
    if isinstance(s, gprob.For):
        return not uses.mentions((s.lower, s.upper), {index}) and _is_harmless(s.body, index, chosen)
    if isinstance(s, gprob.If):
        if not uses.mentions(s.condition, {index}):
            return all(_is_harmless(b, index, chosen) for b in (s.then, s.otherwise))
        condition = _at_zero(s.condition, index)
        if not isinstance(condition, gprob.Const):
            return False
        return _is_harmless(s.then if condition.value else s.otherwise, index, True)
    return isinstance(s, LEAVES_THAT_ADD) and _is_harmless_law(s, index, chosen)


def _is_harmless_law(s: gprob.Stmt, index: str, chosen: bool) -> bool:
    """Whether a term is data, or a law of 0 or 1 whose probability has no part in the value, or is a number."""
    if isinstance(s, typed.Increment) and isinstance(_at_zero(s.value, index), gprob.Const):
        return True
    if isinstance(s, typed.Increment) and gprob.is_density(s.value):
        name, arguments = s.value.function.name, s.value.arguments[1:]
    elif isinstance(s, typed.Tilde) and s.distribution.lower is None and s.distribution.upper is None:
        name, arguments = getattr(s.distribution.lpdf, "name", ""), s.distribution.arguments
    else:
        return False
    given = (isinstance(_at_zero(a, index), gprob.Const) if chosen or uses.mentions(a, {index}) else True
             for a in arguments)  # fmt: skip
    return name in _LAWS and all(given)


def _at_zero(e: gprob.Expr, index: str) -> gprob.Expr:
    def changed(n: object) -> Any:
        return gprob.int_const(0, n.span) if isinstance(n, gprob.Var) and n.name == index else simpler(n)

    out: gprob.Expr = traversal.rewrite(e, changed)
    return out
