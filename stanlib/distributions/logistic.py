"""The logistic distribution. Source: Stan Functions Reference, "Logistic distribution"."""
from __future__ import annotations

from ..arrays.base import Array, Namespace, Real
from ..distribution import Native, stan_distribution
from ..domains import FINITE, NOT_NAN, POSITIVE_FINITE
from ..random.base import Random


@stan_distribution(
    "real logistic_lpdf(reals y | reals mu, reals sigma)",
    rng=["real_or_array logistic_rng(reals mu, reals sigma)"],
    support="real",
    domains={"mu": FINITE, "sigma": POSITIVE_FINITE},
    logged=("sigma",),
    variate={"lpdf": FINITE} | dict.fromkeys(("cdf", "lcdf", "lccdf"), NOT_NAN),
    symmetric_about="mu",
    native=Native("Logistic", ("mu", "sigma")),
    examples=[(0.3, -0.2, 1.7), (-30.0, 1.0, 0.5)],
)
class logistic:
    """Logistic with location mu and scale sigma."""

    @staticmethod
    def lpdf(xp: Namespace, y: Real, mu: Real, sigma: Real) -> Array:
        z = (y - mu) / sigma
        return xp.log_expit(z) + xp.log_expit(-z) - xp.log(sigma)

    @staticmethod
    def cdf(xp: Namespace, y: Array, mu: Array, sigma: Array) -> Array:
        return xp.expit((y - mu) / sigma)

    @staticmethod
    def lcdf(xp: Namespace, y: Array, mu: Array, sigma: Array) -> Array:
        return xp.log_expit((y - mu) / sigma)

    @staticmethod
    def lccdf(xp: Namespace, y: Array, mu: Array, sigma: Array) -> Array:
        return xp.log_expit((mu - y) / sigma)

    @staticmethod
    def rng(xp: Namespace, random: Random, mu: Array, sigma: Array) -> Array:
        u = random.uniform(xp.broadcast_shape(mu, sigma))
        return mu + sigma * (xp.log(u) - xp.log1p(-u))
