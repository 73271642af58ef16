"""Distributions of matrices and of state space models: against SciPy, integrals, and marginal normal laws."""
import jax
import numpy as np
import pytest
import scipy.integrate
import scipy.stats
from libraries import DIFFERENTIABLE, LIBRARIES, call, double, gradient, lift, numeric_gradient

from stanlib import registry
from stanlib.errors import StanDomainError, StanIndexError

S = np.array([[2.0, 0.5, -0.3], [0.5, 1.5, 0.2], [-0.3, 0.2, 1.0]])
W = np.array([[1.0, 0.2, 0.1], [0.2, 3.0, -0.4], [0.1, -0.4, 0.7]])
R = np.array([[1.0, 0.3, 0.2], [0.3, 1.0, -0.1], [0.2, -0.1, 1.0]])
NU = 4.5


@pytest.mark.parametrize("library", LIBRARIES)
def test_wishart(library):
    assert call(library, "wishart_lpdf", W, NU, S) == pytest.approx(scipy.stats.wishart(NU, S).logpdf(W), rel=1e-12)
    wanted = scipy.stats.invwishart(NU, S).logpdf(W)
    assert call(library, "inv_wishart_lpdf", W, NU, S) == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", ["wishart", "inv_wishart"])
def test_cholesky_forms_differ_by_the_jacobian(library, name):
    """of L to L L': 2 to the power of the size, times diagonal entry i to the power size - i + 1."""
    factor = np.linalg.cholesky(W)
    log_jacobian = 3 * np.log(2) + np.arange(3, 0, -1) @ np.log(np.diag(factor))
    wanted = call(library, f"{name}_lpdf", W, NU, S) + log_jacobian
    got = call(library, f"{name}_cholesky_lpdf", factor, NU, np.linalg.cholesky(S))
    assert got == pytest.approx(wanted, rel=1e-12)


def symmetric(f):
    return lambda x: f((x + x.T) / 2)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("library", DIFFERENTIABLE)
@pytest.mark.parametrize("name", ["wishart", "inv_wishart"])
def test_gradients_of_wishart(library, name):
    f, g = registry.by_symbol(f"{name}_lpdf"), registry.by_symbol(f"{name}_cholesky_lpdf")
    for at, x in ((lambda w: f(w, NU, S), W), (lambda s: f(W, NU, s), S)):
        got = gradient(library, at, x)
        wanted = numeric_gradient(symmetric(at), x)
        np.testing.assert_allclose((got + got.T) / 2, wanted, rtol=1e-6, atol=1e-7)
    lower = np.linalg.cholesky(S)
    for at in (lambda w: g(w, NU, lower), lambda s: g(lower, NU, s)):
        wanted = np.tril(numeric_gradient(lambda x, at=at: at(np.tril(x)), lower))
        np.testing.assert_allclose(np.tril(gradient(library, at, lower)), wanted, rtol=1e-6, atol=1e-7)
    nu = gradient(library, lambda n: f(W, n, S), np.array(NU))
    np.testing.assert_allclose(nu, numeric_gradient(lambda n: f(W, n, S), NU), rtol=1e-6)


@pytest.mark.parametrize("name", ["wishart", "inv_wishart", "wishart_cholesky", "inv_wishart_cholesky"])
def test_degrees_of_freedom(name):
    """More than the size less 1."""
    f, eye = registry.by_symbol(f"{name}_lpdf"), np.eye(3)
    with pytest.raises(StanDomainError, match="greater than 2"):
        f(eye, 2.0, eye)
    assert np.isnan(jax.jit(f)(eye, 2.0, eye))
    with pytest.raises(StanIndexError):
        f(eye, 4.0, np.eye(2))


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("eta", [0.7, 1.0, 2.5])
def test_lkj_of_two_is_a_beta_law(library, eta):
    for r in (-0.9, 0.0, 0.4):
        matrix = np.array([[1.0, r], [r, 1.0]])
        wanted = scipy.stats.beta(eta, eta).logpdf((1 + r) / 2) - np.log(2)
        assert call(library, "lkj_corr_lpdf", matrix, eta) == pytest.approx(wanted, rel=1e-11, abs=1e-13)


def test_lkj_of_three_integrates_to_one():
    f = registry.by_symbol("lkj_corr_lpdf")

    def inner(z, x, y):
        m = np.array([[1.0, x, y], [x, 1.0, z], [y, z, 1.0]])
        return np.exp(f.body(registry.namespace((m,)), m, 2.0)) if np.linalg.det(m) > 0 else 0.0

    # the third correlation lies in an interval that the other two determine; the midpoints of 24 cells suffice
    nodes, weights = np.polynomial.legendre.leggauss(12)
    total = 0.0
    for x, wx in zip(nodes, weights):
        for y, wy in zip(nodes, weights):
            width = np.sqrt((1 - x * x) * (1 - y * y))
            total += wx * wy * sum(wz * width * inner(x * y + width * z, x, y) for z, wz in zip(nodes, weights))
    assert total == pytest.approx(1.0, rel=1e-3)


@pytest.mark.parametrize("library", LIBRARIES)
def test_lkj_by_cholesky_factor(library):
    """The Jacobian of L to the correlations below the diagonal: entry i of L's diagonal to the power size - i."""
    factor = np.linalg.cholesky(R)
    log_jacobian = np.arange(2, -1, -1) @ np.log(np.diag(factor))
    wanted = call(library, "lkj_corr_lpdf", R, 2.5) + log_jacobian
    assert call(library, "lkj_corr_cholesky_lpdf", factor, 2.5) == pytest.approx(wanted, rel=1e-12)
    one = np.eye(1)
    assert call(library, "lkj_corr_lpdf", one, 2.5) == call(library, "lkj_corr_cholesky_lpdf", one, 2.5) == 0


