"""Operators: stanlib/functions/operators.py, logical.py, linear_solvers.py."""
import jax
import numpy as np
import pytest
from libraries import DIFFERENTIABLE, LIBRARIES, call, gradient, lift, numeric_gradient

from stanlib import registry
from stanlib.errors import StanDomainError, StanIndexError

A = np.array([[2.0, 0.5, 0.1], [0.3, 1.5, -0.2], [-0.4, 0.2, 1.0]])
SPD = A @ A.T
L = np.linalg.cholesky(SPD)
B = np.array([[1.0, 2.0], [-3.0, 4.0], [0.5, 0.25]])


@pytest.mark.parametrize("a, b, quotient, remainder", [(7, 2, 3, 1), (-7, 2, -3, -1), (7, -2, -3, 1), (-7, -2, 3, -1)])
def test_integer_division_truncates_toward_zero(a, b, quotient, remainder):
    assert registry.by_symbol("int_divide")(a, b) == quotient
    assert registry.by_symbol("modulus")(a, b) == remainder
    traced = jax.jit(lambda x, y: (registry.by_symbol("int_divide")(x, y), registry.by_symbol("modulus")(x, y)))(a, b)
    assert tuple(map(int, traced)) == (quotient, remainder)


@pytest.mark.parametrize("symbol", ["int_divide", "modulus", "int_elt_divide"])
def test_integer_division_by_zero_is_refused(symbol):
    with pytest.raises(StanDomainError, match="nonzero"):
        registry.by_symbol(symbol)(1, 0)


def test_real_division_by_zero_is_infinite():
    with np.errstate(divide="ignore"):
        assert registry.by_symbol("divide")(1.0, 0.0) == np.inf


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(
    "symbol", ["add_elements", "subtract_elements", "elt_multiply_elements", "elt_divide_elements"]
)
def test_containers_of_different_sizes_do_not_broadcast(library, symbol):
    for a, b in (([1.0, 2.0], [1.0]), ([[1.0, 2.0]], [[1.0], [2.0]])):
        with pytest.raises(StanIndexError):
            call(library, symbol, a, b)


@pytest.mark.parametrize("library", LIBRARIES)
def test_products_of_vectors_and_matrices(library):
    assert call(library, "matmul", [1.0, 2.0], [3.0, 4.0]) == pytest.approx(11)
    np.testing.assert_allclose(call(library, "matmul", A, B), A @ B)
    np.testing.assert_allclose(call(library, "outer_product", [1.0, 2.0], [3.0, 4.0, 5.0]), [[3, 4, 5], [6, 8, 10]])
    assert call(library, "complex_inner_product", [1 + 2j], [3 - 1j]) == pytest.approx((1 - 2j) * (3 - 1j))
    with pytest.raises(StanIndexError, match=r"\(3\).*\(2\)"):
        call(library, "matmul", A, [1.0, 2.0])


@pytest.mark.parametrize("library", LIBRARIES)
def test_comparisons_give_integers(library):
    for symbol, expected in (("logical_lt", 1), ("logical_gte", 0), ("logical_eq", 0), ("logical_neq", 1)):
        result = call(library, symbol, 0.5, 1.5)
        assert result == expected and result.dtype.kind == "i"
    two = registry.by_symbol("logical_lte")(np.array([1.0, 2.0, 3.0]), 2.0)
    np.testing.assert_array_equal(two + two, [2, 2, 0])
    assert registry.by_symbol("logical_and")(2, 1) == 1 and registry.by_symbol("logical_negation")(2) == 0


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("b", [B, B[:, 0]], ids=["matrix", "vector"])
def test_division_by_matrices(library, b):
    for symbol, a, inverse in (
        ("mdivide_left", A, np.linalg.inv(A)),
        ("mdivide_left_tri_low", A, np.linalg.inv(np.tril(A))),
        ("mdivide_left_spd", SPD, np.linalg.inv(SPD)),
    ):
        np.testing.assert_allclose(call(library, symbol, a, b), inverse @ b, rtol=1e-12)
        right = symbol.replace("left", "right")
        np.testing.assert_allclose(call(library, right, b.T, a), b.T @ inverse, rtol=1e-12)


@pytest.mark.parametrize("library", DIFFERENTIABLE)
@pytest.mark.parametrize("symbol, a", [("mdivide_left", A), ("mdivide_left_spd", SPD), ("mdivide_left_tri_low", L)])
def test_gradients_of_division_by_matrices(library, symbol, a):
    f = registry.by_symbol(symbol)
    weights = np.arange(1.0, 7.0).reshape(3, 2)
    got = gradient(library, lambda x: (f(x, lift(library, B)) * lift(library, weights)).sum(), a)
    symmetric = symbol.endswith("spd")
    half = (lambda m: (m + m.T) / 2) if symmetric else np.tril if symbol.endswith("low") else (lambda m: m)
    wanted = numeric_gradient(lambda x: (f(half(x), B) * weights).sum(), a)
    np.testing.assert_allclose(half(got), wanted, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("library", LIBRARIES)
def test_inverses(library):
    np.testing.assert_allclose(call(library, "inverse", A), np.linalg.inv(A))
    np.testing.assert_allclose(call(library, "inverse_spd", SPD), np.linalg.inv(SPD))
    np.testing.assert_allclose(call(library, "chol2inv", L), np.linalg.inv(SPD))
    np.testing.assert_allclose(call(library, "generalized_inverse", B), np.linalg.pinv(B))


def test_matrices_outside_the_domain_are_refused():
    for symbol, matrix in (
        ("inverse_spd", A), ("inverse_spd", -SPD), ("chol2inv", A), ("cholesky_decompose", -SPD),
        ("cholesky_decompose", A), ("log_determinant_spd", A), ("eigenvalues_sym", A),
    ):  # fmt: skip
        with pytest.raises(StanDomainError):
            registry.by_symbol(symbol)(matrix)
    with pytest.raises(StanIndexError):
        registry.by_symbol("inverse")(B)


def test_a_matrix_known_at_run_time_that_is_not_positive_definite():
    """The factor is NaN where JAX traces, an error where torch computes; in models both reject the draw."""
    f = registry.by_symbol("cholesky_decompose")
    assert np.isnan(np.asarray(jax.jit(f)(-SPD))).any()
    with pytest.raises(StanDomainError, match="positive definite"):
        f(lift("torch", -SPD))
