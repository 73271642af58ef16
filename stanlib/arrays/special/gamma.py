"""The gamma function's relatives without cancellation: Stirling's remainder, lgamma(1 + x), the gamma kernel."""
from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

from ..base import Array, Namespace

LOG_2 = math.log(2)
HALF_LOG_2_PI = 0.5 * math.log(2 * math.pi)
EULER_GAMMA = 0.57721566490153286061
# B_{2k} / (2k (2k - 1)), DLMF 5.11.1: Stirling's remainder is their sum times x^(1 - 2k).
_STIRLING = (
    1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156, -3617 / 122400, 43867 / 244188,
)  # fmt: skip
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)
_DIGAMMA = tuple(b / (2 * k) for k, b in enumerate(_BERNOULLI, 1))
_STEPS = 8  # how far the recurrence leads before the asymptotic series
_ATANH = tuple(2 / (2 * k + 3) for k in range(10))
_TINY = 1e-100  # where B(a, b) is (a + b) / (a b), and squares of ratios overflow
_NEAR = 0.3  # where the series of log(1 + x) - x takes over


@lru_cache(maxsize=1)
def _zeta_coefficients() -> tuple[float, ...]:
    """(-1)^k (zeta(k) - 1) / k for k = 2, 3, ...: DLMF 5.7.3."""
    from scipy.special import zeta  # not before it is needed: records are read without an array library

    return tuple((-1) ** k * float(zeta(k, 2.0)) / k for k in range(2, 20))


def horner(coefficients: Sequence[float], x: Array) -> Array:
    """The polynomial with these coefficients, two or more, lowest power first."""
    *rest, before, last = coefficients
    out = x * last + before
    for c in reversed(rest):
        out = out * x + c
    return out


def log1pmx(xp: Namespace, x: Array) -> Array:
    """log(1 + x) - x, to full relative precision near 0."""
    near = abs(x) < _NEAR
    s = xp.where(near, x, 0.1)
    r = s / (2 + s)  # log(1 + s) = 2 atanh(r)
    series = r * (r * r * horner(_ATANH, r * r) - s)
    far = xp.where(near, 1.0, x)
    return xp.where(near, series, xp.log1p(far) - far)


def stirling_error(xp: Namespace, x: Array) -> Array:
    """lgamma(x) - (x - 1/2) log(x) + x - log(2 pi) / 2 for x > 0 (DLMF 5.11.1)."""
    x = xp.real(x)
    large = x >= _STEPS
    big, small = xp.where(large, x, 1.0 * _STEPS), xp.where(large, 1.0, x)
    direct = xp.lgamma(small) - (small - 0.5) * xp.log(small) + small - HALF_LOG_2_PI
    return xp.where(large, horner(_STIRLING, 1 / (big * big)) / big, direct)


def lgamma1p(xp: Namespace, x: Array) -> Array:
    """lgamma(1 + x), to full relative precision near 0 (DLMF 5.7.3)."""
    near = abs(x) < 0.25
    s = xp.where(near, x, 0.1)
    series = (1 - EULER_GAMMA) * s - xp.log1p(s) + s * s * horner(_zeta_coefficients(), s)
    return xp.where(near, series, xp.lgamma(1 + xp.where(near, 1.0, x)))


def log_gamma_kernel(xp: Namespace, a: Array, x: Array) -> Array:
    """a log(x) - x - lgamma(a) for a, x > 0, without the cancellation of its terms for large a."""
    return 0.5 * xp.log(a) - HALF_LOG_2_PI - stirling_error(xp, a) + log_power_ratio(xp, a, x)


def log_power_ratio(xp: Namespace, a: Array, x: Array, excess: Array | None = None) -> Array:
    """a log(x / a) - (x - a) for a, x > 0: the exponent of the Poisson and binomial kernels.

    `excess` is x - a where it is known better than from their difference.
    """
    d = x - a if excess is None else excess
    near = abs(d) < _NEAR * a
    ratio = xp.where(near, d, 0.0) / a
    far = xp.where(near, a, x)
    return xp.where(near, a * log1pmx(xp, ratio), a * (xp.log(far) - xp.log(a)) - d)


