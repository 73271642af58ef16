"""Containers filled with one value, a pattern, or evenly spaced numbers.

Source: Stan Functions Reference, "Array Operations", "Broadcast functions" and "Container construction functions".
"""
from __future__ import annotations

from functools import partial

from ..arrays.base import Array, Namespace, Real
from ..checks import index, size
from ..domains import FINITE, Domain
from ..errors import StanDomainError
from ..registry import stan_function
from ..rejection import refuse

POSITIVE_SIZE = Domain("positive", lambda xp, x: x > 0, traced=False)


@stan_function("array[] P rep_array(P x, int n)", examples=[(0.5, 3)], sizes=("n",), linear=("x",), repeats=True)
def rep_array(xp: Namespace, x: Array, n: Array) -> Array:
    return xp.full((size("rep_array", "n", n), *xp.shape(x)), x)


@stan_function("array[,] P rep_array(P x, int m, int n)", examples=[(0.5, 2, 3)], sizes=("m", "n",), linear=("x",))
def rep_array_2d(xp: Namespace, x: Array, m: Array, n: Array) -> Array:
    return xp.full((size("rep_array", "m", m), size("rep_array", "n", n), *xp.shape(x)), x)


@stan_function(
    "array[,,] P rep_array(P x, int k, int m, int n)", examples=[(0.5, 2, 3, 1)], sizes=("k", "m", "n",),
    linear=("x",),
)
def rep_array_3d(xp: Namespace, x: Array, k: Array, m: Array, n: Array) -> Array:
    sizes = (size("rep_array", name, value) for name, value in (("k", k), ("m", m), ("n", n)))
    return xp.full((*sizes, *xp.shape(x)), x)


@stan_function(
    "vector rep_vector(real x, int n)", "complex_vector rep_vector(complex x, int n)", examples=[(0.5, 3)],
    sizes=("n",), linear=("x",), repeats=True,
)  # fmt: skip
def rep_vector(xp: Namespace, x: Array, n: Array) -> Array:
    return xp.full((size("rep_vector", "n", n),), xp.real(x))


@stan_function(
    "row_vector rep_row_vector(real x, int n)", "complex_row_vector rep_row_vector(complex x, int n)",
    examples=[(0.5, 3)],
    sizes=("n",), linear=("x",), repeats=True,
)  # fmt: skip
def rep_row_vector(xp: Namespace, x: Array, n: Array) -> Array:
    return xp.full((size("rep_row_vector", "n", n),), xp.real(x))


@stan_function(
    "matrix rep_matrix(real x, int m, int n)", "complex_matrix rep_matrix(complex x, int m, int n)",
    examples=[(0.5, 2, 3)],
    sizes=("m", "n",), linear=("x",),
)  # fmt: skip
def rep_matrix(xp: Namespace, x: Array, m: Array, n: Array) -> Array:
    return xp.full((size("rep_matrix", "m", m), size("rep_matrix", "n", n)), xp.real(x))


@stan_function(
    "matrix rep_matrix(vector x, int n)", "complex_matrix rep_matrix(complex_vector x, int n)",
    examples=[([1.0, 2.0], 3)],
    sizes=("n",), linear=("x",),
)  # fmt: skip
def rep_columns(xp: Namespace, x: Array, n: Array) -> Array:
    return xp.full((xp.shape(x)[0], size("rep_matrix", "n", n)), x[:, None])


@stan_function(
    "matrix rep_matrix(row_vector x, int m)", "complex_matrix rep_matrix(complex_row_vector x, int m)",
    examples=[([1.0, 2.0], 3)],
    sizes=("m",), linear=("x",),
)  # fmt: skip
def rep_rows(xp: Namespace, x: Array, m: Array) -> Array:
    return xp.full((size("rep_matrix", "m", m), xp.shape(x)[0]), x)


def _linspaced(xp: Namespace, name: str, n: Real, lower: Array, upper: Array) -> Array:
    n = size(name, "size", n)
    _check_bounds(xp, name, lower, upper)
    if n == 1:
        return xp.full((1,), xp.real(upper))
    steps = xp.convert((xp.arange(n) / max(n - 1, 1), lower, upper))[0]
    out: Array = lower + (upper - lower) * steps
    return out


def _check_bounds(xp: Namespace, name: str, lower: Array, upper: Array) -> None:
    message = f"{name}: high is {upper}, but must be greater than or equal to {lower}"
    refuse((lower <= upper) == 0, partial(StanDomainError, message))


_BOUNDS = {"lower": FINITE, "upper": FINITE}


@stan_function(
    "vector linspaced_vector(int n, data real lower, data real upper)", domains=_BOUNDS, examples=[(5, -1.0, 1.0)],
    sizes=("n",),
)
def linspaced_vector(xp: Namespace, n: Array, lower: Array, upper: Array) -> Array:
    return _linspaced(xp, "linspaced_vector", n, lower, upper)


@stan_function(
    "row_vector linspaced_row_vector(int n, data real lower, data real upper)", domains=_BOUNDS,
    examples=[(5, -1.0, 1.0)], sizes=("n",),
)
def linspaced_row_vector(xp: Namespace, n: Array, lower: Array, upper: Array) -> Array:
    return _linspaced(xp, "linspaced_row_vector", n, lower, upper)


