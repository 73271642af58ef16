"""Cholesky factors and inverses of small matrices: beside extended precision, LAPACK, NumPy, inside of one kernel."""
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from stanimport.inference.precision import double_precision
from stanlib.arrays.jax import linalg, small_factors

POINTS = np.linspace(-2, 3, 16)


@pytest.fixture(autouse=True)
def double():
    with double_precision():
        yield


def covariance(size, jitter):
    """Of a Gaussian process: the smaller the jitter, the closer to singular."""
    apart = POINTS[:size, None] - POINTS[:size]
    return np.exp(-0.5 * apart**2 / 1.3) + jitter * np.eye(size)


def exact(a, change):
    """The factor and its directional derivative, from l^-1 da l^-T, in extended precision."""
    a, change = a.astype(np.longdouble), change.astype(np.longdouble)
    factor, inverse = np.zeros_like(a), np.zeros_like(a)
    for j in range(len(a)):
        factor[j, j] = np.sqrt(a[j, j] - factor[j, :j] @ factor[j, :j])
        factor[j + 1 :, j] = (a[j + 1 :, j] - factor[j + 1 :, :j] @ factor[j, :j]) / factor[j, j]
        inverse[j] = (np.eye(len(a))[j] - factor[j, :j] @ inverse[:j]) / factor[j, j]
    middle = inverse @ change @ inverse.T
    return factor, factor @ (np.tril(middle) - np.diag(np.diagonal(middle)) / 2)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("size", [1, 5, 16])
@pytest.mark.parametrize("jitter", [1.0, 1e-10])
def test_factor_and_derivative_are_as_exact_as_lapacks(size, jitter):
    a, rng = covariance(size, jitter), np.random.default_rng(size)
    change = rng.normal(size=(size, size))
    change += change.T
    expected = exact(a, change)
    weights = np.tril(rng.normal(size=(size, size)))

    @jax.jit
    def computed(a, change):
        found, lapack = (jax.jvp(f, (a,), (change,)) for f in (linalg.cholesky, jnp.linalg.cholesky))
        return found, lapack, jax.grad(lambda a: jnp.sum(weights * linalg.cholesky(a)))(a)

    found, lapack, gradient = computed(a, change)
    for mine, theirs, true in zip(map(np.asarray, found), map(np.asarray, lapack), expected):
        scale = np.abs(true).max()
        assert np.abs(mine - true).max() <= 20 * np.abs(theirs - true).max() + 1e-14 * scale
    np.testing.assert_allclose(gradient, gradient.T)
    forward = np.sum(weights * np.asarray(found[1]))
    np.testing.assert_allclose(np.sum(gradient * change), forward, rtol=1e-9 / jitter**0.5, atol=1e-12)


@pytest.mark.parametrize("a", [
    [[1.0, 2.0], [2.0, 1.0]], [[0.0, 0.0], [0.0, 0.0]], [[-1.0]], [[1.0, 1.0], [1.0, 1.0]], [[np.nan, 0.0], [0.0, 1.0]],
    np.diag([1.0, 2.0, -1e-300, 3.0]), np.diag([1.0, 0.0, 2.0]),
], ids=["indefinite", "zero", "negative", "singular", "NaN", "barely", "semidefinite"])  # fmt: skip
def test_what_is_not_positive_definite_has_none(a):
    assert np.isnan(np.asarray(jax.jit(linalg.cholesky)(jnp.array(a)))[np.tri(len(a)) == 1]).all()


def test_many_matrices_and_second_derivatives_as_by_lapack():
    many = np.stack([covariance(4, j) for j in (0.1, 0.5, 2.0)])
    np.testing.assert_allclose(jax.jit(jax.vmap(linalg.cholesky))(many), np.linalg.cholesky(many), rtol=1e-13)

    def total(f, x):
        return jnp.sum(jnp.sin(f(jnp.exp(-x[0] * (POINTS[:4, None] - POINTS[:4]) ** 2) + x[1] * jnp.eye(4))))

    mine, theirs = (jax.jit(jax.hessian(partial(total, f)))(np.array([0.7, 0.4]))
                    for f in (linalg.cholesky, jnp.linalg.cholesky))  # fmt: skip
    np.testing.assert_allclose(mine, theirs, rtol=1e-10)


def test_larger_ones_are_lapacks():
    size = small_factors.LARGEST
    for rows, calls in ((size, False), (size + 1, True)):
        text = jax.jit(linalg.cholesky).lower(np.eye(rows)).as_text()
        assert ("custom_call" in text) is calls


