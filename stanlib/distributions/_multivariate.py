"""What the densities of vectors and matrices share: domains, sizes, quadratic forms, partial correlations.

Observations stand in rows. Whatever has to be solved is solved once, with all observations as columns; the factor of a
matrix that is data is inverted once, while the program is traced, and costs one product then.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import supports
from ..arrays import is_of_data
from ..arrays.base import Array, Namespace, Real
from ..checks import same_size
from ..closeness import TOLERANCE, asymmetric, is_one
from ..domains import Domain, guard
from ..errors import StanIndexError
from ..random.base import Random
from ..rejection import is_explaining
from ._terms import LOG_2_PI


def _is_symmetric(xp: Namespace, m: Array) -> Array:
    return ~xp.any(asymmetric(xp, m))


def _is_known(m: Array) -> bool:
    """Whether a matrix is looked at as a whole: one of parameters where it is asked why the draw is rejected."""
    return is_of_data((m,)) or is_explaining()


def _is_covariance(xp: Namespace, m: Array) -> Array:
    """Of a matrix that depends on parameters its symmetry alone: where it is not definite, the density is NaN."""
    symmetric = _is_symmetric(xp, m)
    return symmetric & ~xp.any(xp.isnan(xp.cholesky(m))) if _is_known(m) else symmetric


def _is_semidefinite(xp: Namespace, m: Array) -> Array:
    symmetric = _is_symmetric(xp, m)
    least = -TOLERANCE * xp.max(xp.abs(m))
    return symmetric & xp.all(xp.eigh(m)[0] >= least) if _is_known(m) else symmetric


def _is_correlation(xp: Namespace, m: Array) -> Array:
    return _is_covariance(xp, m) & xp.all(is_one(xp, xp.diagonal(m)))


def _is_lower(xp: Namespace, m: Array) -> Array:
    return xp.all(xp.triu(m, 1) == 0)


def _is_factor(xp: Namespace, m: Array) -> Array:
    return _is_lower(xp, m) & xp.all(xp.diagonal(m) > 0)


def _matrices(description: str, test: Callable[..., object], region: Any = None) -> Domain:
    """A domain of square matrices, those of all iterations of a loop behind each other; sizes are checked apart."""

    def inside(xp: Namespace, m: Array) -> Array:
        *outer, rows, columns = xp.shape(m)
        if outer:
            return xp.stack([inside(xp, one) for one in m]) if outer[0] else xp.asarray(True)
        return xp.asarray(rows == 0 or rows != columns or test(xp, m))

    return Domain(description, inside, region=region)


COVARIANCE = _matrices("symmetric and positive definite", _is_covariance, supports.COVARIANCE)
SEMIDEFINITE = _matrices("symmetric and positive semidefinite", _is_semidefinite, supports.COVARIANCE)
CORRELATION = _matrices("a correlation matrix", _is_correlation)
LOWER = _matrices("lower triangular", _is_lower)
CHOLESKY_FACTOR = _matrices("lower triangular with a positive diagonal", _is_factor, supports.CHOLESKY_FACTOR)


def require(xp: Namespace, name: str, argument: str, x: Real, domain: Any) -> Array:
    """x, checked where it is known, else NaN where it is outside a domain that depends on other arguments."""
    out: Array = guard(xp, name, (x,), [(0, argument, domain)])[0]
    return out


def check_vectors(xp: Namespace, name: str, size: int, what: str, **vectors: object) -> None:
    """Vectors, or arrays of vectors, must be of one size, and the arrays of one length.

    Raises:
        StanIndexError: naming both sizes.
    """
    for argument, v in vectors.items():
        same_size(name, f"the size of {argument}", xp.shape(v)[-1], what, size)
    lengths = {xp.shape(v)[0] for v in vectors.values() if xp.ndim(v) > 1}
    if len(lengths) > 1:
        shown = " and ".join(map(str, sorted(lengths)))
        raise StanIndexError(f"{name}: the arrays {' and '.join(vectors)} have lengths {shown}, which must match")


def residuals(xp: Namespace, name: str, y: Array, mu: Real, size: Any) -> Array:
    """y - mu, once the sizes are checked against that of the matrix."""
    check_vectors(xp, name, size, "the rows of the matrix", y=y, mu=mu)
    return y - mu


def covariance_lengths(xp: Namespace, sigma: Array, d: Array) -> tuple[Array, Array]:
    """log det sigma, and the squared Mahalanobis length of every row of d."""
    if xp.is_concrete(sigma):
        return factor_lengths(xp, xp.cholesky(sigma), d)
    if xp.ndim(d) > 1:
        return xp.quadratic_spd(sigma, xp.transpose(d))
    log_det, squares = xp.quadratic_spd(sigma, d[:, None])
    return log_det, squares[0]


def factor_lengths(xp: Namespace, factor: Array, d: Array) -> tuple[Array, Array]:
    """The same for a covariance matrix of which the Cholesky factor is given."""
    white = whiten(xp, factor, d)
    return 2 * log_diagonal(xp, factor), xp.sum(white * white, axis=-1)


def whiten(xp: Namespace, factor: Array, d: Array) -> Array:
    """The solution of factor x = d for every row of d."""
    if xp.is_concrete(factor):
        return xp.matmul(d, xp.transpose(xp.solve_triangular(factor, xp.eye(xp.shape(factor)[0]))))
    if xp.ndim(d) == 1:
        return xp.solve_triangular(factor, d)
    return xp.transpose(xp.solve_triangular(factor, xp.transpose(d)))


def log_diagonal(xp: Namespace, factor: Array) -> Array:
    """The sum of the logarithms of the diagonal: the logarithm of the determinant of a triangular matrix."""
    return xp.sum(xp.log(xp.diagonal(factor)))


def log_det_spd(xp: Namespace, m: Array) -> Array:
    """log det of a positive definite matrix."""
    return covariance_lengths(xp, m, xp.zeros((0, xp.shape(m)[0])))[0]


def normal_terms(size: int, log_det: Array, squares: Array) -> Array:
    """The log density of normal vectors of this size, by covariance and squared Mahalanobis lengths."""
    return -0.5 * (squares + (log_det + size * LOG_2_PI))


def normal_draws(xp: Namespace, random: Random, factor: Array, mu: Array) -> Array:
    """mu + factor z with standard normal z, for every row of mu."""
    return mu + xp.matmul(random.normal(xp.shape(mu)), xp.transpose(factor))


def from_partial_correlations(xp: Namespace, z: Array) -> Array:
    """The Cholesky factor of a correlation matrix, with partial correlations in the lower triangle of z.

    Each is the share, with its sign, that it takes of the length which the entries before it leave of the row
    (Lewandowski, Kurowicka and Joe, 2009).
    """
    log_left = 0.5 * xp.log1p(-z * z)
    before = xp.cumsum(log_left, axis=-1)[:, :-1]
    before, eye = xp.convert((xp.concatenate([0.0 * z[:, :1], before], axis=1), xp.eye(xp.shape(z)[0])))
    out: Array = (z + eye) * xp.exp(before)
    return out
