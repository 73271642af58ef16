"""The embedded Laplace approximation: exact for normal likelihoods, else against its formula at SciPy's mode."""
from __future__ import annotations

import numpy as np
import pytest
from libraries import DIFFERENTIABLE, LIBRARIES, double, gradient, lift, numeric_gradient, plain
from scipy import optimize, stats

from stanlib import registry
from stanlib.arrays import namespace
from stanlib.errors import StanDomainError, StanIndexError
from stanlib.random.numpy import NumpyRandom

SIZE = 5
PLACES = np.linspace(-1, 1, SIZE)
GROUPS = np.array([1, 2, 3, 4, 5, 2, 4])
COUNTS = np.array([2, 0, 3, 1, 7, 1, 2])
BITS = np.array([1, 0, 1, 1, 0, 0, 1])
OFFSET = np.array([0.3, -0.1, 0.2, 0.0, 0.5])
Y = np.array([0.4, -0.3, 1.1, 0.2, -0.8])
POINT = np.array([1.3, 0.8])


def covariance(places, scale, length):
    distance = (places[:, None] - places[None, :]) ** 2 + 0 * scale
    return scale**2 * namespace((scale, length)).exp(-distance / (2 * length**2))


def normal(theta, y, noise):
    return registry.by_symbol("normal_lpdf")(y, theta, noise)


def marginal(library, x, likelihood, arguments, block=1):
    return registry.by_symbol("laplace_marginal")(
        likelihood, arguments, block, covariance, (lift(library, PLACES), x[0], x[1])
    )


def exact(x):
    return stats.multivariate_normal(np.zeros(SIZE), covariance(PLACES, *x[:2]) + x[2] ** 2 * np.eye(SIZE)).logpdf(Y)


NORMAL = np.array([1.3, 0.8, 0.6])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("library, block", [("jax", SIZE), ("torch", 1), ("torch", SIZE)])
def test_normal_likelihoods_are_integrated_exactly(block, library):
    with double(library):
        x = lift(library, NORMAL)
        made = marginal(library, x, normal, (Y, x[2]), block)
    np.testing.assert_allclose(plain(made), exact(NORMAL), rtol=1e-11)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("library", DIFFERENTIABLE)
def test_gradient_of_the_exact_case(library):
    made = gradient(library, lambda x: marginal(library, x, normal, (Y, x[2])), NORMAL)
    np.testing.assert_allclose(made, numeric_gradient(exact, NORMAL, 1e-5), rtol=1e-7)


FAMILIES = {
    "poisson_log": ((COUNTS, GROUPS, OFFSET), lambda z: stats.poisson.logpmf(COUNTS, np.exp(z)), lambda z: np.exp(z)),
    "bernoulli_logit": (
        (BITS, GROUPS, OFFSET), lambda z: stats.bernoulli.logpmf(BITS, 1 / (1 + np.exp(-z))),
        lambda z: np.exp(-z) / (1 + np.exp(-z)) ** 2,
    ),
    "neg_binomial_2_log": (
        (COUNTS, GROUPS, np.array([2.5]), OFFSET),
        lambda z: stats.nbinom.logpmf(COUNTS, 2.5, 2.5 / (2.5 + np.exp(z))),
        lambda z: (COUNTS + 2.5) * 2.5 * np.exp(z) / (2.5 + np.exp(z)) ** 2,
    ),
}  # fmt: skip


def by_formula(family, x):
    """The mode and its log density by SciPy, in whitened coordinates, and the determinant there."""
    _, log_density, curvature = FAMILIES[family]
    k = covariance(PLACES, *x)
    root = np.linalg.cholesky(k + 1e-14 * np.eye(SIZE))
    z = lambda u: (root @ u + OFFSET)[GROUPS - 1]
    height = lambda u: np.sum(log_density(z(u))) - u @ u / 2
    found = optimize.minimize(lambda u: -height(u), np.zeros(SIZE), method="BFGS", options=dict(gtol=1e-9))
    w = np.bincount(GROUPS - 1, curvature(z(found.x)), SIZE)
    return root @ found.x, height(found.x) - np.linalg.slogdet(np.eye(SIZE) + k * w)[1] / 2, w


