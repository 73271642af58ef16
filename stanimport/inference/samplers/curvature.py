"""The metric from draws and the gradients of the log density there, where the posterior is nearly normal.

Of a normal law a few more draws than it has dimensions tell the whole covariance matrix, without error: gradients are
its inverse times the draws. Draws alone need hundreds. Where curvature varies there is no such matrix, and a dense
metric leads to steps too long for the narrow places: there it is Stan's own estimate, of the variances.

Source: Seyboldt, Carlson and Carpenter (2026), "Preconditioning Hamiltonian Monte Carlo by minimizing Fisher
divergence", arXiv:2603.18845, for metrics that minimize the Fisher divergence to a normal law.
"""
from __future__ import annotations

import numpy as np

from .metric import estimate, shrunk

LARGEST_MATRIX = 64  # parameters, beyond which a product with a matrix costs more than most gradients
LARGEST = 10_000  # parameters, beyond which keeping gradients costs more memory than it is worth
ENOUGH = 150  # draws that tell variances, and whether the posterior is nearly normal
_TOLERANCE = 2.0  # by which variances may differ from those of the normal law, beside their errors
RIDGE = 1e-5  # of standardized covariances


def diagonal(points: np.ndarray, gradients: np.ndarray) -> np.ndarray:
    """The diagonal of an inverse metric, (size,), from draws of a window and gradients there, (draws, size) each.

    Few draws with their gradients tell more than their variances do; many tell the variances.
    """
    return diagonal_of(points.var(axis=0, ddof=1), gradients.var(axis=0, ddof=1), len(points))


def diagonal_of(variances: np.ndarray, slopes: np.ndarray, count: int) -> np.ndarray:
    """The same from the variances of so many draws, and of the gradients there, (size,) each."""
    return shrunk(variances, count) if count >= ENOUGH else _scales(variances, slopes) ** 2


def matrix(points: np.ndarray, gradients: np.ndarray) -> np.ndarray:
    """An inverse metric, (size, size), from draws of a window and gradients there, (draws, size) each."""
    scales = scales_of(points, gradients)
    if len(points) < 2 * points.shape[1]:
        return np.diag(scales**2)
    normal = whole(points / scales, gradients * scales) * np.outer(scales, scales)
    if not is_positive_definite(normal):
        return np.diag(scales**2)
    if len(points) >= ENOUGH and not _fits(normal, points):
        return np.diag(estimate(points, False))
    return normal


def scales_of(points: np.ndarray, gradients: np.ndarray) -> np.ndarray:
    """The scale of each parameter if it had a normal law by itself; 1 where nothing is known."""
    return _scales(points.var(axis=0, ddof=1), gradients.var(axis=0, ddof=1))


def _scales(variances: np.ndarray, slopes: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        scales = np.sqrt(np.sqrt(variances) / np.sqrt(slopes))
    return np.where(np.isfinite(scales) & (scales > 0), scales, 1.0)


def whole(points: np.ndarray, gradients: np.ndarray) -> np.ndarray:
    """The matrix M for which M cov(gradients) M = cov(points); not finite where they are too large."""
    size = points.shape[1]
    ridge = RIDGE * np.eye(size)
    of_points, of_gradients = (_covariances(a.T) + ridge for a in (points, gradients))
    if not (np.isfinite(of_points).all() and np.isfinite(of_gradients).all()):
        return np.full((size, size), np.nan)
    try:
        with np.errstate(all="ignore"):
            root, inverse = _powers(of_gradients, 0.5, -0.5)
            (middle,) = _powers(root @ of_points @ root, 0.5)
            made = inverse @ middle @ inverse
    except np.linalg.LinAlgError:  # the product overflowed
        return np.full((size, size), np.nan)
    return np.asarray(made + made.T) / 2


def _covariances(rows: np.ndarray) -> np.ndarray:
    """Of the rows, as `numpy.cov` has them, in a third of its time; not finite where a chain's draws overflow."""
    with np.errstate(all="ignore"):
        apart = rows - rows.mean(axis=1, keepdims=True)
        return np.asarray(apart @ apart.T * (1 / (rows.shape[1] - 1)))


def _powers(matrix: np.ndarray, *exponents: float) -> list[np.ndarray]:
    """Powers of a symmetric matrix; eigenvalues that only rounding makes so small are the ridge."""
    values, vectors = np.linalg.eigh(matrix)
    return [np.asarray((vectors * np.maximum(values, RIDGE) ** e) @ vectors.T) for e in exponents]


def is_positive_definite(matrix: np.ndarray) -> bool:
    """Whether a symmetric matrix has a Cholesky factor."""
    try:
        return bool(np.isfinite(np.linalg.cholesky(matrix)).all())
    except np.linalg.LinAlgError:
        return False


def _fits(normal: np.ndarray, points: np.ndarray) -> bool:
    """Whether the draws vary in all directions as those of the normal law, but for the error of that many draws."""
    whitened = np.linalg.solve(np.linalg.cholesky(normal), (points - points.mean(axis=0)).T)
    covariances = _covariances(whitened)
    if not np.isfinite(covariances).all():
        return False
    variances = np.linalg.eigvalsh(covariances)
    low, high = spread(*points.shape)
    return bool(variances[0] > low and variances[-1] < high)


def spread(draws: int, size: int) -> tuple[float, float]:
    """Between what the variances in all directions lie, of so many draws of a standard normal law, or nearly normal."""
    error = np.sqrt(size / draws)  # Marchenko and Pastur's law has its ends at (1 -+ this)^2
    return max(1 - error, 0) ** 2 / _TOLERANCE, (1 + error) ** 2 * _TOLERANCE
