"""The beta negative binomial distribution. Source: Stan Functions Reference, "Beta negative binomial distribution"."""
from __future__ import annotations

from typing import Any

from ..arrays.base import Array, Namespace, Real
from ..distribution import Native, stan_distribution
from ..domains import NONNEGATIVE, POSITIVE_FINITE
from ..random.base import Random
from ._counts import poisson_counts
from ._heavy_tails import log_sum_above
from ._rising import log_beta, log_rising
from ._terms import inner, known_maximum, outcomes, within

_LOG_HALF = -0.6931471805599453


@stan_distribution(
    "real beta_neg_binomial_lpmf(ints n | reals r, reals alpha, reals beta)",
    rng=["int_or_array beta_neg_binomial_rng(reals r, reals alpha, reals beta)"],
    support="natural",
    domains={"r": POSITIVE_FINITE, "alpha": POSITIVE_FINITE, "beta": POSITIVE_FINITE},
    variate={"lpmf": NONNEGATIVE},
    native=Native("BetaNegativeBinomial", ("beta", "alpha", "r"), pyro=None),
    examples=[(3, 1.3, 1.7, 0.8), (0, 0.4, 0.5, 2.0)],
)
class beta_neg_binomial:
    """Failures before the r-th success, if the success probability is beta distributed."""

    @staticmethod
    def lpmf(xp: Namespace, n: Array, r: Array, alpha: Array, beta: Array) -> Array:
        inside = n >= 0
        n = inner(xp, inside, n, 0)
        weight = log_rising(xp, beta, n) - xp.lgamma(n + 1.0)
        return within(xp, inside, weight + log_beta(xp, n + r, alpha + beta) - log_beta(xp, r, alpha))

    @staticmethod
    def cdf(xp: Namespace, n: Array, r: Array, alpha: Array, beta: Array) -> Array:
        return xp.exp(_log_lower(xp, n, r, alpha, beta))

    @staticmethod
    def lcdf(xp: Namespace, n: Array, r: Array, alpha: Array, beta: Array) -> Array:
        return _log_lower(xp, n, r, alpha, beta)

    @staticmethod
    def lccdf(xp: Namespace, n: Real, r: Real, alpha: Real, beta: Real) -> Array:
        log_p = _log_lower(xp, n, r, alpha, beta)
        some, less = log_p > -xp.inf, log_p < _LOG_HALF
        below = within(xp, some, xp.log1mexp(inner(xp, some & less, log_p, -1.0)), 0.0)
        return xp.where(less, below, _log_upper(xp, n, r, alpha, beta))

    @staticmethod
    def rng(xp: Namespace, random: Random, r: Array, alpha: Array, beta: Array) -> Array:
        shape = xp.broadcast_shape(r, alpha, beta)
        rate = random.gamma(r, shape) * random.gamma(beta, shape) / random.gamma(alpha, shape)
        return poisson_counts(xp, random, "beta_neg_binomial_rng", rate)


def _log_upper(xp: Namespace, n: Real, r: Real, alpha: Real, beta: Real) -> Array:
    """log P(more than n), for n at or above the median."""
    shape = xp.broadcast_shape(n, r, alpha, beta)
    n, r, alpha, beta = xp.reals((n, r, alpha, beta))
    scale = log_beta(xp, r, alpha)

    def log_density(x: Array) -> Array:
        return log_beta(xp, x + r, alpha + beta) - scale - xp.log(x) - log_beta(xp, x, beta)

    return log_sum_above(xp, log_density, xp.broadcast_to(xp.maximum(n, 0.0), shape), alpha)


def _log_lower(xp: Namespace, n: Any, r: Any, alpha: Any, beta: Any) -> Array:
    """log P(at most n), as a sum along a leading axis."""
    shape = xp.broadcast_shape(n, r, alpha, beta)
    k = outcomes(xp, known_maximum(xp, "beta_neg_binomial", n), shape, r, alpha, beta)
    terms = beta_neg_binomial.lpmf(xp, k, r, alpha, beta)
    inside = n >= 0
    log_p = xp.logsumexp(xp.where(k <= xp.where(inside, n, 0), terms, -1e30), axis=0)
    return within(xp, inside, xp.minimum(log_p, 0.0))
