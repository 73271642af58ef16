"""The log-logistic distribution. Source: Stan Functions Reference, "Log-logistic distribution"."""
from __future__ import annotations

from typing import Any

from ..arrays.base import Array, Namespace, Real
from ..distribution import stan_distribution
from ..domains import NONNEGATIVE, POSITIVE_FINITE
from ..random.base import Random
from ._terms import inner, power_terms, softplus, within


@stan_distribution(
    "real loglogistic_lpdf(reals y | reals alpha, reals beta)",
    rng=["real_or_array loglogistic_rng(reals alpha, reals beta)"],
    support="nonnegative",
    domains={"alpha": POSITIVE_FINITE, "beta": POSITIVE_FINITE},
    logged=("alpha", "beta"),
    variate={"lpdf": POSITIVE_FINITE, "cdf": NONNEGATIVE},
    examples=[(0.3, 1.7, 0.8), (30.0, 0.5, 2.0)],
)
class loglogistic:
    """The law of exp(x) for logistic x with location log(alpha) and scale 1 / beta."""

    @staticmethod
    def lpdf(xp: Namespace, y: Array, alpha: Real, beta: Real) -> Array:
        log_alpha = xp.log(alpha)
        rest = xp.log(beta) - beta * log_alpha
        return power_terms(
            xp, y, beta - 1, rest, lambda y, log_y: 2 * softplus(xp, beta * (log_y - log_alpha))
        )

    @staticmethod
    def cdf(xp: Namespace, y: Any, alpha: Real, beta: Real) -> Array:
        inside = y > 0
        return within(xp, inside, xp.expit(beta * (xp.log(inner(xp, inside, y, 1.0)) - xp.log(alpha))), 0.0)

    @staticmethod
    def rng(xp: Namespace, random: Random, alpha: Array, beta: Array) -> Array:
        u = random.uniform(xp.broadcast_shape(alpha, beta))
        return alpha * xp.exp((xp.log(u) - xp.log1p(-u)) / beta)
