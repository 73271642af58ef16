"""The regularised incomplete beta function and its logarithm, with derivatives in all three arguments.

I_x(a, b) is exp(K) S, where K = a log(x) + b log(1 - x) - log B(a, b) and S is the integral over u > 0 of
exp(-a u - (a + b) log1p(x expm1(-u))): DLMF 8.17.1, with odds t / (1 - t) that are x / (1 - x) times exp(-u). For x
below the mean a / (a + b) the integrand falls from 1 and its logarithm is concave. Above the mean the complement
I_{1 - x}(b, a) is computed instead.
"""
from __future__ import annotations

import math
from typing import Any

from ..base import Array, Namespace, Real
from .gamma import HALF_LOG_2_PI, log1mexp, log_power_ratio, one_minus_exp, stirling_error
from .quadrature import CUTOFF, on_unit_interval, smaller_root

_SHIFT = 8  # the integrand has two scales for small a: it is taken at a + 8, and the recurrence leads back


def betainc(xp: Namespace, a: Array, b: Array, x: Array) -> Array:
    """I_x(a, b), the probability of [0, x] under the beta distribution."""
    first, last = _next_to_ends(xp, a, b, x)
    a, b, x, ends = _inside(xp, a, b, x)
    direct, log_direct = _direct(xp, a, b, x, 1 - x)
    value = xp.where(direct, xp.exp(log_direct), one_minus_exp(xp, log_direct))
    return _with_ends(xp, ends, value, first, 1.0 - last)


def log_betainc(xp: Namespace, a: Array, b: Array, x: Array) -> Array:
    """log I_x(a, b), which does not underflow."""
    _, last = _next_to_ends(xp, a, b, x)
    a, b, x, ends = _inside(xp, a, b, x)
    return _with_ends(xp, ends, log_betainc_inside(xp, a, b, x, 1 - x), -xp.inf, 0.0 - last)


def log_betainc_inside(xp: Namespace, a: Array, b: Array, x: Array, y: Array) -> Array:
    """log I_x(a, b) for x inside (0, 1) and y = 1 - x, which may be too small for x to show it."""
    direct, log_direct = _direct(xp, a, b, x, y)
    return xp.where(direct, log_direct, log1mexp(xp, log_direct))


def log_beta_kernel(xp: Namespace, a: Array, b: Array, x: Array, y: Array) -> Array:
    """a log(x) + b log(y) - log B(a, b), for y = 1 - x, without the cancellation of its terms for large a and b."""
    n = a + b
    scale = 0.5 * (xp.log(a) + xp.log(b) - xp.log(n)) - HALF_LOG_2_PI
    remainder = stirling_error(xp, n) - stirling_error(xp, a) - stirling_error(xp, b)
    excess = b * x - a * y  # of n x over a, and of b over n y, which their difference is too coarse for in large n
    return scale + remainder + log_power_ratio(xp, a, n * x, excess) + log_power_ratio(xp, b, n * y, -excess)


def _inside(xp: Namespace, a: Array, b: Array, x: Array) -> Any:
    """The arguments, replaced where x is at an end or outside of (0, 1), and where it is not."""
    a, b, x = xp.real(a), xp.real(b), xp.real(x)
    unit = (x >= 0) & (x <= 1)
    positive = (a > 0) & (b > 0)
    inside = positive & (a < xp.inf) & (b < xp.inf) & (x > 0) & (x < 1)
    at_zero = unit & (positive & (x == 0) | (b == 0) & (a > 0))  # all mass is at 1 if b is 0
    at_one = unit & (positive & (x == 1) | (a == 0) & (b > 0))
    ends = (inside, at_zero, at_one)
    return xp.where(inside, a, 1.0), xp.where(inside, b, 1.0), xp.where(inside, x, 0.5), ends


