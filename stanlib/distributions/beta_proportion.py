"""The beta proportion distribution. Source: Stan Functions Reference, "Beta proportion distribution"."""
from __future__ import annotations

from .. import supports
from ..distribution import Native, stan_distribution
from ..domains import POSITIVE_FINITE, Domain, between
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

    def lpdf(xp, y, mu, kappa):
        return beta.methods["lpdf"](xp, y, mu * kappa, (1 - mu) * kappa)

    def lcdf(xp, y, mu, kappa):
        return beta.methods["lcdf"](xp, y, mu * kappa, (1 - mu) * kappa)

    def lccdf(xp, y, mu, kappa):
        return beta.methods["lccdf"](xp, y, mu * kappa, (1 - mu) * kappa)

    def rng(xp, random, mu, kappa):
        return random.beta(mu * kappa, (1 - mu) * kappa)
