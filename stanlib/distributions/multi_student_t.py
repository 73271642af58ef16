"""The multivariate Student t distribution. Source: Stan Functions Reference, "Multivariate Student-t distribution"."""
from __future__ import annotations

from ..arrays.base import Array, Namespace, Real
from ..checks import filled, square
from ..distribution import Native, stan_distribution
from ..domains import FINITE, NOT_NAN, POSITIVE_FINITE
from ..random.base import Random
from ._multivariate import COVARIANCE, covariance_lengths, residuals
from ._rising import log_rising
from ._terms import LOG_PI

_EXAMPLE = ([0.3, -0.4], 3.0, [0.1, 0.2], [[2.0, 0.5], [0.5, 1.5]])


@stan_distribution(
    "real multi_student_t_lpdf(vectors y | real nu, vectors mu, matrix Sigma)",
    rng=[
        "vector multi_student_t_rng(real nu, (vector | row_vector) mu, matrix Sigma)",
        "array[] vector multi_student_t_rng(real nu, (array[] vector | array[] row_vector) mu, matrix Sigma)",
    ],
    support="vector",
    domains={"nu": POSITIVE_FINITE, "mu": FINITE, "Sigma": COVARIANCE},
    variate={"lpdf": NOT_NAN},
    event_dims=1,
    # the class takes the factor of the matrix, and PyTorch's raises where there is none
    native=Native("MultivariateStudentT", ("nu", "mu", lambda xp, nu, mu, Sigma: xp.cholesky(Sigma)), pyro=None),
    argument_dims={"mu": 1, "Sigma": 2},
    examples=[_EXAMPLE, ([_EXAMPLE[0], [1.0, 2.0]], *_EXAMPLE[1:])],
)
class multi_student_t:
    """Multivariate Student t with nu degrees of freedom, location mu and scale matrix Sigma."""

    @staticmethod
    def lpdf(xp: Namespace, y: Array, nu: Array, mu: Array, Sigma: Array) -> Array:
        size = square(xp, "multi_student_t", Sigma)
        d = residuals(xp, "multi_student_t", y, mu, size)
        return student_terms(xp, size, nu, *covariance_lengths(xp, Sigma, d))

    @staticmethod
    def rng(xp: Namespace, random: Random, nu: Array, mu: Array, Sigma: Array) -> Array:
        filled(xp, "multi_student_t_rng", "Sigma", Sigma)
        return student_draws(xp, random, nu, mu, xp.cholesky(Sigma))


def student_terms(xp: Namespace, size: int, nu: Array, log_det: Real, squares: Real) -> Array:
    """The log density of Student t vectors of this size, by scale matrix and squared Mahalanobis lengths."""
    peak = log_rising(xp, 0.5 * nu, 0.5 * size) - 0.5 * (size * (xp.log(nu) + LOG_PI) + log_det)
    return peak - 0.5 * (nu + size) * xp.log1p(squares / nu)


def student_draws(xp: Namespace, random: Random, nu: Array, mu: Array, factor: Array) -> Array:
    """mu + factor z / sqrt(v / nu), with standard normal z and a chi-square v for every row of mu."""
    z = xp.matmul(random.normal(xp.shape(mu)), xp.transpose(factor))
    v = 2 * random.gamma(0.5 * nu, xp.shape(mu)[:-1])
    return mu + z * xp.sqrt(nu / v)[..., None]
