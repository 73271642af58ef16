"""Dot products, products of a matrix with its transpose, quadratic forms and traces.

Complex dot_product takes the conjugate of its left operand; columns_dot_product and rows_dot_product don't.
Source: Stan Functions Reference, "Dot products and specialized products".
"""
from __future__ import annotations

from ..arrays.base import Array, Namespace
from ..checks import same_shape, same_size, square, symmetric
from ..registry import stan_function

_A, _B = [[2.0, 0.5], [0.5, 1.0]], [[1.0, 2.0], [-3.0, 4.0]]


@stan_function(
    "real dot_product((vector|row_vector) a, (vector|row_vector) b)",
    "real dot_product(array[] real a, array[] real b)",
    examples=[([1.0, 2.0], [-3.0, 0.5])],
)
def dot_product(xp: Namespace, a: Array, b: Array) -> Array:
    same_shape(xp, "dot_product", a, b)
    return xp.dot(a, b)


@stan_function(
    "complex dot_product((complex_vector|complex_row_vector) a, (complex_vector|complex_row_vector) b)",
    "complex dot_product(array[] complex a, array[] complex b)",
    examples=[([1 + 2j], [0.5j])],
)
def complex_dot_product(xp: Namespace, a: Array, b: Array) -> Array:
    same_shape(xp, "dot_product", a, b)
    return xp.dot(xp.conj(a), b)


@stan_function("real dot_self((vector|row_vector) x)", examples=[([1.0, 2.0],)])
def dot_self(xp: Namespace, x: Array) -> Array:
    return xp.dot(x, x)


@stan_function("complex dot_self((complex_vector|complex_row_vector) x)", examples=[([1 + 2j],)])
def complex_dot_self(xp: Namespace, x: Array) -> Array:
    return xp.dot(xp.conj(x), x)


@stan_function(
    "row_vector columns_dot_product(matrix a, matrix b)",
    "complex_row_vector columns_dot_product(complex_matrix a, complex_matrix b)",
    examples=[(_A, _B)],
)
def columns_dot_product(xp: Namespace, a: Array, b: Array) -> Array:
    same_shape(xp, "columns_dot_product", a, b)
    return xp.sum(a * b, axis=0)


@stan_function(
    "row_vector columns_dot_product(vector a, vector b)",
    "complex_row_vector columns_dot_product(complex_vector a, complex_vector b)",
    examples=[([1.0, 2.0], [-3.0, 0.5])],
)
def column_dot_product(xp: Namespace, a: Array, b: Array) -> Array:
    same_shape(xp, "columns_dot_product", a, b)
    return xp.sum(a * b, axis=0, keepdims=True)


@stan_function(
    "row_vector columns_dot_product(row_vector a, row_vector b)",
    "complex_row_vector columns_dot_product(complex_row_vector a, complex_row_vector b)",
    examples=[([1.0, 2.0], [-3.0, 0.5])],
)
def columns_dot_product_of_rows(xp: Namespace, a: Array, b: Array) -> Array:
    same_shape(xp, "columns_dot_product", a, b)
    return a * b


@stan_function(
    "vector rows_dot_product(matrix a, matrix b)",
    "complex_vector rows_dot_product(complex_matrix a, complex_matrix b)",
    examples=[(_A, _B)],
)
def rows_dot_product(xp: Namespace, a: Array, b: Array) -> Array:
    same_shape(xp, "rows_dot_product", a, b)
    return xp.sum(a * b, axis=1)


@stan_function(
    "vector rows_dot_product(row_vector a, row_vector b)",
    "complex_vector rows_dot_product(complex_row_vector a, complex_row_vector b)",
    examples=[([1.0, 2.0], [-3.0, 0.5])],
)
def row_dot_product(xp: Namespace, a: Array, b: Array) -> Array:
    same_shape(xp, "rows_dot_product", a, b)
    return xp.sum(a * b, axis=0, keepdims=True)


@stan_function(
    "vector rows_dot_product(vector a, vector b)",
    "complex_vector rows_dot_product(complex_vector a, complex_vector b)",
    examples=[([1.0, 2.0], [-3.0, 0.5])],
)
def rows_dot_product_of_columns(xp: Namespace, a: Array, b: Array) -> Array:
    same_shape(xp, "rows_dot_product", a, b)
    return a * b


@stan_function(
    "row_vector columns_dot_self(matrix x)", "complex_row_vector columns_dot_self(complex_matrix x)", examples=[(_B,)]
)
def columns_dot_self(xp: Namespace, x: Array) -> Array:
    return xp.sum(xp.conj(x) * x, axis=0)


@stan_function(
    "row_vector columns_dot_self(vector x)", "complex_row_vector columns_dot_self(complex_vector x)",
    examples=[([1.0, 2.0],)],
)  # fmt: skip
def column_dot_self(xp: Namespace, x: Array) -> Array:
    return xp.sum(xp.conj(x) * x, axis=0, keepdims=True)


@stan_function(
    "row_vector columns_dot_self(row_vector x)", "complex_row_vector columns_dot_self(complex_row_vector x)",
    examples=[([1.0, 2.0],)],
)  # fmt: skip
def columns_dot_self_of_row(xp: Namespace, x: Array) -> Array:
    return xp.conj(x) * x


