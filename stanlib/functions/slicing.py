"""Parts of vectors, matrices and arrays. Indices start at 1.

Source: Stan Functions Reference, "Slicing and blocking functions".
"""
from __future__ import annotations

from typing import Any

from ..arrays import is_of_data
from ..arrays.base import Array, Namespace, Real
from ..checks import index, size
from ..registry import stan_function

_MATRIX = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]


def _pick(xp: Namespace, x: Any, i: Real, axis: int) -> Array:
    """Row or column i of a matrix; an index known only at run time takes a gather."""
    if is_of_data((i,)):
        picked: Array = x[int(i) - 1] if axis == 0 else x[:, int(i) - 1]
        return picked
    return xp.take(x, i - 1, axis=axis)


def _part(
    xp: Namespace, name: str, what: str, x: Any, start: Real, count: Real, axis: Any = 0, always: bool = False
) -> Array:
    """`count` rows or columns from `start`; Stan looks at the first index even where there is none to take.

    It looks at the last one only where there is one, or `always`.
    """
    count, n = size(name, "size", count), xp.shape(x)[axis]
    start = index(xp, name, start, n, what)
    if not is_of_data((start,)):
        if count or always:
            start = index(xp, name, start + count - 1, n, f"the end of {what}") - count + 1
        return xp.take(x, xp.maximum(start - 1, 0) + xp.convert((xp.arange(count), start))[0], axis=axis)
    start = int(start)
    if count or always:
        index(xp, name, start + count - 1, n, f"the end of {what}")
    part = slice(start - 1, start - 1 + count)
    taken: Array = x[part] if axis == 0 else x[:, part]
    return taken


@stan_function("S head(S v, int n)", examples=[([1.0, 2.0, 3.0], 2)], sizes=("n",), linear=("v",), selects=True)
def head(xp: Namespace, v: Array, n: Real) -> Array:
    n = size("head", "n", n)
    if n:
        index(xp, "head", n, xp.shape(v)[0], "n")
    return v[:n]


@stan_function("S tail(S v, int n)", examples=[([1.0, 2.0, 3.0], 2)], sizes=("n",), linear=("v",), selects=True)
def tail(xp: Namespace, v: Array, n: Real) -> Array:
    n = size("tail", "n", n)
    if n:
        index(xp, "tail", n, xp.shape(v)[0], "n")
    return v[xp.shape(v)[0] - n :]


@stan_function(
    "S segment(S v, int i, int n)", examples=[([1.0, 2.0, 3.0], 2, 2)], sizes=("n",),
    linear=("v",), selects=True,
)
def segment(xp: Namespace, v: Array, i: Array, n: Array) -> Array:
    return _part(xp, "segment", "i", v, i, n)


@stan_function(
    "vector col(matrix m, int n)", "complex_vector col(complex_matrix m, int n)", examples=[(_MATRIX, 3)],
    linear=("m",),
)
def col(xp: Namespace, m: Array, n: Array) -> Array:
    n = index(xp, "col", n, xp.shape(m)[1], "columns")
    return _pick(xp, m, n, 1)


@stan_function(
    "row_vector row(matrix m, int n)", "complex_row_vector row(complex_matrix m, int n)", examples=[(_MATRIX, 2)],
    linear=("m",),
)
def row(xp: Namespace, m: Real, n: Array) -> Array:
    n = index(xp, "row", n, xp.shape(m)[0], "rows")
    return _pick(xp, m, n, 0)


@stan_function(
    "matrix block(matrix m, int i, int j, int n_rows, int n_cols)",
    "complex_matrix block(complex_matrix m, int i, int j, int n_rows, int n_cols)",
    examples=[(_MATRIX, 1, 2, 2, 2)],
    sizes=("n_rows", "n_cols",), linear=("m",), selects=True,
)
def block(xp: Namespace, m: Array, i: Array, j: Array, n_rows: Array, n_cols: Array) -> Array:
    rows = _part(xp, "block", "rows", m, i, n_rows, always=True)
    return _part(xp, "block", "columns", rows, j, n_cols, axis=1, always=True)


@stan_function(
    "vector sub_col(matrix m, int i, int j, int n_rows)",
    "complex_vector sub_col(complex_matrix m, int i, int j, int n_rows)",
    examples=[(_MATRIX, 1, 2, 2)],
    sizes=("n_rows",), linear=("m",), selects=True,
)
def sub_col(xp: Namespace, m: Real, i: Array, j: Array, n_rows: Array) -> Array:
    j = index(xp, "sub_col", j, xp.shape(m)[1], "columns")
    return _pick(xp, _part(xp, "sub_col", "rows", m, i, n_rows), j, 1)


@stan_function(
    "row_vector sub_row(matrix m, int i, int j, int n_cols)",
    "complex_row_vector sub_row(complex_matrix m, int i, int j, int n_cols)",
    examples=[(_MATRIX, 1, 2, 2)],
    sizes=("n_cols",), linear=("m",), selects=True,
)
def sub_row(xp: Namespace, m: Real, i: Array, j: Array, n_cols: Array) -> Array:
    i = index(xp, "sub_row", i, xp.shape(m)[0], "rows")
    return _pick(xp, _part(xp, "sub_row", "columns", m, j, n_cols, axis=1), i, 0)


@stan_function(
    "vector diagonal(matrix m)", "complex_vector diagonal(complex_matrix m)", examples=[([[1.0, 2.0], [3.0, 4.0]],)],
    linear=("m",), moves=True,
)
def diagonal(xp: Namespace, m: Array) -> Array:
    return xp.diagonal(m)
