"""The multinomial distribution. Source: Stan Functions Reference, "Multinomial distribution"."""
from __future__ import annotations

from ..arrays.base import Array, Namespace, Real
from ..checks import filled, same_size
from ..distribution import stan_distribution
from ..domains import NONNEGATIVE, SIMPLEX
from ..random.base import Random
from ._terms import inner, within


@stan_distribution(
    "real multinomial_lpmf(array[] int y | vector theta)",
    rng=["array[] int multinomial_rng(vector theta, int N)"],
    support="natural",
    domains={"theta": SIMPLEX, "N": NONNEGATIVE},
    variate={"lpmf": NONNEGATIVE},
    event_dims=1,
    argument_dims={"theta": 1},
    examples=[([1, 0, 3], [0.2, 0.5, 0.3])],
)
class multinomial:
    """The counts of the categories in independent trials with probabilities theta."""

    @staticmethod
    def lpmf(xp: Namespace, y: Array, theta: Array) -> Array:
        same_size("multinomial", "the size of y", xp.shape(y)[-1], "the size of theta", xp.shape(theta)[-1])
        filled(xp, "multinomial", "theta", theta)
        y, theta = xp.reals((y, theta))
        return count_terms(xp, y, y * xp.log(inner(xp, y != 0, theta, 1.0)))

    @staticmethod
    def rng(xp: Namespace, random: Random, theta: Array, N: Array) -> Array:
        filled(xp, "multinomial_rng", "theta", theta)
        return count_draws(xp, random, theta, N)


def count_terms(xp: Namespace, y: Array, log_powers: Array, log_total: Real = 0.0) -> Array:
    """The log probability of counts, by the logs of the powers of their probabilities, and of what divides all."""
    ways = xp.lgamma(xp.sum(y, axis=-1) + 1) - xp.sum(xp.lgamma(y + 1), axis=-1)
    return within(xp, xp.all(y >= 0, axis=-1), ways + xp.sum(log_powers, axis=-1) - log_total)


def count_draws(xp: Namespace, random: Random, theta: Array, n: Array) -> Array:
    """Counts of n trials: each category takes a binomial share of the trials that the ones before it leave."""
    behind = xp.flip(xp.cumsum(xp.flip(theta, axis=-1), axis=-1), axis=-1)
    share = xp.minimum(theta / xp.where(behind > 0, behind, 1.0), 1.0)

    def step(left: Array, x: tuple[Array, Array], random: Random) -> tuple[Array, Array]:
        i, p = x
        count = random.at(i).binomial(left, p, ())
        return left - count, count

    return xp.scan(step, n, (xp.arange(xp.shape(theta)[0]), share), random.split())[1]
