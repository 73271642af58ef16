"""The Gumbel distribution. Source: Stan Functions Reference, "Gumbel distribution"."""
from __future__ import annotations

from ..arrays.base import Array, Namespace, Real
from ..distribution import Native, stan_distribution
from ..domains import FINITE, NOT_NAN, POSITIVE, POSITIVE_FINITE
from ..random.base import Random
from ._terms import log1mexp_neg

LARGEST = 700.0  # exponents, beyond which the distribution function is 0, and its derivatives would be NaN


@stan_distribution(
    "real gumbel_lpdf(reals y | reals mu, reals beta)",
    rng=["real_or_array gumbel_rng(reals mu, reals beta)"],
    support="real",
    domains={"mu": FINITE, "beta": POSITIVE},
    rng_domains={"beta": POSITIVE_FINITE},
    logged=("beta",),
    variate=dict.fromkeys(("lpdf", "cdf", "lcdf", "lccdf"), NOT_NAN),
    native=Native("Gumbel", ("mu", "beta")),
    examples=[(0.3, -0.2, 1.7), (30.0, 1.0, 0.5)],
)
class gumbel:
    """Gumbel (of maxima) with location mu and scale beta."""

    @staticmethod
    def lpdf(xp: Namespace, y: Real, mu: Real, beta: Real) -> Array:
        z = (y - mu) / beta
        return -z - xp.exp(-z) - xp.log(beta)

    @staticmethod
    def cdf(xp: Namespace, y: Array, mu: Array, beta: Array) -> Array:
        return xp.exp(-xp.exp(xp.minimum((mu - y) / beta, LARGEST)))

    @staticmethod
    def lcdf(xp: Namespace, y: Array, mu: Array, beta: Array) -> Array:
        return -xp.exp((mu - y) / beta)

    @staticmethod
    def lccdf(xp: Namespace, y: Array, mu: Array, beta: Array) -> Array:
        z = (mu - y) / beta
        return log1mexp_neg(xp, xp.exp(xp.minimum(z, LARGEST)), z)

    @staticmethod
    def rng(xp: Namespace, random: Random, mu: Array, beta: Array) -> Array:
        return mu - beta * xp.log(random.exponential(xp.broadcast_shape(mu, beta)))
