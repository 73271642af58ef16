"""The ordered logistic distribution and its generalised linear model.

Source: Stan Functions Reference, "Ordered logistic distribution" and "Ordered logistic generalized linear model".
"""
from __future__ import annotations

from ..arrays.base import Array, Namespace
from ..distribution import stan_distribution
from ..domains import CUT_POINTS, FINITE, ORDERED, between
from ..random.base import Random
from ._terms import categories, cut_points, predictor, with_ends, within

FAR = 1e10  # stands for infinity, with finite gradients


@stan_distribution(
    "real ordered_logistic_lpmf(int y | real lambda, vector c)",
    "real ordered_logistic_lpmf(array[] int y | vector lambda, (vector | array[] vector) c)",
    rng=["int ordered_logistic_rng(real lambda, vector c)"],
    support=lambda lam, c: ("range", 1, c.shape[-1] + 1),
    domains={"lambda": FINITE, "c": ORDERED},
    rng_domains={"c": CUT_POINTS},
    variate={"lpmf": categories("ordered_logistic")},
    argument_dims={"c": 1},
    examples=[(2, 0.3, [-1.0, 0.5]), ([1, 3], [0.1, -20.0], [-1.0, 0.5])],
)
class ordered_logistic:
    """The number of cut points c below a logistic variate at lambda, plus 1."""

    @staticmethod
    def lpmf(xp: Namespace, y: Array, lam: Array, c: Array) -> Array:
        lower, upper, width = cut_points(xp, "ordered_logistic", y, lam, c, FAR, (_log_widths(xp, c),))
        terms = xp.log_expit(lam - lower) + xp.log_expit(upper - lam) + width
        return within(xp, (y >= 1) & (y <= xp.shape(c)[-1] + 1), terms)

    @staticmethod
    def rng(xp: Namespace, random: Random, lam: Array, c: Array) -> Array:
        u = random.uniform(())
        return 1 + xp.sum(xp.integer(lam + xp.log(u) - xp.log1p(-u) > c))


def _log_widths(xp: Namespace, c: Array) -> Array:
    """log(1 - exp(lower - upper)) for the cut points around each category: the difference of two inv_logits is this
    times the inv_logits of the distances to both.
    """
    if xp.shape(c)[-1] == 0:
        return xp.zeros((*xp.shape(c)[:-1], 1))
    return with_ends(xp, xp.log1mexp(c[..., :-1] - c[..., 1:]), 0.0, 0.0)


@stan_distribution(
    "real ordered_logistic_glm_lpmf(ints y | (row_vector | matrix) x, vector beta, vector c)",
    support=lambda x, beta, c: ("range", 1, c.shape[-1] + 1),
    domains={"beta": FINITE, "c": ORDERED},
    variate={"lpmf": lambda x, beta, c: between(1, c.shape[-1] + 1)},
    argument_dims={"x": 1, "beta": 1, "c": 1},
    examples=[([1, 2], [[1.0, 2.0], [0.5, -1.0]], [0.2, 0.1], [-0.4, 0.3])],
)
class ordered_logistic_glm:
    """Ordered logistic at x * beta."""

    @staticmethod
    def lpmf(xp: Namespace, y: Array, x: Array, beta: Array, c: Array) -> Array:
        return ordered_logistic.lpmf(xp, y, predictor(xp, "ordered_logistic_glm", x, 0.0, beta), c)

    @staticmethod
    def draw(xp: Namespace, random: Random, x: Array, beta: Array, c: Array) -> Array:
        return ordered_logistic.rng(xp, random, predictor(xp, "ordered_logistic_glm", x, 0.0, beta), c)
