"""The inverse Wishart distribution. Source: Stan Functions Reference, "Inverse Wishart distribution"."""
from __future__ import annotations

from ..arrays.base import Array, Namespace
from ..distribution import Native, stan_distribution
from ..domains import POSITIVE_FINITE, Domain
from ..random.base import Random
from ._multivariate import COVARIANCE, log_det_spd, require
from .wishart import bartlett, check_matrices, enough, log_normalizer, trace_of_ratio


@stan_distribution(
    "real inv_wishart_lpdf(matrix W | real nu, matrix Sigma)",
    rng=["matrix inv_wishart_rng(real nu, matrix Sigma)"],
    support="cov_matrix",
    domains={"nu": POSITIVE_FINITE, "Sigma": COVARIANCE},
    relations={"nu": lambda nu, Sigma: enough(Sigma.shape[-1])},
    variate={"lpdf": COVARIANCE},
    event_dims=2,
    argument_dims={"Sigma": 2},
    native=Native("InverseWishart", ("nu", "Sigma"), pyro=None),
    examples=[([[2.0, 0.5], [0.5, 1.5]], 4.5, [[1.0, -0.2], [-0.2, 0.8]])],
)
class inv_wishart:
    """The inverse of a Wishart matrix with nu degrees of freedom and scale matrix Sigma^-1."""

    @staticmethod
    def lpdf(xp: Namespace, W: Array, nu: Array, Sigma: Array) -> Array:
        size, nu = check_matrices(xp, "inv_wishart", "W", W, nu, Sigma)
        power = 0.5 * (nu * log_det_spd(xp, Sigma) - (nu + size + 1) * log_det_spd(xp, W))
        return power - 0.5 * trace_of_ratio(xp, Sigma, W) - log_normalizer(size, nu)

    @staticmethod
    def rng(xp: Namespace, random: Random, nu: Array, Sigma: Array) -> Array:
        size, nu = check_matrices(xp, "inv_wishart_rng", "Sigma", Sigma, nu, Sigma)
        rows = inverse_rows(xp, random, size, nu, xp.cholesky(Sigma))
        return regular(xp, "inv_wishart_rng", "the inverse of the matrix drawn", xp.matmul(xp.transpose(rows), rows))


def inverse_rows(xp: Namespace, random: Random, size: int, nu: Array, factor: Array) -> Array:
    """A matrix R of which R' R is the inverse of a Wishart draw of scale (factor factor')^-1."""
    return xp.solve_triangular(bartlett(xp, random, size, nu), xp.transpose(factor))


def regular(xp: Namespace, function: str, name: str, drawn: Array) -> Array:
    """What was drawn, once it is made sure that the Wishart draw has an inverse: few degrees of freedom may give none.

    Raises:
        StanDomainError: if it has none, as Stan does.
    """
    return require(xp, function, name, drawn, _ALL_FINITE)


_ALL_FINITE = Domain("finite", lambda xp, x: xp.all(xp.isfinite(x)))
