"""The multivariate normal distribution. Source: Stan Functions Reference, "Multivariate normal distribution"."""
from __future__ import annotations

from ..arrays.base import Array, Namespace
from ..checks import filled, filled_square
from ..distribution import Native, stan_distribution
from ..domains import FINITE, NOT_NAN
from ..random.base import Random
from ._multivariate import COVARIANCE, covariance_lengths, normal_draws, normal_terms, residuals

_EXAMPLE = ([0.3, -0.4], [0.1, 0.2], [[2.0, 0.5], [0.5, 1.5]])


@stan_distribution(
    "real multi_normal_lpdf(vectors y | vectors mu, matrix Sigma)",
    rng=[
        "vector multi_normal_rng((vector | row_vector) mu, matrix Sigma)",
        "array[] vector multi_normal_rng((array[] vector | array[] row_vector) mu, matrix Sigma)",
    ],
    support="vector",
    domains={"mu": FINITE, "Sigma": COVARIANCE},
    variate={"lpdf": NOT_NAN},
    event_dims=1,
    argument_dims={"mu": 1, "Sigma": 2},
    # PyTorch's class factors the matrix when it is made, and raises where it can't
    native=Native("MultivariateNormal", ("mu",), keywords={"covariance_matrix": "Sigma"}, pyro=None),
    examples=[_EXAMPLE, ([_EXAMPLE[0], [1.0, 2.0]], *_EXAMPLE[1:])],
)
class multi_normal:
    """Multivariate normal with location mu and covariance matrix Sigma."""

    @staticmethod
    def lpdf(xp: Namespace, y: Array, mu: Array, Sigma: Array) -> Array:
        size = filled_square(xp, "multi_normal", "Sigma", Sigma)
        return normal_terms(size, *covariance_lengths(xp, Sigma, residuals(xp, "multi_normal", y, mu, size)))

    @staticmethod
    def rng(xp: Namespace, random: Random, mu: Array, Sigma: Array) -> Array:
        filled(xp, "multi_normal_rng", "Sigma", Sigma)
        return normal_draws(xp, random, xp.cholesky(Sigma), mu)
