"""The scaled inverse chi-square distribution.

Source: Stan Functions Reference, "Scaled inverse chi-square distribution".
"""
from __future__ import annotations

from ..arrays.base import Array, Namespace, Real
from ..distribution import Native, stan_distribution
from ..domains import NONNEGATIVE, NOT_NAN, POSITIVE_FINITE
from ..random.base import Random
from .inv_gamma import inv_gamma


@stan_distribution(
    "real scaled_inv_chi_square_lpdf(reals y | reals nu, reals sigma)",
    rng=["real_or_array scaled_inv_chi_square_rng(reals nu, reals sigma)"],
    support="positive",
    domains={"nu": POSITIVE_FINITE, "sigma": POSITIVE_FINITE},
    variate={"lpdf": NOT_NAN} | dict.fromkeys(("cdf", "lcdf", "lccdf"), NONNEGATIVE),
    native=Native("InverseGamma", (lambda xp, nu, sigma: 0.5 * nu, lambda xp, nu, sigma: 0.5 * nu * sigma * sigma)),
    examples=[(0.3, 1.7, 0.8), (30.0, 5.0, 2.0)],
)
class scaled_inv_chi_square:
    """The law of nu sigma^2 / x for chi-square x with nu degrees of freedom."""

    @staticmethod
    def lpdf(xp: Namespace, y: Real, nu: Real, sigma: Real) -> Array:
        return inv_gamma.lpdf(xp, y, 0.5 * nu, 0.5 * nu * sigma * sigma)

    @staticmethod
    def cdf(xp: Namespace, y: Array, nu: Array, sigma: Array) -> Array:
        return inv_gamma.cdf(xp, y, 0.5 * nu, 0.5 * nu * sigma * sigma)

    @staticmethod
    def lcdf(xp: Namespace, y: Array, nu: Array, sigma: Array) -> Array:
        return inv_gamma.lcdf(xp, y, 0.5 * nu, 0.5 * nu * sigma * sigma)

    @staticmethod
    def lccdf(xp: Namespace, y: Array, nu: Array, sigma: Array) -> Array:
        return inv_gamma.lccdf(xp, y, 0.5 * nu, 0.5 * nu * sigma * sigma)

    @staticmethod
    def rng(xp: Namespace, random: Random, nu: Array, sigma: Array) -> Array:
        return 0.5 * nu * sigma * sigma / random.gamma(0.5 * nu, xp.broadcast_shape(nu, sigma))