def log1mexp(xp: Namespace, x: Array) -> Array:
    """log(1 - exp(x)) for x < 0."""
    near = x > -LOG_2
    return xp.where(near, xp.log(-xp.expm1(xp.where(near, x, -1.0))), xp.log1p(-xp.exp(xp.where(near, -1.0, x))))


def one_minus_exp(xp: Namespace, x: Array) -> Array:
    """1 - exp(x) for x < 0, with its derivative: that of expm1 is computed from its value, which is -1 for small x."""
    near = x > -LOG_2
    return xp.where(near, -xp.expm1(xp.where(near, x, -1.0)), 1.0 - xp.exp(x))


def logaddexp(xp: Namespace, x: Array, y: Array) -> Array:
    """log(exp(x) + exp(y)), with its derivatives also at infinities, and where x and y are equal."""
    above = x > y
    high = xp.where(above, x, y)
    level = (x == y) & (abs(high) == xp.inf)  # the gap of equal numbers is 0, but its derivatives are not
    gap = xp.where(level, 0.0, xp.where(above, y, x) - xp.where(level, 0.0, high))
    return high + xp.log1p(xp.exp(gap))


def betaln(xp: Namespace, a: Array, b: Array) -> Array:
    """log B(a, b) for a, b > 0, without the cancellation of the three log gammas for large arguments."""
    a, b = xp.real(a), xp.real(b)
    inside = (a > 0) & (b > 0) & (a < xp.inf) & (b < xp.inf)
    zero = (a == 0) & (b >= 0) | (b == 0) & (a >= 0)
    infinite = (a == xp.inf) & (b > 0) | (b == xp.inf) & (a > 0)
    outside = xp.where(zero, xp.inf, xp.where(infinite, -xp.inf, xp.nan))
    tiny = inside & (xp.minimum(a, b) < _TINY)
    p, q = xp.where(tiny, a, 1.0), xp.where(tiny, b, 1.0)
    outside = xp.where(tiny, xp.log(p + q) - xp.log(p) - xp.log(q), outside)
    inside = inside & ~tiny
    a, b = xp.where(inside, a, 1.0), xp.where(inside, b, 1.0)
    remainder = stirling_error(xp, a) + stirling_error(xp, b) - stirling_error(xp, a + b)
    powers = -(a - 0.5) * xp.log1p(b / a) - b * xp.log1p(a / b)
    return xp.where(inside, HALF_LOG_2_PI + remainder + powers - 0.5 * xp.log(b), outside)


def digamma(xp: Namespace, x: Array) -> Array:
    """The derivative of lgamma, from its recurrence, reflection and asymptotic series (DLMF 5.5.2, 5.5.4, 5.11.2)."""
    y, negative, pole, cut = _reflected(xp, x)
    inverse = 1 / (y + _STEPS)
    value = xp.log(y + _STEPS) - inverse * (0.5 + inverse * horner(_DIGAMMA, inverse * inverse))
    for k in range(_STEPS):
        value = value - 1 / (y + k)
    return xp.where(pole, xp.nan, xp.where(negative, value - math.pi / xp.tan(math.pi * cut), value))


def trigamma(xp: Namespace, x: Array) -> Array:
    """The second derivative of lgamma (DLMF 5.15.5, 5.15.6, 5.15.8)."""
    y, negative, pole, cut = _reflected(xp, x)
    inverse = 1 / (y + _STEPS)
    value = inverse * (1 + inverse * (0.5 + inverse * horner(_BERNOULLI, inverse * inverse)))
    for k in range(_STEPS):
        step = 1 / (y + k)
        value = value + step * step
    reflected = math.pi * math.pi / xp.sin(math.pi * cut) ** 2 - value
    return xp.where(pole, xp.inf, xp.where(negative, reflected, value))


def _reflected(xp: Namespace, x: Array) -> tuple[Array, Array, Array, Array]:
    """x, or 1 - x if x < 0; whether it is; whether x is a pole; and for negative x its distance to the nearest one."""
    x = xp.real(x)
    pole = (x <= 0) & (x == xp.floor(x))
    negative = (x < 0) & ~pole
    cut = xp.where(negative, x, 0.5)
    distance = cut - xp.stop_gradient(xp.floor(cut + 0.5))
    return xp.where(pole, 1.0, xp.where(negative, 1 - x, x)), negative, pole, distance
