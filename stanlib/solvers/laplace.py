"""Laplace's approximation of latent Gaussian models: what the engines on all libraries share.

The latent theta has the prior normal(0, K) and the log likelihood L(theta); W = -L''. At the mode theta = K a with a =
L'(theta), and log p(y) is about L(theta) - theta' a / 2 - log det(I + K W) / 2. No inverse of K is needed, and W may be
indefinite. Source: C. E. Rasmussen and C. K. I. Williams, Gaussian Processes for Machine Learning (2006), section 3.4.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..arrays.base import Array
from ..dataclass import dataclass

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Search:
    """How the mode is looked for.

    It is found when the gradient of the log posterior is no longer than `tolerance`, after at most `most_steps`.
    `halvings` is how often a step that makes the log posterior smaller is cut in half, if it is at all.
    """

    tolerance: float = 2.0**-26
    most_steps: int = 500
    halvings: int = 30
    start: Any = None


@dataclass(frozen=True)
class Model:
    """`likelihood(theta, *arguments)` is L, `covariance` is K; L'' has square blocks of `block` along the diagonal."""

    likelihood: Callable[..., Any]
    arguments: tuple[object, ...]
    covariance: Any
    block: int


def probes(size: int, block: int) -> Array:
    """The vectors whose products with a block diagonal matrix hold all its entries, one per column of a block."""
    import numpy as np  # not before it is needed: records are read without an array library

    return np.tile(np.eye(block), size // block)


def places(size: int, block: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of the entries of the products, in the order of `probes`."""
    import numpy as np

    rows = np.tile(np.arange(size), (block, 1))
    return rows, rows // block * block + np.arange(block)[:, None]
