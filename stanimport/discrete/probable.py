"""Tables of probabilities, which moves of chains are: their logarithms would be taken only to be undone.

`z[t] ~ bernoulli(phi * z[t - 1])` has a table of phi and 1 - phi.
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

from stanlib.types import INT, REAL, VECTOR

from ..ir import gprob, traversal, typed, uses
from ..ir.calls import call
from ..source import Span
from .densities import added, summed
from .parameters import Stmts
from .sites import Site
from .terms import Term


def is_probable(term: Term, sites: Sequence[Site], loops: Sequence[gprob.For], discrete: Set[str]) -> bool:
    """Whether a term is the logarithm of a probability, that of one of several elements given others.

    One that stands for some values of elements only is not: chains that never leave a state are summed in logarithms.
    """
    if any(isinstance(s, gprob.If) and uses.mentions(s.condition, discrete) for s in term.path):
        return False
    if len(sites) < 2 or any(s.missing or s.guards for s in sites) or term.changed:
        return False
    if sum(isinstance(s, (gprob.For, gprob.While)) for s in term.path) > len(loops):
        return False  # a sum of several of them
    one = added(term.statement)
    outcome = one.arguments[0] if isinstance(one, gprob.Apply) and _probability(one) is not None else None
    return outcome is not None and uses.mentions(outcome, discrete)


def valued(body: Stmts, name: str, probable: bool, span: Span) -> Iterator[gprob.Stmt]:
    """The statements with a variable in place of the target, or of the probability that it adds the logarithm of."""
    yield gprob.Declare(span, name, gprob.Sized(REAL), None, gprob.Const(REAL, span, float(probable)))
    yield from (_multiplied if probable else summed)(body, name)


def _multiplied(body: Stmts, name: str) -> Iterator[gprob.Stmt]:
    """The statements with a variable in place of the probability of which a single one adds the logarithm."""
    for s in body:
        if isinstance(s, (typed.Tilde, typed.Increment)):
            value = _probability(added(s))
            assert value is not None
            yield gprob.Assign(s.span, gprob.Place(name, REAL, s.span), value)
        else:
            yield traversal.with_bodies(s, lambda b: tuple(_multiplied(b, name)))


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
