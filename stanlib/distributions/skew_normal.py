"""The skew normal distribution. Source: Stan Functions Reference, "Skew normal distribution"."""
from __future__ import annotations

import math

from ..arrays.base import Array, Namespace, Real
from ..arrays.special.quadrature import on_unit_interval, smaller_root
from ..distribution import stan_distribution
from ..domains import FINITE, NOT_NAN, POSITIVE, POSITIVE_FINITE, everywhere
from ..random.base import Random
from ._terms import LOG_2, LOG_2_PI

SQRT_HALF = math.sqrt(0.5)


@stan_distribution(
    "real skew_normal_lpdf(reals y | reals xi, reals omega, reals alpha)",
    rng=["real_or_array skew_normal_rng(reals xi, reals omega, reals alpha)"],
    support="real",
    domains={"xi": FINITE, "omega": POSITIVE, "alpha": everywhere(FINITE)},
    rng_domains={"omega": POSITIVE_FINITE},
    logged=("omega",),
    variate=dict.fromkeys(("lpdf", "cdf", "lcdf", "lccdf"), NOT_NAN),
    examples=[(0.3, -0.2, 1.7, 0.8), (-3.0, 1.0, 0.5, -2.0)],
)
class skew_normal:
    """Skew normal with location xi, scale omega and shape alpha."""

    @staticmethod
    def lpdf(xp: Namespace, y: Real, xi: Real, omega: Real, alpha: Real) -> Array:
        z = (y - xi) / omega
        return xp.log_ndtr(alpha * z) - 0.5 * xp.square(z) - (xp.log(omega) + 0.5 * LOG_2_PI - LOG_2)

    @staticmethod
    def cdf(xp: Namespace, y: Array, xi: Array, omega: Array, alpha: Array) -> Array:
        return xp.exp(_log_lower(xp, (y - xi) / omega, alpha))

    @staticmethod
    def lcdf(xp: Namespace, y: Array, xi: Array, omega: Array, alpha: Array) -> Array:
        return _log_lower(xp, (y - xi) / omega, alpha)

    @staticmethod
    def lccdf(xp: Namespace, y: Array, xi: Array, omega: Array, alpha: Array) -> Array:
        return _log_lower(xp, (xi - y) / omega, -alpha)

    @staticmethod
    def rng(xp: Namespace, random: Random, xi: Array, omega: Array, alpha: Array) -> Array:
        shape = xp.broadcast_shape(xi, omega, alpha)
        side, other = xp.abs(random.normal(shape)), random.normal(shape)
        return xi + omega * (alpha * side + other) / xp.sqrt(1 + xp.square(alpha))


def _log_lower(xp: Namespace, z: Array, alpha: Array) -> Array:
    """log P(Z <= z), using that P(Z > z) is the lower tail at -z for -alpha."""
    left = z <= 0
    slope = xp.where(left, alpha, -alpha)
    log_p = _log_tail(xp, xp.where(left, -z, z), slope)
    return xp.where(left, log_p, xp.log1mexp(xp.where(left, -1.0, log_p)))


def _log_tail(xp: Namespace, u: Array, alpha: Array) -> Array:
    """log P(Z <= -u) for u >= 0. For alpha < 0 it is what the tails for -alpha and alpha sum to, less the other."""
    negative = alpha < 0
    rare = _log_rare_tail(xp, u, xp.where(negative, -alpha, alpha))
    both = LOG_2 + xp.log_ndtr(-u)
    apart = xp.where(both > -xp.inf, rare - both, -1.0)  # squares may overflow, of both
    return xp.where(negative, both + xp.log1mexp(apart), rare)


def _log_rare_tail(xp: Namespace, u: Array, alpha: Array) -> Array:
    """The same for alpha >= 0: with c = 1 + alpha^2, the integral of twice the density, written around -u, is
    exp(-c u^2 / 2) / sqrt(2 pi) times that of exp(-c (u s + s^2 / 2)) erfcx(alpha (u + s) / sqrt(2)) over s > 0.
    """
    c = 1 + alpha * alpha
    end = xp.stop_gradient(smaller_root(xp, c * u, 0.5 * c))
    nodes, weights = on_unit_interval(xp, end + u)
    s = end * nodes
    integrand = xp.exp(-c * (u + 0.5 * s) * s) * xp.erfcx(SQRT_HALF * alpha * (u + s))
    return xp.log(end * xp.sum(weights * integrand, axis=0)) - 0.5 * (c * u * u + LOG_2_PI)
