"""The binomial distribution. Source: Stan Functions Reference, "Binomial distribution"."""
from __future__ import annotations

from ..arrays.base import Array, Namespace
from ..distribution import Native, stan_distribution
from ..domains import NONNEGATIVE, PROBABILITY, Interval
from ..random.base import Random
from ._rising import lchoose
from ._terms import inner, log0, log_one_less, next_to_end, times, within


@stan_distribution(
    "real binomial_lpmf(ints n | ints N, reals theta)",
    rng=["int_or_array binomial_rng(ints N, reals theta)"],
    support=lambda N, theta: ("range", 0, N),
    domains={"N": NONNEGATIVE, "theta": PROBABILITY},
    logged=("theta",),
    variate={"lpmf": Interval(0, "N")},
    native=Native("Binomial", (), numpyro="BinomialProbs", keywords={"total_count": "N", "probs": "theta"}),
    examples=[(3, 10, 0.3), (0, 4, 0.8)],
)
class binomial:
    """The number of successes in N trials of probability theta."""

    @staticmethod
    def lpmf(xp: Namespace, n: Array, N: Array, theta: Array) -> Array:
        if xp.ndim(theta) == 0:
            terms = times(xp, n, log0(xp, theta)) + times(xp, N - n, log_one_less(xp, theta))
        else:
            terms = _log_likelihoods(xp, n, N, theta)
        return within(xp, (n >= 0) & (n <= N), lchoose(xp, N, n) + terms)

    @staticmethod
    def cdf(xp: Namespace, n: Array, N: Array, theta: Array) -> Array:
        return xp.exp(_log_lower(xp, n, N, theta)) + next_to_end(xp, 1 - theta, xp.where(n == N - 1, N, 0))

    @staticmethod
    def lcdf(xp: Namespace, n: Array, N: Array, theta: Array) -> Array:
        return _log_lower(xp, n, N, theta)

    @staticmethod
    def lccdf(xp: Namespace, n: Array, N: Array, theta: Array) -> Array:
        inside, n1, rest, p = _beta_arguments(xp, n, N, theta)
        tail = xp.log_betainc_inside(n1, rest, p, 1 - p)
        certain = 0.0 - next_to_end(xp, 1 - theta, xp.where(n == N - 1, N, 0))
        return xp.where(inside, tail, xp.where((n < 0) | (n < N) & (theta == 1), certain, -xp.inf))

    @staticmethod
    def rng(xp: Namespace, random: Random, N: Array, theta: Array) -> Array:
        return random.binomial(N, theta, xp.broadcast_shape(N, theta))


def _log_likelihoods(xp: Namespace, n: Array, N: Array, theta: Array) -> Array:
    """n log(theta) + (N - n) log(1 - theta) for an array of probabilities, NaN where they are none."""
    inside = (theta > 0) & (theta < 1)
    p = inner(xp, inside, theta, 0.5)
    never, always = theta == 0, theta == 1
    impossible = xp.where(never | always, -xp.inf, xp.nan)
    certain = xp.where(never & (n == 0), -N * theta, xp.where(always & (n == N), N * (theta - 1), impossible))  # 0
    return within(xp, inside, n * xp.log(p) + (N - n) * xp.log1p(-p), certain)


def _log_lower(xp: Namespace, n: Array, N: Array, theta: Array) -> Array:
    inside, n1, rest, p = _beta_arguments(xp, n, N, theta)
    tail = xp.log_betainc_inside(rest, n1, 1 - p, p)
    certain = 0.0 - next_to_end(xp, theta, xp.where(n == 0, N, 0))
    return xp.where(inside, tail, xp.where((n < 0) | (n < N) & (theta == 1), -xp.inf, certain))


def _beta_arguments(xp: Namespace, n: Array, N: Array, theta: Array) -> tuple[Array, Array, Array, Array]:
    """Whether a tail is neither 0 nor 1, and if so n + 1, N - n and the probability: more than n successes are as
    probable as a beta variate of these parameters below theta (DLMF 8.17.24).
    """
    inside = (n >= 0) & (n < N) & (theta > 0) & (theta < 1)
    return inside, xp.where(inside, n, 0) + 1.0, xp.where(inside, N - n, 1) * 1.0, xp.where(inside, theta, 0.5)
