"""The logarithm of the modified Bessel function of the first kind of real order, with derivatives in both arguments.

For small x the power series is used. Otherwise the uniform expansion for large orders (DLMF 10.41.3), which is precise
at order v + SHIFT for every x, and the recurrence (DLMF 10.29.1) down to v: it is stable, as its terms are positive.
"""
from __future__ import annotations

import math
from fractions import Fraction

from ..base import Array, Namespace, Real
from .gamma import horner

_SHIFT = 20
_TERMS = 10
_FAR = 1e10


def _uniform_polynomials() -> list[tuple[float, ...]]:
    """The coefficients of U_k(p) / p^k as polynomials in p^2 (DLMF 10.41.9)."""
    u = {0: Fraction(1)}
    out = []
    for k in range(1, _TERMS + 1):
        following: dict[int, Fraction] = {}
        for power, c in u.items():
            for step, factor in ((1, Fraction(power, 2) + Fraction(1, 8) / (power + 1)),
                                 (3, -Fraction(power, 2) - Fraction(5, 8) / (power + 3))):  # fmt: skip
                following[power + step] = following.get(power + step, Fraction(0)) + c * factor
        u = following
        out.append(tuple(float(u[k + 2 * j]) for j in range(k + 1)))
    return out


_U = _uniform_polynomials()


def log_iv(xp: Namespace, v: Array, x: Array) -> Array:
    """log I_v(x) for v >= -1 and x >= 0."""
    v, x = xp.real(v), xp.real(x)
    inside = (x > 0) & (x < xp.inf) & (v >= -1) & (v < xp.inf)
    ends = xp.where((x == 0) & (v != 0), xp.where(v > 0, -xp.inf, xp.inf), xp.where(x == 0, 0.0, x))
    ends = xp.where((v == xp.inf) & (x < xp.inf), -xp.inf, xp.where((x >= 0) & (v >= -1), ends, xp.nan))
    far = inside & (x > _FAR * (1 + v * v))
    at_infinity = _log_far(xp, xp.where(far, v, 0.0), xp.where(far, x, 1.0))
    v, x = xp.where(inside, v, 1.0), xp.where(inside & ~far, x, 1.0)
    small = (x * x < 2 * (v + 1)) & (v > -0.5)
    value = v * xp.log(x) + xp.where(small, _log_series(xp, v, x, small), _log_recurred(xp, v, x))
    return xp.where(far, at_infinity, xp.where(inside, value, ends))


def _log_far(xp: Namespace, v: Array, x: Array) -> Array:
    """log I_v(x) for x far above v^2, by the first terms of Hankel's expansion (DLMF 10.40.1).

    The differences of the recurrence's logarithms are lost there.
    """
    return x - 0.5 * (math.log(2 * math.pi) + xp.log(x)) - (4 * v * v - 1) / (8 * x)


def _log_series(xp: Namespace, v: Array, x: Array, small: Array) -> Array:
    """log(I_v(x) / x^v) by the power series (DLMF 10.25.2)."""
    v, square = xp.where(small, v, 1.0), 0.25 * xp.where(small, x * x, 0.0)
    total: Real = 0.0
    for k in reversed(range(1, _TERMS + 3)):
        total = (1 + total) * square / (k * (v + k))
    return xp.log1p(total) - math.log(2) * v - xp.lgamma(v + 1)


def _log_recurred(xp: Namespace, v: Array, x: Array) -> Array:
    """log(I_v(x) / x^v) from order v + SHIFT."""
    order = v + _SHIFT
    value, next_value = _log_without_power(xp, order, x), _log_without_power(xp, order + 1, x)
    ratio = xp.exp(next_value - value)  # I_{order + 1} / (x I_order)
    # The product of the ratios from v on, each about 1 / (v + x + 1), scaled so as not to underflow.
    scale = v + x + 1
    product: Real = 1.0
    for k in reversed(range(_SHIFT)):
        ratio = 1 / (2 * (v + k + 1) + x * x * ratio)
        product = product * (scale * ratio)
    return value + _SHIFT * xp.log(scale) - xp.log(product)


def _log_without_power(xp: Namespace, v: Array, x: Array) -> Array:
    """log(I_v(x) / x^v) by the uniform expansion for large v."""
    s = xp.hypot(v, x)
    p = v / s
    series: Real = 0.0
    inverse = 1 / s  # p / v
    for coefficients in reversed(_U):
        series = (series + horner(coefficients, p * p)) * inverse
    return s - v * xp.log(v + s) - 0.5 * xp.log(2 * math.pi * s) + xp.log1p(series)
