"""The multivariate normal distribution by the Cholesky factor of its covariance matrix.

Source: Stan Functions Reference, "Multivariate normal distribution, Cholesky parameterization".
"""
from __future__ import annotations

from .. import supports
from ..arrays.base import Array, Namespace
from ..checks import filled, square
from ..distribution import Native, stan_distribution
from ..domains import FINITE, NOT_NAN
from ..random.base import Random
from ._multivariate import CHOLESKY_FACTOR, factor_lengths, normal_draws, normal_terms, residuals

_EXAMPLE = ([0.3, -0.4], [0.1, 0.2], [[1.2, 0.0], [0.3, 0.9]])


@stan_distribution(
    "real multi_normal_cholesky_lpdf(vectors y | vectors mu, matrix L)",
    rng=[
        "vector multi_normal_cholesky_rng((vector | row_vector) mu, matrix L)",
        "array[] vector multi_normal_cholesky_rng((array[] vector | array[] row_vector) mu, matrix L)",
    ],
    support="vector",
    domains={"mu": FINITE},
    rng_domains={"L": CHOLESKY_FACTOR},
    variate={"lpdf": NOT_NAN},
    event_dims=1,
    argument_dims={"mu": 1, "L": 2},
    regions={"L": supports.CHOLESKY_FACTOR},
    by_matrix="multi_normal",
    native=Native("MultivariateNormal", ("mu",), keywords={"scale_tril": "L"}),
    examples=[_EXAMPLE, ([_EXAMPLE[0], [1.0, 2.0]], *_EXAMPLE[1:])],
)
class multi_normal_cholesky:
    """Multivariate normal with location mu and covariance matrix L L'; entries of L above its diagonal don't count."""

    @staticmethod
    def lpdf(xp: Namespace, y: Array, mu: Array, L: Array) -> Array:
        size = square(xp, "multi_normal_cholesky", L)
        rows = (*xp.shape(y)[:-1], *xp.shape(mu)[:-1])
        if rows and 0 not in rows:  # one vector may be empty
            filled(xp, "multi_normal_cholesky", "L", L)
        return normal_terms(size, *factor_lengths(xp, L, residuals(xp, "multi_normal_cholesky", y, mu, size)))

    @staticmethod
    def rng(xp: Namespace, random: Random, mu: Array, L: Array) -> Array:
        filled(xp, "multi_normal_cholesky_rng", "L", L)
        return normal_draws(xp, random, xp.tril(L), mu)
