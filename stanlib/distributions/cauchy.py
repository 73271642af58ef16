"""The Cauchy distribution. Source: Stan Functions Reference, "Cauchy distribution"."""
from __future__ import annotations

import math

from ..arrays.base import Array, Namespace, Real
from ..distribution import Native, stan_distribution
from ..domains import FINITE, NOT_NAN, POSITIVE_FINITE
from ..random.base import Random
from ._terms import LOG_PI, log_of, standardized


@stan_distribution(
    "real cauchy_lpdf(reals y | reals mu, reals sigma)",
    rng=["real_or_array cauchy_rng(reals mu, reals sigma)"],
    support="real",
    domains={"mu": FINITE, "sigma": POSITIVE_FINITE},
    logged=("sigma",),
    variate=dict.fromkeys(("lpdf", "cdf", "lcdf", "lccdf"), NOT_NAN),
    symmetric_about="mu",
    native=Native("Cauchy", ("mu", "sigma")),
    examples=[(0.3, -0.2, 1.7), (-30.0, 1.0, 0.5)],
)
class cauchy:
    """Cauchy with location mu and scale sigma."""

    @staticmethod
    def lpdf(xp: Namespace, y: Real, mu: Real, sigma: Real) -> Array:
        z = standardized(xp, y, mu, sigma)
        return -xp.log1p(xp.square(z)) - (xp.log(sigma) + LOG_PI)

    @staticmethod
    def cdf(xp: Namespace, y: Array, mu: Array, sigma: Array) -> Array:
        return xp.arctan2(sigma, mu - y) / math.pi

    @staticmethod
    def lcdf(xp: Namespace, y: Array, mu: Array, sigma: Array) -> Array:
        return log_of(xp, xp.arctan2(sigma, mu - y) / math.pi, xp.arctan2(sigma, y - mu) / math.pi)

    @staticmethod
    def lccdf(xp: Namespace, y: Array, mu: Array, sigma: Array) -> Array:
        return log_of(xp, xp.arctan2(sigma, y - mu) / math.pi, xp.arctan2(sigma, mu - y) / math.pi)

    @staticmethod
    def rng(xp: Namespace, random: Random, mu: Array, sigma: Array) -> Array:
        return mu + sigma * xp.tan(math.pi * (random.uniform(xp.broadcast_shape(mu, sigma)) - 0.5))
