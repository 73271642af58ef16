"""Problems for the benchmark of the densities of vectors and matrices, and NumPyro's classes for the same laws."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist

SIZE = 10  # of the vectors, and rows of the matrices


def covariance(rng: np.random.Generator) -> np.ndarray:
    a = rng.normal(size=(SIZE, 2 * SIZE))
    return a @ a.T / (2 * SIZE) + 0.1 * np.eye(SIZE)


def correlation(rng: np.random.Generator) -> np.ndarray:
    s = covariance(rng)
    scale = 1 / np.sqrt(np.diag(s))
    return s * scale[:, None] * scale


def simplexes(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.dirichlet(np.full(SIZE, 2.0), n)


def _normal(matrix: Callable[[np.ndarray], np.ndarray], *first: float) -> Callable[..., Any]:
    def problem(rng: np.random.Generator, n: int) -> tuple[Any, list[Any]]:
        return rng.normal(size=(n, SIZE)), [*first, np.full(SIZE, 0.1), matrix(covariance(rng))]

    return problem


def _process(matrix: Callable[[np.ndarray], np.ndarray]) -> Callable[..., Any]:
    def problem(rng: np.random.Generator, n: int) -> tuple[Any, list[Any]]:
        return rng.normal(size=(n, SIZE)), [matrix(covariance(rng)), np.full(n, 0.7)]

    return problem


def _matrix(form: Callable[[np.ndarray], np.ndarray]) -> Callable[..., Any]:
    def problem(rng: np.random.Generator, n: int) -> tuple[Any, list[Any]]:
        return form(covariance(rng)), [SIZE + 2.5, form(covariance(rng))]

    return problem


def _counts(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.multinomial(50, np.full(SIZE, 1 / SIZE))


def _dlm(rng: np.random.Generator, n: int) -> tuple[Any, list[Any]]:
    """n observations of two series that share two states."""
    eye = np.eye(2)
    return rng.normal(size=(2, n)), [eye, 0.9 * eye, eye, 0.5 * eye, np.zeros(2), eye]


itself = np.asarray
# name: outcomes and parameters, for n observations where Stan's density takes several
PROBLEMS: dict[str, Callable[[np.random.Generator, int], tuple[Any, list[Any]]]] = {
    "dirichlet": lambda rng, n: (simplexes(rng, n), [np.full(SIZE, 1.5)]),
    "gaussian_dlm_obs": _dlm,
    "multi_gp": _process(itself),
    "multi_gp_cholesky": _process(np.linalg.cholesky),
    "multi_normal": _normal(itself),
    "multi_normal_cholesky": _normal(np.linalg.cholesky),
    "multi_normal_prec": _normal(np.linalg.inv),
    "multi_student_t": _normal(itself, 4.5),
    "multi_student_t_cholesky": _normal(np.linalg.cholesky, 4.5),
    "multinomial": lambda rng, n: (_counts(rng, n), [simplexes(rng, 1)[0]]),
    "multinomial_logit": lambda rng, n: (_counts(rng, n), [rng.normal(size=SIZE)]),
    "dirichlet_multinomial": lambda rng, n: (_counts(rng, n), [np.full(SIZE, 1.5)]),
    "lkj_corr": lambda rng, n: (correlation(rng), [1.7]),
    "lkj_corr_cholesky": lambda rng, n: (np.linalg.cholesky(correlation(rng)), [1.7]),
    "lkj_cov": lambda rng, n: (covariance(rng), [np.zeros(SIZE), np.ones(SIZE), 1.7]),
    "inv_wishart": _matrix(itself),
    "inv_wishart_cholesky": _matrix(np.linalg.cholesky),
    "wishart": _matrix(itself),
    "wishart_cholesky": _matrix(np.linalg.cholesky),
}
# Laws of a single matrix or vector of counts; matrices are parameters as a rule, so the gradient is in them too.
SINGLE = {
    "multinomial", "multinomial_logit", "dirichlet_multinomial", "lkj_corr", "lkj_corr_cholesky", "lkj_cov",
    "inv_wishart", "inv_wishart_cholesky", "wishart", "wishart_cholesky",
}  # fmt: skip
TOTAL = 50.0
RIVALS: dict[str, Callable[..., Any]] = {
    "dirichlet": dist.Dirichlet,
    "multi_normal": lambda mu, m: dist.MultivariateNormal(mu, covariance_matrix=m),
    "multi_normal_cholesky": lambda mu, m: dist.MultivariateNormal(mu, scale_tril=m),
    "multi_normal_prec": lambda mu, m: dist.MultivariateNormal(mu, precision_matrix=m),
    "multi_student_t": lambda nu, mu, m: dist.MultivariateStudentT(nu, mu, jnp.linalg.cholesky(m)),
    "multi_student_t_cholesky": dist.MultivariateStudentT,
    "multi_gp": lambda m, w: dist.MultivariateNormal(
        jnp.zeros(SIZE), scale_tril=jnp.linalg.cholesky(m) / jnp.sqrt(w)[:, None, None]
    ),
    "multi_gp_cholesky": lambda m, w: dist.MultivariateNormal(
        jnp.zeros(SIZE), scale_tril=m / jnp.sqrt(w)[:, None, None]
    ),
    "multinomial": lambda theta: dist.MultinomialProbs(theta, total_count=50),
    "multinomial_logit": lambda logits: dist.MultinomialLogits(logits, total_count=50),
    "dirichlet_multinomial": lambda alpha: dist.DirichletMultinomial(alpha, total_count=50),
    "lkj_corr": lambda eta: dist.LKJ(SIZE, eta),
    "lkj_corr_cholesky": lambda eta: dist.LKJCholesky(SIZE, eta),
    "inv_wishart": dist.InverseWishart,
    "wishart": dist.Wishart,
    "wishart_cholesky": lambda nu, m: dist.WishartCholesky(nu, scale_tril=m),
}  # fmt: skip


def hidden_markov(rng: np.random.Generator, n: int) -> list[Any]:
    """Log densities of n observations in three states, and the probabilities of the states."""
    return [rng.normal(size=(3, n)), rng.dirichlet(np.full(3, 2.0), 3), np.array([0.5, 0.3, 0.2])]
