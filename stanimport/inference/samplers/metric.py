"""The Euclidean metric of the kinetic energy, diagonal or dense (`low_rank` has another), and its estimates from draws.

Source: Stan Development Team, "Stan Reference Manual", "MCMC Sampling using Hamiltonian Monte Carlo", on Euclidean
metrics and their regularized estimates.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import packed

if TYPE_CHECKING:
    from .states import Numbers


class Kind(NamedTuple):
    """What a metric is, and how it is learned.

    Attributes:
        dense: whether it is a matrix.
        low_rank: whether it is a diagonal with a few directions.
        adapts: whether it is learned in warm-up.
        by_gradients: whether it is learned from draws and gradients.
    """

    dense: bool = False
    low_rank: bool = False
    adapts: bool = True
    by_gradients: bool = False

    @property
    def by_variances(self) -> bool:
        """Whether it is learned from variances alone."""
        return not (self.dense or self.low_rank)


class Metric(NamedTuple):
    """An inverse metric, and what makes standard normal numbers momenta: the diagonals, (size,), or (size, size)."""

    inverse: Numbers
    factor: Numbers

    @staticmethod
    def of(inverse: np.ndarray) -> "Metric":
        """The metric of an inverse one; the factor of a dense one is the inverse transpose of a Cholesky factor."""
        if inverse.ndim == 1:
            return Metric(inverse, 1 / np.sqrt(inverse))
        return Metric(inverse, np.linalg.inv(np.linalg.cholesky(inverse)).T)

    @property
    def size(self) -> int:
        return int(self.inverse.shape[-1])

    @property
    def is_diagonal(self) -> bool:
        return self.inverse.ndim == 1

    def velocity(self, momentum: Numbers) -> Any:
        return self.inverse * momentum if self.inverse.ndim == 1 else self.inverse @ momentum

    def shaped(self, normal: Numbers) -> Any:
        """The momentum that standard normal numbers make."""
        return self.factor * normal if self.factor.ndim == 1 else self.factor @ normal


def size_of(inverse: np.ndarray) -> int:
    """How many parameters an inverse metric of any kind has."""
    return int(inverse.shape[0]) - packed.is_packed(inverse)


def log_volume(inverse: np.ndarray) -> float:
    """The logarithm of the volume of a place, from its variances, but for a constant."""
    if inverse.ndim == 1:
        return float(np.log(inverse).sum() / 2)
    return packed.log_volume(inverse) if packed.is_packed(inverse) else float(np.linalg.slogdet(inverse)[1] / 2)


def estimate(points: np.ndarray, dense: bool) -> np.ndarray:
    """The inverse metric from the draws of a window, (draws, size): their (co)variances, shrunk towards 0.001."""
    n = len(points)
    if not dense:
        return shrunk(points.var(axis=0, ddof=1), n)
    covariance = np.atleast_2d(np.cov(points, rowvar=False))
    return np.asarray(_share(n) * covariance + _floor(n) * np.eye(points.shape[1]))


def shrunk(variances: np.ndarray, n: int) -> np.ndarray:
    """The diagonal of an inverse metric from the variances of n draws."""
    return np.asarray(_share(n) * variances + _floor(n))


def _share(n: int) -> float:
    return n / (n + 5.0)


def _floor(n: int) -> float:
    return 1e-3 * 5.0 / (n + 5.0)
