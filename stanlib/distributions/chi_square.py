"""The chi-square distribution. Source: Stan Functions Reference, "Chi-square distribution"."""
from __future__ import annotations

from ..arrays.base import Array, Namespace, Real
from ..distribution import Native, stan_distribution
from ..domains import NONNEGATIVE, POSITIVE_FINITE
from ..random.base import Random
from ._terms import LOG_2, power_terms
from .gamma import gamma


@stan_distribution(
    "real chi_square_lpdf(reals y | reals nu)",
    rng=["real_or_array chi_square_rng(reals nu)"],
    support="nonnegative",
    domains={"nu": POSITIVE_FINITE},
    variate=dict.fromkeys(("lpdf", "cdf", "lcdf", "lccdf"), NONNEGATIVE),
    native=Native("Chi2", ("nu",)),
    examples=[(0.3, 1.7), (30.0, 5.0)],
)
class chi_square:
    """The law of the sum of nu squared standard normals: gamma(nu / 2, 1 / 2)."""

    @staticmethod
    def lpdf(xp: Namespace, y: Array, nu: Real) -> Real:
        half = 0.5 * nu
        rest = -LOG_2 * half - xp.lgamma(half)
        return power_terms(xp, y, half - 1, rest, lambda y, log_y: 0.5 * y)

    @staticmethod
    def cdf(xp: Namespace, y: Real, nu: Real) -> Array:
        return gamma.cdf(xp, y, 0.5 * nu, 0.5)

    @staticmethod
    def lcdf(xp: Namespace, y: Real, nu: Real) -> Array:
        return gamma.lcdf(xp, y, 0.5 * nu, 0.5)

    @staticmethod
    def lccdf(xp: Namespace, y: Real, nu: Real) -> Array:
        return gamma.lccdf(xp, y, 0.5 * nu, 0.5)

    @staticmethod
    def rng(xp: Namespace, random: Random, nu: Array) -> Array:
        return 2 * random.gamma(0.5 * nu)
