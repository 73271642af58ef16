"""The gamma distribution. Source: Stan Functions Reference, "Gamma distribution"."""
from __future__ import annotations

from typing import Any

from ..arrays.base import Array, Namespace, Real
from ..distribution import Native, stan_distribution
from ..domains import NONNEGATIVE, POSITIVE_FINITE
from ..random.base import Random
from ._terms import inner, power_terms, within


@stan_distribution(
    "real gamma_lpdf(reals y | reals alpha, reals beta)",
    rng=["real_or_array gamma_rng(reals alpha, reals beta)"],
    support="positive",
    domains={"alpha": POSITIVE_FINITE, "beta": POSITIVE_FINITE},
    logged=("beta",),
    vague=("alpha", "beta"),
    variate={"lpdf": POSITIVE_FINITE} | dict.fromkeys(("cdf", "lcdf", "lccdf"), NONNEGATIVE),
    native=Native("Gamma", ("alpha", "beta")),
    examples=[(0.3, 1.7, 0.8), (30.0, 0.5, 2.0)],
)
class gamma:
    """Gamma with shape alpha and rate beta."""

    @staticmethod
    def lpdf(xp: Namespace, y: Array, alpha: Real, beta: Real) -> Array:
        rest = alpha * xp.log(beta) - xp.lgamma(alpha)
        return power_terms(xp, y, alpha - 1, rest, lambda y, log_y: beta * y)

    @staticmethod
    def cdf(xp: Namespace, y: Any, alpha: Real, beta: Real) -> Array:
        inside = y > 0
        return within(xp, inside, xp.gammainc(alpha, beta * inner(xp, inside, y, 1.0)), 0.0)

    @staticmethod
    def lcdf(xp: Namespace, y: Any, alpha: Real, beta: Real) -> Array:
        inside = y > 0
        return within(xp, inside, xp.log_gammainc(alpha, beta * inner(xp, inside, y, 1.0)))

    @staticmethod
    def lccdf(xp: Namespace, y: Any, alpha: Real, beta: Real) -> Array:
        inside = y > 0
        return within(xp, inside, xp.log_gammaincc(alpha, beta * inner(xp, inside, y, 1.0)), 0.0)

    @staticmethod
    def rng(xp: Namespace, random: Random, alpha: Array, beta: Array) -> Array:
        return random.gamma(alpha, xp.broadcast_shape(alpha, beta)) / beta
