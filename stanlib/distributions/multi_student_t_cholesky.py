"""The multivariate Student t distribution by the Cholesky factor of its scale matrix.

Source: Stan Functions Reference, "Multivariate Student-t distribution, Cholesky parameterization".
"""
from __future__ import annotations

from ..arrays.base import Array, Namespace, Real
from ..checks import filled, square
from ..distribution import Native, stan_distribution
from ..domains import FINITE, NOT_NAN, POSITIVE_FINITE
from ..random.base import Random
from ._multivariate import CHOLESKY_FACTOR, factor_lengths, residuals
from .multi_student_t import student_draws, student_terms

_EXAMPLE = ([0.3, -0.4], 3.0, [0.1, 0.2], [[1.2, 0.0], [0.3, 0.9]])


@stan_distribution(
    "real multi_student_t_cholesky_lpdf(vectors y | real nu, vectors mu, matrix L)",
    rng=[
        "vector multi_student_t_cholesky_rng(real nu, (vector | row_vector) mu, matrix L)",
        "array[] vector multi_student_t_cholesky_rng(real nu, (array[] vector | array[] row_vector) mu, matrix L)",
    ],
    support="vector",
    domains={"nu": POSITIVE_FINITE, "mu": FINITE, "L": CHOLESKY_FACTOR},
    variate={"lpdf": NOT_NAN},
    event_dims=1,
    argument_dims={"mu": 1, "L": 2},
    native=Native("MultivariateStudentT", ("nu", "mu", "L")),
    examples=[_EXAMPLE, ([_EXAMPLE[0], [1.0, 2.0]], *_EXAMPLE[1:])],
)
class multi_student_t_cholesky:
    """Multivariate Student t with nu degrees of freedom, location mu and scale matrix L L'."""

    @staticmethod
    def lpdf(xp: Namespace, y: Array, nu: Array, mu: Array, L: Array) -> Real:
        size = square(xp, "multi_student_t_cholesky", L)
        d = residuals(xp, "multi_student_t_cholesky", y, mu, size)
        if 0 not in xp.shape(d)[:-1]:  # Stan looks at the factor if there are observations
            filled(xp, "multi_student_t_cholesky", "L", L)
        return student_terms(xp, size, nu, *factor_lengths(xp, L, d))

    @staticmethod
    def rng(xp: Namespace, random: Random, nu: Array, mu: Array, L: Array) -> Array:
        filled(xp, "multi_student_t_cholesky_rng", "L", L)
        return student_draws(xp, random, nu, mu, L)
