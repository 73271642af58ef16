"""Trigonometric and hyperbolic functions and their inverses, of real and complex numbers.

Source: Stan Functions Reference, "Trigonometric functions", "Hyperbolic trigonometric functions" and "Complex-Valued
Basic Functions".
"""
from __future__ import annotations

from ..arrays.base import Array, Namespace
from ..checks import of_reals
from ..domains import or_nan
from ..registry import stan_function

AT_LEAST_1 = or_nan("greater than or equal to 1", lambda xp, x: x >= 1)
FROM_MINUS_1_TO_1 = or_nan("in the interval [-1, 1]", lambda xp, x: abs(x) <= 1)


@stan_function("R sin(T x)", "complex sin(complex x)", examples=[(0.3,), (-2.5,)])
def sin(xp: Namespace, x: Array) -> Array:
    return xp.sin(x)


@stan_function("R cos(T x)", "complex cos(complex x)", examples=[(0.3,), (-2.5,)])
def cos(xp: Namespace, x: Array) -> Array:
    return xp.cos(x)


@stan_function("R tan(T x)", "complex tan(complex x)", examples=[(0.3,), (-2.5,)])
def tan(xp: Namespace, x: Array) -> Array:
    return xp.tan(x)


@stan_function("R asin(T x)", "complex asin(complex x)", examples=[(0.3,), (-0.999,)])
def asin(xp: Namespace, x: Array) -> Array:
    return xp.arcsin(x)


@stan_function("R acos(T x)", "complex acos(complex x)", examples=[(0.3,), (-0.999,)])
def acos(xp: Namespace, x: Array) -> Array:
    return xp.arccos(x)


@stan_function("R atan(T x)", "complex atan(complex x)", examples=[(0.3,), (-2.5,)])
def atan(xp: Namespace, x: Array) -> Array:
    return xp.arctan(x)


@stan_function("R sinh(T x)", "complex sinh(complex x)", examples=[(0.3,), (-12.0,)])
def sinh(xp: Namespace, x: Array) -> Array:
    return xp.sinh(x)


@stan_function("R cosh(T x)", "complex cosh(complex x)", examples=[(0.3,), (-12.0,)])
def cosh(xp: Namespace, x: Array) -> Array:
    return xp.cosh(x)


@stan_function("R tanh(T x)", "complex tanh(complex x)", examples=[(0.3,), (-2.5,)])
def tanh(xp: Namespace, x: Array) -> Array:
    return xp.tanh(x)


@stan_function("R asinh(T x)", "complex asinh(complex x)", examples=[(0.3,), (-2.5,)])
def asinh(xp: Namespace, x: Array) -> Array:
    return xp.arcsinh(x)


@stan_function("R acosh(T x)", domains={"x": AT_LEAST_1}, examples=[(1.5,), (1e6,)])
def acosh(xp: Namespace, x: Array) -> Array:
    return xp.arccosh(x)


@stan_function("complex acosh(complex x)", examples=[(0.5 + 2.0j,)])
def complex_acosh(xp: Namespace, x: Array) -> Array:
    return xp.arccosh(x)


@stan_function("R atanh(T x)", domains={"x": FROM_MINUS_1_TO_1}, examples=[(0.3,), (-0.999,)])
def atanh(xp: Namespace, x: Array) -> Array:
    return xp.arctanh(x)


@stan_function("complex atanh(complex x)", examples=[(0.5 + 2.0j,)])
def complex_atanh(xp: Namespace, x: Array) -> Array:
    return xp.arctanh(x)


@stan_function("R atan2(T1 y, T2 x)", examples=[(0.5, -2.0), (-1.0, 0.3)])
@of_reals
def atan2(xp: Namespace, y: Array, x: Array) -> Array:
    """The angle of the point (x, y)."""
    return xp.arctan2(y, x)


@stan_function("R hypot(T1 x, T2 y)", examples=[(3.0, 4.0), (1e200, 1e200)])
@of_reals
def hypot(xp: Namespace, x: Array, y: Array) -> Array:
    """sqrt(x^2 + y^2), without overflow."""
    return xp.hypot(x, y)
