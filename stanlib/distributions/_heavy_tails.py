"""Sums over all counts above one of densities with heavy tails, as those of the beta negative binomial laws.

Some terms are added one by one. Of the others the sum is an integral and what Gregory's formula adds to it: with f(k)
at k = 0, 1, ... and differences D f = f(1) - f(0), their sum less the integral from 0 on is (1 / log(1 + D) - 1 / D) f.
The integral over u = log(x), whose integrand falls like exp(-alpha u), is one by the double exponential formula for
half-infinite intervals.

Sources: Jordan, Calculus of Finite Differences, 1965, section 99; Takahasi and Mori, "Double exponential formulas for
numerical integration", Publ. RIMS 9 (1974).
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import comb, exp, log

from ..arrays.base import Array, Namespace

_ADDED = 32  # terms, one by one
_LARGEST = 70.0  # u, from which on the integrand is an exponential function; single precision has exp(u)
_AT = [k / 12 for k in range(-42, 48)]
_NODES = [exp(t - exp(-t)) for t in _AT]
_LOG_WEIGHTS = [log((1 + exp(-t)) * x / 12) for t, x in zip(_AT, _NODES)]

_GREGORY = tuple(map(Fraction, ("1/2", "-1/12", "1/24", "-19/720", "3/160", "-863/60480", "275/24192", "-33953/3628800",
                                "8183/1036800")))  # fmt: skip
_OF_DIFFERENCES = [
    float(sum(g * (-1) ** (m - j) * comb(m, j) for m, g in enumerate(_GREGORY) if m >= j)) for j in range(len(_GREGORY))
]


def log_sum_above(xp: Namespace, log_density: Callable[[Array], Array], n: Array, alpha: Array) -> Array:
    """log(f(n + 1) + f(n + 2) + ...) for f = exp(log_density), from n on decreasing, and at last like x^(-alpha - 1).

    Args:
        log_density: of real numbers as well, with an axis in front of those of n.
        n: reals, of the shape of the result.
    """
    k = n + 1 + _column(xp, range(_ADDED + len(_GREGORY)), n)
    terms = log_density(k)
    start, first = k[_ADDED], terms[_ADDED]
    falls = xp.minimum(terms[_ADDED:] - first, 0.0)
    beyond = xp.sum(xp.exp(falls) * _column(xp, _OF_DIFFERENCES, n), axis=0)
    integral = _log_integral(xp, log_density, start, alpha, xp.stop_gradient(-start * falls[1] - 1))
    total = xp.logaddexp(xp.logsumexp(terms[:_ADDED], axis=0), integral)
    return total + xp.log1p(beyond * xp.exp(first - total))


def _log_integral(
    xp: Namespace, log_density: Callable[[Array], Array], start: Array, alpha: Array, slope: Array
) -> Array:
    """log of the integral of f from `start` on, where x f(x) falls like x^(-slope), and at last like x^-alpha."""
    known = xp.stop_gradient(alpha)
    rate = xp.where(slope > 0, xp.minimum(known, slope), known)
    u = _column(xp, _NODES, start) / rate
    near = xp.minimum(u, _LARGEST)
    x = start * xp.exp(near)
    logs = log_density(x) + xp.log(x) - alpha * (u - near)
    return xp.logsumexp(logs + _column(xp, _LOG_WEIGHTS, start) - xp.log(rate), axis=0)


def _column(xp: Namespace, values: Sequence[float], like: Array) -> Array:
    """Values along an axis in front of those of an array, as reals like its."""
    return xp.reals((xp.asarray(list(values)).reshape((-1,) + (1,) * xp.ndim(like)), like))[0]
