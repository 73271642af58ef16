"""What statements add to the target, as expressions."""
from __future__ import annotations

from collections.abc import Iterator, Set

from stanlib import registry
from stanlib.registry import Function
from stanlib.types import INT, REAL, VECTOR

from ..ir import gprob, traversal, typed, uses
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


def has_probability(s: gprob.Stmt, depending: Set[str]) -> bool:
    """Whether a term is the logarithm of a probability, by a law that tells it, of an outcome that depends on names."""
    term = added(s)
    outcome = term.arguments[0] if isinstance(term, gprob.Apply) and _probability(term) is not None else None
    return outcome is not None and uses.mentions(outcome, depending)


def _probability(term: gprob.Expr) -> gprob.Expr | None:
    """What a term is the logarithm of, if it is the density of a single int by one of these laws, and nothing else."""
    name = term.function.name if isinstance(term, gprob.Apply) else ""
    if not isinstance(term, gprob.Apply) or term.arguments[:1] == () or term.arguments[0].type != INT:
        return None
    if name in ("bernoulli_lpmf", "bernoulli_lupmf") and term.arguments[1].type == REAL:
        return call("bernoulli_pmf__", term.span, *term.arguments)
    if name in ("categorical_lpmf", "categorical_lupmf") and term.arguments[1].type == VECTOR:
        outcome, theta = term.arguments
        simplex = call("discrete_simplex__", term.span, theta)
        return gprob.Index(REAL, term.span, simplex, (gprob.Single(outcome),))
    return None


def multiplied(body: Stmts, name: str) -> Iterator[gprob.Stmt]:
    """The statements with a variable in place of the probability of which a single one adds the logarithm."""
    for s in body:
        if isinstance(s, (typed.Tilde, typed.Increment)):
            value = _probability(added(s))
            assert value is not None
            yield gprob.Assign(s.span, gprob.Place(name, REAL, s.span), value)
        else:
            yield traversal.with_bodies(s, lambda b: tuple(multiplied(b, name)))


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
