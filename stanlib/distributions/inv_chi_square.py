"""The inverse chi-square distribution. Source: Stan Functions Reference, "Inverse chi-square distribution"."""
from __future__ import annotations

from ..distribution import Native, stan_distribution
from ..domains import NONNEGATIVE, NOT_NAN, POSITIVE_FINITE
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

    def lpdf(xp, y, nu):
        return inv_gamma.methods["lpdf"](xp, y, 0.5 * nu, 0.5)

    def cdf(xp, y, nu):
        return inv_gamma.methods["cdf"](xp, y, 0.5 * nu, 0.5)

    def lcdf(xp, y, nu):
        return inv_gamma.methods["lcdf"](xp, y, 0.5 * nu, 0.5)

    def lccdf(xp, y, nu):
        return inv_gamma.methods["lccdf"](xp, y, 0.5 * nu, 0.5)

    def rng(xp, random, nu):
        return 0.5 / random.gamma(0.5 * nu)
