"""Draws of discrete parameters where quantities are generated again: kept for the data of the fit, drawn for others."""
from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import stats

import stanimport
from stanimport import StanWarning

PROGRAM = """data { int N; vector[N] y; real x; }
parameters { real m; array[N] int<lower=0, upper=1> z; array[2] int<lower=1, upper=2> k; }
transformed parameters { vector[N] at = m + 3 * to_vector(z); }
model { m ~ normal(0, 1); z ~ bernoulli(0.3); y ~ normal(at, 1); }
generated quantities { int count = sum(z); real shifted = at[1] + x; }
"""
Y = np.array([0.2, 2.1, 1.4])
DATA = {"N": 3, "y": Y, "x": 0.5}


@pytest.fixture(scope="module", params=["numpyro", "pyro"])
def fit(request):
    pytest.importorskip(request.param, reason="the backend is not installed")
    module = stanimport.loads(PROGRAM, backend=request.param)
    return stanimport.laplace_sample(module, DATA, draws=2000, seed=1)


@pytest.mark.parametrize("given", [{"data": None}, {"data": {**DATA, "y": list(Y)}}], ids=["none", "the same"])
def test_the_same_data(fit, given, tmp_path):
    z = fit.stan_variable("z")
    assert 0 < z.mean() < 1
    fit.save(tmp_path / "fit.nc")
    for previous in (fit, tmp_path / "fit.nc"):
        again = stanimport.generate_quantities(fit.module, **given, previous_fit=previous, seed=2)
        for name in ("z", "k", "at", "shifted"):
            np.testing.assert_array_equal(again.stan_variable(name), fit.stan_variable(name))
        np.testing.assert_array_equal(again.stan_variable("count"), z.sum(1))
        assert again.stan_variable("z").dtype == z.dtype


def test_another_program_with_the_same_parameters(fit):
    more = PROGRAM.replace("generated quantities {", "generated quantities { int twice = 2 * sum(z);")
    module = stanimport.loads("// one line more\n" + more, backend=fit.module.stan.backend)
    again = stanimport.generate_quantities(module, DATA, previous_fit=fit, seed=2)
    np.testing.assert_array_equal(again.stan_variable("twice"), 2 * fit.stan_variable("z").sum(1))


def test_other_data(fit):
    """Those of other observations are drawn given them: log odds log(0.3 / 0.7) + log densities."""
    other = np.array([3.0, -1.0, 1.0])
    again = stanimport.generate_quantities(fit.module, {**DATA, "y": other}, previous_fit=fit, seed=2)
    m, z = fit.stan_variable("m")[:, None], again.stan_variable("z")
    ones, zeros = 0.3 * stats.norm.pdf(other, m + 3), 0.7 * stats.norm.pdf(other, m)
    probability = ones / (ones + zeros)
    spread = np.sqrt((probability * (1 - probability)).sum(0))
    assert (np.abs((z - probability).sum(0)) < 4.5 * spread).all()
    np.testing.assert_array_equal(again.stan_variable("count"), z.sum(1))


def test_draws_without_their_data_are_told_that_they_are_not_used(fit):
    draws = fit.stan_variables()
    with pytest.warns(StanWarning, match="draws of z, k are not used"):
        stanimport.generate_quantities(fit.module, DATA, previous_fit=draws, seed=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error", StanWarning)
        stanimport.generate_quantities(fit.module, DATA, previous_fit={"m": draws["m"]}, seed=2)
