"""The Poisson distribution. Source: Stan Functions Reference, "Poisson distribution"."""
from __future__ import annotations

from ..arrays.base import Array, Namespace
from ..distribution import Native, stan_distribution
from ..domains import NONNEGATIVE, POSITIVE
from ..random.base import Random
from ._counts import poisson_counts
from ._terms import finite_log, log0, times


@stan_distribution(
    "real poisson_lpmf(ints n | reals lambda)",
    rng=["int_or_array poisson_rng(reals lambda)"],
    support="natural",
    domains={"lambda": NONNEGATIVE},
    rng_domains={"lambda": POSITIVE},
    variate={"lpmf": NONNEGATIVE},
    native=Native("Poisson", ("lambda",)),
    examples=[(3, 2.3), (0, 0.8)],
)
class poisson:
    """Poisson with rate lambda."""

    @staticmethod
    def lpmf(xp: Namespace, n: Array, lam: Array) -> Array:
        return times(xp, n, finite_log(xp, log0(xp, lam))) - lam - xp.lgamma(n + 1.0)

    @staticmethod
    def cdf(xp: Namespace, n: Array, lam: Array) -> Array:
        inside, end = _end(xp, n)
        return xp.where(inside, xp.gammaincc(end, lam), 0.0)

    @staticmethod
    def lcdf(xp: Namespace, n: Array, lam: Array) -> Array:
        inside, end = _end(xp, n)
        return xp.where(inside, xp.log_gammaincc(end, lam), -xp.inf)

    @staticmethod
    def lccdf(xp: Namespace, n: Array, lam: Array) -> Array:
        inside, end = _end(xp, n)
        return xp.where(inside, xp.log_gammainc(end, lam), 0.0)

    @staticmethod
    def rng(xp: Namespace, random: Random, lam: Array) -> Array:
        return poisson_counts(xp, random, "poisson_rng", lam, "lambda")


def _end(xp: Namespace, n: Array) -> tuple[Array, Array]:
    """Whether n is a count, and the shape of the gamma law that exceeds the rate when there are at most n events."""
    inside = n >= 0
    return inside, xp.where(inside, n, 0) + 1.0
