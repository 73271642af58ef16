"""Sums, products, extremes, moments, norms and quantiles of containers.

Source: Stan Functions Reference, "Reductions" in "Array Operations" and "Matrix Operations".
"""
from __future__ import annotations

import math
from typing import Any

from ..arrays.base import Array, Namespace, Real
from ..checks import nonempty
from ..domains import NOT_NAN, PROBABILITY
from ..registry import stan_function
from ..signatures import each
from .conversions import column_major

_REAL = ("vector", "row_vector", "array[] real")
_REAL_OR_MATRIX = (*_REAL, "matrix")
_COMPLEX = ("complex_vector", "complex_row_vector", "complex_matrix", "array[] complex")


def _over_numbers(name: str) -> list[str]:
    return [f"int {name}(array[] int x)", *each(f"real {name}({{t}} x)", _REAL_OR_MATRIX)]


@stan_function(
    *_over_numbers("sum"), *each("complex sum({t} x)", _COMPLEX), examples=[([1.0, 2.5, -4.0],)],
    linear=("x",), neutral=0.0, keeps_nan=True,
)
def sum(xp: Namespace, x: Array) -> Array:
    return xp.sum(x)


@stan_function(
    *_over_numbers("prod"), *each("complex prod({t} x)", _COMPLEX), examples=[([1.0, 2.5, -4.0],)],
    neutral=1.0,
)
def prod(xp: Namespace, x: Array) -> Array:
    return xp.prod(x)


def _first_extreme(xp: Namespace, x: Array, position: Any) -> Array:
    """The gradient of an extreme belongs to the first of equal components."""
    flat = column_major(xp, x)
    return flat[position(flat)]


@stan_function(*each("real max({t} x)", _REAL_OR_MATRIX), examples=[([1.0, 2.5, -4.0],)], neutral=-math.inf)
def max(xp: Namespace, x: Any) -> Real:
    return -xp.inf if 0 in xp.shape(x) else _first_extreme(xp, x, xp.argmax)


@stan_function(*each("real min({t} x)", _REAL_OR_MATRIX), examples=[([1.0, 2.5, -4.0],)], neutral=math.inf)
def min(xp: Namespace, x: Array) -> Real:
    return xp.inf if 0 in xp.shape(x) else _first_extreme(xp, x, xp.argmin)


@stan_function("int max(array[] int x)", examples=[([1, 5, -4],)])
def max_of_ints(xp: Namespace, x: Array) -> Array:
    nonempty(xp, "max", x)
    return xp.max(x)


@stan_function("int min(array[] int x)", examples=[([1, 5, -4],)])
def min_of_ints(xp: Namespace, x: Array) -> Array:
    nonempty(xp, "min", x)
    return xp.min(x)


@stan_function("int max(int x, int y)", elementwise=True, examples=[(1, 5)])
def larger_int(xp: Namespace, x: Array, y: Array) -> Array:
    return xp.maximum(x, y)


@stan_function("int min(int x, int y)", elementwise=True, examples=[(1, 5)])
def smaller_int(xp: Namespace, x: Array, y: Array) -> Array:
    return xp.minimum(x, y)


def _count(xp: Namespace, x: Real) -> Real:
    return math.prod(xp.shape(x))


@stan_function(*each("real mean({t} x)", _REAL_OR_MATRIX), examples=[([1.0, 2.5, -4.0],)])
def mean(xp: Namespace, x: Array) -> Array:
    nonempty(xp, "mean", x)
    return xp.sum(x) / _count(xp, x)


def _variance(xp: Namespace, x: Array) -> Array:
    """The mean is rounded: of nearly equal numbers the deviations from it have a mean too, and lose digits by it.

    That of equal numbers, and what rounding makes negative, is 0, with the derivatives that it has.
    """
    n = _count(xp, x)
    deviation = x - xp.sum(x) / n
    squares = xp.sum(deviation * deviation) - xp.square(xp.sum(deviation)) / n
    at_zero = squares - xp.stop_gradient(squares)
    return xp.where(_is_constant(xp, x) | (squares < 0), at_zero, squares) / (n - 1)


def _is_constant(xp: Namespace, x: Array) -> Array:
    return xp.max(x) == xp.min(x)


@stan_function(*each("real variance({t} x)", _REAL_OR_MATRIX), examples=[([1.0, 2.5, -4.0],)])
def variance(xp: Namespace, x: Array) -> Real:
    nonempty(xp, "variance", x)
    return 0.0 if _count(xp, x) == 1 else _variance(xp, x)


@stan_function(*each("real sd({t} x)", _REAL_OR_MATRIX), examples=[([1.0, 2.5, -4.0],)])
def sd(xp: Namespace, x: Array) -> Real:
    """Where all components are equal, Stan takes 1 / sqrt(n) as the derivative in each of them."""
    nonempty(xp, "sd", x)
    n = _count(xp, x)
    if n == 1:
        return 0.0
    variance = _variance(xp, x)
    constant = _is_constant(xp, x) | (variance == 0)
    total = xp.sum(x)
    at_zero = (total - xp.stop_gradient(total)) / n**0.5
    return xp.where(constant, at_zero, xp.sqrt(xp.where(constant, 1.0, variance)))


@stan_function(*each("real norm1({t} x)", _REAL), examples=[([1.0, 2.5, -4.0],)])
def norm1(xp: Namespace, x: Array) -> Array:
    """Written so that the derivative at 0 is 0."""
    return xp.sum(x * xp.sign(x))


@stan_function(*each("real norm2({t} x)", _REAL), examples=[([1.0, 2.5, -4.0],)])
def norm2(xp: Namespace, x: Array) -> Array:
    return xp.sqrt(xp.sum(x * x))


@stan_function(
    *each("real quantile({t} x, real p)", _REAL), *each("array[] real quantile({t} x, array[] real p)", _REAL),
    domains={"x": NOT_NAN, "p": PROBABILITY}, examples=[([1.0, 2.5, -4.0], 0.3), ([1.0, 2.5, -4.0], [0.1, 0.9])],
)  # fmt: skip
def quantile(xp: Namespace, x: Array, p: Array) -> Array:
    """Hyndman and Fan (1996), definition 7: linear between the order statistics (n - 1) p below and above."""
    nonempty(xp, "quantile", x)
    ordered, position = xp.sort(x), (xp.shape(x)[0] - 1) * p
    below, above = xp.floor(position), xp.ceil(position)
    weight = position - below
    lower, upper = (xp.take(ordered, xp.integer(i)) for i in (below, above))
    return (1 - weight) * lower + weight * upper
