"""Absolute values, steps, rounding, remainders, minima and maxima of two numbers.

Source: Stan Functions Reference, "Absolute functions", "Bounds functions", "Arithmetic functions", "Rounding
functions", "Step functions" and "Casting functions".
"""
from __future__ import annotations

from ..arrays.base import Array, Namespace, Real
from ..checks import elementwise, of_reals
from ..domains import Domain
from ..registry import stan_function
from .constants import as_int

INT_RANGE = Domain("in the interval [-2147483648, 2147483647]", lambda xp, x: (x > -2147483649) & (x < 2147483648))


@stan_function("T abs(T x)", "RealOfC abs(C x)", examples=[(-3.5,), (-2,), (3.0 - 4.0j,)])
def abs(xp: Namespace, x: Array) -> Array:
    """The absolute value, whose derivative at 0 is 0, also times an infinite one."""
    return _abs(xp, x)


def _abs(xp: Namespace, x: Array) -> Array:
    if xp.is_concrete(x) or xp.is_integer(x):
        return xp.abs(x)
    return xp.where(x == 0, 0.0, xp.abs(x))


@stan_function("R fabs(T x)", examples=[(-3.5,)], removed="2.33", successor="abs")
def fabs(xp: Namespace, x: Array) -> Array:
    return _abs(xp, xp.real(x))


@stan_function("R fdim(T1 x, T2 y)", examples=[(3.0, 1.5), (1.0, 2.0)])
@of_reals
def fdim(xp: Namespace, x: Array, y: Array) -> Array:
    """x - y where that is positive, else 0."""
    return xp.where(x <= y, 0.0, x - y)


@stan_function("R fmin(T1 x, T2 y)", examples=[(3.0, 1.5), (1.0, 2.0)])
@elementwise
def fmin(xp: Namespace, x: Array, y: Array) -> Array:
    """The smaller one, or the one that is not NaN; of equal ones that which depends on parameters, as in Stan."""
    constant = _is_constant(xp, y)
    x, y = xp.reals((x, y))
    smaller = x <= y if constant else x < y
    return xp.where(smaller | xp.isnan(y), x, y)


@stan_function("R fmax(T1 x, T2 y)", examples=[(3.0, 1.5), (1.0, 2.0)])
@elementwise
def fmax(xp: Namespace, x: Array, y: Array) -> Array:
    """The larger one, or the one that is not NaN; of equal ones that which depends on parameters, as in Stan."""
    constant = _is_constant(xp, y)
    x, y = xp.reals((x, y))
    larger = x >= y if constant else x > y
    return xp.where(larger | xp.isnan(y), x, y)


def _is_constant(xp: Namespace, x: Array) -> bool:
    """Whether nothing is differentiated by a number, as far as its array library tells."""
    return xp.is_concrete(x) or not getattr(x, "requires_grad", True)


@stan_function("R fmod(T1 x, T2 y)", examples=[(5.5, 2.0), (-5.5, 2.0)])
@of_reals
def fmod(xp: Namespace, x: Array, y: Array) -> Array:
    """The remainder of x / y, which has the sign of x."""
    return xp.fmod(x, y)


@stan_function("R fma(F1 x, F2 y, F3 z)", examples=[(2.0, 3.0, 4.0)])
@elementwise
def fma(xp: Namespace, x: Array, y: Array, z: Array) -> Array:
    return x * y + z


@stan_function("R floor(T x)", examples=[(-2.5,)])
def floor(xp: Namespace, x: Array) -> Array:
    return xp.floor(xp.real(x))


@stan_function("R ceil(T x)", examples=[(-2.5,)])
def ceil(xp: Namespace, x: Array) -> Array:
    return xp.ceil(xp.real(x))


@stan_function("R trunc(T x)", examples=[(-2.5,)])
def trunc(xp: Namespace, x: Array) -> Array:
    return xp.trunc(xp.real(x))


@stan_function("R round(T x)", examples=[(1.3,), (-2.5,), (0.49999999999999994,)])
def round(xp: Namespace, x: Array) -> Array:
    """The nearest integer; halves go away from zero."""
    x = xp.real(x)
    whole = xp.trunc(x)
    rest = xp.where(xp.isfinite(x), x, 0.0) - xp.where(xp.isfinite(x), whole, 0.0)
    return xp.where(xp.abs(rest) >= 0.5, whole + xp.sign(x), whole)


@stan_function("int int_step(real x)", elementwise=True, examples=[(0.5,), (0.0,)])
def int_step(xp: Namespace, x: Array) -> Array | int:
    """1 where x > 0, else 0."""
    return as_int(xp, x > 0)


@stan_function("int int_step(int x)", elementwise=True, examples=[(2,), (0,)])
def int_step_of_int(xp: Namespace, x: Array) -> Array | int:
    return as_int(xp, x > 0)


@stan_function("real step(real x)", elementwise=True, examples=[(0.5,), (-0.5,)])
def step(xp: Namespace, x: Array) -> Array:
    """0 where x < 0, else 1; its derivative is 0."""
    return xp.where(x < 0, 0.0 * xp.square(xp.sign(x)), 1.0)  # a plain 0 would leave PyTorch's graph


@stan_function("I to_int(I x)", elementwise=True, examples=[(3,)])
def to_int(xp: Namespace, x: Array) -> Array:
    return x


@stan_function("IntsOfQ to_int(data Q x)", domains={"x": INT_RANGE}, elementwise=True, examples=[(3.9,), (-3.9,)])
def real_to_int(xp: Namespace, x: Array) -> Real:
    """The integer part."""
    whole = xp.trunc(x)
    return int(whole) if xp.is_concrete(x) and xp.ndim(x) == 0 else xp.integer(whole)


@stan_function(
    "real if_else(int condition, real x, real y)", "int if_else(int condition, int x, int y)",
    elementwise=True, examples=[(1, 2.0, 3.0)], removed="2.33", successor="the conditional operator ?:",
)  # fmt: skip
def if_else(xp: Namespace, condition: Array, x: Array, y: Array) -> Array:
    return xp.where(condition != 0, x, y)
