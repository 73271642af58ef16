"""The beta function, the incomplete beta function and its inverse, and the quantiles that follow from it.

Source: Stan Functions Reference, "Combinatorial functions", "Probability-related functions" and "Student-t
distribution".
"""
from __future__ import annotations

from ..arrays.base import Array, Namespace
from ..checks import of_reals
from ..domains import NONNEGATIVE, POSITIVE, POSITIVE_FINITE, PROBABILITY, Domain, or_nan
from ..registry import stan_function

NONNEGATIVE_OR_NAN = or_nan("nonnegative", lambda xp, x: x >= 0)
POSITIVE_FINITE_OR_ZERO = Domain("nonnegative and finite", lambda xp, x: (x >= 0) & (x < xp.inf))


@stan_function("R beta(T1 a, T2 b)", examples=[(2.5, 0.5), (-0.5, 1.3)])
@of_reals
def beta(xp: Namespace, a: Array, b: Array) -> Array:
    """The absolute value of gamma(a) gamma(b) / gamma(a + b), of negative arguments, too."""
    positive = (a > 0) & (b > 0)
    p, q = xp.where(positive, 1.5, a), xp.where(positive, 1.5, b)
    continued = xp.lgamma(p) + xp.lgamma(q) - xp.lgamma(p + q)
    return xp.exp(xp.where(positive, xp.betaln(xp.where(positive, a, 1.5), xp.where(positive, b, 1.5)), continued))


@stan_function(
    "R lbeta(T1 a, T2 b)", domains={"a": NONNEGATIVE_OR_NAN, "b": NONNEGATIVE_OR_NAN},
    examples=[(2.5, 0.5), (1e8, 0.5)],
)  # fmt: skip
@of_reals
def lbeta(xp: Namespace, a: Array, b: Array) -> Array:
    """The logarithm of the beta function; of 0 it is infinite."""
    return xp.betaln(a, b)


@stan_function(
    "real inc_beta(real a, real b, real x)",
    domains={"a": POSITIVE_FINITE_OR_ZERO, "b": POSITIVE_FINITE_OR_ZERO, "x": PROBABILITY},
    elementwise=True, examples=[(2.5, 0.5, 0.3)],
)  # fmt: skip
def inc_beta(xp: Namespace, a: Array, b: Array, x: Array) -> Array:
    """The regularised incomplete beta function."""
    return xp.betainc(a, b, x)


@stan_function(
    "real inv_inc_beta(real a, real b, real p)",
    domains={"a": POSITIVE_FINITE, "b": POSITIVE_FINITE, "p": PROBABILITY},
    elementwise=True, examples=[(2.5, 0.5, 0.3)],
)  # fmt: skip
def inv_inc_beta(xp: Namespace, a: Array, b: Array, p: Array) -> Array:
    """The x with inc_beta(a, b, x) = p."""
    return xp.betaincinv(a, b, p)


@stan_function(
    "real_or_vector student_t_qf(reals p, reals nu, reals mu, reals sigma)",
    domains={"p": PROBABILITY, "nu": NONNEGATIVE, "sigma": POSITIVE}, examples=[(0.3, 4.0, 1.0, 2.0)],
)  # fmt: skip
@of_reals
def student_t_qf(xp: Namespace, p: Array, nu: Array, mu: Array, sigma: Array) -> Array:
    """The quantile of p under the Student t distribution."""
    return mu + sigma * xp.student_t_quantile(p, nu)