@stan_function(
    "vector rows_dot_self(matrix x)", "complex_vector rows_dot_self(complex_matrix x)", examples=[(_B,)]
)  # fmt: skip
def rows_dot_self(xp: Namespace, x: Array) -> Array:
    return xp.sum(xp.conj(x) * x, axis=1)


@stan_function(
    "vector rows_dot_self(row_vector x)", "complex_vector rows_dot_self(complex_row_vector x)",
    examples=[([1.0, 2.0],)],
)  # fmt: skip
def row_dot_self(xp: Namespace, x: Array) -> Array:
    return xp.sum(xp.conj(x) * x, axis=0, keepdims=True)


@stan_function(
    "vector rows_dot_self(vector x)", "complex_vector rows_dot_self(complex_vector x)", examples=[([1.0, 2.0],)]
)
def rows_dot_self_of_column(xp: Namespace, x: Array) -> Array:
    return xp.conj(x) * x


@stan_function("matrix crossprod(matrix x)", examples=[(_B,)])
def crossprod(xp: Namespace, x: Array) -> Array:
    return xp.matmul(xp.transpose(x), x)


@stan_function("matrix tcrossprod(matrix x)", examples=[(_B,)])
def tcrossprod(xp: Namespace, x: Array) -> Array:
    return xp.matmul(x, xp.transpose(x))


@stan_function("matrix multiply_lower_tri_self_transpose(matrix x)", examples=[(_B,)])
def multiply_lower_tri_self_transpose(xp: Namespace, x: Array) -> Array:
    lower = xp.tril(x)
    return xp.matmul(lower, xp.transpose(lower))


def _check_form(xp: Namespace, name: str, a: Array, b: Array) -> None:
    same_size(name, "columns of A", square(xp, name, a), "rows of B", xp.shape(b)[0])


@stan_function("matrix quad_form(matrix A, matrix B)", examples=[(_A, _B)])
def quad_form(xp: Namespace, a: Array, b: Array) -> Array:
    _check_form(xp, "quad_form", a, b)
    return xp.matmul(xp.transpose(b), xp.matmul(a, b))


@stan_function("real quad_form(matrix A, vector B)", examples=[(_A, [1.0, 2.0])])
def quad_form_of_vector(xp: Namespace, a: Array, b: Array) -> Array:
    _check_form(xp, "quad_form", a, b)
    return xp.dot(b, xp.matmul(a, b))


@stan_function("matrix quad_form_sym(matrix A, matrix B)", examples=[(_A, _B)])
def quad_form_sym(xp: Namespace, a: Array, b: Array) -> Array:
    _check_form(xp, "quad_form_sym", a, b)
    symmetric(xp, "quad_form_sym", a)
    form = xp.matmul(xp.transpose(b), xp.matmul(a, b))
    return 0.5 * (form + xp.transpose(form))


@stan_function("real quad_form_sym(matrix A, vector B)", examples=[(_A, [1.0, 2.0])])
def quad_form_sym_of_vector(xp: Namespace, a: Array, b: Array) -> Array:
    _check_form(xp, "quad_form_sym", a, b)
    symmetric(xp, "quad_form_sym", a)
    return xp.dot(b, xp.matmul(a, b))


@stan_function("real trace(matrix m)", "complex trace(complex_matrix m)", examples=[(_B,)])
def trace(xp: Namespace, m: Array) -> Array:
    square(xp, "trace", m)
    return xp.sum(xp.diagonal(m))


@stan_function("real trace_dot(matrix A, matrix B)", examples=[(_A, _B)])
def trace_dot(xp: Namespace, a: Array, b: Array) -> Array:
    """The trace of A * B."""
    same_shape(xp, "trace_dot", xp.transpose(a), b)
    return xp.sum(xp.transpose(a) * b)


@stan_function("real trace_quad_form(matrix A, matrix B)", examples=[(_A, _B)])
def trace_quad_form(xp: Namespace, a: Array, b: Array) -> Array:
    _check_form(xp, "trace_quad_form", a, b)
    return xp.sum(b * xp.matmul(a, b))


@stan_function("real trace_quad_form(matrix A, vector B)", examples=[(_A, [1.0, 2.0])])
def trace_quad_form_of_vector(xp: Namespace, a: Array, b: Array) -> Array:
    _check_form(xp, "trace_quad_form", a, b)
    return xp.dot(b, xp.matmul(a, b))


@stan_function("real trace_gen_quad_form(matrix D, matrix A, matrix B)", examples=[(_B, _A, _B)])
def trace_gen_quad_form(xp: Namespace, d: Array, a: Array, b: Array) -> Array:
    """The trace of D * B' * A * B."""
    _check_form(xp, "trace_gen_quad_form", a, b)
    same_size("trace_gen_quad_form", "columns of B", xp.shape(b)[1], "rows of D", square(xp, "trace_gen_quad_form", d))
    return xp.sum(xp.transpose(d) * xp.matmul(xp.transpose(b), xp.matmul(a, b)))
