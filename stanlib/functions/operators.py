"""What Stan's operators mean, under the names that stanc gives them: `a + b` is add(a, b).

Containers of different sizes are refused: they don't broadcast in Stan. Division by a matrix is in linear_solvers.py.
Source: Stan Reference Manual, "Arithmetic expressions"; Stan Functions Reference, "Matrix operations".
"""
from __future__ import annotations

from collections.abc import Iterable

from ..arrays.base import Array, Namespace
from ..checks import same_shape, same_size
from ..domains import Domain
from ..registry import stan_function
from ..signatures import each

REAL_CONTAINERS = ("vector", "row_vector", "matrix")
COMPLEX_CONTAINERS = ("complex_vector", "complex_row_vector", "complex_matrix")
CONTAINERS = REAL_CONTAINERS + COMPLEX_CONTAINERS
SCALARS = ("int", "real", "complex")
NONZERO = Domain("nonzero", lambda xp, x: x != 0, safe=1)


def _same(name: str, types: Iterable[str]) -> list[str]:
    return each(f"{{t}} {name}({{t}} a, {{t}} b)", types)


def _scalar_left(name: str) -> list[str]:
    return each(f"{{t}} {name}(real a, {{t}} b)", REAL_CONTAINERS) + each(
        f"{{t}} {name}(complex a, {{t}} b)", COMPLEX_CONTAINERS
    )


def _scalar_right(name: str) -> list[str]:
    return each(f"{{t}} {name}({{t}} a, real b)", REAL_CONTAINERS) + each(
        f"{{t}} {name}({{t}} a, complex b)", COMPLEX_CONTAINERS
    )


def _with_scalars(name: str, scalars: tuple[str, ...] = SCALARS) -> list[str]:
    """Two scalars, or a container with a scalar on either side."""
    return _same(name, scalars) + _scalar_left(name) + _scalar_right(name)


@stan_function(
    *_with_scalars("add"), operator="+", elementwise=True, examples=[(1.5, -0.25)], linear=("a b",), keeps_nan=True
)
def add(xp: Namespace, a: Array, b: Array) -> Array:
    return a + b


@stan_function(
    *_same("add", CONTAINERS), operator="+", examples=[([1.0, 2.0], [0.5, -1.0])],
    linear=("a b",), by_component=True,
)
def add_elements(xp: Namespace, a: Array, b: Array) -> Array:
    same_shape(xp, "add", a, b)
    return a + b


@stan_function(
    *_with_scalars("subtract"), operator="-", elementwise=True, examples=[(1.5, -0.25)], linear=("a b",), keeps_nan=True
)
def subtract(xp: Namespace, a: Array, b: Array) -> Array:
    return a - b


@stan_function(
    *_same("subtract", CONTAINERS), operator="-", examples=[([1.0, 2.0], [0.5, -1.0])],
    linear=("a b",), by_component=True,
)
def subtract_elements(xp: Namespace, a: Array, b: Array) -> Array:
    same_shape(xp, "subtract", a, b)
    return a - b


@stan_function(
    *_with_scalars("multiply"), operator="*", elementwise=True, examples=[(1.5, -0.25)], linear=("a", "b"),
    keeps_nan=True,
)
def multiply(xp: Namespace, a: Array, b: Array) -> Array:
    return a * b


@stan_function(
    "real multiply(row_vector a, vector b)",
    "vector multiply(matrix a, vector b)",
    "row_vector multiply(row_vector a, matrix b)",
    "matrix multiply(matrix a, matrix b)",
    "complex_vector multiply(complex_matrix a, complex_vector b)",
    "complex_row_vector multiply(complex_row_vector a, complex_matrix b)",
    "complex_matrix multiply(complex_matrix a, complex_matrix b)",
    operator="@",
    examples=[([1.0, 2.0], [0.5, -1.0])], linear=("a", "b"),
)
def matmul(xp: Namespace, a: Array, b: Array) -> Array:
    same_size("multiply", "columns of the left operand", xp.shape(a)[-1], "rows of the right one", xp.shape(b)[0])
    return xp.matmul(a, b)


@stan_function("complex multiply(complex_row_vector a, complex_vector b)", examples=[([1 + 2j], [0.5j])])
def complex_inner_product(xp: Namespace, a: Array, b: Array) -> Array:
    """Stan takes the complex conjugate of the left operand here, and nowhere else in its products."""
    same_size("multiply", "columns of the left operand", xp.shape(a)[0], "rows of the right one", xp.shape(b)[0])
    return xp.dot(xp.conj(a), b)


