"""The multivariate normal distribution by its precision matrix.

Source: Stan Functions Reference, "Multivariate normal distribution, precision parameterization".
"""
from __future__ import annotations

from typing import Any

from ..arrays.base import Array, Namespace
from ..checks import filled_square
from ..distribution import Native, stan_distribution
from ..domains import FINITE, NOT_NAN
from ..random.base import Random
from ._multivariate import COVARIANCE, log_det_spd, normal_terms, residuals

_EXAMPLE = ([0.3, -0.4], [0.1, 0.2], [[2.0, 0.5], [0.5, 1.5]])


@stan_distribution(
    "real multi_normal_prec_lpdf(vectors y | vectors mu, matrix Omega)",
    support="vector",
    domains={"mu": FINITE, "Omega": COVARIANCE},
    variate={"lpdf": NOT_NAN},
    event_dims=1,
    argument_dims={"mu": 1, "Omega": 2},
    native=Native("MultivariateNormal", ("mu",), keywords={"precision_matrix": "Omega"}, pyro=None),
    examples=[_EXAMPLE, ([_EXAMPLE[0], [1.0, 2.0]], *_EXAMPLE[1:])],
)
class multi_normal_prec:
    """Multivariate normal with location mu and precision matrix Omega."""

    @staticmethod
    def lpdf(xp: Namespace, y: Array, mu: Array, Omega: Any) -> Array:
        size = filled_square(xp, "multi_normal_prec", "Omega", Omega)
        d = residuals(xp, "multi_normal_prec", y, mu, size)
        return normal_terms(size, -log_det_spd(xp, Omega), xp.sum(xp.matmul(d, Omega) * d, axis=-1))

    @staticmethod
    def draw(xp: Namespace, random: Random, mu: Array, Omega: Array) -> Array:
        return mu + xp.solve_triangular(xp.cholesky(Omega), random.normal(xp.shape(mu)), trans=True)
