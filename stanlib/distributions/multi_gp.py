"""The multivariate Gaussian process. Source: Stan Functions Reference, "Multivariate Gaussian process distribution"."""
from __future__ import annotations

from typing import Any

from ..arrays.base import Array, Namespace
from ..checks import filled_square, same_size
from ..distribution import stan_distribution
from ..domains import FINITE, POSITIVE_FINITE
from ..random.base import Random
from ._multivariate import COVARIANCE, covariance_lengths, normal_terms


@stan_distribution(
    "real multi_gp_lpdf(matrix y | matrix Sigma, vector w)",
    support="vector",
    domains={"Sigma": COVARIANCE, "w": POSITIVE_FINITE},
    variate={"lpdf": FINITE},
    event_dims=1,
    argument_dims={"Sigma": 2},
    examples=[([[0.3, -0.4], [1.0, 2.0], [0.1, 0.2]], [[2.0, 0.5], [0.5, 1.5]], [1.0, 0.5, 2.0])],
)
class multi_gp:
    """Independent rows of y, the i-th normal around 0 with covariance matrix Sigma / w[i]."""

    @staticmethod
    def lpdf(xp: Namespace, y: Array, Sigma: Any, w: Array) -> Array:
        check_rows(xp, "multi_gp", y, Sigma, w)
        return scaled_terms(xp, y, w, *covariance_lengths(xp, Sigma, y))

    @staticmethod
    def draw(xp: Namespace, random: Random, Sigma: Array, w: Array) -> Array:
        return scaled_draw(xp, random, xp.cholesky(Sigma), w)


def scaled_draw(xp: Namespace, random: Random, factor: Array, w: Array) -> Array:
    """A normal vector whose covariance matrix has this factor and is divided by w."""
    return xp.matmul(factor, random.normal(xp.shape(factor)[:1])) / xp.sqrt(w)


def check_rows(xp: Namespace, name: str, y: Array, matrix: Array, w: Array) -> None:
    """Raise StanIndexError unless y has a row per scale, of the size of the matrix."""
    rows, columns = xp.shape(y)
    size = filled_square(xp, name, "the matrix", matrix)
    same_size(name, "the columns of y", columns, "the rows of the matrix", size)
    same_size(name, "the rows of y", rows, "the size of w", xp.shape(w)[0])


def scaled_terms(xp: Namespace, y: Array, w: Array, log_det: Array, squares: Array) -> Array:
    """The log density of normal rows of y whose covariance matrix is divided by w."""
    size = xp.shape(y)[1]
    return normal_terms(size, log_det, w * squares) + 0.5 * size * xp.log(w)