@stan_function(
    "matrix multiply(vector a, row_vector b)",
    "complex_matrix multiply(complex_vector a, complex_row_vector b)",
    examples=[([1.0, 2.0], [0.5, -1.0, 3.0])], linear=("a", "b"),
)
def outer_product(xp: Namespace, a: Array, b: Array) -> Array:
    return xp.outer(a, b)


@stan_function(
    *_with_scalars("elt_multiply"), operator="*", elementwise=True, examples=[(1.5, -0.25)],
    linear=("a", "b"),
)
def elt_multiply(xp: Namespace, a: Array, b: Array) -> Array:
    return a * b


@stan_function(
    *_same("elt_multiply", CONTAINERS), operator="*", examples=[([1.0, 2.0], [0.5, -1.0])],
    linear=("a", "b"), by_component=True,
)
def elt_multiply_elements(xp: Namespace, a: Array, b: Array) -> Array:
    same_shape(xp, "elt_multiply", a, b)
    return a * b


@stan_function(
    *_same("divide", ("real", "complex")), *_scalar_left("divide"), *_scalar_right("divide"), operator="/",
    elementwise=True, examples=[(1.5, -0.25), (1.0, 0.0)], linear=("a",), keeps_nan=True,
)  # fmt: skip
def divide(xp: Namespace, a: Array, b: Array) -> Array:
    return xp.real(a) / b


@stan_function(
    "int divide(int a, int b)", domains={"b": NONZERO},
    elementwise=True, examples=[(7, 2), (-7, 2), (7, -2)],
)  # fmt: skip
def int_divide(xp: Namespace, a: Array, b: Array) -> Array:
    """The quotient rounded toward zero, where Python's `//` rounds down."""
    return (a - xp.fmod(a, b)) // b


@stan_function(
    *_with_scalars("elt_divide", ("real", "complex")), operator="/",
    elementwise=True, examples=[(1.5, -0.25)], linear=("a",),
)  # fmt: skip
def elt_divide(xp: Namespace, a: Array, b: Array) -> Array:
    return xp.real(a) / b


@stan_function("int elt_divide(int a, int b)", domains={"b": NONZERO}, elementwise=True, examples=[(7, 2), (-7, 2)])
def int_elt_divide(xp: Namespace, a: Array, b: Array) -> Array:
    return (a - xp.fmod(a, b)) // b


@stan_function(
    *_same("elt_divide", CONTAINERS), operator="/", examples=[([1.0, 2.0], [0.5, -1.0])],
    linear=("a",), by_component=True,
)
def elt_divide_elements(xp: Namespace, a: Array, b: Array) -> Array:
    same_shape(xp, "elt_divide", a, b)
    return a / b


@stan_function(
    "int modulus(int a, int b)", domains={"b": NONZERO},
    elementwise=True, examples=[(7, 3), (-7, 3), (7, -3)],
)  # fmt: skip
def modulus(xp: Namespace, a: Array, b: Array) -> Array:
    """The remainder with the sign of the dividend, where Python's `%` has the divisor's."""
    return xp.fmod(a, b)


@stan_function("E minus(E x)", operator="-", elementwise=True, examples=[(0.5,)], linear=("x",), keeps_nan=True)
def minus(xp: Namespace, x: Array) -> Array:
    return -x


@stan_function(
    *each("{t} plus({t} x)", ("int", "real", "complex", "vector", "row_vector", "matrix")), operator="+",
    elementwise=True, examples=[(0.5,)], linear=("x",),
)  # fmt: skip
def plus(xp: Namespace, x: Array) -> Array:
    return x


@stan_function(
    "row_vector transpose(vector x)",
    "vector transpose(row_vector x)",
    "complex_row_vector transpose(complex_vector x)",
    "complex_vector transpose(complex_row_vector x)",
    moves=True, examples=[([1.0, 2.0],)], linear=("x",),
)
def transpose_vector(xp: Namespace, x: Array) -> Array:
    return x


@stan_function(
    *each("{t} transpose({t} x)", ("matrix", "complex_matrix")), moves=True, examples=[([[1.0, 2.0], [3.0, 4.0]],)],
    linear=("x",),
)
def transpose(xp: Namespace, x: Array) -> Array:
    return xp.transpose(x)
