"""The ordered probit distribution. Source: Stan Functions Reference, "Ordered probit distribution"."""
from __future__ import annotations

from ..arrays.base import Array, Namespace
from ..checks import filled
from ..distribution import stan_distribution
from ..domains import CUT_POINTS, FINITE, ORDERED
from ..random.base import Random
from ._terms import categories, cut_points, within

FAR = 1e10  # stands for infinity, with finite squares and gradients


@stan_distribution(
    "real ordered_probit_lpmf(int y | real eta, vector c)",
    "real ordered_probit_lpmf(array[] int y | (real | vector) eta, (vector | array[] vector) c)",
    rng=["int ordered_probit_rng(real eta, vector c)"],
    support=lambda eta, c: ("range", 1, c.shape[-1] + 1),
    domains={"eta": FINITE, "c": ORDERED},
    rng_domains={"c": CUT_POINTS},
    variate={"lpmf": categories("ordered_probit")},
    argument_dims={"c": 1},
    examples=[(2, 0.3, [-1.0, 0.5]), ([1, 3], [0.1, -2.0], [-1.0, 0.5])],
)
class ordered_probit:
    """The number of cut points c below a normal variate around eta, plus 1."""

    @staticmethod
    def lpmf(xp: Namespace, y: Array, eta: Array, c: Array) -> Array:
        filled(xp, "ordered_probit", "c", c)
        lower, upper = cut_points(xp, "ordered_probit", y, eta, c, FAR)
        a, b = lower - eta, upper - eta
        right = a + b > 0  # then the interval's mirror image has the smaller, more precise probabilities
        low, high = xp.where(right, -b, a), xp.where(right, -a, b)
        log_high = xp.log_ndtr(high)
        terms = log_high + xp.log1mexp(xp.log_ndtr(low) - log_high)
        return within(xp, (y >= 1) & (y <= xp.shape(c)[-1] + 1), terms)

    @staticmethod
    def rng(xp: Namespace, random: Random, eta: Array, c: Array) -> Array:
        return 1 + xp.sum(xp.integer(eta + random.normal(()) > c))
