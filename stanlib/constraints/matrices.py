"""Correlation and covariance matrices and their Cholesky factors.

The free numbers of a correlation matrix are partial correlations on the scale of atanh (Lewandowski, Kurowicka and
Joe, 2009), those of its Cholesky factor row by row below the diagonal, those of the matrix itself column by column.
Source: Stan Reference Manual, "Correlation matrices", "Covariance matrices", "Cholesky factors of covariance
matrices", "Cholesky factors of correlation matrices".
"""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..arrays import named
from ..arrays.base import Array, Namespace
from ..closeness import asymmetric, is_one
from . import Constraint, add, faults

if TYPE_CHECKING:
    from ..random.base import Random

Indices = tuple[Any, Any]


def _by_rows(n: int) -> Indices:
    """Rows and columns of the entries below the diagonal, row by row."""
    return _lower_indices(n, n, -1)


def _by_columns(n: int) -> Indices:
    np = named("numpy")
    columns, rows = np.nonzero(np.triu(np.ones((n, n)), 1))
    return rows, columns


def _size_of(free: int) -> int:
    """The number of rows of a square matrix with so many entries below the diagonal."""
    return int((1 + (1 + 8 * free) ** 0.5) // 2)


def _placed(xp: Namespace, x: Array, n: int, at: Indices) -> Array:
    """The square matrix with x at these entries, and zeros elsewhere."""
    padded = xp.concatenate([x, xp.zeros((*xp.shape(x)[:-1], 1))], axis=-1)
    where = xp.full((n, n), xp.shape(x)[-1])
    where[at] = xp.arange(xp.shape(x)[-1])
    return padded[..., where]


def _factor(xp: Namespace, x: Array, order: Any, rows: int | None) -> tuple[Any, Any, Any]:
    """Cholesky factor from partial correlations tanh(x): row i holds w_ij times the length left by those before.

    Returns also the logarithms of the lengths left before each entry, and the log Jacobian. The number of rows tells
    an empty matrix from one of size 1: neither has free numbers.
    """
    n = _size_of(xp.shape(x)[-1]) if rows is None else rows
    at = order(n)
    free = _placed(xp, x, n, at)
    # the log of sqrt(1 - tanh(x)^2), without loss for large x, and with its curvature at 0; 0 outside the triangle
    log_left = math.log(2.0) - xp.logaddexp(free, -free)
    before = xp.cumsum(log_left, axis=-1) - log_left
    eye, _ = xp.convert((xp.eye(n), free))
    # the log derivative of tanh, and that of the scaling by what the entries before leave
    log_jacobian = 2.0 * log_left[(..., *at)] + before[(..., *at)]
    return (xp.tanh(free) + eye) * xp.exp(before), before, xp.sum(log_jacobian, axis=-1)


def cholesky_corr(xp: Namespace, x: Array, rows: int | None = None, cols: int | None = None) -> tuple[Any, Any]:
    factor, _, log_jacobian = _factor(xp, x, _by_rows, rows)
    return factor, log_jacobian


def _inverse(xp: Namespace, factor: Array, order: Any) -> Array:
    """atanh of an entry's share of the length that it finds is asinh of its ratio to the length that it leaves."""
    rows, cols = order(xp.shape(factor)[-1])
    squares = xp.flip(xp.cumsum(xp.flip(factor * factor, axis=-1), axis=-1), axis=-1)
    return xp.arcsinh(factor[..., rows, cols] / xp.sqrt(squares[..., rows, cols + 1]))


def cholesky_corr_inverse(xp: Namespace, factor: Any, *sizes: int) -> Array:
    return _inverse(xp, factor, _by_rows)


def _pairs(shape: tuple[int, ...], *sizes: int) -> tuple[int, ...]:
    return (shape[0] * (shape[0] - 1) // 2,)


def _is_lower(xp: Namespace, factor: Array) -> Array:
    upper = xp.triu(factor, 1)
    diagonal = xp.diagonal(factor, 0, -2, -1)
    return xp.all(upper == 0, axis=(-2, -1)) & xp.all(diagonal > 0, axis=-1)


def _is_cholesky_corr(xp: Namespace, factor: Array, *sizes: int) -> Array:
    lengths = xp.sum(factor * factor, axis=-1)
    return _is_lower(xp, factor) & xp.all(is_one(xp, lengths), axis=-1)


CHOLESKY_FACTOR_CORR = add(
    Constraint(
        "cholesky_factor_corr", "a Cholesky factor of a correlation matrix", 2, 1, cholesky_corr,
        cholesky_corr_inverse, _is_cholesky_corr, _pairs,
        base="matrix", sizes=(1,), interval=(-1.0, 1.0), is_sized=True, within="cholesky_factor_cov",
        reasons=faults.correlation_factor,
    )
)  # fmt: skip


def _corr_matrix(xp: Namespace, x: Array, rows: int | None = None, cols: int | None = None) -> tuple[Array, Array]:
    factor, before, log_jacobian = _factor(xp, x, _by_columns, rows)
    n = xp.shape(factor)[-1]
    # of L to L L': entry (i, j) below the diagonal contributes the diagonal entry j
    counts, log_diagonal = xp.convert((xp.arange(n - 1.0, -1, -1), xp.diagonal(before, 0, -2, -1)))
    product = xp.matmul(factor, xp.swapaxes(factor, -1, -2))
    return product, log_jacobian + xp.sum(counts * log_diagonal, axis=-1)


def _is_symmetric(xp: Namespace, m: Array) -> Array:
    return ~xp.any(asymmetric(xp, m), axis=(-2, -1))


def _is_positive_definite(xp: Namespace, m: Array) -> Array:
    return _is_symmetric(xp, m) & ~xp.any(xp.isnan(xp.cholesky(m)), axis=(-2, -1))


def _corr_matrix_inverse(xp: Namespace, m: Array, *sizes: int) -> Array:
    return _inverse(xp, xp.cholesky(m), _by_columns)


def _is_corr_matrix(xp: Namespace, m: Array, *sizes: int) -> Array:
    ones = xp.all(is_one(xp, xp.diagonal(m, 0, -2, -1)), axis=-1)
    return ones & _is_positive_definite(xp, m)


def _any_corr_matrix(xp: Namespace, random: Random, shape: tuple[int, ...]) -> Array:
    """Partial correlations of column j, from 1, are beta on (-1, 1) (Lewandowski, Kurowicka and Joe, 2009)."""
    size = shape[-1]
    concentration = xp.asarray(0.5 * (size - _by_columns(size)[1]))
    z = random.beta(concentration, concentration, (*shape[:-2], *_pairs(shape[-2:])))
    return _corr_matrix(xp, 0.5 * (xp.log(z) - xp.log1p(-z)), size)[0]


CORR_MATRIX = add(
    Constraint(
        "corr_matrix", "a correlation matrix", 2, 1, _corr_matrix, _corr_matrix_inverse, _is_corr_matrix, _pairs,
        base="matrix", sizes=(1,), interval=(-1.0, 1.0), is_sized=True, within="cov_matrix",
        reasons=faults.correlation, uniform=_any_corr_matrix,
    )
)  # fmt: skip


def _lower_indices(rows: int, cols: int, diagonal: int = 0) -> Indices:
    """Where the entries of a lower triangular matrix stand, row by row, up to that diagonal."""
    np = named("numpy")
    down, across = np.nonzero(np.tril(np.ones((rows, cols)), diagonal))
    return down, across


def _lower_matrix(xp: Namespace, x: Array, rows: int, cols: int) -> tuple[Any, Any]:
    """The lower triangular matrix with exponentiated diagonal, and the diagonal's free numbers."""
    free = xp.shape(x)[-1]
    padded = xp.concatenate([x, xp.zeros((*xp.shape(x)[:-1], 1))], axis=-1)
    where = xp.full((rows, cols), free)
    where[_lower_indices(rows, cols)] = xp.arange(free)
    raw = padded[..., where]
    n = min(rows, cols)
    on_diagonal = xp.eye(rows, cols, dtype=bool)
    log_diagonal = x[..., where[range(n), range(n)]]
    return xp.where(on_diagonal, xp.exp(xp.where(on_diagonal, raw, 0.0)), raw), log_diagonal


def _cholesky_cov(xp: Namespace, x: Array, rows: int, cols: int) -> tuple[Any, Any]:
    factor, log_diagonal = _lower_matrix(xp, x, rows, cols)
    return factor, xp.sum(log_diagonal, axis=-1)


def _cholesky_cov_inverse(xp: Namespace, factor: Array, rows: int, cols: int) -> Array:
    i, j = _lower_indices(rows, cols)
    entries = factor[..., i, j]
    return xp.where(i == j, xp.log(xp.where(i == j, entries, 1.0)), entries)


CHOLESKY_FACTOR_COV = add(
    Constraint(
        "cholesky_factor_cov", "a Cholesky factor of a covariance matrix", 2, 1, _cholesky_cov,
        _cholesky_cov_inverse, lambda xp, factor, rows, cols: _is_lower(xp, factor) & (0 < cols <= rows),
        lambda shape, rows, cols: (len(_lower_indices(rows, cols)[0]),), ("rows", "cols"),
        base="matrix", sizes=(1, 2), is_sized=True, is_tall=True,
        reasons=faults.factor,
    )
)  # fmt: skip


def _free_size(free: int) -> int:
    """The number of rows of a covariance matrix with so many free numbers."""
    return int(((1 + 8 * free) ** 0.5 - 1) // 2 + 0.5)


def _cov_matrix(xp: Namespace, x: Array) -> tuple[Any, Any]:
    n = _free_size(xp.shape(x)[-1])
    factor, log_diagonal = _lower_matrix(xp, x, n, n)
    # of x to L: the diagonal's exponentials; of L to L L': 2^n times diagonal entry k to the power n - k + 1
    powers, log_diagonal = xp.convert((xp.arange(n, 0, -1) + 1.0, log_diagonal))
    log_jacobian = n * math.log(2.0) + xp.sum(powers * log_diagonal, axis=-1)
    return xp.matmul(factor, xp.swapaxes(factor, -1, -2)), log_jacobian


def _cov_matrix_inverse(xp: Namespace, m: Array) -> Array:
    n = xp.shape(m)[-1]
    return _cholesky_cov_inverse(xp, xp.cholesky(m), n, n)


COV_MATRIX = add(
    Constraint(
        "cov_matrix", "a covariance matrix", 2, 1, _cov_matrix, _cov_matrix_inverse,
        lambda xp, m: _is_positive_definite(xp, m) & (xp.shape(m)[-1] > 0),
        lambda shape: (shape[0] * (shape[0] + 1) // 2,),
        base="matrix", sizes=(1,),
        reasons=faults.covariance,
    )
)  # fmt: skip
