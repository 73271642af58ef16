"""The skew double exponential distribution.

Source: Stan Functions Reference, "Skew double exponential distribution".
"""
from __future__ import annotations

from typing import Any

from ..arrays.base import Array, Namespace, Real
from ..distribution import Native, stan_distribution
from ..domains import FINITE, NOT_NAN, POSITIVE_FINITE, PROBABILITY
from ..random.base import Random
from ._terms import LOG_2, log0


@stan_distribution(
    "real skew_double_exponential_lpdf(reals y | reals mu, reals sigma, reals tau)",
    rng=["real_or_array skew_double_exponential_rng(reals mu, reals sigma, reals tau)"],
    support="real",
    domains={"mu": FINITE, "sigma": POSITIVE_FINITE, "tau": PROBABILITY},
    logged=("sigma",),
    variate=dict.fromkeys(("lpdf", "cdf", "lcdf", "lccdf"), NOT_NAN),
    native=Native("AsymmetricLaplaceQuantile", ("mu", lambda xp, mu, sigma, tau: 0.5 * sigma, "tau"), pyro=None),
    examples=[(0.3, -0.2, 1.7, 0.3), (-30.0, 1.0, 0.5, 0.8)],
)
class skew_double_exponential:
    """Double exponential with location mu and scale sigma, of which the part tau lies below mu."""

    @staticmethod
    def lpdf(xp: Namespace, y: Real, mu: Real, sigma: Any, tau: Any) -> Array:
        z = (y - mu) / sigma
        decline = 2 * xp.where(z < 0, (tau - 1) * z, xp.where(z > 0, tau * z, 0 * z))  # at 0 Stan's derivative is 0
        return log0(xp, tau) + log0(xp, 1 - tau) - xp.log(sigma) + LOG_2 - decline

    @staticmethod
    def cdf(xp: Namespace, y: Array, mu: Array, sigma: Array, tau: Array) -> Array:
        left, below, above = _tails(xp, y, mu, sigma, tau)
        return xp.where(left, tau * xp.exp(below), 1 - (1 - tau) * xp.exp(above))

    @staticmethod
    def lcdf(xp: Namespace, y: Array, mu: Array, sigma: Array, tau: Array) -> Array:
        left, below, above = _tails(xp, y, mu, sigma, tau)
        return xp.where(left, log0(xp, tau) + below, xp.log1p((tau - 1) * xp.exp(above)))

    @staticmethod
    def lccdf(xp: Namespace, y: Array, mu: Array, sigma: Array, tau: Array) -> Array:
        left, below, above = _tails(xp, y, mu, sigma, tau)
        return xp.where(left, xp.log1p(-tau * xp.exp(below)), log0(xp, 1 - tau) + above)

    @staticmethod
    def rng(xp: Namespace, random: Random, mu: Array, sigma: Array, tau: Array) -> Array:
        shape = xp.broadcast_shape(mu, sigma, tau)
        u = random.uniform(shape)
        below = xp.log(xp.where(u > 0, u, 0.5) / tau) / (1 - tau)  # the quantile: draws have derivatives in tau
        return mu + 0.5 * sigma * xp.where((u < tau) & (u > 0), below, -xp.log((1 - u) / (1 - tau)) / tau)


def _tails(xp: Namespace, y: Array, mu: Array, sigma: Array, tau: Array) -> tuple[Real, Array, Array]:
    """Whether y is below mu, and the exponents (at most 0) of the law's two sides."""
    z = (y - mu) / sigma
    left = z < 0
    return left, 2 * (1 - tau) * xp.where(left, z, 0.0), -2 * tau * xp.where(left, 0.0, z)
