"""The Bernoulli distribution. Source: Stan Functions Reference, "Bernoulli distribution"."""
from __future__ import annotations

import math
from itertools import zip_longest

from ..arrays.base import Array, Namespace, Real
from ..distribution import Native, stan_distribution
from ..domains import PROBABILITY, between
from ..random.base import Random
from ._terms import log0, log_one_less, within


@stan_distribution(
    "real bernoulli_lpmf(ints y | reals theta)",
    rng=["int_or_array bernoulli_rng(reals theta)"],
    support=lambda theta: ("range", 0, 1),
    domains={"theta": PROBABILITY},
    variate={"lpmf": between(0, 1)},
    native=Native("Bernoulli", ("theta",), numpyro="BernoulliProbs"),
    examples=[(1, 0.3), (0, 0.8)],
)
class bernoulli:
    """1 with probability theta, else 0."""

    @staticmethod
    def lpmf(xp: Namespace, y: Array, theta: Array) -> Array:
        if _is_large(xp, y, theta):  # one logarithm for each observation: to 1e-16, which no sum of log densities tells
            terms = log0(xp, xp.where(y == 1, theta, 1 - theta))
        else:
            terms = xp.where(y == 1, log0(xp, theta), log_one_less(xp, theta))
        return terms if xp.are_between(y, 0, 1) else within(xp, (y == 0) | (y == 1), terms)

    @staticmethod
    def pmf(xp: Namespace, y: Array, theta: Array) -> Array:
        terms = xp.where(y == 1, theta, 1 - theta)
        return terms if xp.are_between(y, 0, 1) else within(xp, (y == 0) | (y == 1), terms, 0.0)

    @staticmethod
    def cdf(xp: Namespace, y: Real, theta: Real) -> Array:
        return _with_ends(xp, y, 1 - theta, 0.0, 1.0)

    @staticmethod
    def lcdf(xp: Namespace, y: Real, theta: Real) -> Real:
        return _with_ends(xp, y, log_one_less(xp, theta), -xp.inf, 0.0)

    @staticmethod
    def lccdf(xp: Namespace, y: Array, theta: Array) -> Real:
        return _with_ends(xp, y, log0(xp, theta), 0.0, -xp.inf)

    @staticmethod
    def rng(xp: Namespace, random: Random, theta: Array) -> Array:
        return xp.integer(random.uniform(xp.shape(theta)) < theta)


def _is_large(xp: Namespace, y: Array, theta: Array) -> bool:
    """Whether the two logarithms of every theta are more than one for each observation."""
    shape = xp.shape(theta)
    together = zip_longest(reversed(xp.shape(y)), reversed(shape), fillvalue=1)
    return bool(shape) and 2 * math.prod(shape) > math.prod(map(max, together))


def _with_ends(xp: Namespace, y: Real, at_zero: Real, below: Real, above: Real) -> Array:
    return xp.where(y < 0, below, xp.where(y >= 1, above, at_zero))
