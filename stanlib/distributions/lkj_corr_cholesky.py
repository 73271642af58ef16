"""The LKJ distribution of Cholesky factors of correlation matrices.

Source: Stan Functions Reference, "Cholesky LKJ correlation distribution".
"""
from __future__ import annotations

from ..arrays.base import Array, Namespace, Real
from ..checks import filled_square
from ..distribution import stan_distribution
from ..domains import POSITIVE
from ..random.base import Random
from ._multivariate import CHOLESKY_FACTOR
from .lkj_corr import factor_draw, log_volume


@stan_distribution(
    "real lkj_corr_cholesky_lpdf(matrix L | real eta)",
    rng=["matrix lkj_corr_cholesky_rng(int K, real eta)"],
    support="cholesky_factor_corr",
    domains={"eta": POSITIVE, "K": POSITIVE},
    variate={"lpdf": CHOLESKY_FACTOR},
    event_dims=2,
    sizes=["K"],
    examples=[([[1.0, 0.0], [0.6, 0.8]], 2.5)],
)
class lkj_corr_cholesky:
    """The Cholesky factor of a correlation matrix of the LKJ distribution."""

    @staticmethod
    def lpdf(xp: Namespace, L: Array, eta: Real) -> Array:
        size = filled_square(xp, "lkj_corr_cholesky", "L", L)
        # the determinant, and the Jacobian of L to L L'; the first entry of the diagonal is 1
        log_diagonal = xp.log(xp.diagonal(L)[1:])
        behind, _ = xp.convert((xp.arange(size - 2.0, -1, -1), log_diagonal))
        return xp.sum((behind + 2 * (eta - 1)) * log_diagonal) - log_volume(xp, size, eta)

    @staticmethod
    def rng(xp: Namespace, random: Random, K: Real, eta: Array) -> Array:
        return factor_draw(xp, random, int(K), eta)
