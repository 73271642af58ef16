"""The categorical distribution. Source: Stan Functions Reference, "Categorical distribution"."""
from __future__ import annotations

from ..arrays.base import Array, Namespace
from ..checks import filled
from ..distribution import stan_distribution
from ..domains import SIMPLEX, between
from ..random.base import Random
from ._terms import log0, pick


@stan_distribution(
    "real categorical_lpmf(ints y | vector theta)",
    rng=["int categorical_rng(vector theta)"],
    support=lambda theta: ("range", 1, theta.shape[-1]),
    domains={"theta": SIMPLEX},
    variate={"lpmf": lambda theta: between(1, theta.shape[-1])},
    argument_dims={"theta": 1},
    examples=[(2, [0.1, 0.2, 0.7]), ([1, 3], [0.1, 0.2, 0.7])],
)
class categorical:
    """One of the categories 1, 2, ... with probabilities theta."""

    @staticmethod
    def lpmf(xp: Namespace, y: Array, theta: Array) -> Array:
        filled(xp, "categorical", "theta", theta)
        return pick(xp, log0(xp, theta), y)

    @staticmethod
    def rng(xp: Namespace, random: Random, theta: Array) -> Array:
        filled(xp, "categorical_rng", "theta", theta)
        return 1 + random.categorical(theta)
