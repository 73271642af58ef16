"""Sizes, construction, slices, concatenation and conversion of containers."""
import jax
import numpy as np
import pytest
from libraries import LIBRARIES, call, lift

from stanlib import registry
from stanlib.errors import StanDomainError, StanIndexError

M = np.arange(1.0, 7.0).reshape(2, 3)
V = np.array([1.0, 2.0, 3.0, 4.0])


@pytest.mark.parametrize("library", LIBRARIES)
def test_sizes_are_python_integers(library):
    for symbol, x, expected in (
        ("size", V, 4), ("size_of_matrix", M, 6), ("num_elements", M, 6), ("rows", M, 2), ("cols", M, 3),
        ("cols_of_vector", V, 1), ("rows_of_row_vector", V, 1), ("size_of_scalar", 2.0, 1),
    ):  # fmt: skip
        result = registry.by_symbol(symbol)(lift(library, x))
        assert type(result) is int and result == expected


def test_sizes_are_known_while_tracing():
    sizes = []

    def f(x):
        sizes.append(registry.by_symbol("size_of_matrix")(x))
        return x

    jax.jit(f)(M)
    assert sizes == [6]


def test_dims_tell_vectors_from_row_vectors():
    for symbol, x, expected in (
        ("dims", M, [2, 3]), ("dims", 1.0, []), ("dims_of_vectors", V, [4, 1]), ("dims_of_row_vectors", M, [2, 1, 3]),
    ):  # fmt: skip
        np.testing.assert_array_equal(registry.by_symbol(symbol)(x), expected)


@pytest.mark.parametrize("library", LIBRARIES)
def test_repeated_values(library):
    np.testing.assert_array_equal(call(library, "rep_vector", 0.5, 3), [0.5] * 3)
    np.testing.assert_array_equal(call(library, "rep_columns", [1.0, 2.0], 2), [[1, 1], [2, 2]])
    np.testing.assert_array_equal(call(library, "rep_rows", [1.0, 2.0], 2), [[1, 2], [1, 2]])
    assert call(library, "rep_array_2d", V, 2, 3).shape == (2, 3, 4)
    assert call(library, "rep_array_3d", 1.0, 2, 0, 3).shape == (2, 0, 3)


def test_numbers_become_reals_or_stay_integers():
    assert registry.by_symbol("rep_vector")(1, 2).dtype.kind == "f"
    assert registry.by_symbol("rep_array")(1, 2).dtype.kind == "i"
    assert registry.by_symbol("ones_int_array")(2).dtype.kind == "i"
    assert registry.by_symbol("to_vector")(np.array([1, 2])).dtype.kind == "f"
    assert registry.by_symbol("to_array_1d")(np.array([[1, 2]])).dtype.kind == "i"


def test_evenly_spaced_numbers():
    np.testing.assert_allclose(registry.by_symbol("linspaced_vector")(5, -1.0, 1.0), np.linspace(-1, 1, 5))
    np.testing.assert_array_equal(registry.by_symbol("linspaced_vector")(1, -1.0, 1.0), [1.0])
    integers = registry.by_symbol("linspaced_int_array")
    for arguments, expected in (
        ((5, 0, 8), [0, 2, 4, 6, 8]), ((5, 0, 11), [0, 2, 4, 6, 8]), ((1, 1, 5), [5]), ((4, 1, 2), [1, 1, 2, 2]),
        ((0, 1, 5), []),
    ):  # fmt: skip
        np.testing.assert_array_equal(integers(*arguments), expected)


def test_one_hot_takes_a_traced_position():
    np.testing.assert_array_equal(registry.by_symbol("one_hot_vector")(3, 2), [0, 1, 0])
    np.testing.assert_array_equal(jax.jit(lambda k: registry.by_symbol("one_hot_vector")(3, k))(2), [0, 1, 0])


