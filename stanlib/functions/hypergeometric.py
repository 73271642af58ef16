"""Generalised hypergeometric functions and Lambert's W function.

Source: Stan Functions Reference, "Hypergeometric functions" and "Powers and logarithms".
"""
from __future__ import annotations

import math

from ..arrays.base import Array, Namespace, Real
from ..checks import known
from ..domains import FINITE, Domain
from ..errors import StanDomainError
from ..registry import stan_function

INSIDE_UNIT = Domain("between -1 and 1", lambda xp, x: abs(x) < 1)
LAMBERT_UPPER = Domain("at least -exp(-1)", lambda xp, x: x >= -math.exp(-1))
LAMBERT_LOWER = Domain("between -exp(-1) and 0", lambda xp, x: (x >= -math.exp(-1)) & (x <= 0))
_NUMBERS = ("vector", "row_vector", "array[] real")
_PAIRS = [f"real {{name}}({a} a, {b} b, real z)" for a in _NUMBERS for b in _NUMBERS]


@stan_function("R lambert_w0(T z)", domains={"z": LAMBERT_UPPER}, examples=[(1.5,), (-0.3,)])
def lambert_w0(xp: Namespace, z: Array) -> Array:
    """The w >= -1 with w exp(w) = z."""
    return xp.lambertw0(z)


@stan_function("R lambert_wm1(T z)", domains={"z": LAMBERT_LOWER}, examples=[(-0.3,), (-1e-10,)])
def lambert_wm1(xp: Namespace, z: Array) -> Array:
    """The w <= -1 with w exp(w) = z."""
    return xp.lambertwm1(z)


@stan_function(
    "real hypergeometric_1F0(real a, real z)", domains={"z": INSIDE_UNIT},
    elementwise=True, examples=[(1.5, 0.3)],
)  # fmt: skip
def hypergeometric_1F0(xp: Namespace, a: Array, z: Array) -> Array:
    return xp.exp(-a * xp.log1p(-xp.real(z)))


@stan_function(
    "real hypergeometric_2F1(real a1, real a2, real b1, real z)",
    domains={"a1": FINITE, "a2": FINITE, "b1": FINITE, "z": FINITE}, examples=[(1.5, 0.5, 2.5, 0.3)],
)  # fmt: skip
def hypergeometric_2F1(xp: Namespace, a1: Array, a2: Array, b1: Array, z: Array) -> Array:
    return _checked(xp, "hypergeometric_2F1", xp.stack([a1, a2]), xp.stack([b1]), z)


@stan_function(
    *[t.format(name="hypergeometric_3F2") for t in _PAIRS], domains={"a": FINITE, "b": FINITE, "z": FINITE},
    examples=[([1.5, 0.5, 1.0], [2.5, 2.0], 0.3)],
)  # fmt: skip
def hypergeometric_3F2(xp: Namespace, a: Array, b: Array, z: Array) -> Array:
    return _checked(xp, "hypergeometric_3F2", a, b, z)


@stan_function(
    *[t.format(name="hypergeometric_pFq") for t in _PAIRS], domains={"a": FINITE, "b": FINITE, "z": FINITE},
    examples=[([1.5, 0.5], [2.5, 2.0, 3.0], 1.3)],
)  # fmt: skip
def hypergeometric_pFq(xp: Namespace, a: Array, b: Array, z: Array) -> Array:
    return _checked(xp, "hypergeometric_pFq", a, b, z)


def _checked(xp: Namespace, function: str, a: Real, b: Real, z: Real) -> Array:
    if all(map(xp.is_concrete, (a, b, z))) and not _converges(*(known(xp, x) for x in (a, b, z))):
        raise StanDomainError(f"{function}: the series does not converge for a: {a}, b: {b}, z: {z}")
    return xp.hypergeometric(a, b, z)


def _converges(a: Array, b: Array, z: Array) -> Real:
    """Whether the series ends, or converges for this z."""
    ends = (a <= 0) & (a % 1 == 0)
    poles = (b <= 0) & (b % 1 == 0)
    last = -a[ends].max() if ends.any() else math.inf  # the degree of the polynomial
    if poles.any() and -b[poles].max() <= last:
        return False
    excess = len(a) - len(b)
    if z == 0 or ends.any() or excess < 1:
        return True
    if excess > 1:
        return False
    return abs(z) < 1 or (z < -1 and len(a) == 2) or (abs(z) == 1 and bool(sum(b) > sum(a)))
