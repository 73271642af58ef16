"""The Poisson distribution with a log rate, and its generalised linear model.

Source: Stan Functions Reference, "Poisson distribution, log parameterization" and
"Poisson-log generalized linear model".
"""
from __future__ import annotations

import math

from ..arrays.base import Array, Namespace
from ..distribution import stan_distribution
from ..domains import FINITE, NONNEGATIVE, NOT_NAN
from ..random.base import Random
from ._counts import poisson_counts
from ._terms import finite_log, predictor, times


@stan_distribution(
    "real poisson_log_lpmf(ints n | reals alpha)",
    rng=["int_or_array poisson_log_rng(reals alpha)"],
    support="natural",
    domains={"alpha": NOT_NAN},
    rng_domains={"alpha": FINITE},
    variate={"lpmf": NONNEGATIVE},
    examples=[(3, 0.8), (0, -40.0)],
)
class poisson_log:
    """Poisson with rate exp(alpha)."""

    @staticmethod
    def lpmf(xp: Namespace, n: Array, alpha: Array) -> Array:
        return times(xp, n, finite_log(xp, alpha)) - xp.exp(alpha) - xp.lgamma(n + 1.0)

    @staticmethod
    def rng(xp: Namespace, random: Random, alpha: Array) -> Array:
        return poisson_counts(xp, random, "poisson_log_rng", xp.exp(alpha), "exp(alpha)")


@stan_distribution(
    "real poisson_log_glm_lpmf(array[] int n | (row_vector | matrix) x, (real | vector) alpha, vector beta)",
    "real poisson_log_glm_lpmf(int n | matrix x, (real | vector) alpha, vector beta)",
    support="natural",
    domains={"alpha": FINITE, "beta": FINITE},
    variate={"lpmf": NONNEGATIVE},
    argument_dims={"x": 1, "beta": 1},
    examples=[([3, 0], [[1.0, 2.0], [0.5, -1.0]], 0.2, [0.4, -0.1])],
)
class poisson_log_glm:
    """Poisson with log rate alpha + x * beta."""

    @staticmethod
    def lpmf(xp: Namespace, n: Array, x: Array, alpha: Array, beta: Array) -> Array:
        eta = predictor(xp, "poisson_log_glm", x, alpha, beta)
        repeats = 1 if xp.ndim(n) else max(1, math.prod(xp.shape(eta)))  # Stan counts this term of a single n once
        return n * finite_log(xp, eta) - xp.exp(eta) - xp.lgamma(n + 1.0) / repeats

    @staticmethod
    def draw(xp: Namespace, random: Random, x: Array, alpha: Array, beta: Array) -> Array:
        return poisson_log.rng(xp, random, predictor(xp, "poisson_log_glm", x, alpha, beta))
