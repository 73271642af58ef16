"""The scaled inverse chi-square distribution.

Source: Stan Functions Reference, "Scaled inverse chi-square distribution".
"""
from __future__ import annotations

from ..distribution import Native, stan_distribution
from ..domains import NONNEGATIVE, NOT_NAN, POSITIVE_FINITE
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

    def lpdf(xp, y, nu, sigma):
        return inv_gamma.methods["lpdf"](xp, y, 0.5 * nu, 0.5 * nu * sigma * sigma)

    def cdf(xp, y, nu, sigma):
        return inv_gamma.methods["cdf"](xp, y, 0.5 * nu, 0.5 * nu * sigma * sigma)

    def lcdf(xp, y, nu, sigma):
        return inv_gamma.methods["lcdf"](xp, y, 0.5 * nu, 0.5 * nu * sigma * sigma)

    def lccdf(xp, y, nu, sigma):
        return inv_gamma.methods["lccdf"](xp, y, 0.5 * nu, 0.5 * nu * sigma * sigma)

    def rng(xp, random, nu, sigma):
        return 0.5 * nu * sigma * sigma / random.gamma(0.5 * nu, xp.broadcast_shape(nu, sigma))
