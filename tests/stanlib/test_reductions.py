"""Reductions, sorting, softmax and distances."""
import statistics
from fractions import Fraction

import jax
import numpy as np
import pytest
from libraries import DIFFERENTIABLE, LIBRARIES, call, gradient, lift, numeric_gradient

from stanlib import registry
from stanlib.errors import StanDomainError, StanIndexError

V = np.array([1.0, 2.5, -4.0, 0.75])
M = np.array([[1.0, 2.0], [-3.0, 0.5]])


@pytest.mark.parametrize("library", LIBRARIES)
def test_reductions(library):
    for symbol, expected in (
        ("sum", V.sum()), ("prod", V.prod()), ("mean", V.mean()), ("variance", V.var(ddof=1)), ("sd", V.std(ddof=1)),
        ("max", 2.5), ("min", -4.0), ("norm1", abs(V).sum()), ("norm2", np.linalg.norm(V)),
        ("dot_self", V @ V),
    ):  # fmt: skip
        assert call(library, symbol, V) == pytest.approx(expected, rel=1e-14)
    assert call(library, "sd", M) == pytest.approx(M.std(ddof=1))
    np.testing.assert_allclose(call(library, "cumulative_sum", V), V.cumsum())


@pytest.mark.parametrize("library", LIBRARIES)
def test_deviations_of_nearly_equal_numbers(library):
    x = [2045.2802772295613, 2045.2802772295566]
    exact = statistics.variance(map(Fraction, x))
    assert call(library, "variance", x) == pytest.approx(float(exact), rel=1e-14, abs=0)
    assert call(library, "sd", x) == pytest.approx(float(exact) ** 0.5, rel=1e-14, abs=0)


@pytest.mark.parametrize("library", DIFFERENTIABLE)
def test_deviations_of_equal_numbers_are_0_also_where_their_mean_is_rounded(library):
    equal = [0.1, 0.1, 0.1]
    assert sum(equal) / 3 != 0.1
    assert call(library, "variance", equal) == call(library, "sd", equal) == 0
    np.testing.assert_array_equal(gradient(library, registry.by_symbol("variance"), equal), [0, 0, 0])
    np.testing.assert_allclose(gradient(library, registry.by_symbol("sd"), equal), np.full(3, 3**-0.5))


@pytest.mark.parametrize("library", LIBRARIES)
def test_empty_containers(library):
    empty = np.zeros(0)
    for symbol, expected in (("sum", 0), ("prod", 1), ("max", -np.inf), ("min", np.inf), ("norm2", 0)):
        assert call(library, symbol, empty) == expected
    assert call(library, "softmax", empty).shape == (0,)
    for symbol in ("mean", "sd", "variance", "log_softmax"):
        with pytest.raises(StanIndexError, match="non-zero size"):
            call(library, symbol, empty)
    with pytest.raises(StanIndexError):
        registry.by_symbol("max_of_ints")(np.zeros(0, int))


@pytest.mark.parametrize("library", DIFFERENTIABLE)
def test_gradients_where_formulas_break_down(library):
    equal = [2.0, 2.0, 2.0]
    np.testing.assert_array_equal(gradient(library, registry.by_symbol("max"), equal), [1, 0, 0])
    np.testing.assert_array_equal(gradient(library, registry.by_symbol("min"), equal), [1, 0, 0])
    np.testing.assert_allclose(gradient(library, registry.by_symbol("sd"), equal), np.full(3, 3**-0.5))
    np.testing.assert_array_equal(gradient(library, registry.by_symbol("norm1"), [0.0, -1.0]), [0, -1])
    distance = registry.by_symbol("distance")
    np.testing.assert_array_equal(gradient(library, lambda x: distance(x, lift(library, equal)), equal), [0, 0, 0])
    np.testing.assert_array_equal(gradient(library, registry.by_symbol("prod"), [0.0, 3.0, 2.0]), [6, 0, 0])
    np.testing.assert_array_equal(gradient(library, registry.by_symbol("max"), [[1.0, 5.0], [5.0, 0.0]])[1, 0], 1)


@pytest.mark.parametrize("library", DIFFERENTIABLE)
@pytest.mark.parametrize("symbol", ["variance", "sd", "norm2", "mean", "dot_self"])
def test_gradients_of_reductions(library, symbol):
    f = registry.by_symbol(symbol)
    np.testing.assert_allclose(gradient(library, f, V), numeric_gradient(f, V), rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("library", LIBRARIES)
def test_softmax_of_large_numbers(library):
    x = np.array([800.0, 799.0, -800.0])
    shares = np.array([1, np.exp(-1), 0]) / (1 + np.exp(-1))
    np.testing.assert_allclose(call(library, "softmax", x), shares, rtol=1e-14)
    np.testing.assert_allclose(call(library, "log_softmax", x)[:2], np.log(shares[:2]), rtol=1e-14)
    assert call(library, "log_softmax", x)[2] == pytest.approx(-1600 - np.log1p(np.exp(-1)), rel=1e-14)
    np.testing.assert_allclose(call(library, "softmax", np.stack((x, x))), np.stack((shares, shares)))
    assert call(library, "log_softmax", [-np.inf, 0.0])[0] == -np.inf


@pytest.mark.parametrize("library", LIBRARIES)
def test_sorting(library):
    x = [3.0, -1.0, 3.0, 2.0]
    np.testing.assert_array_equal(call(library, "sort_asc", x), [-1, 2, 3, 3])
    np.testing.assert_array_equal(call(library, "sort_desc", x), [3, 3, 2, -1])
    np.testing.assert_array_equal(call(library, "sort_indices_asc", x), [2, 4, 1, 3])
    np.testing.assert_array_equal(call(library, "sort_indices_desc", x), [1, 3, 4, 2])
    assert call(library, "rank", x, 3) == 2
    np.testing.assert_array_equal(call(library, "reverse", M), M[::-1])


@pytest.mark.parametrize("library", LIBRARIES)
def test_quantiles(library):
    for p in (0.0, 0.3, 1.0):
        assert call(library, "quantile", V, p) == pytest.approx(np.quantile(V, p), rel=1e-14)
    p = np.array([0.1, 0.9])
    np.testing.assert_allclose(call(library, "quantile", V, p), np.quantile(V, p))


def test_arguments_outside_the_domain_are_refused():
    for symbol, arguments in (
        ("quantile", (V, 1.5)), ("quantile", (np.array([np.nan]), 0.5)), ("sort_asc", (np.array([np.nan]),)),
        ("squared_difference", (np.inf, 1.0)),
    ):  # fmt: skip
        with pytest.raises(StanDomainError):
            registry.by_symbol(symbol)(*arguments)
    with pytest.raises(StanIndexError):
        registry.by_symbol("rank")(V, 5)


def test_reductions_under_vmap():
    with jax.enable_x64(True):
        for symbol in ("max", "sd", "norm1", "log_softmax"):
            f = registry.by_symbol(symbol)
            np.testing.assert_allclose(jax.vmap(f)(np.stack((V, 2 * V))), np.stack((f(V), f(2 * V))))
