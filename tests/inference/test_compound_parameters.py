"""Tuples and complex numbers as parameters of generated quantities: as one value, or by the sites of their parts."""
from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats

import stanimport
from stanimport.inference import tuples

PROGRAM = """parameters { tuple(real, vector[2]) t; complex z; }
generated quantities { real q = t.1 + sum(t.2); real r = get_real(z) - 2 * get_imag(z); }"""
BY_SITES = {"t.1": 1.0, "t.2": np.array([2.0, 4.0]), "z.real": 3.0, "z.imag": 0.5}


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("draw", [BY_SITES, {"t": (1.0, np.array([2.0, 4.0])), "z": 3 + 0.5j}], ids=["sites", "values"])
def test_both_ways_give_the_same_quantities(backend, draw, x64):
    if backend == "pyro":
        pytest.importorskip("pyro", reason="the pyro extra is not installed")
    made = stanimport.loads(PROGRAM, backend=backend).generated_quantities(**draw)
    assert (float(made["q"]), float(made["r"])) == (pytest.approx(7.0), pytest.approx(2.0))


def test_the_parts_of_a_complex_number_are_packed():
    z = stanimport.loads(PROGRAM).stan.parameters[1]
    assert tuples.pack(z, BY_SITES) == 3 + 0.5j
    assert tuples.pack(z, {"z": 1j}) == 1j


FITTED = """data { int N; int K; array[N] real y; } parameters { real m; complex z; array[K] real none; }
model { m ~ normal(0, 1); abs(z) ~ normal(0, 1); y ~ normal(m + get_imag(z), 1); }
generated quantities { real q = m + get_imag(z) + sum(none); }"""


@pytest.fixture(scope="module", params=["numpyro", "pyro"])
def fit(request):
    """Of draws that are one and the same point."""
    if request.param == "pyro":
        pytest.importorskip("pyro", reason="the pyro extra is not installed")
    module = stanimport.loads(FITTED, backend=request.param, name="fitted")
    return stanimport.sample(module, {"N": 2, "K": 0, "y": [1.0, 2.0]}, inits={"m": 1.0, "z": 2 + 3j, "none": []},
                             chains=2, iter_sampling=8, fixed_param=True, seed=1, show_progress=False)  # fmt: skip


@pytest.mark.sampled(2)
def test_draws_of_complex_and_of_empty_parameters(fit):
    """They are in the fit, and go back into the program."""
    assert fit.stan_variable("z").tolist() == [2 + 3j] * 16 and fit.stan_variable("none").shape == (16, 0)
    assert list(fit.draws_pd("z"))[3:] == ["z[real]", "z[imag]"]
    assert {"z", "none"} <= set(fit.draws_xr().data_vars) and fit.summary().loc["z[imag]", "Mean"] == 3.0
    log_likelihood = fit.to_arviz(prior=False).log_likelihood["y"].values
    expected = -0.5 * (np.array([1.0, 2.0]) - 4.0) ** 2 - 0.5 * np.log(2 * np.pi)
    np.testing.assert_allclose(log_likelihood, np.broadcast_to(expected, (2, 8, 2)), rtol=1e-6)
    predicted = fit.posterior_predictive({"N": 500, "K": 0}, seed=1).stan_variable("y")
    assert predicted.shape == (16, 500) and predicted.mean() == pytest.approx(4.0, abs=0.1)


def test_draws_from_files_and_tables_go_back_into_the_program(fit, tmp_path):
    """Those of parameters without entries have no columns."""
    polars = pytest.importorskip("polars")
    data = {"N": 2, "K": 0, "y": [1.0, 2.0]}
    files = fit.save_csvfiles(tmp_path)
    read = stanimport.from_csv(files, module=fit.module, data=data)
    table = fit.draws_pd()
    for draws in (files, read, table, polars.from_pandas(table), fit.draws_xr(), fit.to_arviz(prior=False).posterior):
        made = stanimport.generate_quantities(fit.module, data, previous_fit=draws, seed=1)
        assert made.stan_variable("q").tolist() == [4.0] * 16
    assert read.posterior_predictive({"N": 1, "K": 0}, seed=1).stan_variable("y").shape == (16, 1)


def test_prior_draws_of_complex_parameters():
    prior = stanimport.prior_predictive(
        stanimport.loads("data { int N; array[N] real y; } parameters { real m; } transformed parameters { "
                         "complex z = to_complex(m, 1); } model { m ~ normal(0, 1); y ~ normal(m, 1); }"),
        {"N": 2}, draws=5, seed=1,
    )  # fmt: skip
    assert prior.origin["z"].shape == (1, 5) and np.all(prior.origin["z"].imag == 1)


def test_prior_draws_of_tuples_bounded_by_items_of_others():
    prior = stanimport.prior_predictive(
        stanimport.loads("parameters { tuple(real, real<lower=0>) t; tuple(real<lower=t.1>, real) u; } "
                         "model { t.1 ~ normal(0, 9); t.2 ~ exponential(1); u.1 ~ normal(t.1, 2); "
                         "u.2 ~ normal(t.2, 1e-3); }"),
        draws=400, seed=1,
    )  # fmt: skip
    (first, second), (bounded, near) = prior.stan_variable("t"), prior.stan_variable("u")
    assert stats.kstest((bounded - first) / 2, stats.halfnorm.cdf).pvalue > 1e-3
    np.testing.assert_allclose(near, second, atol=6e-3)


def test_parts_that_are_no_numbers_leave_the_other_part_alone(tmp_path):
    """In data of JSON, and in the files of a fit: the infinite number `1 + inf i` is not `1j * inf` beside 1."""
    parts = [1.5, np.inf], [-np.inf, 2.5], [1.0, np.nan], [np.nan, -2.0]
    path = tmp_path / "given.json"
    path.write_text(json.dumps({"c": parts}))
    program = """data { complex_vector[4] c; }
generated quantities { complex_vector[4] z = c; complex w = to_complex(1, negative_infinity()); }"""
    module = stanimport.loads(program)
    fit = stanimport.sample(module, path, chains=1, iter_sampling=2, seed=1, show_progress=False)
    fit.save(tmp_path / "fit.nc")
    found = [fit, stanimport.Fit.load(tmp_path / "fit.nc"), stanimport.from_csv(fit.save_csvfiles(tmp_path / "csv"))]
    for each in found:
        z = each.stan_variable("z")
        np.testing.assert_array_equal(np.stack([z.real, z.imag], axis=-1), [parts] * 2)
        w = each.stan_variable("w")
        np.testing.assert_array_equal([w.real, w.imag], [[1, 1], [-np.inf] * 2])
