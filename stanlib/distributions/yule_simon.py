"""The Yule-Simon distribution. Source: Stan Functions Reference, "Yule-Simon distribution"."""
from __future__ import annotations

import math

from ..arrays.base import Array, Namespace
from ..arrays.special.gamma import EULER_GAMMA
from ..distribution import stan_distribution
from ..domains import POSITIVE_FINITE, at_least
from ..random.base import Random
from ._counts import poisson_counts
from ._rising import log_beta
from ._terms import inner, within

_SMALL = 1e-6  # shapes, of which the square tells all digits


@stan_distribution(
    "real yule_simon_lpmf(ints n | reals alpha)",
    rng=["int_or_array yule_simon_rng(reals alpha)"],
    support="positive_integer",
    domains={"alpha": POSITIVE_FINITE},
    logged=("alpha",),
    variate={"lpmf": at_least(1)},
    examples=[(3, 1.3), (1, 0.4)],
)
class yule_simon:
    """Yule-Simon on 1, 2, ... with shape alpha."""

    @staticmethod
    def lpmf(xp: Namespace, n: Array, alpha: Array) -> Array:
        inside = n >= 1
        return within(xp, inside, xp.log(alpha) + log_beta(xp, inner(xp, inside, n, 1) * 1.0, alpha + 1))

    @staticmethod
    def cdf(xp: Namespace, n: Array, alpha: Array) -> Array:
        inside, log_upper = _log_upper(xp, n, alpha)
        return within(xp, inside, -xp.expm1(log_upper), 0.0)

    @staticmethod
    def lcdf(xp: Namespace, n: Array, alpha: Array) -> Array:
        inside, log_upper = _log_upper(xp, n, alpha)
        return within(xp, inside, xp.log1mexp(log_upper))

    @staticmethod
    def lccdf(xp: Namespace, n: Array, alpha: Array) -> Array:
        inside, log_upper = _log_upper(xp, n, alpha)
        return within(xp, inside, log_upper, 0.0)

    @staticmethod
    def rng(xp: Namespace, random: Random, alpha: Array) -> Array:
        shape = xp.shape(alpha)
        odds = xp.expm1(random.exponential(shape) / alpha)  # of failure, in trials whose failures are counted
        return 1 + poisson_counts(xp, random, "yule_simon_rng", random.exponential(shape) * odds)


def _log_upper(xp: Namespace, n: Array, alpha: Array) -> tuple[Array, Array]:
    """Whether n is in the support, and log P(more than n) = log(n B(n, alpha + 1))."""
    inside = n >= 1
    n = inner(xp, inside, n, 1) * 1.0
    small = xp.minimum(alpha, _SMALL)  # the sum of log(k / (k + alpha)) for k up to n, as far as alpha^2
    first, second = xp.digamma(n + 1) + EULER_GAMMA, math.pi**2 / 6 - xp.trigamma(n + 1)
    series = small * (0.5 * small * second - first)
    return inside, xp.where(alpha < _SMALL, series, xp.log(n) + log_beta(xp, n, alpha + 1))
