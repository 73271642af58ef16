"""Factorisations, eigenvalues, exponentials of matrices."""
import jax
import numpy as np
import pytest
import scipy.linalg
from libraries import DIFFERENTIABLE, LIBRARIES, call, gradient, lift, numeric_gradient

from stanlib import registry
from stanlib.arrays.numpy import qr_algorithm

A = np.array([[2.0, 0.5, 0.1], [0.3, 1.5, -0.2], [-0.4, 0.2, 1.0]])
SPD = A @ A.T
TALL = np.array([[1.0, 2.0], [-3.0, 4.0], [0.5, 0.25], [2.0, 1.0]])
ROTATION = np.array([[0.0, -1.0, 0.0], [1.0, 0.2, 0.3], [0.1, 0.0, 0.5]])


@pytest.mark.parametrize("library", LIBRARIES)
def test_values(library):
    np.testing.assert_allclose(call(library, "cholesky_decompose", SPD), np.linalg.cholesky(SPD), rtol=1e-13)
    assert call(library, "determinant", A) == pytest.approx(np.linalg.det(A))
    assert call(library, "log_determinant", -A) == pytest.approx(np.log(abs(np.linalg.det(A))))
    assert call(library, "log_determinant_spd", SPD) == pytest.approx(2 * np.log(abs(np.linalg.det(A))))
    np.testing.assert_allclose(call(library, "matrix_exp", A), scipy.linalg.expm(A), rtol=1e-12)
    np.testing.assert_allclose(
        call(library, "scale_matrix_exp_multiply", 0.5, A, A), scipy.linalg.expm(0.5 * A) @ A, rtol=1e-12
    )
    np.testing.assert_allclose(call(library, "matrix_power", A, 5), np.linalg.matrix_power(A, 5), rtol=1e-12)
    np.testing.assert_array_equal(call(library, "matrix_power", A, 0), np.eye(3))


@pytest.mark.parametrize("library", LIBRARIES)
def test_empty_matrices(library):
    empty = np.zeros((0, 0))
    for symbol in ("cholesky_decompose", "inverse", "inverse_spd", "matrix_exp"):
        assert call(library, symbol, empty).shape == (0, 0)
    assert call(library, "determinant", empty) == 1 and call(library, "log_determinant", empty) == 0
    assert call(library, "eigenvalues_sym", empty).shape == (0,)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("matrix", [TALL, TALL.T, A], ids=["tall", "wide", "square"])
def test_qr(library, matrix):
    for symbol, inner in (("qr", matrix.shape[0]), ("qr_thin", min(matrix.shape))):
        q, r = call(library, symbol, matrix)
        assert q.shape == (matrix.shape[0], inner) and r.shape == (inner, matrix.shape[1])
        np.testing.assert_allclose(q @ r, matrix, atol=1e-14)
        np.testing.assert_allclose(q.T @ q, np.eye(inner), atol=1e-14)
        assert (np.diagonal(r) >= 0).all() and np.allclose(np.tril(r, -1), 0)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("matrix", [TALL, TALL.T, TALL + 1j], ids=["tall", "wide", "complex"])
def test_svd(library, matrix):
    u, s, v = call(library, "svd", matrix)
    np.testing.assert_allclose(u @ np.diag(s) @ np.conj(v.T), matrix, atol=1e-14)
    np.testing.assert_allclose(call(library, "singular_values", matrix), s, rtol=1e-13)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("matrix", [A, ROTATION, A + 1j * ROTATION], ids=["real", "rotation", "complex"])
def test_eigenvectors(library, matrix):
    vectors, values = call(library, "eigendecompose", matrix)
    assert vectors.dtype == values.dtype == complex
    np.testing.assert_allclose(matrix @ vectors, vectors * values, atol=1e-13)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=0), 1)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("matrix", [SPD, SPD + 1j * (A - A.T)], ids=["real", "hermitian"])
def test_symmetric_eigenvectors(library, matrix):
    suffix = "hermitian" if np.iscomplexobj(matrix) else "sym"
    vectors, values = call(library, f"eigendecompose_{suffix}", matrix)
    np.testing.assert_allclose(vectors @ np.diag(values) @ np.conj(vectors.T), matrix, atol=1e-13)
    assert (np.diff(values.real) > 0).all()


@pytest.mark.parametrize("size", [1, 2, 5, 12])
def test_the_qr_algorithm(size):
    rng = np.random.default_rng(size)
    eye = np.eye(size)
    for matrix in (rng.normal(size=(size, size)), eye[::-1], np.roll(eye, 1, 0), 0 * eye):
        for a in (matrix, matrix + 1j * matrix.T):
            u, t = qr_algorithm.complex_schur(a)
            np.testing.assert_allclose(u @ t @ np.conj(u.T), a, atol=1e-12)
            np.testing.assert_allclose(u @ np.conj(u.T), np.eye(size), atol=1e-12)
            values = np.linalg.eigvals(a)
            assert sorted(qr_algorithm.eigenvalue_order(a, values)) == list(range(size))


