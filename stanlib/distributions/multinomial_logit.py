"""The multinomial distribution in log odds.

Source: Stan Functions Reference, "Multinomial distribution, logit parameterization".
"""
from __future__ import annotations

from ..arrays.base import Array, Namespace
from ..checks import same_size
from ..distribution import stan_distribution
from ..domains import FINITE, NONNEGATIVE
from ..random.base import Random
from ._terms import log_shares
from .multinomial import count_draws, count_terms


@stan_distribution(
    "real multinomial_logit_lpmf(array[] int y | vector gamma)",
    rng=["array[] int multinomial_logit_rng(vector gamma, int N)"],
    support="natural",
    domains={"gamma": FINITE, "N": NONNEGATIVE},
    variate={"lpmf": NONNEGATIVE},
    event_dims=1,
    argument_dims={"gamma": 1},
    examples=[([1, 0, 3], [0.2, -0.5, 0.3])],
)
class multinomial_logit:
    """The counts of the categories in independent trials with probabilities softmax(gamma)."""

    @staticmethod
    def lpmf(xp: Namespace, y: Array, gamma: Array) -> Array:
        same_size("multinomial_logit", "the size of y", xp.shape(y)[-1], "the size of gamma", xp.shape(gamma)[-1])
        y, gamma = xp.reals((y, gamma))
        return count_terms(xp, y, y * log_shares(xp, gamma))

    @staticmethod
    def rng(xp: Namespace, random: Random, gamma: Array, N: Array) -> Array:
        return count_draws(xp, random, xp.exp(gamma - xp.logsumexp(gamma)), N)
