"""The categorical distribution in log odds, and its generalised linear model.

Source: Stan Functions Reference, "Categorical distribution" and "Categorical logit generalized linear model".
"""
from __future__ import annotations

from ..arrays.base import Array, Namespace
from ..distribution import stan_distribution
from ..domains import FINITE, between, everywhere
from ..random.base import Random
from ._terms import log_shares, pick, pick_column, predictor


@stan_distribution(
    "real categorical_logit_lpmf(ints y | vector beta)",
    rng=["int categorical_logit_rng(vector beta)"],
    support=lambda beta: ("range", 1, beta.shape[-1]),
    domains={"beta": everywhere(FINITE)},  # of minus infinity come numbers
    variate={"lpmf": lambda beta: between(1, beta.shape[-1])},
    argument_dims={"beta": 1},
    examples=[(2, [0.1, -0.2, 0.7]), ([1, 3], [0.1, -200.0, 0.7])],
)
class categorical_logit:
    """One of the categories 1, 2, ... with probabilities softmax(beta)."""

    @staticmethod
    def lpmf(xp: Namespace, y: Array, beta: Array) -> Array:
        return pick(xp, log_shares(xp, beta), y)

    @staticmethod
    def rng(xp: Namespace, random: Random, beta: Array) -> Array:
        return 1 + random.categorical(xp.exp(beta - xp.max(beta)))


@stan_distribution(
    "real categorical_logit_glm_lpmf(ints y | (row_vector | matrix) x, vector alpha, matrix beta)",
    support=lambda x, alpha, beta: ("range", 1, alpha.shape[-1]),
    domains={"alpha": FINITE, "beta": FINITE},
    variate={"lpmf": lambda x, alpha, beta: between(1, alpha.shape[-1])},
    argument_dims={"x": 1, "alpha": 1, "beta": 2},
    examples=[([1, 2], [[1.0, 2.0], [0.5, -1.0]], [0.2, 0.1], [[0.4, -0.1], [0.3, 0.0]])],
)
class categorical_logit_glm:
    """One of the categories 1, 2, ... with log odds alpha + x * beta."""

    @staticmethod
    def lpmf(xp: Namespace, y: Array, x: Array, alpha: Array, beta: Array) -> Array:
        logits = predictor(xp, "categorical_logit_glm", x, alpha, beta)
        return pick_column(xp, logits, y) - xp.logsumexp(logits, axis=-1)

    @staticmethod
    def draw(xp: Namespace, random: Random, x: Array, alpha: Array, beta: Array) -> Array:
        return categorical_logit.rng(xp, random, predictor(xp, "categorical_logit_glm", x, alpha, beta))
