"""The LKJ distribution of correlation matrices. Source: Stan Functions Reference, "LKJ distribution"."""
from __future__ import annotations

from typing import Any

from ..arrays.base import Array, Namespace, Real
from ..checks import square
from ..distribution import stan_distribution
from ..domains import POSITIVE
from ..random.base import Random
from ._multivariate import CORRELATION, from_partial_correlations, log_det_spd
from ._terms import LOG_PI


@stan_distribution(
    "real lkj_corr_lpdf(matrix y | real eta)",
    rng=["matrix lkj_corr_rng(int K, real eta)"],
    support="corr_matrix",
    domains={"eta": POSITIVE, "K": POSITIVE},
    variate={"lpdf": CORRELATION},
    event_dims=2,
    sizes=["K"],
    preferred="lkj_corr_cholesky",
    examples=[([[1.0, 0.3], [0.3, 1.0]], 2.5)],
)
class lkj_corr:
    """Correlation matrices with density proportional to a power eta - 1 of the determinant."""

    @staticmethod
    def lpdf(xp: Namespace, y: Array, eta: Real) -> Array:
        size = square(xp, "lkj_corr", y)
        return (eta - 1) * log_det_spd(xp, y) - log_volume(xp, size, eta)

    @staticmethod
    def rng(xp: Namespace, random: Random, K: Array, eta: Array) -> Array:
        factor = factor_draw(xp, random, int(K), eta)
        return xp.matmul(factor, xp.transpose(factor))


def log_volume(xp: Namespace, size: int, eta: Real) -> Array:
    """The log of the integral of the power of the determinant (Lewandowski, Kurowicka and Joe, 2009, section 3.2)."""
    free = max(size - 1, 0)  # columns below the diagonal
    k, eta = xp.convert((xp.arange(1.0, free + 1), eta))
    terms = 0.5 * LOG_PI * k + xp.lgamma(eta + 0.5 * (free - k))
    return xp.sum(terms) - free * xp.lgamma(eta + 0.5 * free)


def factor_draw(xp: Namespace, random: Random, size: Any, eta: Real) -> Array:
    """The Cholesky factor of a draw: those of column j are beta on (-1, 1) among its partial correlations."""
    column, eta = xp.convert((xp.minimum(xp.arange(1.0, size + 1), size - 1.0), eta))
    shape = eta + 0.5 * (size - 1 - column)
    z = 2 * random.beta(shape, shape, (size, size)) - 1
    return from_partial_correlations(xp, xp.tril(z, -1))
