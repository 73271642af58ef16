"""The double exponential distribution.

Source: Stan Functions Reference, "Double exponential (Laplace) distribution".
"""
from __future__ import annotations

from ..arrays.base import Array, Namespace, Real
from ..distribution import Native, stan_distribution
from ..domains import FINITE, NOT_NAN, POSITIVE_FINITE
from ..random.base import Random
from ._terms import LOG_2


@stan_distribution(
    "real double_exponential_lpdf(reals y | reals mu, reals sigma)",
    rng=["real_or_array double_exponential_rng(reals mu, reals sigma)"],
    support="real",
    domains={"mu": FINITE, "sigma": POSITIVE_FINITE},
    logged=("sigma",),
    variate={"lpdf": FINITE} | dict.fromkeys(("cdf", "lcdf", "lccdf"), NOT_NAN),
    symmetric_about="mu",
    native=Native("Laplace", ("mu", "sigma")),
    examples=[(0.3, -0.2, 1.7), (-30.0, 1.0, 0.5)],
)
class double_exponential:
    """Double exponential (Laplace) with location mu and scale sigma."""

    @staticmethod
    def lpdf(xp: Namespace, y: Real, mu: Real, sigma: Real) -> Array:
        return -xp.abs(y - mu) * (1 / sigma) - (xp.log(sigma) + LOG_2)

    @staticmethod
    def cdf(xp: Namespace, y: Array, mu: Array, sigma: Array) -> Array:
        z = (y - mu) / sigma
        tail = 0.5 * xp.exp(xp.where(z < 0, z, -z))  # unlike that of -abs(z), its derivative at 0 is not 0
        return xp.where(z < 0, tail, 1 - tail)

    @staticmethod
    def lcdf(xp: Namespace, y: Array, mu: Array, sigma: Array) -> Array:
        return _log_tail(xp, (mu - y) / sigma)

    @staticmethod
    def lccdf(xp: Namespace, y: Array, mu: Array, sigma: Array) -> Array:
        return _log_tail(xp, (y - mu) / sigma)

    @staticmethod
    def rng(xp: Namespace, random: Random, mu: Array, sigma: Array) -> Array:
        shape = xp.broadcast_shape(mu, sigma)
        return mu + sigma * (random.exponential(shape) - random.exponential(shape))


def _log_tail(xp: Namespace, z: Array) -> Array:
    """log P(Z > z) for scale 1."""
    return xp.where(z > 0, -z - LOG_2, xp.log1p(-0.5 * xp.exp(xp.where(z > 0, -z, z))))
