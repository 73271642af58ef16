"""The lognormal distribution. Source: Stan Functions Reference, "Lognormal distribution"."""
from __future__ import annotations

from typing import Any

from ..arrays.base import Array, Namespace, Real
from ..distribution import Native, stan_distribution
from ..domains import FINITE, NONNEGATIVE, POSITIVE_FINITE
from ..random.base import Random
from ._terms import LOG_2_PI, inner, standardized, within


@stan_distribution(
    "real lognormal_lpdf(reals y | reals mu, reals sigma)",
    rng=["real_or_array lognormal_rng(reals mu, reals sigma)"],
    support="positive",
    domains={"mu": FINITE, "sigma": POSITIVE_FINITE},
    logged=("sigma",),
    variate=dict.fromkeys(("lpdf", "cdf", "lcdf", "lccdf"), NONNEGATIVE),
    native=Native("LogNormal", ("mu", "sigma")),
    examples=[(0.3, -0.2, 1.7), (30.0, 1.0, 0.5)],
)
class lognormal:
    """The law of exp(x) for normal x with location mu and scale sigma."""

    @staticmethod
    def lpdf(xp: Namespace, y: Any, mu: Any, sigma: Any) -> Array:
        inside = y > 0
        log_y = xp.log(inner(xp, inside, y, 1.0))
        z = standardized(xp, log_y, mu, sigma)
        return within(xp, inside, -0.5 * xp.square(z) - log_y - (xp.log(sigma) + 0.5 * LOG_2_PI))

    @staticmethod
    def cdf(xp: Namespace, y: Array, mu: Array, sigma: Array) -> Array:
        inside, z = _standardised(xp, y, mu, sigma)
        return within(xp, inside, xp.ndtr(z), 0.0)

    @staticmethod
    def lcdf(xp: Namespace, y: Array, mu: Array, sigma: Array) -> Array:
        inside, z = _standardised(xp, y, mu, sigma)
        return within(xp, inside, xp.log_ndtr(z))

    @staticmethod
    def lccdf(xp: Namespace, y: Array, mu: Array, sigma: Array) -> Array:
        inside, z = _standardised(xp, y, mu, sigma)
        return within(xp, inside, xp.log_ndtr(-z), 0.0)

    @staticmethod
    def rng(xp: Namespace, random: Random, mu: Array, sigma: Array) -> Array:
        return xp.exp(mu + sigma * random.normal(xp.broadcast_shape(mu, sigma)))


def _standardised(xp: Namespace, y: Real, mu: Array, sigma: Array) -> Any:
    """Whether y is positive, and the normal variate."""
    inside = y > 0
    return inside, (xp.log(inner(xp, inside, y, 1.0)) - mu) / sigma
