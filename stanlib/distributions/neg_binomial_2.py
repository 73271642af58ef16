"""The negative binomial distribution by its mean.

Source: Stan Functions Reference, "Negative binomial distribution (alternative parameterization)".
"""
from __future__ import annotations

from ..arrays.base import Array, Namespace
from ..distribution import Native, stan_distribution
from ..domains import NONNEGATIVE, POSITIVE_FINITE
from ..random.base import Random
from ._counts import poisson_counts
from ._rising import log_rising
from ._terms import inner, within


@stan_distribution(
    "real neg_binomial_2_lpmf(ints n | reals mu, reals phi)",
    rng=["int_or_array neg_binomial_2_rng(reals mu, reals phi)"],
    support="natural",
    domains={"mu": POSITIVE_FINITE, "phi": POSITIVE_FINITE},
    logged=("mu", "phi"),
    variate={"lpmf": NONNEGATIVE},
    native=Native("NegativeBinomial2", ("mu", "phi"), pyro=None),
    examples=[(3, 2.3, 1.4), (0, 0.8, 20.0)],
)
class neg_binomial_2:
    """Negative binomial with mean mu and variance mu + mu^2 / phi."""

    @staticmethod
    def lpmf(xp: Namespace, n: Array, mu: Array, phi: Array) -> Array:
        inside = n >= 0
        n = inner(xp, inside, n, 0)
        weight = log_rising(xp, phi, n) - xp.lgamma(n + 1.0)
        return within(xp, inside, weight + n * (xp.log(mu) - xp.log(phi)) - (n + phi) * xp.log1p(mu / phi))

    @staticmethod
    def cdf(xp: Namespace, n: Array, mu: Array, phi: Array) -> Array:
        return xp.exp(log_lower(xp, n, phi, mu / phi))

    @staticmethod
    def lcdf(xp: Namespace, n: Array, mu: Array, phi: Array) -> Array:
        return log_lower(xp, n, phi, mu / phi)

    @staticmethod
    def lccdf(xp: Namespace, n: Array, mu: Array, phi: Array) -> Array:
        return log_upper(xp, n, phi, mu / phi)

    @staticmethod
    def rng(xp: Namespace, random: Random, mu: Array, phi: Array) -> Array:
        rate = random.gamma(phi, xp.broadcast_shape(mu, phi)) * (mu / phi)
        return poisson_counts(xp, random, "neg_binomial_2_rng", rate)


def log_lower(xp: Namespace, n: Array, shape: Array, odds: Array) -> Array:
    """log P(at most n) of the Poisson counts whose rate is gamma distributed with this shape and scale `odds`."""
    inside, n1, shape, p, q = _beta_arguments(xp, n, shape, odds)
    return xp.where(inside, xp.log_betainc_inside(shape, n1, p, q), -xp.inf)


def log_upper(xp: Namespace, n: Array, shape: Array, odds: Array) -> Array:
    """log P(more than n) of the same."""
    inside, n1, shape, p, q = _beta_arguments(xp, n, shape, odds)
    return xp.where(inside, xp.log_betainc_inside(n1, shape, q, p), 0.0)


def _beta_arguments(xp: Namespace, n: Array, shape: Array, odds: Array) -> tuple[Array, ...]:
    """Whether n is a count, n + 1, the shape, and 1 / (1 + odds) with its complement: at most n counts are as probable
    as a beta variate (shape, n + 1) below it.
    """
    inside = n >= 0
    return inside, xp.where(inside, n, 0) + 1.0, xp.real(shape), 1 / (1 + odds), odds / (1 + odds)