@pytest.mark.parametrize("library", LIBRARIES)
def test_lkj_cov(library):
    mu, sigma = np.array([0.1, -0.2, 0.5]), np.array([1.0, 0.5, 2.0])
    scales = np.sqrt(np.diag(S))
    wanted = scipy.stats.lognorm(sigma, scale=np.exp(mu)).logpdf(scales).sum()
    wanted += call(library, "lkj_corr_lpdf", S / np.outer(scales, scales), 2.5)
    assert call(library, "lkj_cov_lpdf", S, mu, sigma, 2.5) == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("library", DIFFERENTIABLE)
def test_gradients_of_lkj(library):
    corr, chol = registry.by_symbol("lkj_corr_lpdf"), registry.by_symbol("lkj_corr_cholesky_lpdf")
    got = gradient(library, lambda e: corr(R, e), np.array(1.0))
    np.testing.assert_allclose(got, numeric_gradient(lambda e: corr(R, e), 1.0), rtol=1e-6)
    factor = np.linalg.cholesky(R)
    wanted = np.diag([0.0, 4.0, 3.0] / np.diag(factor))
    np.testing.assert_allclose(gradient(library, lambda x: chol(x, 2.5), factor), wanted, rtol=1e-12)


def test_known_matrices_are_checked():
    for symbol, matrix in (("lkj_corr_lpdf", 2 * R), ("lkj_corr_cholesky_lpdf", R), ("lkj_corr_lpdf", -R)):
        with pytest.raises(StanDomainError, match="must be"):
            registry.by_symbol(symbol)(matrix, 1.0)
    with pytest.raises(StanDomainError, match="positive"):
        registry.by_symbol("lkj_corr_lpdf")(R, 0.0)
    assert np.isnan(jax.jit(registry.by_symbol("lkj_corr_lpdf"))(R - np.eye(3), 1.0))


F = np.array([[0.9, -0.8], [0.5, 0.8], [-0.8, 1.4]])
G = np.array([[0.25, 0.3, -0.2], [0.8, 0.2, 0.1], [0.0, -0.5, 0.6]])
V = np.array([[1.2, 0.3], [0.3, 0.8]])
M0 = np.array([0.3, -0.5, 1.0])
OBSERVED = np.array([[0.2, 0.1, -0.4, 1.0], [0.1, 0.9, 0.2, -1.0]])


def marginal_normal(y, F, G, V, W, m0, C0):
    """The joint law of the columns of y, written out."""
    steps, mean, means, states = y.shape[1], m0, [], []
    covariance = C0
    for _ in range(steps):
        mean, covariance = G @ mean, G @ covariance @ G.T + W
        means.append(F.T @ mean)
        states.append(covariance)
    size = y.shape[0]
    joint = np.zeros((steps * size, steps * size))
    for i in range(steps):
        for j in range(i, steps):
            block = F.T @ np.linalg.matrix_power(G, j - i) @ states[i] @ F + (V if i == j else 0)
            joint[j * size : (j + 1) * size, i * size : (i + 1) * size] = block
            joint[i * size : (i + 1) * size, j * size : (j + 1) * size] = block.T
    return scipy.stats.multivariate_normal(np.concatenate(means), joint).logpdf(y.T.ravel())


@pytest.mark.parametrize("library", LIBRARIES)
def test_dynamic_linear_model(library):
    rest = (W, M0, S)
    wanted = marginal_normal(OBSERVED, F, G, V, *rest)
    assert call(library, "gaussian_dlm_obs_lpdf", OBSERVED, F, G, V, *rest) == pytest.approx(wanted, rel=1e-11)
    variances = np.diag(V).copy()
    wanted = marginal_normal(OBSERVED, F, G, np.diag(variances), *rest)
    assert call(library, "gaussian_dlm_obs_lpdf", OBSERVED, F, G, variances, *rest) == pytest.approx(wanted, rel=1e-11)
    with pytest.raises(StanIndexError):
        call(library, "gaussian_dlm_obs_lpdf", OBSERVED[:1], F, G, V, *rest)


@pytest.mark.parametrize("library", [pytest.param("jax", marks=pytest.mark.slow), "torch"])
def test_gradients_of_the_dynamic_linear_model(library):
    f = registry.by_symbol("gaussian_dlm_obs_lpdf")
    arguments = [OBSERVED, F, G, np.diag(V).copy(), W, M0, S]
    for i in (1, 2, 3, 5):
        def at(x, i=i):
            return f(*arguments[:i], x, *arguments[i + 1 :])

        got = gradient(library, at, arguments[i])
        np.testing.assert_allclose(got, numeric_gradient(at, arguments[i]), rtol=1e-5, atol=1e-6)


def test_dynamic_linear_model_of_known_and_traced_matrices():
    f = registry.by_symbol("gaussian_dlm_obs_lpdf")
    with pytest.raises(StanDomainError, match="semidefinite"):
        f(OBSERVED, F, G, V, -W, M0, S)
    with jax.enable_x64(True):
        assert np.isnan(jax.jit(lambda w: f(OBSERVED, F, G, V, w, M0, S))(-20 * W))
    with double("torch"):
        with pytest.raises(StanDomainError, match="out of range"):
            f(OBSERVED, F, G, V, lift("torch", -20 * W), M0, S)
