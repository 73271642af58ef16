"""Division by matrices and inverses. Source: Stan Functions Reference, "Linear algebra functions and solvers"."""
from __future__ import annotations

from functools import partial
from typing import Any

from ..arrays import is_of_data
from ..arrays.base import Array, Namespace, Real
from ..checks import positive_definite, same_size, square, symmetric
from ..errors import StanDomainError
from ..registry import stan_function
from ..rejection import refuse

_SPD, _L, _B = [[2.0, 0.5], [0.5, 1.0]], [[2.0, 0.0], [0.5, 1.0]], [[1.0, 2.0], [-3.0, 4.0]]


def _left(name: str) -> list[str]:
    return [f"vector {name}(matrix A, vector b)", f"matrix {name}(matrix A, matrix b)"]


def _right(name: str) -> list[str]:
    return [f"row_vector {name}(row_vector b, matrix A)", f"matrix {name}(matrix b, matrix A)"]


def _check(xp: Namespace, name: str, a: Any, rows: Any) -> None:
    """The sizes of a x = b."""
    same_size(name, "rows of the square matrix", square(xp, name, a), "size of the other operand", rows)


def _solve_spd(xp: Namespace, name: str, a: Array, b: Array) -> Array:
    """The solution of a x = b for a positive definite a; it is NaN where a is none."""
    if is_of_data((a,)):
        positive_definite(xp, name, xp.cholesky(a))
    solution = xp.solve_spd(a, b)
    if not is_of_data((a,)):
        refuse(xp.isnan(solution), partial(StanDomainError, f"{name}: the matrix is not positive definite"))
    return solution


@stan_function(*_left("mdivide_left"), examples=[(_B, [1.0, 2.0])])
def mdivide_left(xp: Namespace, a: Real, b: Real) -> Array:
    _check(xp, "mdivide_left", a, xp.shape(b)[0])
    return xp.solve(a, b)


@stan_function(
    *_right("mdivide_right"),
    "complex_row_vector mdivide_right(complex_row_vector b, complex_matrix A)",
    "complex_matrix mdivide_right(complex_matrix b, complex_matrix A)",
    examples=[([1.0, 2.0], _B)], linear=("b",),
)
def mdivide_right(xp: Namespace, b: Real, a: Real) -> Array:
    _check(xp, "mdivide_right", a, xp.shape(b)[-1])
    return xp.transpose(xp.solve(xp.transpose(a), xp.transpose(b)))


@stan_function(*_left("mdivide_left_tri_low"), examples=[(_L, [1.0, 2.0])])
def mdivide_left_tri_low(xp: Namespace, a: Array, b: Array) -> Array:
    _check(xp, "mdivide_left_tri_low", a, xp.shape(b)[0])
    return xp.solve_triangular(a, b, lower=True)


@stan_function(*_right("mdivide_right_tri_low"), examples=[([1.0, 2.0], _L)])
def mdivide_right_tri_low(xp: Namespace, b: Array, a: Array) -> Array:
    _check(xp, "mdivide_right_tri_low", a, xp.shape(b)[-1])
    return xp.transpose(xp.solve_triangular(a, xp.transpose(b), lower=True, trans=True))


@stan_function(*_left("mdivide_left_spd"), examples=[(_SPD, [1.0, 2.0])])
def mdivide_left_spd(xp: Namespace, a: Array, b: Array) -> Array:
    _check(xp, "mdivide_left_spd", a, xp.shape(b)[0])
    symmetric(xp, "mdivide_left_spd", a)
    return _solve_spd(xp, "mdivide_left_spd", a, b)


@stan_function(*_right("mdivide_right_spd"), examples=[([1.0, 2.0], _SPD)])
def mdivide_right_spd(xp: Namespace, b: Array, a: Array) -> Array:
    _check(xp, "mdivide_right_spd", a, xp.shape(b)[-1])
    symmetric(xp, "mdivide_right_spd", a)
    return xp.transpose(_solve_spd(xp, "mdivide_right_spd", a, xp.transpose(b)))


@stan_function("matrix inverse(matrix A)", examples=[(_B,)])
def inverse(xp: Namespace, a: Array) -> Array:
    return xp.inv(a) if square(xp, "inverse", a) else a


@stan_function("matrix inverse_spd(matrix A)", examples=[(_SPD,)])
def inverse_spd(xp: Namespace, a: Array) -> Array:
    if square(xp, "inverse_spd", a) == 0:
        return a
    symmetric(xp, "inverse_spd", a)
    return _solve_spd(xp, "inverse_spd", a, xp.eye(xp.shape(a)[0]))


@stan_function("matrix chol2inv(matrix L)", examples=[(_L,)])
def chol2inv(xp: Namespace, lower: Array) -> Array:
    """The inverse of L * L'."""
    n = square(xp, "chol2inv", lower)
    refuse(xp.triu(lower, 1) != 0, partial(StanDomainError, "chol2inv: the matrix is not lower triangular"))
    root = xp.solve_triangular(lower, xp.eye(n), lower=True)
    return xp.matmul(xp.transpose(root), root)


@stan_function("matrix generalized_inverse(matrix A)", examples=[([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]],)])
def generalized_inverse(xp: Namespace, a: Array) -> Array:
    """The Moore-Penrose inverse."""
    return xp.transpose(a) if 0 in xp.shape(a) else xp.pinv(a)