@pytest.mark.sampled(2)
@pytest.mark.parametrize("size", [1, 5, 16])
@pytest.mark.parametrize("jitter", [1.0, 1e-8])
def test_quadratic_forms_are_as_exact_as_lapacks(size, jitter):
    """The logarithm of the determinant, lengths of columns, and the derivative beside extended precision.

    How much LAPACK loses is a matter of luck for a single number: rows in another order have the same values.
    """
    a, rng = covariance(size, jitter), np.random.default_rng(size)
    b, change, turn = (rng.normal(size=shape) for shape in ((size, 3), (size, size), (size, 3)))
    change += change.T
    factor, inverse = exact(a, np.zeros_like(a))[0], np.zeros((size, size), np.longdouble)
    for j in range(size):
        inverse[j] = (np.eye(size)[j] - factor[j, :j] @ inverse[:j]) / factor[j, j]
    x = inverse.T @ (inverse @ b)
    values = 2 * np.log(np.diagonal(factor)).sum(), ((inverse @ b) ** 2).sum(axis=0)
    slopes = ((inverse.T @ inverse) * change).sum(), (x * (2 * turn - change @ x)).sum(axis=0)

    def by_lapack(a, b):
        factor = jnp.linalg.cholesky(a)
        white = jax.scipy.linalg.solve_triangular(factor, b, lower=True)
        return 2 * jnp.sum(jnp.log(jnp.diagonal(factor))), jnp.sum(white**2, axis=0)

    def computed(f, rows):
        points, changes = (a[rows, rows], b[rows]), (change[rows, rows], turn[rows])
        return [np.asarray(v) for v in sum(jax.jit(partial(jax.jvp, f))(points, changes), ())]

    forwards, backwards = slice(None), slice(None, None, -1)
    lapack = computed(by_lapack, forwards), computed(by_lapack, backwards)
    found = computed(linalg.quadratic_spd, forwards)
    for mine, *theirs, true in zip(found, *lapack, values + slopes):
        lost = max(np.abs(v - true).max() for v in theirs)
        assert np.abs(mine - true).max() <= 20 * lost + 1e-13 * np.abs(true).max()
    broken = jax.jit(linalg.quadratic_spd)(-a, b)
    assert all(np.isnan(v).all() for v in broken)


def test_quadratic_forms_of_small_matrices_are_no_calls():
    def slope(a, b):
        return jax.grad(lambda a: jnp.sum(linalg.quadratic_spd(a, b)[1]))(a)

    for rows, columns, calls in ((16, 1, False), (17, 1, True), (16, 17, True)):
        assert ("custom_call" in jax.jit(slope).lower(np.eye(rows), np.ones((rows, columns))).as_text()) is calls


def badly_scaled(size):
    """A matrix that needs pivots: nothing on its diagonal, rows of all magnitudes."""
    a = np.random.default_rng(size).normal(size=(size, size))
    np.fill_diagonal(a, 0.0 if size > 1 else 2.0)
    return a * 10.0 ** np.arange(size)[:, None]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("size", [1, 2, 7, 16])
def test_inverses_and_their_derivatives_are_numpys(size):
    a, b = badly_scaled(size), np.linspace(1, 2, 2 * size).reshape(size, 2)
    expected = np.linalg.inv(a)
    np.testing.assert_allclose(jax.jit(linalg.inverse)(a), expected, rtol=1e-9, atol=1e-13)
    for right in (b, b[:, 0]):
        found = jax.jit(linalg.solve)(a, right)
        np.testing.assert_allclose(found, np.linalg.solve(a, right), rtol=1e-9, atol=1e-12)
    weights = np.ones((size, 2))
    found = jax.jit(jax.grad(lambda a: jnp.sum(linalg.solve(a, b))))(a)
    np.testing.assert_allclose(found, -(expected.T @ weights) @ (expected @ b).T, rtol=1e-8, atol=1e-12)


def test_a_singular_matrix_has_no_inverse():
    assert not np.isfinite(np.asarray(jax.jit(linalg.inverse)(jnp.ones((2, 2))))).any()


def test_many_inverses():
    many = np.stack([badly_scaled(3) + k * np.eye(3) for k in range(4)])
    np.testing.assert_allclose(jax.jit(jax.vmap(linalg.inverse))(many), np.linalg.inv(many), rtol=1e-10)
