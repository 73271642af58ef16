"""Bessel functions. Source: Stan Functions Reference, "Combinatorial functions"."""
from __future__ import annotations

from functools import partial

from ..arrays.base import Array, Namespace, Real
from ..checks import elementwise, of_reals
from ..domains import NONNEGATIVE, NOT_NAN, Domain, or_nan
from ..errors import StanDomainError
from ..registry import stan_function
from ..rejection import refuse

POSITIVE_OR_NAN = or_nan("positive", lambda xp, x: x > 0)
AT_LEAST_MINUS_1 = Domain("greater than or equal to -1", lambda xp, x: x >= -1)


def _finite(xp: Namespace, name: str, value: Array, x: Array) -> Array:
    """The value at x. Stan throws for what overflows, as I_v for large arguments and Y_v and K_v next to 0."""
    error = partial(StanDomainError, f"{name}: the value is too large for a number")
    is_finite = xp.abs(x) < xp.inf  # of NumPy where the order alone is a tensor, which takes no `&` with it
    refuse(xp.where(is_finite, xp.isinf(value), False), error)
    return value


@stan_function("R bessel_first_kind(N v, X x)", domains={"x": NOT_NAN}, examples=[(1, 2.5), (3, 40.0)])
@elementwise
def bessel_first_kind(xp: Namespace, v: Array, x: Array) -> Array:
    """J_v(x)."""
    return xp.jv(v, x)


@stan_function("R bessel_second_kind(N v, X x)", domains={"x": POSITIVE_OR_NAN}, examples=[(1, 2.5), (3, 40.0)])
@elementwise
def bessel_second_kind(xp: Namespace, v: Array, x: Array) -> Array:
    """Y_v(x). Where it is derived, Stan throws for Y_{v + 1} too, which the derivative takes: 2 v Y_v / x near 0."""
    value = _finite(xp, "bessel_second_kind", xp.yv(v, x), x)
    if not xp.is_concrete(x):
        _finite(xp, "bessel_second_kind", xp.where(v > 0, 2 * v * value / x, value), x)
    return value


@stan_function("R modified_bessel_first_kind(N v, X z)", domains={"z": NOT_NAN}, examples=[(1, 2.5), (3, 40.0)])
@elementwise
def modified_bessel_first_kind(xp: Namespace, v: Real, z: Array) -> Array:
    """I_v(z), which is odd in z for odd v."""
    z = xp.real(z)
    positive = _finite(xp, "modified_bessel_first_kind", xp.exp(xp.log_iv(xp.abs(v), xp.abs(z))), z)
    return xp.where(z < 0, xp.where(v % 2 == 1, -positive, positive), positive)


@stan_function(
    "R modified_bessel_second_kind(N v, X z)", domains={"z": POSITIVE_OR_NAN}, examples=[(1, 2.5), (3, 40.0)]
)  # fmt: skip
@elementwise
def modified_bessel_second_kind(xp: Namespace, v: Array, z: Array) -> Array:
    """K_v(z)."""
    return _finite(xp, "modified_bessel_second_kind", xp.kv(v, z), z)


@stan_function(
    "R log_modified_bessel_first_kind(T1 v, T2 z)", domains={"v": AT_LEAST_MINUS_1, "z": NONNEGATIVE},
    examples=[(1.5, 2.5), (0, 4000.0)],
)  # fmt: skip
@of_reals
def log_modified_bessel_first_kind(xp: Namespace, v: Array, z: Array) -> Array:
    """log I_v(z) for real v."""
    return xp.log_iv(v, z)
