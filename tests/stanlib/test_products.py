"""Dot products, quadratic forms, traces and diagonal matrices."""
import numpy as np
import pytest
from libraries import LIBRARIES, call

from stanlib.errors import StanDomainError, StanIndexError

A = np.array([[2.0, 0.5, 0.1], [0.5, 1.5, -0.2], [0.1, -0.2, 1.0]])
B = np.array([[1.0, 2.0], [-3.0, 4.0], [0.5, 0.25]])
D = np.array([[1.0, 0.5], [-2.0, 3.0]])
V, W = np.array([1.0, -2.0, 0.5]), np.array([0.25, 1.0, 4.0])
Z = np.array([1 + 2j, -0.5j, 3.0])


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(
    "symbol, arguments, expected",
    [
        ("dot_product", (V, W), V @ W),
        ("complex_dot_product", (Z, W + 1j), np.conj(Z) @ (W + 1j)),
        ("complex_dot_self", (Z,), np.conj(Z) @ Z),
        ("columns_dot_product", (B, B + 1), (B * (B + 1)).sum(0)),
        ("rows_dot_product", (B, B + 1), (B * (B + 1)).sum(1)),
        ("column_dot_product", (V, W), [V @ W]),
        ("columns_dot_product_of_rows", (V, W), V * W),
        ("rows_dot_self", (B,), (B * B).sum(1)),
        ("crossprod", (B,), B.T @ B),
        ("tcrossprod", (B,), B @ B.T),
        ("multiply_lower_tri_self_transpose", (A,), np.tril(A) @ np.tril(A).T),
        ("quad_form", (A, B), B.T @ A @ B),
        ("quad_form_sym", (A, B), B.T @ A @ B),
        ("quad_form_of_vector", (A, V), V @ A @ V),
        ("quad_form_diag", (A, V), np.diag(V) @ A @ np.diag(V)),
        ("trace", (A,), np.trace(A)),
        ("trace_dot", (B, B.T + 1), np.trace(B @ (B.T + 1))),
        ("trace_quad_form", (A, B), np.trace(B.T @ A @ B)),
        ("trace_gen_quad_form", (D, A, B), np.trace(D @ B.T @ A @ B)),
        ("squared_distance", (V, W), (V - W) @ (V - W)),
        ("diag_matrix", (V,), np.diag(V)),
        ("diag_pre_multiply", (V, B), np.diag(V) @ B),
        ("diag_post_multiply", (A, V), A @ np.diag(V)),
        ("add_diag", (A, 0.5), A + 0.5 * np.eye(3)),
        ("add_diag", (B, 0.5), B + 0.5 * np.eye(3, 2)),
        ("add_diag_vector", (B, [1.0, 2.0]), B + [[1, 0], [0, 2], [0, 0]]),
        ("add_diag_vector", (B.T, [1.0, 2.0]), B.T + [[1, 0, 0], [0, 2, 0]]),
        ("symmetrize_from_lower_tri", (A + np.triu(A, 1),), A),
    ],
)
def test_values(library, symbol, arguments, expected):
    np.testing.assert_allclose(call(library, symbol, *arguments), expected, rtol=1e-13)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(
    "symbol, arguments",
    [
        ("dot_product", (V, V[:2])), ("dot_product", (V, V[:1])), ("quad_form", (A, D)), ("quad_form", (B, B)),
        ("trace", (B,)), ("trace_dot", (B, B)), ("diag_pre_multiply", (V[:2], B)), ("add_diag_vector", (A, V[:2])),
        ("columns_dot_product", (A, B)), ("trace_gen_quad_form", (A, A, B)), ("quad_form_diag", (A, V[:1])),
    ],
)  # fmt: skip
def test_sizes_that_do_not_match_are_refused(library, symbol, arguments):
    with pytest.raises(StanIndexError):
        call(library, symbol, *arguments)


def test_quad_form_sym_asks_for_a_symmetric_matrix():
    with pytest.raises(StanDomainError, match="not symmetric"):
        call("numpy", "quad_form_sym", A + np.triu(A, 1), B)


@pytest.mark.parametrize("library", LIBRARIES)
def test_diagonals_of_infinities(library):
    np.testing.assert_array_equal(call(library, "diag_matrix", [np.inf, 1.0]), [[np.inf, 0], [0, 1]])
