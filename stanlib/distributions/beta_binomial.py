"""The beta-binomial distribution. Source: Stan Functions Reference, "Beta-binomial distribution"."""
from __future__ import annotations

from ..arrays.base import Array, Namespace
from ..distribution import Native, stan_distribution
from ..domains import NONNEGATIVE, POSITIVE_FINITE
from ..random.base import Random
from ._rising import lchoose, log_rising
from ._terms import known_maximum, outcomes, within


@stan_distribution(
    "real beta_binomial_lpmf(ints n | ints N, reals alpha, reals beta)",
    rng=["int_or_array beta_binomial_rng(ints N, reals alpha, reals beta)"],
    support=lambda N, alpha, beta: ("range", 0, N),
    domains={"N": NONNEGATIVE, "alpha": POSITIVE_FINITE, "beta": POSITIVE_FINITE},
    native=Native("BetaBinomial", ("alpha", "beta", "N")),
    examples=[(3, 10, 1.7, 0.8), (0, 4, 0.5, 2.0)],
)
class beta_binomial:
    """Binomial with N trials and a success probability that is beta distributed."""

    @staticmethod
    def lpmf(xp: Namespace, n: Array, N: Array, alpha: Array, beta: Array) -> Array:
        inside = (n >= 0) & (n <= N)
        n, rest = xp.where(inside, n, 0), xp.where(inside, N - n, N)
        ratio = log_rising(xp, alpha, n) + log_rising(xp, beta, rest) - log_rising(xp, alpha + beta, N)
        return within(xp, inside, lchoose(xp, N, n) + ratio)

    @staticmethod
    def cdf(xp: Namespace, n: Array, N: Array, alpha: Array, beta: Array) -> Array:
        return xp.exp(_log_tails(xp, n, N, alpha, beta)[0])

    @staticmethod
    def lcdf(xp: Namespace, n: Array, N: Array, alpha: Array, beta: Array) -> Array:
        return _log_tails(xp, n, N, alpha, beta)[0]

    @staticmethod
    def lccdf(xp: Namespace, n: Array, N: Array, alpha: Array, beta: Array) -> Array:
        return _log_tails(xp, n, N, alpha, beta)[1]

    @staticmethod
    def rng(xp: Namespace, random: Random, N: Array, alpha: Array, beta: Array) -> Array:
        shape = xp.broadcast_shape(N, alpha, beta)
        return random.binomial(N, random.beta(alpha, beta, shape), shape)


def _log_tails(xp: Namespace, n: Array, N: Array, alpha: Array, beta: Array) -> tuple[Array, Array]:
    """log P(at most n) and log P(more than n), as sums over all outcomes along a leading axis."""
    shape = xp.broadcast_shape(n, N, alpha, beta)
    k = outcomes(xp, known_maximum(xp, "beta_binomial", N), shape, alpha, beta)
    terms = beta_binomial.lpmf(xp, k, N, alpha, beta)
    log_lower, log_upper = _log_sum(xp, terms, k <= n), _log_sum(xp, terms, k > n)
    below, above = n < 0, n >= N
    lower = xp.where(below, -xp.inf, xp.where(above, 0.0, _larger(xp, log_lower, log_upper)))
    upper = xp.where(below, 0.0, xp.where(above, -xp.inf, _larger(xp, log_upper, log_lower)))
    return lower, upper


def _log_sum(xp: Namespace, terms: Array, used: Array) -> Array:
    """log of the sum of exp(terms) over the leading axis, where used; a huge negative number for none."""
    return xp.logsumexp(xp.where(used & (terms > -xp.inf), terms, -1e30), axis=0)


def _larger(xp: Namespace, log_p: Array, log_q: Array) -> Array:
    """log_p of two complementary probabilities: near 0 from the other one."""
    near = log_p > -0.5
    return xp.where(near, xp.log1mexp(xp.where(near, xp.minimum(log_q, -0.4), -1.0)), log_p)
