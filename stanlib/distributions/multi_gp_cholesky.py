"""The multivariate Gaussian process by the Cholesky factor of its covariance matrix.

Source: Stan Functions Reference, "Multivariate Gaussian process distribution, Cholesky parameterization".
"""
from __future__ import annotations

from .. import supports
from ..arrays.base import Array, Namespace
from ..distribution import stan_distribution
from ..domains import FINITE, POSITIVE_FINITE
from ..random.base import Random
from ._multivariate import factor_lengths
from .multi_gp import check_rows, scaled_draw, scaled_terms


@stan_distribution(
    "real multi_gp_cholesky_lpdf(matrix y | matrix L, vector w)",
    support="vector",
    regions={"L": supports.CHOLESKY_FACTOR},
    domains={"w": POSITIVE_FINITE},
    variate={"lpdf": FINITE},
    event_dims=1,
    argument_dims={"L": 2},
    examples=[([[0.3, -0.4], [1.0, 2.0], [0.1, 0.2]], [[1.2, 0.0], [0.3, 0.9]], [1.0, 0.5, 2.0])],
)
class multi_gp_cholesky:
    """Independent rows of y, the i-th normal around 0 with covariance matrix L L' / w[i]."""

    @staticmethod
    def lpdf(xp: Namespace, y: Array, L: Array, w: Array) -> Array:
        check_rows(xp, "multi_gp_cholesky", y, L, w)
        return scaled_terms(xp, y, w, *factor_lengths(xp, L, y))

    @staticmethod
    def draw(xp: Namespace, random: Random, L: Array, w: Array) -> Array:
        return scaled_draw(xp, random, L, w)