@stan_function(
    "array[] real linspaced_array(int n, data real lower, data real upper)", domains=_BOUNDS, examples=[(5, -1.0, 1.0)],
    sizes=("n",),
)
def linspaced_array(xp: Namespace, n: Array, lower: Array, upper: Array) -> Array:
    return _linspaced(xp, "linspaced_array", n, lower, upper)


@stan_function(
    "array[] int linspaced_int_array(int n, int lower, int upper)", examples=[(5, 1, 9), (4, 1, 9), (5, 1, 2)],
    sizes=("n",),
)
def linspaced_int_array(xp: Namespace, n: Real, lower: Array, upper: Array) -> Array:
    """Steps of the whole part of (upper - lower) / (n - 1); with fewer integers than n, each one repeated."""
    n = size("linspaced_int_array", "size", n)
    _check_bounds(xp, "linspaced_int_array", lower, upper)
    gap = upper - lower
    if n == 1:
        return xp.full((1,), upper)
    steps, lower, gap = xp.convert((xp.arange(n), lower, gap))
    out: Array = lower + (steps // ((n + gap) // (gap + 1)) if gap + 1 < n else steps * (gap // (n - 1)))
    return out


def _one_hot(xp: Namespace, name: str, n: Real, k: Real) -> Array:
    n = size(name, "size", n)
    index(xp, name, k, n, "k")
    return xp.arange(1, n + 1) == k


@stan_function("vector one_hot_vector(int n, int k)", domains={"n": POSITIVE_SIZE}, examples=[(3, 2)], sizes=("n",))
def one_hot_vector(xp: Namespace, n: Array, k: Array) -> Array:
    return xp.real(_one_hot(xp, "one_hot_vector", n, k))


@stan_function(
    "row_vector one_hot_row_vector(int n, int k)", domains={"n": POSITIVE_SIZE}, examples=[(3, 2)], sizes=("n",)
)
def one_hot_row_vector(xp: Namespace, n: Array, k: Array) -> Array:
    return xp.real(_one_hot(xp, "one_hot_row_vector", n, k))


@stan_function(
    "array[] real one_hot_array(int n, int k)", domains={"n": POSITIVE_SIZE}, examples=[(3, 2)], sizes=("n",)
)
def one_hot_array(xp: Namespace, n: Array, k: Array) -> Array:
    return xp.real(_one_hot(xp, "one_hot_array", n, k))


@stan_function(
    "array[] int one_hot_int_array(int n, int k)", domains={"n": POSITIVE_SIZE}, examples=[(3, 2)], sizes=("n",)
)
def one_hot_int_array(xp: Namespace, n: Array, k: Array) -> Array:
    return xp.integer(_one_hot(xp, "one_hot_int_array", n, k))


@stan_function("vector ones_vector(int n)", examples=[(3,)], sizes=("n",))
def ones_vector(xp: Namespace, n: Array) -> Array:
    return xp.ones(size("ones_vector", "size", n))


@stan_function("row_vector ones_row_vector(int n)", examples=[(3,)], sizes=("n",))
def ones_row_vector(xp: Namespace, n: Array) -> Array:
    return xp.ones(size("ones_row_vector", "size", n))


@stan_function("array[] real ones_array(int n)", examples=[(3,)], sizes=("n",))
def ones_array(xp: Namespace, n: Array) -> Array:
    return xp.ones(size("ones_array", "size", n))


@stan_function("array[] int ones_int_array(int n)", examples=[(3,)], sizes=("n",))
def ones_int_array(xp: Namespace, n: Array) -> Array:
    return xp.full((size("ones_int_array", "size", n),), 1)


@stan_function("vector zeros_vector(int n)", examples=[(3,)], sizes=("n",))
def zeros_vector(xp: Namespace, n: Array) -> Array:
    return xp.zeros(size("zeros_vector", "size", n))


@stan_function("row_vector zeros_row_vector(int n)", examples=[(3,)], sizes=("n",))
def zeros_row_vector(xp: Namespace, n: Array) -> Array:
    return xp.zeros(size("zeros_row_vector", "size", n))


@stan_function("array[] real zeros_array(int n)", examples=[(3,)], sizes=("n",))
def zeros_array(xp: Namespace, n: Array) -> Array:
    return xp.zeros(size("zeros_array", "size", n))


@stan_function("array[] int zeros_int_array(int n)", examples=[(3,)], sizes=("n",))
def zeros_int_array(xp: Namespace, n: Array) -> Array:
    return xp.full((size("zeros_int_array", "size", n),), 0)


@stan_function("matrix identity_matrix(int k)", examples=[(3,)], sizes=("k",))
def identity_matrix(xp: Namespace, k: Array) -> Array:
    return xp.eye(size("identity_matrix", "size", k))


@stan_function("vector uniform_simplex(int n)", domains={"n": POSITIVE_SIZE}, examples=[(4,)], sizes=("n",))
def uniform_simplex(xp: Namespace, n: Array) -> Array:
    return xp.full((int(n),), 1.0 / int(n))
