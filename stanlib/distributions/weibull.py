"""The Weibull distribution. Source: Stan Functions Reference, "Weibull distribution"."""
from __future__ import annotations

from typing import Any

from ..arrays.base import Array, Namespace, Real
from ..distribution import Native, stan_distribution
from ..domains import FINITE, NONNEGATIVE, POSITIVE_FINITE
from ..random.base import Random
from ._terms import inner, log1mexp_neg, power_terms, within

LARGEST = 700.0  # log hazards, beyond which the survival function is 0, and derivatives of a larger one would be NaN


@stan_distribution(
    "real weibull_lpdf(reals y | reals alpha, reals sigma)",
    rng=["real_or_array weibull_rng(reals alpha, reals sigma)"],
    support="nonnegative",
    domains={"alpha": POSITIVE_FINITE, "sigma": POSITIVE_FINITE},
    logged=("alpha", "sigma"),
    variate={"lpdf": FINITE} | dict.fromkeys(("cdf", "lcdf", "lccdf"), NONNEGATIVE),
    native=Native("Weibull", ("sigma", "alpha")),
    examples=[(0.3, 1.7, 0.8), (3.0, 0.5, 2.0)],
)
class weibull:
    """Weibull with shape alpha and scale sigma."""

    @staticmethod
    def lpdf(xp: Namespace, y: Array, alpha: Real, sigma: Real) -> Array:
        log_sigma = xp.log(sigma)
        rest = xp.log(alpha) - alpha * log_sigma
        return power_terms(xp, y, alpha - 1, rest, lambda y, log_y: xp.exp(alpha * (log_y - log_sigma)))

    @staticmethod
    def cdf(xp: Namespace, y: Array, alpha: Array, sigma: Array) -> Array:
        inside, log_t = _log_hazard(xp, y, alpha, sigma)
        return within(xp, inside, -xp.expm1(-xp.exp(xp.minimum(log_t, LARGEST))), 0.0)

    @staticmethod
    def lcdf(xp: Namespace, y: Array, alpha: Array, sigma: Array) -> Array:
        inside, log_t = _log_hazard(xp, y, alpha, sigma)
        return within(xp, inside, log1mexp_neg(xp, xp.exp(xp.minimum(log_t, LARGEST)), log_t))

    @staticmethod
    def lccdf(xp: Namespace, y: Array, alpha: Array, sigma: Array) -> Array:
        inside, log_t = _log_hazard(xp, y, alpha, sigma)
        return within(xp, inside, -xp.exp(log_t), 0.0)

    @staticmethod
    def rng(xp: Namespace, random: Random, alpha: Array, sigma: Array) -> Array:
        return sigma * xp.exp(xp.log(random.exponential(xp.broadcast_shape(alpha, sigma))) / alpha)


def _log_hazard(xp: Namespace, y: Real, alpha: Array, sigma: Array) -> Any:
    """Whether y is positive, and the logarithm of the cumulative hazard (y / sigma)^alpha."""
    inside = y > 0
    return inside, alpha * (xp.log(inner(xp, inside, y, sigma)) - xp.log(sigma))
