"""Special functions computed by NumPy and SciPy on the host, for every array library.

Bessel functions of integer order and generalised hypergeometric functions are rare in statistical models: they are
worth a call from compiled code to the host, not code of their own for each library.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import StanDerivativeError
from .base import Array, Value
from .later import later

_PRECISION = float(np.finfo(np.longdouble).eps)
_FIRST_BLOCK, _LARGEST_BLOCK, _MOST_TERMS = 256, 1 << 17, 1 << 22
_DOUBLINGS, _ALTERNATING_TERMS = 13, 40
_STEP = 1e-40  # of the complex steps that give derivatives: f(x + i h) = f(x) + i h f'(x), without cancellation

_bessel = {name: later("scipy.special", name) for name in ("jv", "yv", "kv", "kve")}


def jv(order: Value, x: Value) -> Array:
    """J_v(x), which SciPy does not tell at infinity."""
    return np.where(np.isinf(x), 0.0, _bessel["jv"](order, x))[()]


def yv(order: Value, x: Value) -> Array:
    """Y_v(x), as J_v(x)."""
    return np.where(np.isinf(x), 0.0, _bessel["yv"](order, x))[()]


def kv(order: Value, x: Value) -> Array:
    """K_v(x), which is 0 in SciPy where it is less than 1e-305 or so; its exp(x) K_v(x) is not, but NaN for large x."""
    with np.errstate(all="ignore"):
        value, small = _bessel["kv"](order, x), _bessel["kve"](order, x) * np.exp(-np.asarray(x, float))
    out: Array = np.where((value == 0) & np.isfinite(small), small, value)[()]
    return out


# The cylinder functions by name, each with the factors of its neighbours of lower and higher order in its derivative
# (DLMF 10.6.1, 10.29.1).
CYLINDER = {"jv": (jv, 0.5, -0.5), "yv": (yv, 0.5, -0.5), "kv": (kv, -0.5, -0.5)}


def hypergeometric(a: object, b: object, z: object) -> Any:
    """The generalised hypergeometric function pFq(a; b; z) of vectors a and b."""
    with np.errstate(all="ignore"):
        return np.float64(_sum(*(np.asarray(v, np.clongdouble) for v in (a, b, z))).real)


def hypergeometric_partials(a: object, b: object, z: object) -> tuple[Any, Any, Any]:
    """Its derivatives in a, b (by complex steps) and z (DLMF 16.3.1)."""
    a, b, z = (np.asarray(v, np.clongdouble) for v in (a, b, z))
    step = 1j * np.longdouble(_STEP)
    with np.errstate(all="ignore"):
        in_a = [_sum(a + step * unit, b, z).imag / _STEP for unit in np.eye(a.size)]
        in_b = [_sum(a, b + step * unit, z).imag / _STEP for unit in np.eye(b.size)]
        in_z = np.prod(a) / np.prod(b) * _sum(a + 1, b + 1, z)
    return np.array(in_a, float), np.array(in_b, float), np.float64(in_z.real)


def no_second_derivatives() -> StanDerivativeError:
    """The error for derivatives of the derivatives of pFq."""
    return StanDerivativeError("hypergeometric functions have first derivatives only")


def _sum(a: Any, b: Any, z: Any) -> Any:
    """pFq by whichever series converges fast; a, b and z may have infinitesimal imaginary parts."""
    polynomial = np.any((a.real <= 0) & (a.real == np.floor(a.real)))
    if not polynomial and z.real < 0 and b.size == 1 and a.size == 1:  # Kummer, DLMF 13.2.39
        return np.exp(z) * _series(b - a, b, -z)
    if not polynomial and z.real < 0 and b.size == 1 and a.size == 2:  # Pfaff, DLMF 15.8.1
        return (1 - z) ** -a[1] * _sum(np.array([b[0] - a[0], a[1]]), b, z / (z - 1))
    if not polynomial and abs(z.real) == 1 and a.size == b.size + 1:
        return _at_one(a, b) if z.real > 0 else _at_minus_one(a, b)
    return _series(a, b, z)


def _ratios(a: Any, b: Any, z: Any, start: int, count: int) -> Array:
    """The terms from number start + 1 on, each over the one before."""
    k = np.arange(start, start + count, dtype=np.longdouble)
    ratios: Array = z * np.prod(a[:, None] + k, axis=0) / (np.prod(b[:, None] + k, axis=0) * (k + 1))
    return ratios


def _series(a: Array, b: Array, z: Array) -> object:
    """The sum of the terms in blocks, until what is left is below the precision."""
    total = term = np.clongdouble(1)
    start, size = 0, _FIRST_BLOCK
    while start < _MOST_TERMS:
        ratios = _ratios(a, b, z, start, size)
        terms = term * np.cumprod(ratios)
        total, term = total + terms.sum(), terms[-1]
        rest = np.abs(np.array([term.real, term.imag])) / max(1 - abs(ratios[-1]), 0.0)
        if not np.isfinite(total) or np.all(rest <= _PRECISION * np.abs([total.real, total.imag])) or term == 0:
            return total
        start, size = start + size, min(2 * size, _LARGEST_BLOCK)
    return np.clongdouble(np.nan)


def _at_one(a: Any, b: Any) -> object:
    """At z = 1 the rest after n terms is n^-s times a series in 1 / n, for s = sum(b) - sum(a): Richardson's scheme."""
    s = b.sum() - a.sum()
    if s.real <= 0:
        return np.clongdouble(np.inf)
    sums = np.cumsum(np.cumprod(_ratios(a, b, np.clongdouble(1), 0, 32 << _DOUBLINGS)))
    table = [1 + sums[(32 << j) - 1] for j in range(_DOUBLINGS + 1)]
    for j in range(_DOUBLINGS):
        factor = np.exp((s + j) * np.log(np.longdouble(2)))
        table = [(factor * after - before) / (factor - 1) for before, after in zip(table, table[1:])]
    return table[0]


def _at_minus_one(a: object, b: object) -> object:
    """At z = -1 the signs alternate: algorithm 1 of Cohen, Rodriguez Villegas and Zagier, Exp. Math. 9 (2000)."""
    n = _ALTERNATING_TERMS
    terms = np.concatenate([[1], np.cumprod(_ratios(a, b, np.clongdouble(1), 0, n - 1))])
    d = np.cosh(n * np.log(3 + np.sqrt(np.longdouble(8))))
    weight, c, total = np.longdouble(-1), -d, np.clongdouble(0)
    for k in range(n):
        c = weight - c
        total = total + c * terms[k]
        weight = weight * (k + n) * (k - n) / ((k + np.longdouble(0.5)) * (k + 1))
    return total / d
