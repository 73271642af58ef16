"""The beta proportion distribution. Source: Stan Functions Reference, "Beta proportion distribution"."""
from __future__ import annotations

from .. import supports
from ..arrays.base import Array, Namespace, Real
from ..distribution import Native, stan_distribution
from ..domains import POSITIVE_FINITE, Domain, between
from ..random.base import Random
from .beta import beta

INSIDE_UNIT = Domain("in the interval (0, 1)", lambda xp, x: (x > 0) & (x < 1), region=supports.UNIT)


@stan_distribution(
    "real beta_proportion_lpdf(reals y | reals mu, numbers kappa)",
    rng=["real_or_array beta_proportion_rng((real | array[] real | vector | row_vector) mu, reals kappa)"],
    support="unit",
    domains={"mu": INSIDE_UNIT, "kappa": POSITIVE_FINITE},
    variate=dict.fromkeys(("lpdf", "lcdf", "lccdf"), between(0, 1)),
    native=Native("BetaProportion", ("mu", "kappa"), pyro=None),
    examples=[(0.3, 0.7, 2.8), (0.9, 0.2, 0.5)],
)
class beta_proportion:
    """Beta with mean mu and precision kappa."""

    @staticmethod
    def lpdf(xp: Namespace, y: Real, mu: Real, kappa: Real) -> Array:
        return beta.lpdf(xp, y, mu * kappa, (1 - mu) * kappa)

    @staticmethod
    def lcdf(xp: Namespace, y: Array, mu: Array, kappa: Array) -> Array:
        return beta.lcdf(xp, y, mu * kappa, (1 - mu) * kappa)

    @staticmethod
    def lccdf(xp: Namespace, y: Array, mu: Array, kappa: Array) -> Array:
        return beta.lccdf(xp, y, mu * kappa, (1 - mu) * kappa)

    @staticmethod
    def rng(xp: Namespace, random: Random, mu: Array, kappa: Array) -> Array:
        return random.beta(mu * kappa, (1 - mu) * kappa)
