"""Determinants, factorisations and singular values. eigen.py holds the eigenvalues.

Source: Stan Functions Reference, "Linear algebra functions and solvers".
"""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..arrays import is_of_data
from ..arrays.base import Array, Namespace, Real
from ..checks import nonempty, positive_definite, same_size, size, square, symmetric
from ..registry import stan_function

_SPD, _M = [[2.0, 0.5], [0.5, 1.0]], [[1.0, 2.0], [-3.0, 4.0]]
_TALL = [[1.0, 2.0], [-3.0, 4.0], [0.5, 1.0]]
_COLUMNS = [[1.0, 0.5], [-3.0, 4.0], [0.5, 1.0], [-0.7, 2.0]]


@stan_function("matrix cholesky_decompose(matrix A)", examples=[(_SPD,)])
def cholesky_decompose(xp: Namespace, a: Array) -> Array:
    if symmetric(xp, "cholesky_decompose", a) == 0:
        return a
    factor = xp.cholesky(a)
    positive_definite(xp, "cholesky_decompose", factor)
    return factor


@stan_function("real determinant(matrix A)", examples=[(_M,)])
def determinant(xp: Namespace, a: Array) -> Real:
    return xp.det(a) if square(xp, "determinant", a) else 1.0


@stan_function("real log_determinant(matrix A)", examples=[(_M,)])
def log_determinant(xp: Namespace, a: Array) -> Real:
    """The logarithm of the absolute value of the determinant."""
    return xp.slogdet(a)[1] if square(xp, "log_determinant", a) else 0.0


@stan_function("real log_determinant_spd(matrix A)", examples=[(_SPD,)])
def log_determinant_spd(xp: Namespace, a: Array) -> Real:
    if symmetric(xp, "log_determinant_spd", a) == 0:
        return 0.0
    factor = xp.cholesky(a)
    if not is_of_data((a,)):  # of data Stan gives NaN
        positive_definite(xp, "log_determinant_spd", factor)
    return 2 * xp.sum(xp.log(xp.diagonal(factor)))


def _qr_thin(xp: Namespace, name: str, a: Array) -> tuple[Array, Array]:
    """Q and R of min(rows, columns) columns and rows, with a positive diagonal of R.

    A wide matrix has the Q of its leading square part: the libraries have no derivative for it otherwise.
    """
    nonempty(xp, name, a)
    rows, cols = xp.shape(a)
    q, r = xp.qr(a[:, :rows])
    sign = xp.where(xp.diagonal(r) < 0, -1.0, 1.0)
    q, r = q * sign, r * sign[:, None]
    if cols > rows:
        r = xp.concatenate((r, xp.matmul(xp.transpose(q), a[:, rows:])), axis=1)
    return q, r


def _qr_full(xp: Namespace, name: str, a: Array) -> tuple[Array, Array]:
    """Q with all its columns. Those beyond R's are what Householder's reflections make of unit vectors."""
    q, r = _qr_thin(xp, name, a)
    rows, cols = xp.shape(a)
    if rows <= cols:
        return q, r
    _, rest = xp.convert((q, xp.eye(rows)[:, cols:]))
    for k, v in reversed(list(enumerate(_reflectors(xp, a)))):
        rest = _reflected(xp, k, v, rest)
    return xp.concatenate((q, rest), axis=1), xp.concatenate((r, xp.zeros((rows - cols, cols))), axis=0)


def _reflectors(xp: Namespace, a: Array) -> Iterator[Array]:
    """The unit vectors across which columns of `a`, from their diagonal element on, are turned to the first axis.

    Golub and Van Loan, section 5.2.2; the signs are LAPACK's and Eigen's.
    """
    for k in range(xp.shape(a)[1]):
        x = a[k:, k]
        norm = xp.sqrt(xp.sum(x * x))
        v = xp.concatenate((x[:1] + xp.where(x[:1] < 0, -norm, norm), x[1:]))
        v = v / xp.sqrt(xp.sum(v * v))
        yield v
        a = _reflected(xp, k, v, a)


def _reflected(xp: Namespace, k: int, v: Array, a: Array) -> Array:
    """`a` with its rows from k on reflected."""
    return xp.concatenate((a[:k], a[k:] - 2 * v[:, None] * xp.matmul(v, a[k:])))


@stan_function("tuple(matrix, matrix) qr(matrix A)", examples=[(_COLUMNS,)])
def qr(xp: Namespace, a: Array) -> tuple[Array, Array]:
    return _qr_full(xp, "qr", a)


