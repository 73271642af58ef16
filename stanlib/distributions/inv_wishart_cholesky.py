"""The Cholesky factor of an inverse Wishart matrix.

Source: Stan Functions Reference, "Inverse Wishart distribution, Cholesky Parameterization".
"""
from __future__ import annotations

from ..arrays.base import Array, Namespace
from ..checks import filled
from ..distribution import Native, stan_distribution
from ..domains import POSITIVE_FINITE
from ..random.base import Random
from ._multivariate import CHOLESKY_FACTOR, log_diagonal, whiten
from ._terms import LOG_2
from .inv_wishart import inverse_rows, regular
from .wishart import check_matrices, enough, log_normalizer


@stan_distribution(
    "real inv_wishart_cholesky_lpdf(matrix L_W | real nu, matrix L_S)",
    rng=["matrix inv_wishart_cholesky_rng(real nu, matrix L_S)"],
    support="cholesky_factor_cov",
    domains={"nu": POSITIVE_FINITE, "L_S": CHOLESKY_FACTOR},
    relations={"nu": lambda nu, L_S: enough(L_S.shape[-1])},
    variate={"lpdf": CHOLESKY_FACTOR},
    event_dims=2,
    argument_dims={"L_S": 2},
    native=Native("InverseWishartCholesky", ("nu",), keywords={"scale_tril": "L_S"}, pyro=None),
    examples=[([[1.2, 0.0], [0.3, 0.9]], 4.5, [[1.0, 0.0], [-0.2, 0.8]])],
)
class inv_wishart_cholesky:
    """The Cholesky factor of an inverse Wishart matrix with nu degrees of freedom and scale matrix L_S L_S'."""

    @staticmethod
    def lpdf(xp: Namespace, L_W: Array, nu: Array, L_S: Array) -> Array:
        size, nu = check_matrices(xp, "inv_wishart_cholesky", "L_W", L_W, nu, L_S)
        filled(xp, "inv_wishart_cholesky", "L_W", L_W)
        white = whiten(xp, L_W, xp.transpose(L_S))
        i, _ = xp.convert((xp.arange(1.0, size + 1), L_W))
        powers = nu * log_diagonal(xp, L_S) - xp.sum((nu + i) * xp.log(xp.diagonal(L_W)))
        return powers - 0.5 * xp.sum(white * white) + size * LOG_2 - log_normalizer(size, nu)

    @staticmethod
    def rng(xp: Namespace, random: Random, nu: Array, L_S: Array) -> Array:
        size, nu = check_matrices(xp, "inv_wishart_cholesky_rng", "L_S", L_S, nu, L_S)
        filled(xp, "inv_wishart_cholesky_rng", "L_S", L_S)
        rows = inverse_rows(xp, random, size, nu, L_S)
        rows = regular(xp, "inv_wishart_cholesky_rng", "a root of the inverse of the matrix drawn", rows)
        factor = xp.transpose(xp.qr(rows)[1])  # of R' R: the product would lose half of the digits
        return factor * xp.where(xp.diagonal(factor) < 0, -1.0, 1.0)
