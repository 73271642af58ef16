"""A metric that is a diagonal and a few directions: where posteriors of many parameters are wide, or narrow, in some.

The inverse metric is S (I + V (L - I) V') S: S are scales of the parameters, V orthonormal directions of the
standardized parameters, L their variances. A product with it takes 2 k d multiplications for k directions of d
parameters. It is learned from draws and the gradients there: within the span of the directions in which either of them
vary most, it is the matrix that minimizes the Fisher divergence to a normal law; of that the directions whose variances
are far from 1 are kept.

Source: Seyboldt, Carlson and Carpenter (2026), "Preconditioning Hamiltonian Monte Carlo by minimizing Fisher
divergence", arXiv:2603.18845.
"""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from stanlib.arrays.base import Array

from . import curvature
from .packed import LARGEST

_TOLD = 2.0  # variances this far from 1, as a factor, by draws and by gradients, are worth a direction
_EACH = 20  # draws for each direction at least
_PASSES = 2  # over scales, which the directions change, and directions


class LowRank(NamedTuple):
    """The metric: scales, (size,), directions, (size, k), and their variances, (k,)."""

    scales: Any
    directions: Any
    variances: Any

    @staticmethod
    def of(packed: np.ndarray) -> "LowRank":
        """From the array that `inverse` is, or of an inverse metric that is diagonal; k is what there is room for."""
        size = packed.shape[0] - (packed.ndim - 1)
        k = min(LARGEST, size)
        scales = packed if packed.ndim == 1 else packed[1:, 0]
        directions, variances = np.zeros((size, k)), np.ones(k)
        if packed.ndim == 2:
            given = packed.shape[1] - 1
            directions[:, :given], variances[:given] = packed[1:, 1:], packed[0, 1:]
        return LowRank(np.sqrt(scales), directions, variances)

    @property
    def inverse(self) -> np.ndarray:
        """The inverse metric as one array, (size + 1, k + 1): [0, variances; squared scales, directions]."""
        head = np.concatenate([np.zeros(1), self.variances])
        return np.vstack([head, np.column_stack([np.square(self.scales), self.directions])])

    @property
    def is_diagonal(self) -> bool:
        return False

    @property
    def size(self) -> int:
        return int(self.scales.shape[-1])

    def velocity(self, momentum: Array) -> Any:
        return self.scales * self._scaled(self.scales * momentum, self.variances)

    def shaped(self, normal: object) -> Any:
        """The momentum that standard normal numbers make."""
        return self._scaled(normal, self.variances**-0.5) / self.scales

    def _scaled(self, vector: Any, factors: Any) -> Any:
        """The vector, its part in each direction multiplied by the factor."""
        return vector + self.directions @ ((factors - 1) * (self.directions.T @ vector))


def estimate(points: np.ndarray, gradients: np.ndarray) -> np.ndarray:
    """The inverse metric, packed, from draws of a window and gradients there, (draws, size) each."""
    with np.errstate(all="ignore"):
        scales = np.sqrt(curvature.diagonal(points, gradients))
    scales = np.where(np.isfinite(scales) & (scales > 0), scales, 1.0)  # of a chain that flew off there are none
    directions, variances = _directions(points / scales, gradients * scales)
    for _ in range(_PASSES if len(variances) else 0):
        scales = scales * _scales_beside(directions, points / scales, gradients * scales)
        directions, variances = _directions(points / scales, gradients * scales)
    head = np.concatenate([np.zeros(1), variances])
    return np.vstack([head, np.column_stack([np.square(scales), directions])])


def _scales_beside(directions: np.ndarray, points: np.ndarray, gradients: np.ndarray) -> np.ndarray:
    """The scale of each parameter, of which the directions tell a part already."""
    beside = [rows - (rows @ directions) @ directions.T for rows in (points, gradients)]
    return curvature.scales_of(*beside)


def _directions(points: np.ndarray, gradients: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The directions, (size, k), whose variances are far from 1, and those variances, from standardized draws."""
    none = np.zeros((points.shape[1], 0)), np.zeros(0)
    with np.errstate(all="ignore"):
        rows = [a - a.mean(axis=0) for a in (points, gradients)]
    count = min(2 * LARGEST, (len(points) - 1) // 2, points.shape[1])
    if not count or not np.isfinite(rows).all():
        return none
    span, _ = np.linalg.qr(np.column_stack([np.linalg.svd(a, full_matrices=False)[2][:count].T for a in rows]))
    within = [a @ span for a in rows]
    made = curvature.whole(*within)
    if not np.isfinite(made).all():
        return none
    variances, directions = np.linalg.eigh(made)
    variances = np.maximum(variances, curvature.RIDGE)
    drawn, slopes = (np.maximum((a @ directions).var(axis=0, ddof=1), curvature.RIDGE) for a in within)
    told = np.minimum(np.abs(np.log(drawn)), np.abs(np.log(slopes))) > np.log(_TOLD)
    told &= (drawn > 1) == (slopes < 1)  # else it is the noise of few draws, or a chain that is still on its way
    if len(points) >= curvature.ENOUGH:  # where curvature varies, the variances of the draws are right
        low, high = curvature.spread(*points.shape)
        varies = (drawn < low * variances) | (drawn > high * variances)
        variances, told = np.where(varies, drawn, variances), told | varies
    distances = np.abs(np.log(variances))
    kept = np.flatnonzero(told & (distances > np.log(_TOLD)))
    kept = kept[np.argsort(-distances[kept])[: min(LARGEST, len(points) // _EACH)]]
    return span @ directions[:, kept], variances[kept]
