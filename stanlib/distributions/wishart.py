"""The Wishart distribution. Source: Stan Functions Reference, "Wishart distribution"."""
from __future__ import annotations

from typing import Any

from ..arrays.base import Array, Namespace
from ..checks import same_size, square
from ..distribution import Native, stan_distribution
from ..domains import POSITIVE_FINITE, Domain, above
from ..functions.gamma_functions import lmgamma
from ..random.base import Random
from ._multivariate import COVARIANCE, log_det_spd, require
from ._terms import LOG_2


@stan_distribution(
    "real wishart_lpdf(matrix W | real nu, matrix Sigma)",
    rng=["matrix wishart_rng(real nu, matrix Sigma)"],
    support="cov_matrix",
    domains={"nu": POSITIVE_FINITE, "Sigma": COVARIANCE},
    relations={"nu": lambda nu, Sigma: enough(Sigma.shape[-1])},
    variate={"lpdf": COVARIANCE},
    event_dims=2,
    argument_dims={"Sigma": 2},
    native=Native("Wishart", ("nu", "Sigma"), pyro=None),
    examples=[([[2.0, 0.5], [0.5, 1.5]], 4.5, [[1.0, -0.2], [-0.2, 0.8]])],
)
class wishart:
    """Wishart with nu degrees of freedom and scale matrix Sigma."""

    @staticmethod
    def lpdf(xp: Namespace, W: Array, nu: Array, Sigma: Array) -> Array:
        size, nu = check_matrices(xp, "wishart", "W", W, nu, Sigma)
        power = 0.5 * ((nu - size - 1) * log_det_spd(xp, W) - nu * log_det_spd(xp, Sigma))
        return power - 0.5 * trace_of_ratio(xp, W, Sigma) - log_normalizer(size, nu)

    @staticmethod
    def rng(xp: Namespace, random: Random, nu: Array, Sigma: Array) -> Array:
        size, nu = check_matrices(xp, "wishart_rng", "Sigma", Sigma, nu, Sigma)
        factor = xp.matmul(xp.cholesky(Sigma), bartlett(xp, random, size, nu))
        return xp.matmul(factor, xp.transpose(factor))


def check_matrices(xp: Namespace, name: str, what: str, y: Array, nu: Array, matrix: Array) -> tuple[int, Array]:
    """The size of both matrices, and the degrees of freedom, which must be above the size less 1.

    Raises:
        StanIndexError: unless the matrices are square and of one size.
    """
    size = square(xp, name, matrix)
    same_size(name, f"the rows of {what}", square(xp, name, y), "the rows of the scale matrix", size)
    return size, require(xp, name, "nu", nu, enough(size))


def enough(size: int) -> Domain:
    """The degrees of freedom of matrices of a size that Stan takes."""
    return above(size - 1)


def log_normalizer(size: int, nu: Array) -> Array:
    """The logarithm of the integral of the Wishart density's kernel, for the identity as its scale."""
    out: Array = 0.5 * nu * size * LOG_2 + lmgamma(size, 0.5 * nu)
    return out


def trace_of_ratio(xp: Namespace, a: Array, b: Array) -> Array:
    """The trace of b^-1 a, for a positive definite b."""
    if xp.is_concrete(b):
        return xp.sum(xp.inv(b) * a)
    return xp.sum(xp.diagonal(xp.solve_spd(b, a)))


def bartlett(xp: Namespace, random: Random, size: Any, nu: Array) -> Array:
    """The Cholesky factor of a Wishart draw of scale 1: chi variates on the diagonal, normal ones below (Bartlett)."""
    i, nu = xp.convert((xp.arange(float(size)), nu))
    chi = xp.sqrt(2 * random.gamma(0.5 * (nu - i), (size,)))
    return xp.tril(random.normal((size, size)), -1) + xp.diag(chi)
