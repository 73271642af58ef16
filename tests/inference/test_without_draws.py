"""Fits without draws, predictions without rows, and warm-ups without iterations: what is empty has its shape."""
from __future__ import annotations

import numpy as np
import pytest

import stanimport

PROGRAM = """
data { int<lower=0> N; vector[N] y; }
parameters { real m; ordered[2] at; int<lower=1, upper=2> k; }
model { m ~ normal(0, 1); at ~ normal(0, 1); y ~ normal(at[k] + m, 1); }
generated quantities { vector[2] r = [normal_rng(m, 1), m]'; }
"""


@pytest.fixture(scope="module")
def program():
    return stanimport.loads(PROGRAM, name="few")


def fitted(program, rows, **options):
    data = {"N": rows, "y": np.arange(rows) / 2}
    return stanimport.sample(program, data, chains=3, iter_warmup=20, seed=1, **options)


@pytest.fixture(scope="module")
def without_draws(program):
    return fitted(program, 4, iter_sampling=0)


@pytest.mark.slow
def test_what_a_fit_without_draws_has(without_draws, tmp_path):
    without_draws.save(tmp_path / "fit.nc")
    for fit in (without_draws, stanimport.Fit.load(tmp_path / "fit.nc")):
        assert fit.draws(concat_chains=True).shape == (0, len(fit.column_names))
        assert fit.stan_variable("r").shape == (0, 2)
        replicated = fit.posterior_predictive(seed=1)
        assert replicated.stan_variable("y").shape == (0, 4) and replicated.draws_pd().shape == (0, 4)
        assert fit.to_arviz()["posterior_predictive"]["y"].shape == (3, 0, 4)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("draws, told", [(0, "There are no draws"), (1, "1 draws of each chain are"), (3, "3 ")])
def test_few_draws_are_not_satisfactory(program, draws, told):
    diagnosis = fitted(program, 4, iter_sampling=draws).diagnose()
    assert not diagnosis.ok and diagnosis.problems[0].startswith(told)
    assert told in diagnosis._repr_html_()


def test_few_draws_by_fixed_parameters_are_enough(program):
    assert fitted(program, 4, iter_sampling=1, fixed_param=True).diagnose().ok


def test_log_densities_of_observations_without_draws():
    flat = stanimport.loads("data { vector[4] y; } parameters { real m; } model { y ~ normal(m, 1); }")
    fit = stanimport.sample(flat, {"y": [1, 2, 3, 4]}, chains=2, iter_warmup=5, iter_sampling=0, seed=1)
    assert fit.to_arviz()["log_likelihood"]["y"].shape == (2, 0, 4)


@pytest.mark.parametrize("ask", [
    lambda fit: fit.create_inits(chains=2), lambda fit: fit.discrete_probabilities("k"),
    lambda fit: fit.most_probable("k"), lambda fit: fit.plot_trace(), lambda fit: fit.plot_ppc(),
])  # fmt: skip
def test_what_takes_draws_says_that_there_are_none(without_draws, ask):
    with pytest.raises(ValueError, match="the fit has no draws"):
        ask(without_draws)


@pytest.mark.slow
def test_predictions_of_no_rows(program):
    fit = fitted(program, 0, iter_sampling=5)
    prior = stanimport.prior_predictive(program, {"N": 0}, draws=6, seed=1)
    for made, draws in ((fit.posterior_predictive(), 15), (prior, 6)):
        assert made.stan_variables()["y"].shape == (draws, 0)
        assert len(made.draws_pd()) == draws and "y" in made._repr_html_()
    new = fitted(program, 4, iter_sampling=5).posterior_predictive({"N": 0}, redraw=["k"], seed=2)
    assert new.stan_variable("y").shape == (15, 0) and new.draws_pd().shape == (15, 0)


@pytest.mark.slow
def test_the_warm_up_of_no_iterations_is_saved(program, tmp_path):
    data = {"N": 2, "y": [0.5, 1]}
    fit = stanimport.sample(program, data, chains=1, iter_warmup=0, iter_sampling=3, save_warmup=True, seed=1)
    fit.save(tmp_path / "fit.nc")
    loaded = stanimport.Fit.load(tmp_path / "fit.nc")
    read = stanimport.from_csv(fit.save_csvfiles(tmp_path), module=program, data=data)
    for one in (fit, loaded, read):
        np.testing.assert_array_equal(one.draws(inc_warmup=True), one.draws())
