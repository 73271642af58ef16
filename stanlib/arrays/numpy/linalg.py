"""Linear algebra in NumPy that gives NaN where NumPy raises, and infinities where Stan has them."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..base import Array
from ..later import later
from .qr_algorithm import complex_schur as schur  # noqa: F401
from .qr_algorithm import eigenvalue_order


def _nan_where_singular(f: Callable[..., Array]) -> Callable[..., Any]:
    """f with a result of NaN for a singular (or not positive definite) matrix."""

    def call(a: Array, *b: Array) -> Array:
        try:
            return f(a, *b)
        except np.linalg.LinAlgError:
            return np.full(np.shape(b[0] if b else a), np.nan)

    return call


_by_substitution = later("scipy.linalg", "solve_triangular")
_blas = later("scipy.linalg", "get_blas_funcs")
cholesky = _nan_where_singular(np.linalg.cholesky)
inv = _nan_where_singular(np.linalg.inv)
solve = _nan_where_singular(np.linalg.solve)


def solve_triangular(a: Array, b: Array, lower: bool = True, trans: bool = False) -> Array:
    """Solve a x = b (or a' x = b) for triangular a by substitution: zeros on the diagonal give infinities."""
    a, b = np.asarray(a), np.asarray(b)
    if a.ndim > 2 or b.size == 0:
        solution: Array = _by_substitution(a, b, lower=lower, trans=1 if trans else 0, check_finite=False)
        return solution
    (trsm,) = _blas(("trsm",), (a, b))
    columns: Array = trsm(1.0, a, b if b.ndim == 2 else b[:, None], lower=lower, trans_a=1 if trans else 0)
    return columns if b.ndim == 2 else columns[:, 0]


def solve_spd(a: object, b: Any) -> Array:
    """Solve a x = b for a positive definite a."""
    factor = cholesky(a)
    return solve_triangular(factor, solve_triangular(factor, b), trans=True)


def quadratic_spd(a: object, b: Any) -> tuple[Any, Any]:
    """log det a, and b_j' a^-1 b_j for every column of b, for a positive definite a."""
    factor = cholesky(a)
    white = solve_triangular(factor, b)
    return 2 * np.sum(np.log(np.diagonal(factor))), np.sum(white * white, axis=0)


def eig(a: Any) -> tuple[Any, Any]:
    """Eigenvalues in Stan's order, and eigenvectors of length 1; NaN for a matrix with NaN or infinities."""
    dtype = np.result_type(a, np.complex64)
    if not np.isfinite(a).all():
        return np.full(np.shape(a)[0], np.nan, dtype), np.full(np.shape(a), np.nan, dtype)
    values, vectors = np.linalg.eig(a)
    order = eigenvalue_order(np.asarray(a), values)
    return values[order].astype(dtype), vectors[:, order].astype(dtype)
