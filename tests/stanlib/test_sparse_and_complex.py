"""Sparse matrices, complex numbers and Fourier transforms."""
import cmath

import jax
import numpy as np
import pytest
from libraries import DIFFERENTIABLE, LIBRARIES, call, gradient, lift

from stanlib import registry
from stanlib.errors import StanIndexError

M = np.array([[0.0, 2.0, 0.0], [-3.0, 4.0, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, 5.0]])
W, V, U = np.array([2.0, -3.0, 4.0, 1.0, 5.0]), np.array([2, 1, 2, 1, 3]), np.array([1, 2, 4, 4, 6])
B = np.array([0.5, 1.0, -2.0])


@pytest.mark.parametrize("library", LIBRARIES)
def test_sparse_form_and_back(library):
    w, v, u = call(library, "csr_extract", M)
    np.testing.assert_array_equal(w, W)
    np.testing.assert_array_equal(v, V)
    np.testing.assert_array_equal(u, U)
    np.testing.assert_array_equal(call(library, "csr_to_dense_matrix", 4, 3, W, V, U), M)
    np.testing.assert_allclose(call(library, "csr_matrix_times_vector", 4, 3, W, V, U, B), M @ B)


@pytest.mark.parametrize("library", DIFFERENTIABLE)
def test_gradients_of_sparse_products(library):
    f = registry.by_symbol("csr_matrix_times_vector")
    in_b = gradient(library, lambda b: f(4, 3, lift(library, W), V, U, b).sum(), B)
    np.testing.assert_allclose(in_b, M.sum(0))
    in_w = gradient(library, lambda w: f(4, 3, w, V, U, lift(library, B)).sum(), W)
    np.testing.assert_allclose(in_w, B[V - 1])


def test_a_traced_matrix_keeps_all_its_components():
    with jax.enable_x64(True):
        w, v, u = jax.jit(registry.by_symbol("csr_extract"))(M)
        assert w.shape == (12,) and list(u) == [1, 4, 7, 10, 13]
        np.testing.assert_allclose(registry.by_symbol("csr_matrix_times_vector")(4, 3, w, v, u, B), M @ B)


@pytest.mark.parametrize("v, u", [(V + 1, U), (V, U[:-1]), (V[:-1], U), (V, U + 1)])
def test_inconsistent_sparse_forms_are_refused(v, u):
    with pytest.raises(StanIndexError):
        registry.by_symbol("csr_matrix_times_vector")(4, 3, W, v, u, B)


@pytest.mark.parametrize("library", LIBRARIES)
def test_parts_of_complex_numbers(library):
    z = 3.0 - 4.0j
    assert call(library, "to_complex", 3.0, -4.0) == z
    assert call(library, "get_real", z) == 3 and call(library, "get_imag", z) == -4
    assert call(library, "norm", z) == pytest.approx(25) and call(library, "arg", z) == pytest.approx(np.angle(z))
    assert call(library, "conj", z) == np.conj(z)
    assert call(library, "polar", 2.0, 0.7) == pytest.approx(2 * np.exp(0.7j))
    np.testing.assert_array_equal(call(library, "to_complex", [1.0, 2.0], 1.0), [1 + 1j, 2 + 1j])


@pytest.mark.parametrize("library", LIBRARIES)
def test_infinite_complex_numbers(library):
    made = call(library, "to_complex", 1.0, np.inf)
    assert made.real == 1 and made.imag == np.inf
    projected = call(library, "proj", complex(1, -np.inf))
    assert projected.real == np.inf and projected.imag == 0 and np.signbit(projected.imag)
    assert call(library, "proj", 1 + 2j) == 1 + 2j


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(("symbol", "name"), [
    ("complex_sqrt", "sqrt"), ("log", "log"), ("asin", "asin"), ("acos", "acos"), ("atan", "atan"), ("asinh", "asinh"),
    ("complex_acosh", "acosh"), ("complex_atanh", "atanh"),
])  # fmt: skip
def test_zeros_tell_the_side_of_branch_cuts(library, symbol, name):
    for real in (-2.5, -0.5, -0.0, 0.0, 0.5, 2.5):
        for imaginary in (-2.5, -0.0, 0.0, 2.5):
            z = complex(real, imaginary)
            if (z, name) in {(0j, "log")}:
                continue
            found = complex(call(library, symbol, z))
            assert cmath.isclose(found, getattr(cmath, name)(z), rel_tol=1e-12, abs_tol=1e-15), z


@pytest.mark.parametrize("library", LIBRARIES)
def test_fourier_transforms(library):
    z = np.array([1.0, 2j, -1.0 + 1j])
    m = np.array([[1.0, 2j, 0.5], [3.0, -1.0, 1j]])
    np.testing.assert_allclose(call(library, "fft", z), np.fft.fft(z), atol=1e-14)
    np.testing.assert_allclose(call(library, "inv_fft", np.fft.fft(z)), z, atol=1e-14)
    np.testing.assert_allclose(call(library, "fft2", m), np.fft.fft2(m), atol=1e-14)
    np.testing.assert_allclose(call(library, "inv_fft2", np.fft.fft2(m)), m, atol=1e-14)
    assert call(library, "fft", np.zeros(0, complex)).shape == (0,)
