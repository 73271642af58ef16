"""The Bernoulli distribution in log odds, and its generalised linear model.

Source: Stan Functions Reference, "Bernoulli distribution, logit parameterization" and "Bernoulli-logit generalized
linear model".
"""
from __future__ import annotations

from ..arrays.base import Array, Namespace
from ..distribution import Native, stan_distribution
from ..domains import FINITE, NOT_NAN, between
from ..random.base import Random
from ._terms import predictor, within


@stan_distribution(
    "real bernoulli_logit_lpmf(ints y | reals alpha)",
    rng=["int_or_array bernoulli_logit_rng(reals alpha)"],
    support=lambda alpha: ("range", 0, 1),
    domains={"alpha": NOT_NAN},
    rng_domains={"alpha": FINITE},
    variate={"lpmf": between(0, 1)},
    native=Native("BernoulliLogits", ("alpha",), pyro=None),
    examples=[(1, 0.3), (0, -40.0)],
)
class bernoulli_logit:
    """1 with probability inv_logit(alpha), else 0."""

    @staticmethod
    def lpmf(xp: Namespace, y: Array, alpha: Array) -> Array:
        if xp.ndim(alpha) < xp.ndim(y):  # two numbers, to be chosen from
            terms = xp.where(y == 1, xp.log_expit(alpha), xp.log_expit(-alpha))
        else:
            terms = xp.log_expit((2 * y - 1) * alpha)
        return terms if xp.are_between(y, 0, 1) else within(xp, (y == 0) | (y == 1), terms)

    @staticmethod
    def rng(xp: Namespace, random: Random, alpha: Array) -> Array:
        return xp.integer(random.uniform(xp.shape(alpha)) < xp.expit(alpha))


@stan_distribution(
    "real bernoulli_logit_glm_lpmf(array[] int y | (row_vector | matrix) x, (real | vector) alpha, vector beta)",
    "real bernoulli_logit_glm_lpmf(int y | matrix x, (real | vector) alpha, vector beta)",
    rng=["array[] int bernoulli_logit_glm_rng((row_vector | matrix) x, vector alpha, vector beta)"],
    support=lambda x, alpha, beta: ("range", 0, 1),
    domains={"alpha": FINITE, "beta": FINITE},
    variate={"lpmf": between(0, 1)},
    argument_dims={"x": 1, "beta": 1},
    examples=[([0, 1], [[1.0, 2.0], [0.5, -1.0]], 0.2, [0.4, -0.1])],
)
class bernoulli_logit_glm:
    """1 with log odds alpha + x * beta, else 0."""

    @staticmethod
    def lpmf(xp: Namespace, y: Array, x: Array, alpha: Array, beta: Array) -> Array:
        return bernoulli_logit.lpmf(xp, y, predictor(xp, "bernoulli_logit_glm", x, alpha, beta))

    @staticmethod
    def rng(xp: Namespace, random: Random, x: Array, alpha: Array, beta: Array) -> Array:
        return bernoulli_logit.rng(xp, random, predictor(xp, "bernoulli_logit_glm", x, alpha, beta))
