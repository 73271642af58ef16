"""The Rayleigh distribution. Source: Stan Functions Reference, "Rayleigh distribution"."""
from __future__ import annotations

from typing import Any

from ..arrays.base import Array, Namespace, Real
from ..distribution import stan_distribution
from ..domains import NONNEGATIVE, POSITIVE, POSITIVE_FINITE
from ..random.base import Random
from ._terms import LOG_2, inner, log1mexp_neg, within


@stan_distribution(
    "real rayleigh_lpdf(reals y | reals sigma)",
    rng=["real_or_array rayleigh_rng(reals sigma)"],
    support="nonnegative",
    domains={"sigma": POSITIVE},
    rng_domains={"sigma": POSITIVE_FINITE},
    logged=("sigma",),
    variate={"lpdf": POSITIVE} | dict.fromkeys(("cdf", "lcdf", "lccdf"), NONNEGATIVE),
    examples=[(0.3, 1.7), (3.0, 0.5)],
)
class rayleigh:
    """The law of the length of two normals with scale sigma."""

    @staticmethod
    def lpdf(xp: Namespace, y: Any, sigma: Real) -> Array:
        inside = y > 0
        y = inner(xp, inside, y, 1.0)
        z = y / sigma
        return within(xp, inside, xp.log(y) - 0.5 * xp.square(z) - 2 * xp.log(sigma))

    @staticmethod
    def cdf(xp: Namespace, y: Real, sigma: Real) -> Array:
        z = inner(xp, y > 0, y, 0.0) / sigma
        return -xp.expm1(-0.5 * z * z)

    @staticmethod
    def lcdf(xp: Namespace, y: Any, sigma: Array) -> Array:
        inside = y > 0
        y = inner(xp, inside, y, 1.0)
        z = y / sigma
        return within(xp, inside, log1mexp_neg(xp, 0.5 * z * z, 2 * (xp.log(y) - xp.log(sigma)) - LOG_2))

    @staticmethod
    def lccdf(xp: Namespace, y: Real, sigma: Real) -> Array:
        z = inner(xp, y > 0, y, 0.0) / sigma
        return -0.5 * z * z

    @staticmethod
    def rng(xp: Namespace, random: Random, sigma: Array) -> Array:
        return sigma * xp.sqrt(2 * random.exponential(xp.shape(sigma)))
