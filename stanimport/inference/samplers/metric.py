"""The Euclidean metric of the kinetic energy: diagonal or dense, and its estimates from draws.

Source: Stan Development Team, "Stan Reference Manual", "MCMC Sampling using Hamiltonian Monte Carlo", on Euclidean
metrics and their regularized estimates.
"""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from . import uniforms

_COLUMNS = 1024


class Metric(NamedTuple):
    """An inverse metric, and what makes standard normal numbers momenta: the diagonals, (size,), or (size, size)."""

    inverse: Any
    factor: Any

    @staticmethod
    def of(inverse: np.ndarray) -> "Metric":
        """The metric of an inverse one; the factor of a dense one is the inverse transpose of a Cholesky factor."""
        if inverse.ndim == 1:
            return Metric(inverse, 1 / np.sqrt(inverse))
        return Metric(inverse, np.linalg.inv(np.linalg.cholesky(inverse)).T)

    @property
    def size(self) -> int:
        return int(self.inverse.shape[-1])

    def velocity(self, momentum: Any) -> Any:
        return self.inverse * momentum if self.inverse.ndim == 1 else self.inverse @ momentum

    def momentum(self, random: Any) -> tuple[Any, Any]:
        """The next state of the random numbers, and a momentum drawn from its normal law."""
        random, drawn = uniforms.normals(random, self.size)
        return random, self.factor * drawn if self.factor.ndim == 1 else self.factor @ drawn


def estimate(points: np.ndarray, dense: bool) -> np.ndarray:
    """The inverse metric from the draws of a window, (draws, size): their (co)variances, shrunk towards 0.001."""
    n = len(points)
    weight, floor = n / (n + 5.0), 1e-3 * 5.0 / (n + 5.0)
    if not dense:
        parts = [points[:, i : i + _COLUMNS].var(axis=0, ddof=1) for i in range(0, points.shape[1], _COLUMNS)]
        return np.asarray(weight * np.concatenate(parts) + floor)  # in parts, for the deviations take as much memory
    covariance = np.atleast_2d(np.cov(points, rowvar=False))
    return np.asarray(weight * covariance + floor * np.eye(points.shape[1]))