def _next_to_ends(xp: Namespace, a: Array, b: Array, x: Array) -> tuple[Array, Array]:
    """The mass below x next to 0 and that above x next to 1, which are 0 there, for their derivatives.

    The density at 0 is b for a = 1, at 1 it is a for b = 1; 0 for larger ones. For smaller ones it is infinite.
    """
    a, b, x = xp.reals((a, b, x))
    at_zero = (x == 0) & (a == 1) & (b > 0) & (b < xp.inf)
    at_one = (x == 1) & (b == 1) & (a > 0) & (a < xp.inf)
    first = xp.where(at_zero, b, 0.0) * xp.where(at_zero, x, 0.0)
    return first, xp.where(at_one, a, 0.0) * xp.where(at_one, 1 - x, 0.0)


def _with_ends(xp: Namespace, ends: tuple[Array, ...], value: Array, at_zero: Real, at_one: Real) -> Array:
    inside, zero, one = ends
    return xp.where(inside, value, xp.where(zero, at_zero, xp.where(one, at_one, xp.nan)))


def _direct(xp: Namespace, a: Array, b: Array, x: Array, y: Array) -> tuple[Array, Array]:
    """Whether I_x(a, b) is the one computed directly, and the logarithm of it or else of I_{1 - x}(b, a).

    Where one parameter is below 1 and its end carries nearly all the mass, the integral from that end is the smooth
    one, on whichever side of the mean x lies.
    """
    below = b * x <= a * y  # the mean, (a + b) x <= a, which a huge a alone decides where it is rounded
    end = xp.where(below, y, x)
    small = (xp.where(below, b, a) < 1) & ((a + b) * end < 0.5) & (end < 0.5)
    direct = below ^ small
    p, q = xp.where(direct, a, b), xp.where(direct, b, a)
    t, rest = xp.where(direct, x, y), xp.where(direct, y, x)
    s = _integral(xp, p + _SHIFT, q, t, rest)
    for k in reversed(range(_SHIFT)):
        s = (1 + t * (p + q + k) * s) / (p + k)
    return direct, log_beta_kernel(xp, a, b, x, y) + xp.log(s)


def _integral(xp: Namespace, a: Array, b: Array, x: Array, y: Array) -> Array:
    """S, for y = 1 - x."""
    end = xp.stop_gradient(_end(xp, a, b, x, y))
    nodes, weights = on_unit_interval(xp, end)
    return end * xp.sum(weights * xp.exp(-_fall(xp, a, b, x, y, end * nodes)), axis=0)


def _fall(xp: Namespace, a: Array, b: Array, x: Array, y: Array, u: Array) -> Array:
    """a u + (a + b) log(1 + x expm1(-u)). Near x = 1 large a cancel in it: the logarithm is log1p(y expm1(u)) - u."""
    high, s = x > 0.5, u + xp.log(y)
    far = high & (u > CUTOFF)  # where the logarithm is that of 1 + exp(s), and exp(u) may be beyond all numbers
    reach = xp.where(far, -abs(s), xp.where(high, xp.minimum(u, CUTOFF), -u))
    grown = xp.expm1(reach)
    inner = xp.where(far, 1 + grown, xp.where(high, y, x) * grown)
    logarithm = xp.log1p(inner) + xp.where(far, xp.maximum(s, 0.0), 0.0)
    return (a + b) * logarithm + xp.where(high, -b, a) * u


def _end(xp: Namespace, a: Array, b: Array, x: Array, y: Array) -> Array:
    """Where the integrand has fallen to exp(-CUTOFF): an upper bound, brought down by Newton's method.

    The exponent is convex, so every step from above stays above. Its second derivative is (a + b) t (1 - t), which on
    u < 1 is at least 1 / e of its value at 0. From far above, where Newton's steps are of length 1, the logarithm in
    the exponent is inverted: u = log1p(expm1((CUTOFF + b u) / (a + b)) / y), which stays above too.
    """
    n = a + b
    near = smaller_root(xp, xp.maximum(a * y - b * x, 0.0), n * x * y / (2 * math.e))
    u = xp.where(near < 1, near, (CUTOFF - n * xp.log(y)) / a)
    for _ in range(3):
        u = xp.minimum(u, xp.log1p(xp.expm1((CUTOFF + b * u) / n) / y))
    for _ in range(3):
        slope = n * y / (y + x * xp.exp(-u)) - b
        u = u - (_fall(xp, a, b, x, y, u) - CUTOFF) / slope
    return u
