"""The inverse gamma distribution. Source: Stan Functions Reference, "Inverse gamma distribution"."""
from __future__ import annotations

from typing import Any

from ..arrays.base import Array, Namespace, Real
from ..distribution import Native, stan_distribution
from ..domains import NONNEGATIVE, NOT_NAN, POSITIVE_FINITE
from ..random.base import Random
from ._terms import inner, within


@stan_distribution(
    "real inv_gamma_lpdf(reals y | reals alpha, reals beta)",
    rng=["real_or_array inv_gamma_rng(reals alpha, reals beta)"],
    support="positive",
    domains={"alpha": POSITIVE_FINITE, "beta": POSITIVE_FINITE},
    logged=("beta",),
    vague=("alpha", "beta"),
    variate={"lpdf": NOT_NAN} | dict.fromkeys(("cdf", "lcdf", "lccdf"), NONNEGATIVE),
    native=Native("InverseGamma", ("alpha", "beta")),
    examples=[(0.3, 1.7, 0.8), (30.0, 0.5, 2.0)],
)
class inv_gamma:
    """The law of beta / x for gamma x with shape alpha and rate 1."""

    @staticmethod
    def lpdf(xp: Namespace, y: Any, alpha: Real, beta: Real) -> Array:
        inside = y > 0
        y = inner(xp, inside, y, 1.0)
        rest = alpha * xp.log(beta) - xp.lgamma(alpha)
        return within(xp, inside, rest - (alpha + 1) * xp.log(y) - beta * (1 / y))

    @staticmethod
    def cdf(xp: Namespace, y: Any, alpha: Real, beta: Real) -> Array:
        inside = y > 0
        return within(xp, inside, xp.gammaincc(alpha, beta / inner(xp, inside, y, 1.0)), 0.0)

    @staticmethod
    def lcdf(xp: Namespace, y: Any, alpha: Real, beta: Real) -> Array:
        inside = y > 0
        return within(xp, inside, xp.log_gammaincc(alpha, beta / inner(xp, inside, y, 1.0)))

    @staticmethod
    def lccdf(xp: Namespace, y: Any, alpha: Real, beta: Real) -> Array:
        inside = y > 0
        return within(xp, inside, xp.log_gammainc(alpha, beta / inner(xp, inside, y, 1.0)), 0.0)

    @staticmethod
    def rng(xp: Namespace, random: Random, alpha: Array, beta: Array) -> Array:
        return beta / random.gamma(alpha, xp.broadcast_shape(alpha, beta))
