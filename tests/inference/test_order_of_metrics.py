"""Metrics have the unconstrained parameters in Stan's order, as CmdStan's files have them."""
import json

import numpy as np
import pytest

import stanimport
from stanimport.cmdstanpy import CmdStanModel
from stanimport.inference import LogProb
from stanimport.inference.methods import stan_order

MATRICES = ["matrix[2, 3] x;", "array[2] matrix<lower=0>[2, 3] x;", "matrix<offset=1, multiplier=2>[3, 2] x;",
            "sum_to_zero_matrix[3, 4] x;", "array[2, 2] simplex[3] x;", "array[2] corr_matrix[3] x;",
            "cov_matrix[3] x;", "array[2] cholesky_factor_cov[4, 2] x;", "array[3] vector<upper=1>[2] x;",
            "array[2] sum_to_zero_matrix[3, 3] x;"]  # fmt: skip


@pytest.mark.parametrize("declaration", MATRICES)
def test_the_order_is_stans(declaration):
    stanli = pytest.importorskip("stanli", reason="stanli is not installed")
    program = f"parameters {{ real before; {declaration} real behind; }} model {{ }}"
    density = LogProb(stanimport.loads(program))
    point = np.random.default_rng(1).normal(size=density.size)
    values = {n: np.asarray(v).tolist() for n, v in density.constrain(point).items()}
    expected = stanli.Model(stan_code=program).unconstrain(values)
    np.testing.assert_allclose(point[stan_order.places(density.posterior)], expected, atol=1e-8)


SCALES = """parameters {
  matrix[2, 2] m; array[2] tuple(real, array[2] complex) t; row_stochastic_matrix[2, 3] r; complex_matrix[2, 2] z;
}
model { }"""
NAMED = ["m[1,1]", "m[2,1]", "m[1,2]", "m[2,2]",
         "t.1[1]", "t.2.real[1,1]", "t.2.imag[1,1]", "t.2.real[1,2]", "t.2.imag[1,2]",
         "t.1[2]", "t.2.real[2,1]", "t.2.imag[2,1]", "t.2.real[2,2]", "t.2.imag[2,2]",
         "r[1,1]", "r[2,1]", "r[1,2]", "r[2,2]",
         "z.real[1,1]", "z.imag[1,1]", "z.real[2,1]", "z.imag[2,1]",
         "z.real[1,2]", "z.imag[1,2]", "z.real[2,2]", "z.imag[2,2]"]  # fmt: skip


def test_compounds_are_read_one_after_the_other():
    """Whatever of them stanli does not take: as the reference manual tells of reals in arrays, tuples and matrices."""
    density = LogProb(stanimport.loads(SCALES))
    assert [density.names[i] for i in stan_order.places(density.posterior)] == NAMED


PROGRAM = """parameters { matrix[2, 2] m; complex z; }
model { for (i in 1:2) for (j in 1:2) m[i, j] ~ normal(0, 10.0^(2 * i + j)); get_real(z) ~ normal(0, 1);
  get_imag(z) ~ normal(0, 1e6); }"""
STANS = [3, 5, 4, 6, 0, 6]  # the logarithms of the scales in that order


@pytest.fixture(scope="module")
def fit():
    return stanimport.sample(stanimport.loads(PROGRAM), seed=1, chains=2, metric="diag_e", iter_sampling=20)


def test_what_is_learned_is_in_that_order(fit, tmp_path):
    for found in (fit, stanimport.from_csv(fit.save_csvfiles(tmp_path))):
        assert np.abs(np.log10(found.metric) / 2 - STANS).max() < 0.3


@pytest.mark.parametrize("kind", ["array", "of_chains", "file", "matrix", "low_rank", "cmdstanpy"])
def test_what_is_given_is_in_that_order(fit, kind, tmp_path):
    """With it steps of size 1 suit the posterior, and with its scales on other parameters they do not."""
    diagonal, path = 10.0 ** (2 * np.array(STANS)), tmp_path / "metric.json"
    path.write_text(json.dumps({"inv_metric": diagonal.tolist()}))
    head = np.array([[0.0, 1.0]]), np.column_stack([diagonal, np.eye(6)[0]])
    given = {"array": diagonal, "of_chains": [diagonal] * 2, "file": path, "matrix": np.diag(diagonal),
             "low_rank": np.vstack(head), "cmdstanpy": {"inv_metric": diagonal}}[kind]  # fmt: skip
    how = dict(seed=1, chains=2, iter_warmup=0, iter_sampling=50, adapt_engaged=False, step_size=0.8)
    starts = {"m": [[1e3, 1e4], [1e5, 1e6]], "z": 1e6j}
    if kind == "cmdstanpy":
        program = tmp_path / "scales.stan"
        program.write_text(PROGRAM)
        found = CmdStanModel(stan_file=program).sample(metric=given, inits=starts, show_progress=False, **how).fit
    else:
        found = stanimport.sample(fit.module, metric=given, inits=starts, **how)
    assert found.stats["accept_stat__"].mean() > 0.7 and found.stats["n_leapfrog__"].mean() < 16
    written = np.diagonal(found.metric, axis1=1, axis2=2) if kind == "matrix" else found.metric
    written = written if kind != "low_rank" else found.metric[:, 1:, 0]
    np.testing.assert_array_equal(written, [diagonal] * 2)


@pytest.mark.parametrize("metric", ["diag_e", "dense_e", "low_rank"])
def test_runs_go_on_with_it(fit, metric, tmp_path):
    how = dict(seed=2, chains=2, metric=metric, iter_warmup=120)
    whole = stanimport.sample(fit.module, iter_sampling=40, **how)
    part = stanimport.sample(fit.module, iter_sampling=15, **how)
    for source in (part, part.save(tmp_path / "fit.nc")):
        again = stanimport.sample(fit.module, resume=source, iter_sampling=40)
        np.testing.assert_array_equal(again.draws(), whole.draws())
        np.testing.assert_array_equal(again.metric, whole.metric)


def test_fits_that_are_made_together_have_it(fit):
    """They learn a matrix, of which the diagonal has the scales."""
    for found in stanimport.sample_many(fit.module, [{}, {}], seed=1, sampling={"chains": 2, "iter_sampling": 20}):
        assert np.abs(np.log10(np.diagonal(found.metric, axis1=1, axis2=2)) / 2 - STANS).max() < 0.3
