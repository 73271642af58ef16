"""The inverse chi-square distribution. Source: Stan Functions Reference, "Inverse chi-square distribution"."""
from __future__ import annotations

from ..arrays.base import Array, Namespace, Real
from ..distribution import Native, stan_distribution
from ..domains import NONNEGATIVE, NOT_NAN, POSITIVE_FINITE
from ..random.base import Random
from .inv_gamma import inv_gamma


@stan_distribution(
    "real inv_chi_square_lpdf(reals y | reals nu)",
    rng=["real_or_array inv_chi_square_rng(reals nu)"],
    support="positive",
    domains={"nu": POSITIVE_FINITE},
    variate={"lpdf": NOT_NAN} | dict.fromkeys(("cdf", "lcdf", "lccdf"), NONNEGATIVE),
    native=Native("InverseGamma", (lambda xp, nu: 0.5 * nu, lambda xp, nu: 0.5)),
    examples=[(0.3, 1.7), (30.0, 5.0)],
)
class inv_chi_square:
    """The law of 1 / x for chi-square x: inv_gamma(nu / 2, 1 / 2)."""

    @staticmethod
    def lpdf(xp: Namespace, y: Real, nu: Real) -> Array:
        return inv_gamma.lpdf(xp, y, 0.5 * nu, 0.5)

    @staticmethod
    def cdf(xp: Namespace, y: Real, nu: Real) -> Array:
        return inv_gamma.cdf(xp, y, 0.5 * nu, 0.5)

    @staticmethod
    def lcdf(xp: Namespace, y: Real, nu: Real) -> Array:
        return inv_gamma.lcdf(xp, y, 0.5 * nu, 0.5)

    @staticmethod
    def lccdf(xp: Namespace, y: Real, nu: Real) -> Array:
        return inv_gamma.lccdf(xp, y, 0.5 * nu, 0.5)

    @staticmethod
    def rng(xp: Namespace, random: Random, nu: Array) -> Array:
        return 0.5 / random.gamma(0.5 * nu)
