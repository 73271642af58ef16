"""The regularised incomplete gamma functions and their logarithms, with derivatives in both arguments.

P(a, x) and Q(a, x) are exp(K) S, where K = a log(x) - x - lgamma(a) and S is the integral of a function that falls
from 1: of exp(-a u - x expm1(-u)) for P, of exp(a u - x expm1(u)) for Q (DLMF 8.2.1 and 8.2.2 with t = x exp(-u) and
t = x exp(u)). P is computed so below the mode, Q above it, the other one from P + Q = 1.
"""
from __future__ import annotations

from typing import Any

from ..base import Array, Namespace, Real
from .gamma import lgamma1p, log1mexp, log_gamma_kernel, one_minus_exp
from .quadrature import CUTOFF, on_unit_interval, smaller_root

_SHIFT = 8  # P's integrand has two scales for small a: it is taken at a + 8, and the recurrence leads back
_SMALL = 0.5  # Q for small x and a is 1 - P without cancellation, by a series in x
_SERIES = 16


def gammainc(xp: Namespace, a: Array, x: Array) -> Array:
    """P(a, x), the probability of [0, x] under the gamma distribution of shape a."""
    a, x, ends, first = _inside(xp, a, x)
    lower, log_direct = _direct(xp, a, x)
    value = xp.where(lower, xp.exp(log_direct), one_minus_exp(xp, log_direct))
    return _with_edges(xp, ends, value, first, 1.0)


def gammaincc(xp: Namespace, a: Array, x: Array) -> Array:
    """Q(a, x) = 1 - P(a, x)."""
    a, x, ends, first = _inside(xp, a, x)
    lower, log_direct = _direct(xp, a, x)
    small, q = _small(xp, a, x, log_direct)
    value = xp.where(small, q, xp.where(lower, one_minus_exp(xp, log_direct), xp.exp(log_direct)))
    return _with_edges(xp, ends, value, 1.0 - first, 0.0)


def log_gammainc(xp: Namespace, a: Array, x: Array) -> Array:
    """log P(a, x), which does not underflow."""
    a, x, ends, _ = _inside(xp, a, x)
    lower, log_direct = _direct(xp, a, x)
    small, q = _small(xp, a, x, log_direct)
    value = xp.where(small, xp.log1p(-q), xp.where(lower, log_direct, log1mexp(xp, log_direct)))
    return _with_edges(xp, ends, value, -xp.inf, 0.0)


def log_gammaincc(xp: Namespace, a: Array, x: Array) -> Array:
    """log Q(a, x), which does not underflow."""
    a, x, ends, first = _inside(xp, a, x)
    lower, log_direct = _direct(xp, a, x)
    small, q = _small(xp, a, x, log_direct)
    value = xp.where(small, xp.log(q), xp.where(lower, log1mexp(xp, log_direct), log_direct))
    return _with_edges(xp, ends, value, 0.0 - first, -xp.inf)


def _inside(xp: Namespace, a: Array, x: Array) -> Any:
    """The arguments, replaced where they are at an end or outside of (0, inf), where they are not, and P next to 0.

    That is x for a = 1, whose density at 0 is 1; 0 for larger a. For smaller ones it is infinite.
    """
    a, x = xp.real(a), xp.real(x)
    first = xp.where((a == 1) & (x == 0), x, 0.0)
    inside = (a > 0) & (x > 0) & (x < xp.inf) & (a < xp.inf)
    at_zero = (a > 0) & ((x == 0) | (a == xp.inf) & (x < xp.inf))
    at_infinity = (a > 0) & (a < xp.inf) & (x == xp.inf)
    return xp.where(inside, a, 1.0), xp.where(inside, x, 1.0), (inside, at_zero, at_infinity), first


def _with_edges(xp: Namespace, where: tuple[Array, ...], value: Array, at_zero: Real, at_infinity: Real) -> Array:
    inside, zero, infinity = where
    return xp.where(inside, value, xp.where(zero, at_zero, xp.where(infinity, at_infinity, xp.nan)))


def _direct(xp: Namespace, a: Array, x: Array) -> tuple[Array, Array]:
    """Whether P is the one computed directly, and the logarithm of P or else Q."""
    lower = (x <= a) | (x < _SMALL)
    shifted = xp.where(lower, a + _SHIFT, a)
    s = _integral(xp, shifted, x, lower)
    recurred, factor = s, xp.where(lower, x, 0.0)  # powers of large x are infinite
    for k in reversed(range(_SHIFT)):
        recurred = (1 + factor * recurred) / (a + k)
    return lower, log_gamma_kernel(xp, a, x) + xp.log(xp.where(lower, recurred, s))


def _integral(xp: Namespace, a: Array, x: Array, lower: Array) -> Array:
    """The integral of exp(s a u - x expm1(s u)) over u > 0, where s is -1 for the lower function and 1 for the upper.

    Its logarithm is concave and falls from 0, as x <= a for the lower function and x >= a for the upper.
    """
    end = xp.stop_gradient(_end(xp, a, x, lower))
    nodes, weights = on_unit_interval(xp, end)
    v = xp.where(lower, -end, end) * nodes
    return end * xp.sum(weights * xp.exp(a * v - x * xp.expm1(v)), axis=0)


def _end(xp: Namespace, a: Array, x: Array, lower: Array) -> Array:
    """Where the integrand has fallen to exp(-CUTOFF): an upper bound, brought down by Newton's method.

    The exponent is convex, so every step from above stays above.
    """
    slope = xp.abs(x - a)
    near = smaller_root(xp, slope, xp.where(lower, x / 3, x / 2))  # from exp(u) - 1 - u >= u^2 / 2; u^2 / 3 if u > -1
    below = xp.where(near < 1, near, (CUTOFF + x) / a)
    above = xp.minimum(near, xp.maximum(1.7, xp.log(2 * CUTOFF) - xp.log(x)))
    u = xp.where(lower, below, above)
    s = xp.where(lower, -1.0, 1.0)
    for _ in range(3):
        u = u - (x * xp.expm1(s * u) - s * a * u - CUTOFF) / (s * (x * xp.exp(s * u) - a))
    return u


def _small(xp: Namespace, a: Array, x: Array, log_p: Array) -> tuple[Array, Array]:
    """Where 1 - P would cancel, and Q there: both terms are of the order of a (DLMF 8.7.1)."""
    small = (x < _SMALL) & (a < 1) & (log_p > -0.7)
    a, x = xp.where(small, a, 0.5), xp.where(small, x, 0.25)
    log_power = a * xp.log(x) - lgamma1p(xp, a)
    term: Real = 1.0
    total: Real = 0.0
    for n in range(1, _SERIES):
        term = -term * x / n
        total = total + term / (a + n)
    return small, -xp.expm1(log_power) - xp.exp(log_power) * a * total