@stan_function("matrix qr_Q(matrix A)", examples=[(_COLUMNS,), (_TALL,)])
def qr_Q(xp: Namespace, a: Array) -> Array:
    return _qr_full(xp, "qr_Q", a)[0]


@stan_function("matrix qr_R(matrix A)", examples=[(_TALL,)])
def qr_R(xp: Namespace, a: Array) -> Array:
    return _qr_full(xp, "qr_R", a)[1]


@stan_function("tuple(matrix, matrix) qr_thin(matrix A)", examples=[(_TALL,)])
def qr_thin(xp: Namespace, a: Array) -> tuple[Array, Array]:
    return _qr_thin(xp, "qr_thin", a)


@stan_function("matrix qr_thin_Q(matrix A)", examples=[(_TALL,)])
def qr_thin_Q(xp: Namespace, a: Array) -> Array:
    return _qr_thin(xp, "qr_thin_Q", a)[0]


@stan_function("matrix qr_thin_R(matrix A)", examples=[(_TALL,)])
def qr_thin_R(xp: Namespace, a: Array) -> Array:
    return _qr_thin(xp, "qr_thin_R", a)[1]


@stan_function(
    "vector singular_values(matrix A)", "vector singular_values(complex_matrix A)", examples=[(_TALL,)]
)  # fmt: skip
def singular_values(xp: Namespace, a: Array) -> Array:
    """In decreasing order."""
    return xp.zeros(0) if 0 in xp.shape(a) else xp.svd(a, full_matrices=False, compute_uv=False)


def _svd(xp: Namespace, name: str, a: Array) -> tuple[Array, Array, Array]:
    nonempty(xp, name, a)
    u, s, vh = xp.svd(a, full_matrices=False)
    return u, s, xp.conj(xp.transpose(vh))


@stan_function(
    "tuple(matrix, vector, matrix) svd(matrix A)",
    "tuple(complex_matrix, vector, complex_matrix) svd(complex_matrix A)",
    examples=[(_TALL,)],
)  # fmt: skip
def svd(xp: Namespace, a: Array) -> tuple[Array, Array, Array]:
    return _svd(xp, "svd", a)


@stan_function("matrix svd_U(matrix A)", "complex_matrix svd_U(complex_matrix A)", examples=[(_TALL,)])
def svd_U(xp: Namespace, a: Array) -> Array:
    return _svd(xp, "svd_U", a)[0]


@stan_function("matrix svd_V(matrix A)", "complex_matrix svd_V(complex_matrix A)", examples=[(_TALL,)])
def svd_V(xp: Namespace, a: Array) -> Array:
    return _svd(xp, "svd_V", a)[2]


@stan_function("matrix matrix_exp(matrix A)", examples=[(_M,)])
def matrix_exp(xp: Namespace, a: Array) -> Array:
    return xp.expm(a) if square(xp, "matrix_exp", a) else a


@stan_function("matrix matrix_exp_multiply(matrix A, matrix B)", examples=[(_M, _SPD)])
def matrix_exp_multiply(xp: Namespace, a: Array, b: Array) -> Array:
    return _exp_multiply(xp, "matrix_exp_multiply", a, b)


@stan_function("matrix scale_matrix_exp_multiply(real t, matrix A, matrix B)", examples=[(0.5, _M, _SPD)])
def scale_matrix_exp_multiply(xp: Namespace, t: Array, a: Array, b: Array) -> Array:
    return _exp_multiply(xp, "scale_matrix_exp_multiply", t * a, b)


def _exp_multiply(xp: Namespace, name: str, a: Array, b: Array) -> Array:
    n = square(xp, name, a)
    same_size(name, "columns of A", n, "rows of B", xp.shape(b)[0])
    return xp.matmul(xp.expm(a), b) if n else b


@stan_function("matrix matrix_power(matrix A, int n)", examples=[(_M, 5), (_M, 0)])
def matrix_power(xp: Namespace, a: Real, n: Real) -> Any:
    """By repeated squaring."""
    rows, n = square(xp, "matrix_power", a), size("matrix_power", "n", n)
    if n == 0:
        return xp.where(xp.ones((rows, rows)) == 1, xp.eye(rows), a)
    out = None
    while n:
        if n % 2:
            out = a if out is None else xp.matmul(out, a)
        n //= 2
        a = xp.matmul(a, a) if n else a
    return out
