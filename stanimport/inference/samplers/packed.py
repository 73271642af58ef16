"""Inverse metrics of low rank as one array, which a fit, a journal and an option hold as they hold the others.

It is (size + 1, k + 1): [0, variances; squared scales, directions] of k directions; `low_rank` tells what they are.
"""
from __future__ import annotations

import numpy as np

LARGEST = 16  # directions at most


def is_packed(inverse: np.ndarray) -> bool:
    """Whether an inverse metric is of this kind; a matrix has no zero there."""
    return inverse.ndim == 2 and bool(inverse[0, 0] == 0)


def is_sound(packed: np.ndarray, size: int) -> bool:
    """Whether an array is the inverse metric of a kinetic energy of so many parameters."""
    if not packed.shape[0] == size + 1 or not 1 <= packed.shape[1] <= min(LARGEST, size) + 1:
        return False
    if not np.isfinite(packed).all() or not (packed[1:, 0] > 0).all() or not (packed[0, 1:] > 0).all():
        return False
    used = packed[1:, 1:][:, packed[0, 1:] != 1]
    return bool(np.allclose(used.T @ used, np.eye(used.shape[1]), atol=1e-6))


def matrix(packed: np.ndarray) -> np.ndarray:
    """The inverse metric written out, (size, size)."""
    scales, directions = np.sqrt(packed[1:, 0]), packed[1:, 1:]
    whole = np.eye(len(scales)) + (directions * (packed[0, 1:] - 1)) @ directions.T
    return np.asarray(whole * np.outer(scales, scales))


def written_out(inverse: np.ndarray) -> np.ndarray:
    """An inverse metric of any kind as other programs have it: the diagonal, or the matrix."""
    return matrix(inverse) if is_packed(inverse) else inverse


def log_volume(packed: np.ndarray) -> float:
    """Half the logarithm of the determinant."""
    return float((np.log(packed[1:, 0]).sum() + np.log(packed[0, 1:]).sum()) / 2)
