"""The exponentially modified normal distribution.

Source: Stan Functions Reference, "Exponentially modified normal distribution".
"""
from __future__ import annotations

import math
from typing import Any

from ..arrays.base import Array, Namespace, Real
from ..distribution import stan_distribution
from ..domains import FINITE, NOT_NAN, POSITIVE_FINITE
from ..random.base import Random
from ._terms import LOG_2, log0

SQRT_HALF = math.sqrt(0.5)
SLOPE = 2 / math.sqrt(math.pi)  # erfcx'(x) = 2 x erfcx(x) - SLOPE, DLMF 7.10


@stan_distribution(
    "real exp_mod_normal_lpdf(reals y | reals mu, reals sigma, reals lambda)",
    rng=["real_or_array exp_mod_normal_rng(reals mu, reals sigma, reals lambda)"],
    support="real",
    domains={"mu": FINITE, "sigma": POSITIVE_FINITE, "lambda": POSITIVE_FINITE},
    logged=("lambda",),
    variate=dict.fromkeys(("lpdf", "cdf", "lcdf", "lccdf"), NOT_NAN),
    examples=[(0.3, -0.2, 1.7, 0.8), (-3.0, 1.0, 0.5, 2.0)],
)
class exp_mod_normal:
    """The law of the sum of a normal (mu, sigma) and an exponential of rate lambda."""

    @staticmethod
    def lpdf(xp: Namespace, y: Any, mu: Any, sigma: Any, lam: Real) -> Array:
        return xp.log(lam) + _log_excess(xp, (y - mu) / sigma, lam * sigma)

    @staticmethod
    def cdf(xp: Namespace, y: Array, mu: Array, sigma: Array, lam: Array) -> Array:
        return xp.exp(_log_lower(xp, (y - mu) / sigma, lam * sigma))

    @staticmethod
    def lcdf(xp: Namespace, y: Array, mu: Array, sigma: Array, lam: Array) -> Array:
        return _log_lower(xp, (y - mu) / sigma, lam * sigma)

    @staticmethod
    def lccdf(xp: Namespace, y: Array, mu: Array, sigma: Array, lam: Array) -> Array:
        return _log_upper(xp, (y - mu) / sigma, lam * sigma)

    @staticmethod
    def rng(xp: Namespace, random: Random, mu: Array, sigma: Array, lam: Array) -> Array:
        shape = xp.broadcast_shape(mu, sigma, lam)
        return mu + sigma * random.normal(shape) + random.exponential(shape) / lam


def _log_excess(xp: Namespace, z: Array, v: Array) -> Array:
    """v^2 / 2 - v z + log(ndtr(z - v)), where the first terms cancel the last one's if z - v is far below 0."""
    below = z < v
    w = xp.where(below, 0.0, z - v)
    scaled = xp.erfcx(SQRT_HALF * xp.where(below, v - z, 0.0))
    return xp.where(below, xp.log(scaled) - LOG_2 - 0.5 * z * z, v * (0.5 * v - z) + xp.log_ndtr(w))


def _log_upper(xp: Namespace, z: Array, v: Array) -> Array:
    """The log probability of a standardised value above z: the normal part alone, or else the sum."""
    return xp.logaddexp(xp.log_ndtr(-z), _log_excess(xp, z, v))


def _log_lower(xp: Namespace, z: Array, v: Array) -> Array:
    left = z < 0
    a, h = SQRT_HALF * xp.where(left, -z, 1.0), SQRT_HALF * v
    tail = log0(xp, _decline(xp, a, h)) - LOG_2 - a * a
    return xp.where(left, tail, xp.log1mexp(_log_upper(xp, xp.where(left, 0.0, z), v)))


def _decline(xp: Namespace, a: Array, h: Array) -> Array:
    """erfcx(a) - erfcx(a + h) for a >= 0; for small h by two terms of its Taylor series about the middle."""
    small = h < 1e-3
    m = a + 0.5 * h
    value = xp.erfcx(m)
    first = 2 * m * value - SLOPE
    third = 4 * first + 2 * m * (2 * value + 2 * m * first)
    series = -h * (first + h * h * third / 24)
    return xp.where(small, series, xp.erfcx(a) - xp.erfcx(a + xp.where(small, 1.0, h)))
