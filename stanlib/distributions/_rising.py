"""Differences of log gamma functions, as array code that is cheaper than two calls of lgamma and loses no digits."""
from __future__ import annotations

from ..arrays.base import Array, Namespace
from ..arrays.special.gamma import horner

# B_{2k} / (2k (2k - 1)), DLMF 5.11.1, enough of them for arguments from 10 on.
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)
_SHIFT = 10


def log_rising(xp: Namespace, x: Array, n: Array | float) -> Array:
    """lgamma(x + n) - lgamma(x) for x > 0 and n >= 0: the logarithm of the rising factorial x (x + 1) ... (x + n - 1).

    Arguments below 10 are moved up by the recurrence; then Stirling's series applies to both.
    """
    small, small_end = x < _SHIFT, x + n < _SHIFT
    a = xp.where(small, x + _SHIFT, x)
    b = xp.where(small_end, x + n + _SHIFT, x + n)
    d = n + xp.where(small_end, 1.0 * _SHIFT, 0.0) - xp.where(small, 1.0 * _SHIFT, 0.0)
    moved = xp.log(_product(xp, small, x)) - xp.log(_product(xp, small_end, x + n))
    out: Array = (b - 0.5) * xp.log1p(d / a) + d * (xp.log(a) - 1) + (_remainder(b) - _remainder(a)) + moved
    return out


def _remainder(x: Array) -> Array:
    r = 1 / x
    return r * horner(_STIRLING, r * r)


def _product(xp: Namespace, small: Array, x: Array) -> Array:
    """x (x + 1) ... (x + 9) where x is small, else 1, paired from both ends."""
    x = xp.where(small, x, 0.0)
    q = x * (x + 9)
    return xp.where(small, q * (q + 8) * (q + 14) * (q + 18) * (q + 20), 1.0)


def log_beta(xp: Namespace, a: Array, b: Array) -> Array:
    """log B(a, b) for a, b > 0, as lgamma of the lesser less the logarithm of a rising factorial from the greater."""
    first = a < b
    least, most = xp.where(first, a, b), xp.where(first, b, a)
    return xp.lgamma(least) - log_rising(xp, most, least)


def lchoose(xp: Namespace, n: Array, k: Array) -> Array:
    """log of the binomial coefficient for counts 0 <= k <= n; -inf outside."""
    inside = (k >= 0) & (k <= n)
    k = xp.where(inside, k, 0)
    return xp.where(inside, -xp.log1p(n) - log_beta(xp, k + 1.0, xp.where(inside, n - k, n) + 1.0), -xp.inf)
