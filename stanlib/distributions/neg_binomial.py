"""The negative binomial distribution. Source: Stan Functions Reference, "Negative binomial distribution"."""
from __future__ import annotations

from ..arrays.base import Array, Namespace
from ..distribution import Native, stan_distribution
from ..domains import NONNEGATIVE, POSITIVE_FINITE
from ..random.base import Random
from ._counts import poisson_counts
from ._rising import log_rising
from ._terms import inner, within
from .neg_binomial_2 import log_lower, log_upper


@stan_distribution(
    "real neg_binomial_lpmf(ints n | reals alpha, reals beta)",
    rng=["int_or_array neg_binomial_rng(reals alpha, reals beta)"],
    support="natural",
    domains={"alpha": POSITIVE_FINITE, "beta": POSITIVE_FINITE},
    variate={"lpmf": NONNEGATIVE},
    native=Native("GammaPoisson", ("alpha", "beta")),
    examples=[(3, 2.3, 1.4), (0, 0.8, 20.0)],
)
class neg_binomial:
    """The counts of a Poisson law whose rate is gamma with shape alpha and rate beta."""

    @staticmethod
    def lpmf(xp: Namespace, n: Array, alpha: Array, beta: Array) -> Array:
        inside = n >= 0
        n = inner(xp, inside, n, 0)
        weight = log_rising(xp, alpha, n) - xp.lgamma(n + 1.0)
        return within(xp, inside, weight - n * xp.log1p(beta) - alpha * xp.log1p(1 / beta))

    @staticmethod
    def cdf(xp: Namespace, n: Array, alpha: Array, beta: Array) -> Array:
        return xp.exp(log_lower(xp, n, alpha, 1 / beta))

    @staticmethod
    def lcdf(xp: Namespace, n: Array, alpha: Array, beta: Array) -> Array:
        return log_lower(xp, n, alpha, 1 / beta)

    @staticmethod
    def lccdf(xp: Namespace, n: Array, alpha: Array, beta: Array) -> Array:
        return log_upper(xp, n, alpha, 1 / beta)

    @staticmethod
    def rng(xp: Namespace, random: Random, alpha: Array, beta: Array) -> Array:
        rate = random.gamma(alpha, xp.broadcast_shape(alpha, beta)) / beta
        return poisson_counts(xp, random, "neg_binomial_rng", rate)