CALLS = [
    *((f, lib) for f in FAMILIES for lib in DIFFERENTIABLE),
    pytest.param("poisson_log", "numpy", marks=pytest.mark.slow),  # test_controls has it too
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("family, library", CALLS)
def test_likelihoods_of_stans_own(family, library):
    with double(library):
        x = lift(library, POINT)
        made = registry.by_symbol(f"laplace_marginal_{family}_lpmf")(
            *FAMILIES[family][0], 1, covariance, (lift(library, PLACES), x[0], x[1])
        )
    np.testing.assert_allclose(plain(made), by_formula(family, POINT)[1], rtol=1e-8)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("library", DIFFERENTIABLE)
def test_gradient_through_the_mode(library):
    """Also in an argument of the likelihood that moves the mode."""
    arguments, _, _ = FAMILIES["neg_binomial_2_log"]

    def total(x, library=library):
        given = (*arguments[:2], x[2:3], arguments[3])
        return registry.by_symbol("laplace_marginal_neg_binomial_2_log_lpmf")(
            *given, 1, covariance, (lift(library, PLACES), x[0], x[1])
        )

    x = np.array([*POINT, 2.5])
    expected = numeric_gradient(lambda x: total(lift("torch", x), "torch").item(), x, 1e-5)
    np.testing.assert_allclose(gradient(library, total, x), expected, rtol=1e-6)


@pytest.mark.slow
def test_vectorised_chains(x64):
    import jax

    f = jax.grad(lambda x: marginal("jax", x, normal, (Y, x[2])))
    points = np.stack([NORMAL, 1.2 * NORMAL])
    apart = jax.jit(f)
    np.testing.assert_allclose(jax.jit(jax.vmap(f))(points), [apart(p) for p in points], rtol=1e-9)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("library", LIBRARIES)
def test_the_law_of_the_latent_values(library):
    """Of a normal likelihood it is the posterior of a Gaussian process."""
    k, noise = covariance(PLACES, *NORMAL[:2]), NORMAL[2]
    gain = k @ np.linalg.inv(k + noise**2 * np.eye(SIZE))
    with double(library):
        x = lift(library, NORMAL)
        head = (normal, (Y, x[2]), 1, covariance, (lift(library, PLACES), x[0], x[1]))
        mean, root = map(plain, registry.by_symbol("laplace_latent_solve")(*head))
    np.testing.assert_allclose(mean, gain @ Y, rtol=1e-9)
    np.testing.assert_allclose(root @ root.T, k - gain @ k, rtol=1e-7, atol=1e-10)


@pytest.mark.slow
def test_draws_follow_that_law():
    random = NumpyRandom(np.random.default_rng(1))
    head = (normal, (Y, NORMAL[2]), 1, covariance, (PLACES, *NORMAL[:2]))
    mean, root = registry.by_symbol("laplace_latent_solve")(*head)
    draws = np.stack([registry.by_symbol("laplace_latent_rng")(random, *head) for _ in range(20)])
    white = np.linalg.solve(root, (draws - mean).T)
    assert stats.kstest(white.ravel(), "norm").pvalue > 0.001


@pytest.mark.slow
def test_controls():
    arguments = FAMILIES["poisson_log"][0]
    head = (*arguments, 1, covariance, (PLACES, *POINT))
    f = registry.by_symbol("laplace_marginal_tol_poisson_log_lpmf")
    expected = by_formula("poisson_log", POINT)[1]
    for start, line_search in ((np.zeros(SIZE), 0), (np.full(SIZE, 3.0), 10)):
        np.testing.assert_allclose(f(*head, (start, 1e-8, 100, 1, line_search, 1)), expected, rtol=1e-8)
    with pytest.raises(StanDomainError, match="mode"):
        f(*head, (np.full(SIZE, 3.0), 1e-8, 1, 1, 0, 1))
    with pytest.raises(StanDomainError, match="solver"):
        f(*head, (np.zeros(SIZE), 1e-8, 100, 4, 0, 1))
    with pytest.raises(StanIndexError, match="initial guess"):
        f(*head, (np.zeros(2), 1e-8, 100, 1, 0, 1))
    with pytest.raises(StanIndexError, match="blocks"):
        f(*arguments, 2, covariance, (PLACES, *POINT), (np.zeros(SIZE), 1e-8, 100, 1, 0, 1))


def test_options():
    size, given = registry.by_symbol("generate_laplace_options")(3), registry.by_symbol("laplace_options_from")(Y)
    np.testing.assert_array_equal(size[0], np.zeros(3))
    np.testing.assert_array_equal(given[0], Y)
    assert size[1:] == given[1:] == (2.0**-26, 500, 1, 1000, 1)