@pytest.mark.parametrize("library", LIBRARIES)
def test_slices_start_at_1(library):
    np.testing.assert_array_equal(call(library, "head", V, 2), [1, 2])
    np.testing.assert_array_equal(call(library, "tail", V, 0), [])
    np.testing.assert_array_equal(call(library, "segment", V, 2, 2), [2, 3])
    np.testing.assert_array_equal(call(library, "col", M, 3), [3, 6])
    np.testing.assert_array_equal(call(library, "row", M, 2), [4, 5, 6])
    np.testing.assert_array_equal(call(library, "block", M, 1, 2, 2, 2), [[2, 3], [5, 6]])
    np.testing.assert_array_equal(call(library, "sub_col", M, 1, 2, 2), [2, 5])
    np.testing.assert_array_equal(call(library, "sub_row", M, 2, 2, 2), [5, 6])


@pytest.mark.parametrize("library", ["numpy", "jax"])
def test_indices_known_at_run_time(library):
    v, m = lift(library, V), lift(library, M)
    np.testing.assert_array_equal(jax.jit(lambda i: registry.by_symbol("segment")(v, i, 2))(2), [2, 3])
    np.testing.assert_array_equal(jax.jit(lambda i: registry.by_symbol("col")(m, i))(3), [3, 6])
    block = jax.jit(lambda i: registry.by_symbol("block")(m, 1, i, 2, 2))(2)
    np.testing.assert_array_equal(block, [[2, 3], [5, 6]])


@pytest.mark.parametrize(
    "symbol, arguments",
    [
        ("head", (V, 5)), ("tail", (V, 5)), ("segment", (V, 0, 1)), ("segment", (V, 4, 2)), ("segment", (V, 5, 0)),
        ("col", (M, 4)), ("row", (M, 0)), ("block", (M, 1, 1, 3, 1)), ("sub_col", (M, 1, 4, 1)),
        ("sub_row", (M, 1, 3, 2)), ("one_hot_vector", (3, 4)), ("append_row", (M, M[:, :2])),
        ("append_col", (M, M[:1])), ("append_array", (M, M[:, :2])), ("to_shaped_matrix", (V, 3, 2)),
    ],
)  # fmt: skip
@pytest.mark.parametrize("library", LIBRARIES)
def test_bad_indices_and_sizes_are_refused(library, symbol, arguments):
    with pytest.raises(StanIndexError, match=registry.by_symbol(symbol).name):
        call(library, symbol, *arguments)


@pytest.mark.parametrize("symbol, arguments", [("rep_vector", (1.0, -1)), ("head", (V, -1)), ("ones_array", (-2,))])
def test_negative_sizes_are_refused(symbol, arguments):
    with pytest.raises(StanDomainError, match="nonnegative"):
        registry.by_symbol(symbol)(*arguments)


@pytest.mark.parametrize("library", LIBRARIES)
def test_concatenation(library):
    np.testing.assert_array_equal(call(library, "append_to_vector", 0.5, [1.0, 2.0]), [0.5, 1, 2])
    np.testing.assert_array_equal(call(library, "append_col", [1.0, 2.0], M), np.c_[[1, 2], M])
    np.testing.assert_array_equal(call(library, "append_row", M, [7.0, 8.0, 9.0]), np.r_[M, [[7, 8, 9]]])
    np.testing.assert_array_equal(call(library, "append_array", M, M), np.r_[M, M])
    np.testing.assert_array_equal(call(library, "append_array", np.zeros((0, 0)), M), M)


@pytest.mark.parametrize("library", LIBRARIES)
def test_matrices_are_read_and_filled_column_by_column(library):
    columns = M.T.ravel()
    np.testing.assert_array_equal(call(library, "matrix_to_vector", M), columns)
    np.testing.assert_array_equal(call(library, "matrix_to_array", M), columns)
    np.testing.assert_array_equal(call(library, "to_shaped_matrix", columns, 2, 3), M)
    np.testing.assert_array_equal(call(library, "to_shaped_matrix", M, 3, 2), columns.reshape(2, 3).T)
    np.testing.assert_array_equal(call(library, "to_ordered_matrix", M.ravel(), 2, 3, 0), M)
    np.testing.assert_array_equal(call(library, "to_array_1d", M), M.ravel())
    assert call(library, "to_column_matrix", V).shape == (4, 1)
    assert call(library, "to_row_matrix", V).shape == (1, 4)
