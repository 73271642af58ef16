"""Conversions between vectors, matrices and arrays. Matrices are read and filled column by column.

Source: Stan Functions Reference, "Mixed Operations".
"""
from __future__ import annotations

from ..arrays.base import Array, Namespace, Real
from ..checks import same_size, size
from ..registry import stan_function
from ..signatures import each

_MATRIX = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
_FLAT_REAL = ("vector", "row_vector", "array[] int", "array[] real")
_FLAT_COMPLEX = ("complex_vector", "complex_row_vector", "array[] complex")


def column_major(xp: Namespace, m: Array) -> Array:
    """The components of a matrix column by column, those of anything else in order."""
    return xp.reshape(xp.transpose(m) if xp.ndim(m) == 2 else m, (-1,))


@stan_function(
    *each("vector to_vector({t} x)", _FLAT_REAL), *each("complex_vector to_vector({t} x)", _FLAT_COMPLEX),
    moves=True, examples=[([1, 2],)], linear=("x",),
)  # fmt: skip
def to_vector(xp: Namespace, x: Array) -> Array:
    return xp.real(x)


@stan_function(
    "vector to_vector(matrix m)", "complex_vector to_vector(complex_matrix m)", examples=[(_MATRIX,)], linear=("m",),
    moves=True,
)  # fmt: skip
def matrix_to_vector(xp: Namespace, m: Array) -> Array:
    return column_major(xp, m)


@stan_function(
    *each("row_vector to_row_vector({t} x)", _FLAT_REAL),
    *each("complex_row_vector to_row_vector({t} x)", _FLAT_COMPLEX),
    moves=True, examples=[([1, 2],)], linear=("x",),
)
def to_row_vector(xp: Namespace, x: Array) -> Array:
    return xp.real(x)


@stan_function(
    "row_vector to_row_vector(matrix m)", "complex_row_vector to_row_vector(complex_matrix m)", examples=[(_MATRIX,)],
    linear=("m",), moves=True,
)
def matrix_to_row_vector(xp: Namespace, m: Array) -> Array:
    return column_major(xp, m)


@stan_function(
    "array[] real to_array_1d(vector x)", "array[] real to_array_1d(row_vector x)",
    "array[] complex to_array_1d(complex_vector x)", "array[] complex to_array_1d(complex_row_vector x)",
    moves=True, examples=[([1.0, 2.0],)], linear=("x",),
)  # fmt: skip
def vector_to_array(xp: Namespace, x: Array) -> Array:
    return x


@stan_function(
    "array[] real to_array_1d(matrix m)", "array[] complex to_array_1d(complex_matrix m)", examples=[(_MATRIX,)],
    linear=("m",), moves=True,
)
def matrix_to_array(xp: Namespace, m: Array) -> Array:
    return column_major(xp, m)


_ARRAYS = [f"array[{',' * d}] " for d in range(9)]


@stan_function(
    *each("array[] int to_array_1d({t}int x)", _ARRAYS), *each("array[] real to_array_1d({t}real x)", _ARRAYS),
    moves=True, examples=[(_MATRIX,)], linear=("x",),
)  # fmt: skip
def to_array_1d(xp: Namespace, x: Array) -> Array:
    """The innermost elements of an array, the last index running fastest."""
    return xp.reshape(x, (-1,))


@stan_function(
    "array[,] real to_array_2d(matrix m)", "array[,] complex to_array_2d(complex_matrix m)", examples=[(_MATRIX,)],
    linear=("m",), moves=True,
)
def to_array_2d(xp: Namespace, m: Array) -> Array:
    return m


@stan_function(
    "matrix to_matrix(matrix x)", "matrix to_matrix(array[] row_vector x)", "matrix to_matrix(array[,] int x)",
    "matrix to_matrix(array[,] real x)", "complex_matrix to_matrix(complex_matrix x)",
    "complex_matrix to_matrix(array[] complex_row_vector x)", "complex_matrix to_matrix(array[,] complex x)",
    moves=True, examples=[([[1, 2], [3, 4]],)], linear=("x",),
)  # fmt: skip
def to_matrix(xp: Namespace, x: Array) -> Array:
    return xp.real(x)


@stan_function(
    "matrix to_matrix(vector x)", "complex_matrix to_matrix(complex_vector x)", examples=[([1.0, 2.0],)], linear=("x",)
)  # fmt: skip
def to_column_matrix(xp: Namespace, x: Array) -> Array:
    return x[:, None]


@stan_function(
    "matrix to_matrix(row_vector x)", "complex_matrix to_matrix(complex_row_vector x)", examples=[([1.0, 2.0],)],
    linear=("x",),
)
def to_row_matrix(xp: Namespace, x: Array) -> Array:
    return x[None, :]


def _shaped(arguments: str) -> list[str]:
    return each(f"matrix to_matrix({{t}} x, {arguments})", (*_FLAT_REAL, "matrix")) + each(
        f"complex_matrix to_matrix({{t}} x, {arguments})", (*_FLAT_COMPLEX, "complex_matrix")
    )


@stan_function(
    *_shaped("int m, int n"), examples=[([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 2, 3)], sizes=("m", "n"),
    linear=("x",),
)
def to_shaped_matrix(xp: Namespace, x: Array, m: Array, n: Array) -> Array:
    return _fill(xp, x, m, n, column_by_column=True)


@stan_function(
    *_shaped("int m, int n, int col_major"), examples=[([1.0, 2.0, 3.0, 4.0], 2, 2, 0)], sizes=("m", "n"),
    linear=("x",),
)
def to_ordered_matrix(xp: Namespace, x: Array, m: Array, n: Array, col_major: Array) -> Array:
    """As to_matrix(x, m, n), but filled row by row where col_major is 0."""
    return _fill(xp, x, m, n, column_by_column=bool(col_major))


def _fill(xp: Namespace, x: Array, m: Real, n: Real, column_by_column: object) -> Array:
    m, n = size("to_matrix", "m", m), size("to_matrix", "n", n)
    x = column_major(xp, xp.real(x))
    same_size("to_matrix", "rows * columns", m * n, "size of the argument", xp.shape(x)[0])
    return xp.transpose(xp.reshape(x, (n, m))) if column_by_column else xp.reshape(x, (m, n))
