"""The binomial distribution in log odds, and its generalised linear model.

Source: Stan Functions Reference, "Binomial distribution, logit parameterization" and "Binomial-logit generalized linear
model".
"""
from __future__ import annotations

from ..arrays.base import Array, Namespace
from ..distribution import Native, stan_distribution
from ..domains import FINITE, NONNEGATIVE, Interval
from ..random.base import Random
from ._rising import lchoose
from ._terms import predictor, split_log_expit, within


@stan_distribution(
    "real binomial_logit_lpmf(ints n | ints N, reals alpha)",
    support=lambda N, alpha: ("range", 0, N),
    domains={"N": NONNEGATIVE, "alpha": FINITE},
    variate={"lpmf": Interval(0, "N")},
    native=Native("BinomialLogits", ("alpha", "N"), pyro=None),
    examples=[(3, 10, 0.3), (0, 4, -40.0)],
)
class binomial_logit:
    """The number of successes in N trials of probability inv_logit(alpha)."""

    @staticmethod
    def lpmf(xp: Namespace, n: Array, N: Array, alpha: Array) -> Array:
        success, failure = split_log_expit(xp, alpha)
        terms = lchoose(xp, N, n) + n * success + (N - n) * failure
        return within(xp, (n >= 0) & (n <= N), terms)

    @staticmethod
    def draw(xp: Namespace, random: Random, N: Array, alpha: Array) -> Array:
        return random.binomial(N, xp.expit(alpha), xp.broadcast_shape(N, alpha))


@stan_distribution(
    "real binomial_logit_glm_lpmf(array[] int n | array[] int N, (row_vector | matrix) x, (real | vector) alpha, "
    "vector beta)",
    "real binomial_logit_glm_lpmf(int n | int N, matrix x, (real | vector) alpha, vector beta)",
    "real binomial_logit_glm_lpmf(int n | array[] int N, matrix x, real alpha, vector beta)",
    "real binomial_logit_glm_lpmf(array[] int n | int N, matrix x, real alpha, vector beta)",
    support=lambda N, x, alpha, beta: ("range", 0, N),
    domains={"N": NONNEGATIVE, "alpha": FINITE, "beta": FINITE},
    variate={"lpmf": Interval(0, "N")},
    argument_dims={"x": 1, "beta": 1},
    examples=[([3, 0], [10, 4], [[1.0, 2.0], [0.5, -1.0]], 0.2, [0.4, -0.1])],
)
class binomial_logit_glm:
    """The number of successes in N trials with log odds alpha + x * beta."""

    @staticmethod
    def lpmf(xp: Namespace, n: Array, N: Array, x: Array, alpha: Array, beta: Array) -> Array:
        return binomial_logit.lpmf(xp, n, N, predictor(xp, "binomial_logit_glm", x, alpha, beta))

    @staticmethod
    def draw(xp: Namespace, random: Random, N: Array, x: Array, alpha: Array, beta: Array) -> Array:
        return binomial_logit.draw(xp, random, N, predictor(xp, "binomial_logit_glm", x, alpha, beta))
