"""Diagonal matrices, and products and sums with them.

Source: Stan Functions Reference, "Diagonal matrix functions", "Specialized products".
"""
from __future__ import annotations

from ..arrays.base import Array, Namespace
from ..checks import same_size, square
from ..registry import stan_function

_M = [[1.0, 2.0], [-3.0, 4.0]]


@stan_function("matrix diag_matrix(vector x)", "complex_matrix diag_matrix(complex_vector x)", examples=[([1.0, 2.0],)])
def diag_matrix(xp: Namespace, x: Array) -> Array:
    return xp.diag(x)


@stan_function(
    "matrix diag_pre_multiply((vector|row_vector) v, matrix m)",
    "complex_matrix diag_pre_multiply((complex_vector|complex_row_vector) v, complex_matrix m)",
    examples=[([1.0, 2.0], _M)],
)
def diag_pre_multiply(xp: Namespace, v: Array, m: Array) -> Array:
    same_size("diag_pre_multiply", "size of v", xp.shape(v)[0], "rows of m", xp.shape(m)[0])
    return v[:, None] * m


@stan_function(
    "matrix diag_post_multiply(matrix m, (vector|row_vector) v)",
    "complex_matrix diag_post_multiply(complex_matrix m, (complex_vector|complex_row_vector) v)",
    examples=[(_M, [1.0, 2.0])],
)
def diag_post_multiply(xp: Namespace, m: Array, v: Array) -> Array:
    same_size("diag_post_multiply", "size of v", xp.shape(v)[0], "columns of m", xp.shape(m)[1])
    return m * v


@stan_function("matrix quad_form_diag(matrix m, (vector|row_vector) v)", examples=[(_M, [1.0, 2.0])])
def quad_form_diag(xp: Namespace, m: Array, v: Array) -> Array:
    n = square(xp, "quad_form_diag", m)
    same_size("quad_form_diag", "size of v", xp.shape(v)[0], "rows of m", n)
    return v[:, None] * m * v


@stan_function(
    "matrix add_diag(matrix m, real d)", "complex_matrix add_diag(complex_matrix m, complex d)", examples=[(_M, 0.5)]
)
def add_diag(xp: Namespace, m: Array, d: Array) -> Array:
    return xp.where(xp.eye(*xp.shape(m)) == 1, m + d, m)


@stan_function(
    "matrix add_diag(matrix m, (vector|row_vector) d)",
    "complex_matrix add_diag(complex_matrix m, (complex_vector|complex_row_vector) d)",
    examples=[(_M, [0.5, 1.0])],
)
def add_diag_vector(xp: Namespace, m: Array, d: Array) -> Array:
    rows, cols = xp.shape(m)
    same_size("add_diag", "size of d", xp.shape(d)[0], "length of the diagonal", min(rows, cols))
    spread = d[:, None] if rows <= cols else d
    return xp.where(xp.eye(rows, cols) == 1, m + spread, m)


@stan_function(
    "matrix symmetrize_from_lower_tri(matrix m)", "complex_matrix symmetrize_from_lower_tri(complex_matrix m)",
    examples=[(_M,)],
)  # fmt: skip
def symmetrize_from_lower_tri(xp: Namespace, m: Array) -> Array:
    """A complex matrix becomes Hermitian."""
    square(xp, "symmetrize_from_lower_tri", m)
    return xp.tril(m) + xp.conj(xp.transpose(xp.tril(m, -1)))