def test_eigenvalues_of_nan_are_nan():
    assert np.isnan(call("numpy", "eigenvalues", A * np.nan)).all()
    assert np.isnan(call("numpy", "complex_schur_decompose_t", A * np.nan)).any()


WEIGHTS = np.arange(1.0, 10.0).reshape(3, 3)
OF_SQUARE = {
    "cholesky_decompose": SPD, "inverse": A, "qr_Q": A, "matrix_exp": A, "eigenvalues_sym": SPD, "singular_values": A,
    "log_determinant": A, "log_determinant_spd": SPD, "inverse_spd": SPD,
}  # fmt: skip


@pytest.mark.sampled(8)
@pytest.mark.parametrize("library", DIFFERENTIABLE)
@pytest.mark.parametrize("symbol", OF_SQUARE)
def test_gradients(library, symbol):
    f, matrix = registry.by_symbol(symbol), OF_SQUARE[symbol]
    weights = WEIGHTS[: np.ndim(f(matrix)) and 3, 0] if np.ndim(f(matrix)) < 2 else WEIGHTS
    weights = 1.0 if np.ndim(f(matrix)) == 0 else weights
    half = (lambda m: (m + m.T) / 2) if matrix is SPD else (lambda m: m)
    got = gradient(library, lambda x: (f(x) * lift(library, weights)).sum(), matrix)
    wanted = numeric_gradient(lambda x: np.sum(f(half(x)) * weights), matrix)
    np.testing.assert_allclose(half(got), wanted, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("library", DIFFERENTIABLE)
@pytest.mark.parametrize(
    "matrix", [[[0.0]], [[1.0, 2.0], [2.0, 4.0]], [[0.0, 0.0], [0.0, 1.0]], np.arange(9.0).reshape(3, 3)]
)
def test_determinants_of_singular_matrices_have_their_gradient(library, matrix):
    """The cofactors, as the determinant is a polynomial."""
    f = registry.by_symbol("determinant")
    np.testing.assert_allclose(gradient(library, f, matrix), numeric_gradient(f, np.array(matrix)), atol=1e-6)


@pytest.mark.parametrize("library", DIFFERENTIABLE)
def test_determinants_of_what_is_no_number(library):
    assert np.isnan(gradient(library, registry.by_symbol("determinant"), np.full((2, 2), np.nan))).all()


@pytest.mark.parametrize("library", DIFFERENTIABLE)
@pytest.mark.parametrize("symbol", ["qr_Q", "qr_R", "qr_thin_Q", "qr_thin_R"])
@pytest.mark.parametrize("matrix", [TALL[:3], TALL.T], ids=["tall", "wide"])
def test_gradients_of_qr(library, symbol, matrix):
    f = registry.by_symbol(symbol)
    weights = np.arange(1.0, 1 + f(matrix).size).reshape(f(matrix).shape)
    got = gradient(library, lambda x: (f(x) * lift(library, weights)).sum(), matrix)
    np.testing.assert_allclose(got, numeric_gradient(lambda x: (f(x) * weights).sum(), matrix), rtol=1e-6, atol=1e-7)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("library", DIFFERENTIABLE)
@pytest.mark.parametrize("matrix", [A, ROTATION], ids=["real", "rotation"])
@pytest.mark.parametrize(
    "symbol", ["eigenvalues", "eigenvectors", "complex_schur_decompose_u", "complex_schur_decompose_t"]
)
def test_gradients_without_symmetry(library, symbol, matrix):
    """Eigenvalues, moduli of eigenvectors and of Schur vectors: whatever does not depend on a choice of phase."""
    f = registry.by_symbol(symbol)
    shape = f(matrix).shape
    weights = np.arange(1.0, 1 + np.prod(shape)).reshape(shape)
    got = gradient(library, lambda x: (abs(f(x)) ** 2 * lift(library, weights)).sum(), matrix)
    wanted = numeric_gradient(lambda x: (abs(f(x)) ** 2 * weights).sum(), matrix)
    np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("library", DIFFERENTIABLE)
def test_equal_eigenvalues_have_a_gradient(library):
    f = registry.by_symbol("eigenvalues_sym")
    np.testing.assert_allclose(gradient(library, lambda x: f(x).sum(), np.eye(3)), np.eye(3), atol=1e-12)


def test_under_vmap():
    with jax.enable_x64(True):
        both = np.stack((SPD, 2 * SPD))
        for symbol in ("cholesky_decompose", "inverse_spd", "eigenvalues", "complex_schur_decompose_t"):
            f = registry.by_symbol(symbol)
            np.testing.assert_allclose(jax.vmap(f)(both), np.stack((f(SPD), f(2 * SPD))), atol=1e-12)
