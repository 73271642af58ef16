"""Predictions of missing numbers of observed data, as of those to come of a series, beside closed forms."""
from __future__ import annotations

import numpy as np
import pytest

import stanimport
from stanimport.inference import ReplicationWarning

MADE = 4000
NAN = np.nan
DRAWS = {"a": np.full(MADE, 1.0)}
SERIES = """data {{ int T; {}; }} parameters {{ real<lower=0> a; }}
model {{ a ~ exponential(1); y[1] ~ {}; for (t in 2:T) y[t] ~ {}; }}"""
NORMAL = SERIES.format("vector[T] y", "normal(0, 1)", "normal(a + 0.5 * y[t - 1], 1)")
COUNTS = SERIES.format("array[T] int<lower=0> y", "poisson(3)", "poisson(a + 0.5 * y[t - 1])")


def predicted(program, y, draws=DRAWS):
    fit = stanimport.generate_quantities(stanimport.loads(program), {"T": 3, "y": [1, 50, 2]}, previous_fit=draws)
    made = fit.posterior_predictive({"T": len(y), "y": y}, seed=1)
    return made, made.stan_variable("y")


def test_series_carry_on_from_what_is_known():
    made, y = predicted(NORMAL, [1.0, 50, 2, NAN, NAN, NAN])
    np.testing.assert_allclose(y.mean(axis=0), [0, 1.5, 26, 2, 2, 2], atol=0.1)  # those that are known, one step ahead
    np.testing.assert_allclose(y.var(axis=0), [1, 1, 1, 1, 1.25, 1.3125], rtol=0.1)
    assert np.cov(y[:, 3], y[:, 4])[0, 1] == pytest.approx(0.5, abs=0.1)
    np.testing.assert_array_equal(made.data["y"], [1, 50, 2, NAN, NAN, NAN])


def test_counts_that_masks_hide():
    made, y = predicted(COUNTS, np.ma.masked_array([1, 50, 20, 7, 7], [0, 0, 0, 1, 1]))
    assert y.dtype.kind == "i"
    np.testing.assert_allclose(y.mean(axis=0), [3, 1.5, 26, 11, 6.5], rtol=0.05)
    np.testing.assert_allclose(y.var(axis=0), [3, 1.5, 26, 11, 6.5 + 11 / 4], rtol=0.1)
    np.testing.assert_array_equal(made.data["y"], [1, 50, 20, NAN, NAN])


def test_missing_numbers_that_others_depend_on_are_refused():
    with pytest.raises(stanimport.StanDataError, match="laws of numbers that are given depend on missing ones"):
        predicted(NORMAL, [1.0, NAN, 2, NAN])
    centred = "data { int T; vector[T] y; } transformed data { real m = mean(y); } parameters { real<lower=0> a; } "
    with pytest.raises(stanimport.StanDataError, match="transformed data that they depend on are computed of it"):
        predicted(centred + "model { a ~ exponential(1); y ~ normal(a + m, 1); }", [1.0, NAN, 2])


VECTORS = """data { int T; array[T] vector[2] y; } parameters { real<lower=0> a; }
model { a ~ exponential(1); y[1] ~ normal(0, 1);
        for (t in 2:T) y[t] ~ multi_normal(a + 0.5 * y[t - 1], [[1, 0.8], [0.8, 1]]); }"""


def test_vectors_to_come():
    fit = stanimport.generate_quantities(stanimport.loads(VECTORS), {"T": 1, "y": [[0, 0]]}, previous_fit=DRAWS)
    y = np.array([[0.0, 0], [4, 8], [NAN, NAN], [NAN, NAN]])
    made = fit.posterior_predictive({"T": 4, "y": y}, seed=1).stan_variable("y")
    np.testing.assert_allclose(made.mean(axis=0), [[0, 0], [1, 1], [3, 5], [2.5, 3.5]], atol=0.1)
    np.testing.assert_allclose(np.cov(made[:, 3].T), 1.25 * np.array([[1, 0.8], [0.8, 1]]), atol=0.15)
    y[2, 0] = 3
    with pytest.raises(stanimport.StanDataError, match="lacks some numbers of a vector or matrix that has one law"):
        fit.posterior_predictive({"T": 4, "y": y}, seed=1)


@pytest.mark.parametrize("statement", ["y ~ normal(a, 1);", "for (t in 1:T) if (!is_nan(y[t])) y[t] ~ normal(a, 1);"])
def test_missing_numbers_of_their_own_law(statement):
    program = "data { int T; vector[T] y; } parameters { real<lower=0> a; } model { a ~ exponential(1); "
    _, y = predicted(f"{program} {statement} }}", [1.0, NAN, 2, NAN])
    np.testing.assert_allclose(y.mean(axis=0), 1, atol=0.1)
    np.testing.assert_allclose(y.std(axis=0), 1, atol=0.1)


def test_missing_numbers_that_no_statement_observes_stay_missing():
    program = """data { int T; vector[T] y; } parameters { real<lower=0> a; }
    model { a ~ exponential(1); for (t in 3:T) y[t] ~ normal(a + 0.5 * y[t - 2], 1); }"""
    with pytest.warns(ReplicationWarning, match="2 of the 6 numbers of y are those of the data"):
        _, y = predicted(program, [NAN, 50.0, 2, 8, NAN, NAN])
    np.testing.assert_allclose(y.mean(axis=0), [NAN, 50, NAN, 26, 2, 5], atol=0.1)
