"""Powers, roots, exponentials and logarithms.

Source: Stan Functions Reference, "Powers and logarithms".
"""
from __future__ import annotations

from ..arrays.base import Array, Namespace, Real
from ..checks import elementwise, known, of_reals
from ..registry import stan_function

_SMALL_POWER = 64


@stan_function("R exp(T x)", "complex exp(complex x)", examples=[(0.5,), (-700.0,)])
def exp(xp: Namespace, x: Array) -> Array:
    return xp.exp(x)


@stan_function("R exp2(T x)", examples=[(0.5,), (-3.0,)])
def exp2(xp: Namespace, x: Array) -> Array:
    return xp.power(2.0, xp.real(x))


@stan_function("R log(T x)", "complex log(complex x)", examples=[(0.5,), (1e-300,)], inverse="exp")
def log(xp: Namespace, x: Array) -> Array:
    return xp.log(x)


@stan_function("R log2(T x)", examples=[(0.5,), (1e-300,)])
def log2(xp: Namespace, x: Array) -> Array:
    return xp.log2(x)


@stan_function("R log10(T x)", "complex log10(complex x)", examples=[(0.5,), (1e-300,)])
def log10(xp: Namespace, x: Array) -> Array:
    return xp.log10(x)


@stan_function("R sqrt(T x)", examples=[(2.0,), (0.0,)], inverse="square")
def sqrt(xp: Namespace, x: Array) -> Array:
    """The square root, whose derivative at 0 is 0, as in Stan."""
    x = xp.real(x)
    zero = x == 0
    return xp.where(zero, 0.0, xp.sqrt(xp.where(zero, 1.0, x)))


@stan_function("complex sqrt(complex x)", examples=[(2.0 - 1.0j,)])
def complex_sqrt(xp: Namespace, x: Array) -> Array:
    return xp.sqrt(x)


@stan_function("R cbrt(T x)", examples=[(2.0,), (-27.0,)])
def cbrt(xp: Namespace, x: Array) -> Array:
    return xp.cbrt(xp.real(x))


@stan_function("R square(T x)", examples=[(-3.0,)])
def square(xp: Namespace, x: Array) -> Array:
    return xp.square(xp.real(x))


@stan_function("R inv(T x)", examples=[(-3.0,)])
def inv(xp: Namespace, x: Array) -> Array:
    return 1.0 / xp.real(x)


@stan_function("R inv_sqrt(T x)", examples=[(3.0,)])
def inv_sqrt(xp: Namespace, x: Array) -> Array:
    return 1.0 / xp.sqrt(xp.real(x))


@stan_function("R inv_square(T x)", examples=[(-3.0,)])
def inv_square(xp: Namespace, x: Array) -> Array:
    inverse = 1.0 / xp.real(x)
    return inverse * inverse


@stan_function("R pow(T1 x, T2 y)", examples=[(2.0, 0.5), (-2.0, 3.0)])
@elementwise
def pow(xp: Namespace, x: Array, y: Array) -> Array:
    """x^y, whose derivatives at a base of 0 are 0 where they would be infinite or no number, as in Stan."""
    base, exponent = xp.real(x), _exponent(xp, y)
    if xp.is_concrete(base) or not _may_be_steep(xp, exponent):
        return xp.power(base, exponent)
    steep = (base == 0) & (exponent >= 0) & (exponent < 1)
    return xp.where(steep, xp.where(exponent == 0, 1.0, 0.0), xp.power(xp.where(steep, 1.0, base), exponent))


def _may_be_steep(xp: Namespace, y: Real) -> bool:
    """Whether an exponent may lie in [0, 1), for which libraries multiply by infinity at a base of 0."""
    exponents = known(xp, y)
    return exponents is None or bool(((exponents >= 0) & (exponents < 1)).any())


def _exponent(xp: Namespace, y: Array) -> Real:
    """A small whole exponent as a Python int, for which array libraries multiply."""
    if not xp.is_concrete(y) or xp.ndim(y):
        return y
    exponent = float(y)
    return int(exponent) if abs(exponent) <= _SMALL_POWER and exponent.is_integer() else y


@stan_function("R pow(C1 x, C2 y)", examples=[(2.0 + 1.0j, 0.5 + 0.0j)])
@elementwise
def complex_pow(xp: Namespace, x: Array, y: Array) -> Array:
    return xp.power(x, y)


@stan_function("R lmultiply(T1 x, T2 y)", examples=[(2.0, 0.5), (0.0, 0.0)])
@of_reals
def lmultiply(xp: Namespace, x: Array, y: Array) -> Array:
    """x log(y), which is 0 where both are 0, and no number where x is 0 and log(y) is none or infinite."""
    return x_log_y(xp, x, y)


@stan_function("R multiply_log(T1 x, T2 y)", examples=[(2.0, 0.5)], removed="2.33", successor="lmultiply")
@of_reals
def multiply_log(xp: Namespace, x: Array, y: Array) -> Array:
    return x_log_y(xp, x, y)


def x_log_y(xp: Namespace, x: Array, y: Array) -> Array:
    return xp.where((x == 0) & ((y < 0) | (y == xp.inf)), xp.nan, xp.xlogy(x, y))


@stan_function("R ldexp(X x, N n)", examples=[(0.75, 3), (1e300, -1100)])
@elementwise
def ldexp(xp: Namespace, x: Array, n: Real) -> Array:
    """x 2^n, by two factors so that neither overflows before the product does."""
    half = n // 2
    return xp.real(x) * xp.power(2.0, xp.real(half)) * xp.power(2.0, xp.real(n - half))
