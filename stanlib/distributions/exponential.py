"""The exponential distribution. Source: Stan Functions Reference, "Exponential distribution"."""
from __future__ import annotations

from typing import Any

from ..arrays.base import Array, Namespace, Real
from ..distribution import Native, stan_distribution
from ..domains import NONNEGATIVE, POSITIVE_FINITE
from ..random.base import Random
from ._terms import inner, log0, log1mexp_neg, within


@stan_distribution(
    "real exponential_lpdf(reals y | reals beta)",
    rng=["real_or_array exponential_rng(reals beta)"],
    support="nonnegative",
    domains={"beta": POSITIVE_FINITE},
    logged=("beta",),
    variate=dict.fromkeys(("lpdf", "cdf", "lcdf", "lccdf"), NONNEGATIVE),
    native=Native("Exponential", ("beta",)),
    examples=[(0.3, 1.7), (30.0, 0.5)],
)
class exponential:
    """Exponential with rate beta."""

    @staticmethod
    def lpdf(xp: Namespace, y: Any, beta: Real) -> Array:
        return within(xp, y >= 0, xp.log(beta) - beta * y)

    @staticmethod
    def cdf(xp: Namespace, y: Real, beta: Real) -> Array:
        return -xp.expm1(-beta * inner(xp, y >= 0, y, 0.0))

    @staticmethod
    def lcdf(xp: Namespace, y: Any, beta: Real) -> Array:
        inside = y > 0
        t = beta * inner(xp, inside, y, 1.0)
        return within(xp, inside, log1mexp_neg(xp, t, log0(xp, t)))

    @staticmethod
    def lccdf(xp: Namespace, y: Real, beta: Real) -> Array:
        return -beta * inner(xp, y >= 0, y, 0.0)

    @staticmethod
    def rng(xp: Namespace, random: Random, beta: Array) -> Array:
        return random.exponential(xp.shape(beta)) / beta
