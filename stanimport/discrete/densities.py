"""What statements add to the target, as expressions."""
from __future__ import annotations

from collections.abc import Iterator

from stanlib import registry
from stanlib.registry import Function
from stanlib.types import INT, REAL

from ..ir import gprob, traversal, typed
from ..ir.calls import call
from ..ir.fresh import stem
from .parameters import Stmts


def added(s: gprob.Stmt) -> gprob.Expr:
    """The term of `y ~ law;` or `target += term;`, a real."""
    if isinstance(s, typed.Increment):
        value = s.value
        if value.type == INT:
            return gprob.Promote(REAL, s.span, value)
        return value if value.type == REAL else call("sum", s.span, value)
    assert isinstance(s, typed.Tilde)
    d = s.distribution
    density = _applied(d.lpdf, s.value, d, s)
    return density if d.lower is None and d.upper is None else _truncated(s, density)


def summed(body: Stmts, name: str) -> Iterator[gprob.Stmt]:
    """The statements with a variable in place of the target."""
    for s in body:
        if isinstance(s, (typed.Tilde, typed.Increment)):
            total = call("add", s.span, gprob.Var(REAL, s.span, name), added(s))
            yield gprob.Assign(s.span, gprob.Place(name, REAL, s.span), total)
        else:
            yield traversal.with_bodies(s, lambda b: tuple(summed(b, name)))


def _applied(f: Function | str, outcome: gprob.Expr, d: gprob.Distribution, s: typed.Tilde) -> gprob.Expr:
    arguments = (outcome, *d.arguments)
    if isinstance(f, Function):
        if outcome.type == INT and tuple(a.type for a in arguments) not in registry.exact(f.name):
            arguments = (gprob.Promote(REAL, outcome.span, outcome), *d.arguments)
        return gprob.Apply(REAL, s.span, f, arguments)
    return gprob.CallUser(REAL, s.span, f, arguments)


def _truncated(s: typed.Tilde, density: gprob.Expr) -> gprob.Expr:
    """The density over the probability between the bounds, -inf outside of them."""
    d = s.distribution
    outside: gprob.Expr | None = None
    for bound, comparison in ((d.lower, "logical_lt"), (d.upper, "logical_gt")):
        if bound is not None:
            one = call(comparison, s.span, s.value, bound)
            outside = one if outside is None else gprob.Logical(INT, s.span, "||", outside, one)
    assert outside is not None
    value = call("subtract", s.span, density, _log_probability(s))
    return gprob.Cond(REAL, s.span, outside, call("negative_infinity", s.span), value)


def _log_probability(s: typed.Tilde) -> gprob.Expr:
    """The log probability of what lies within the bounds, of which ints include the lower one too."""
    d = s.distribution
    name = d.lpdf.name if isinstance(d.lpdf, Function) else stem(d.lpdf)
    below = d.lower
    if below is not None and name.endswith("_lpmf"):
        below = call("subtract", s.span, below, gprob.int_const(1, s.span))
    if d.upper is None:
        assert below is not None and d.lccdf is not None
        return _applied(d.lccdf, below, d, s)
    assert d.lcdf is not None
    top = _applied(d.lcdf, d.upper, d, s)
    return top if below is None else call("log_diff_exp", s.span, top, _applied(d.lcdf, below, d, s))
