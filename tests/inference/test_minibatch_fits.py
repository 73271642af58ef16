"""Fits by minibatches: against closed forms, from data of every kind, interrupted and not."""
from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import stanimport
from stanimport.inference.methods import importance
from stanimport.inference.methods.minibatch import fitting, numpyro_steps, optimization
from stanimport.inference.methods.optimization import ConvergenceWarning
from stanimport.inference.options import OptionError

N = 640
HIERARCHY = """
    data { int N; vector[N] y; }
    parameters { real m; vector[N] z; }
    transformed parameters { vector[N] w = z + m; real twice = 2 * m; }
    model { m ~ normal(0, 1); z ~ normal(m, 1); y ~ normal(z, 2); }
    generated quantities { real noisy = normal_rng(m, 0.001); array[N] real copies = to_array_1d(z); }
"""
LINE = """
    data { int N; vector[N] x; vector[N] y; }
    parameters { real a; real b; }
    model { a ~ normal(0, 9); b ~ normal(0, 9); for (n in 1:N) y[n] ~ normal(a + b * x[n], 1); }
"""


def line_data():
    rng = np.random.default_rng(4)
    x = rng.normal(size=N)
    return {"N": N, "x": x, "y": 0.5 - 2 * x + rng.normal(size=N)}


def line_posterior():
    """Mean and covariance of a and b."""
    given = line_data()
    design = np.stack([np.ones(N), given["x"]], 1)
    covariance = np.linalg.inv(design.T @ design + np.eye(2) / 81)
    return covariance @ design.T @ given["y"], covariance


@pytest.mark.sampled(16)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_a_fit_of_batches_is_that_of_all_data(backend):
    line, (mean, covariance) = stanimport.loads(LINE, backend=backend), line_posterior()
    fit = stanimport.variational(line, line_data(), minibatch={"N": 64}, seed=1, draws=300,
                                 algorithm="fullrank" if backend == "numpyro" else "meanfield",
                                 iter=3000 if backend == "numpyro" else 600)  # fmt: skip
    spread = np.sqrt(np.diag(covariance))
    found = np.stack([fit.stan_variable("a"), fit.stan_variable("b")], 1)
    np.testing.assert_allclose(found.mean(axis=0), mean, atol=0.4 * spread.min())
    np.testing.assert_allclose(found.std(axis=0), spread, rtol=0.3)
    assert fit.info["converged"] and fit.info["pareto_k"] < 0.7
    assert len(fit.info["elbo"]) == len(fit.info["elbo_error"]) == -(-fit.info["steps"] // 100)
    assert fit.data["N"] == N and "y" not in fit.data


@pytest.mark.sampled(2)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_errors_of_a_batch_tell_the_row_of_the_data(backend):
    line = stanimport.loads(LINE, backend=backend)
    for row in (500, 7):  # of the first batch and of another one
        given = line_data()
        given["y"][row] = np.nan
        with pytest.raises(stanimport.StanError, match=r"y\[\d+\] is nan") as caught:
            stanimport.variational(line, given, minibatch={"N": 64}, iter=20, seed=1)
        (note,) = caught.value.__notes__
        assert note.endswith(f"of the batch is y[{row + 1}] of the data")
        assert "Trace Shapes" not in str(caught.value)


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.filterwarnings("error:invalid value:RuntimeWarning")
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_outcomes_that_are_infinite_are_left_out_with_a_warning(backend):
    given, line = line_data(), stanimport.loads(LINE, backend=backend)
    given["y"][7] = np.inf
    with pytest.warns(ConvergenceWarning, match="some rows of the data, which the fit leaves out"):
        fit = stanimport.variational(line, given, minibatch={"N": 64}, iter=200, seed=1, khat=False)
    assert np.isfinite(fit.stan_variable("a")).all() and np.isnan(fit.info["elbo_error"]).all()


@pytest.mark.slow
def test_parameters_of_rows_follow_their_rows():
    y = np.random.default_rng(5).normal(1.0, 2.2, N)
    module = stanimport.loads(HIERARCHY)
    fit = stanimport.variational(module, {"N": N, "y": y}, minibatch={"N": 64}, seed=1, iter=6000, draws=400)
    precision = 1 + N / 5  # of m, whose mean-field law has the variance of its conditional law
    mean = y.sum() / 5 / precision
    assert fit.stan_variable("m").mean() == pytest.approx(mean, abs=0.1)
    params = fit.info["params"]
    assert params["z.loc"].shape == (N,)
    assert np.abs(params["z.loc"] - (mean + y / 4) / 1.25).mean() < 0.1
    assert np.abs(params["z.scale"] - np.sqrt(1 / 1.25)).mean() < 0.15
    assert set(fit.variables) == {"m", "twice", "noisy"}
    np.testing.assert_allclose(fit.stan_variable("twice"), 2 * fit.stan_variable("m"))
    assert fit.info["pareto_k"] > 0.7  # a mean-field law of so many parameters that depend on one another


def test_a_program_is_compiled_once_for_all_batches(monkeypatch):
    traced = []
    advance = numpyro_steps.Steps._advance
    monkeypatch.setattr(numpyro_steps.Steps, "_advance", lambda *args: traced.append(1) or advance(*args))
    line = stanimport.loads(LINE)
    fit = stanimport.variational(line, line_data(), minibatch={"N": 100}, seed=1, iter=500, khat=False,
                                 require_converged=False)  # fmt: skip
    assert fit.info["steps"] == 500 and len(traced) == 1


class Interruptible:
    """Data whose batches end with an error once."""

    def __init__(self, after):
        self.left, self.given = after, line_data()

    def __iter__(self):
        for start in range(0, N, 50):  # the last one has 40 rows
            self.left -= 1
            if self.left == 0:
                raise OSError("the disk is gone")
            yield {n: v[start : start + 50] for n, v in self.given.items() if n != "N"}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind, backend", [("arrays", "numpyro"), ("iterable", "numpyro"), ("arrays", "pyro")])
def test_a_checkpoint_goes_on_bit_for_bit(kind, backend, tmp_path, monkeypatch):
    source, steps = HIERARCHY if kind == "arrays" else LINE, 700 if backend == "numpyro" else 90
    module = stanimport.loads(source, backend=backend)
    chosen = dict(minibatch={"N": 64}, seed=1, iter=steps, khat=False, eta=0.05, draws=20)
    if kind == "arrays":
        data = {"N": N, "y": line_data()["y"]}
    else:
        data = Interruptible(-1)
    whole = stanimport.variational(module, data, require_converged=False, **chosen)
    place = tmp_path / "far"
    chosen |= {"checkpoint": place, "require_converged": False}
    if kind == "arrays":
        judged, count = optimization._judge, []

        def interrupted(*args):
            judged(*args)
            count.append(1)
            if len(count) == 7:
                raise KeyboardInterrupt

        monkeypatch.setattr(optimization, "_judge", interrupted)
        with pytest.raises(KeyboardInterrupt):
            stanimport.variational(module, data, **chosen)
    else:
        with pytest.raises(OSError, match="the disk is gone"):
            stanimport.variational(module, Interruptible(90), **chosen)
    resumed = stanimport.variational(module, data, **chosen)
    again = stanimport.variational(module, data, **chosen)
    for fit in (resumed, again):
        assert fit.info["steps"] == steps
        for name, value in whole.info["params"].items():
            np.testing.assert_array_equal(fit.info["params"][name], value)
        np.testing.assert_array_equal(fit.info["elbo"], whole.info["elbo"])
        np.testing.assert_array_equal(fit.stan_variables()["m" if kind == "arrays" else "a"],
                                      whole.stan_variables()["m" if kind == "arrays" else "a"])  # fmt: skip
    with pytest.raises(stanimport.StanDataError, match="differs in seed"):
        stanimport.variational(module, data, **{**chosen, "seed": 2})
    others = {"N": N, "y": np.r_[data["y"][:-1], 9.0]} if kind == "arrays" else (
        [{n: v + (n == "y") for n, v in line_data().items() if n != "N"}])  # fmt: skip
    with pytest.raises(stanimport.StanDataError, match="differs in the data"):
        stanimport.variational(module, others, **chosen)
    place.write_text("nothing")
    with pytest.raises(stanimport.StanDataError, match="holds no checkpoint"):
        stanimport.variational(module, data, **chosen)


def test_a_fit_of_batches_is_saved(tmp_path):
    line = stanimport.loads(LINE)
    fit = stanimport.variational(line, line_data(), minibatch={"N": 100}, seed=1, iter=500, khat=False,
                                 require_converged=False)  # fmt: skip
    read = stanimport.inference.Fit.load(fit.save(tmp_path / "fit.nc"))
    np.testing.assert_array_equal(read.stan_variable("b"), fit.stan_variable("b"))
    np.testing.assert_array_equal(read.info["params"]["auto_loc"], fit.info["params"]["auto_loc"])
    assert read.settings["minibatch"] == {"N": 100}


@pytest.mark.parametrize("data, chosen, error, said", [
    ({}, {"minibatch": {"M": 3}}, stanimport.StanError, "no size 'M'"),
    ({}, {"minibatch": {"N": 0}}, OptionError, "minibatch of N must be at least 1"),
    ({}, {"minibatch": {}}, OptionError, "how many rows a batch has"),
    ({}, {"minibatch": 3}, OptionError, "how many rows a batch has"),
    ({}, {"minibatch": {"N": 641}}, stanimport.StanDataError, "batches of 641 can't be taken of the 640 rows"),
    ({"N": 639}, {"minibatch": {"N": 3}}, stanimport.StanDataError, "x has 640 rows, but N is 639"),
    ({"y": ["a"] * N}, {"minibatch": {"N": 3}}, stanimport.StanDataError, "^y must hold numbers"),
    ({}, {"checkpoint": "far"}, OptionError, "give minibatch"),
])  # fmt: skip
def test_options_and_data_that_do_not_go_together(data, chosen, error, said):
    with pytest.raises(error, match=said):
        stanimport.variational(stanimport.loads(LINE), line_data() | data, seed=1, iter=10, **chosen)


def test_rows_that_are_not_as_declared_are_named():
    source = "data { int N; array[N] int<lower=0> k; } parameters { real<lower=0> r; } model { k ~ poisson(r); }"
    k = np.arange(50)
    k[33] = -4
    with pytest.raises(stanimport.StanDataError, match="in row 34 of N: k is out of bounds.* -4"):
        stanimport.variational(stanimport.loads(source), {"N": 50, "k": k}, minibatch={"N": 5}, seed=1, iter=20)


def test_indices_out_of_range_are_named():
    source = """
        data { int N; array[N] int g; vector[N] y; } parameters { vector[3] a; }
        model { a ~ std_normal(); y ~ normal(a[g], 1); }
    """
    data = {"N": 20, "g": np.r_[np.ones(19, int), 4], "y": np.zeros(20)}
    with pytest.raises(stanimport.StanError, match="index 4 is out of range"):
        stanimport.variational(stanimport.loads(source), data, minibatch={"N": 2}, seed=1, iter=20)


def test_what_depends_on_all_rows_is_refused():
    source = "data { int N; vector[N] y; } parameters { real m; } model { y ~ normal(m + mean(y), 1); }"
    with pytest.raises(stanimport.StanSemanticError, match="no sum of one of each row, for 'mean"):
        stanimport.variational(stanimport.loads(source), {"N": 9, "y": np.zeros(9)}, minibatch={"N": 3})


def test_parameters_of_rows_need_rows_that_have_places():
    batches = [{"y": np.zeros(10)}] * 2
    with pytest.raises(OptionError, match="z has an entry for every row, and an iterable"):
        stanimport.variational(stanimport.loads(HIERARCHY), batches, minibatch={"N": 5}, seed=1, iter=10)


def test_sums_of_transformed_data_are_those_of_a_batch():
    """Sums over rows are estimated like any term; a standardised column would not be."""
    source = """
        data { int N; array[N] int<lower=0, upper=1> y; }
        transformed data { int ones = sum(y); }
        parameters { real<lower=0, upper=1> p; }
        model { target += ones * log(p) + (N - ones) * log1m(p); }
    """
    y = (np.arange(400) % 5 == 0).astype(int)
    fit = stanimport.variational(stanimport.loads(source), {"N": 400, "y": y}, minibatch={"N": 50}, seed=1, iter=2500,
                                 require_converged=False)  # fmt: skip
    assert fit.stan_variable("p").mean() == pytest.approx(81 / 402, abs=0.02)
    assert fit.stan_variable("p").std() == pytest.approx(np.sqrt(0.2 * 0.8 / 403), rel=0.3)
    assert fit.info["pareto_k"] < 0.7


@pytest.mark.slow
def test_two_sizes_are_cut_at_once():
    source = """
        data { int N; int M; matrix[N, M] y; }
        parameters { vector[N] a; vector[M] b; real<lower=0> s; }
        model {
          a ~ normal(0, 1); b ~ normal(0, 1); s ~ exponential(1);
          for (n in 1:N) for (m in 1:M) y[n, m] ~ normal(a[n] + b[m], s);
        }
    """
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=40), rng.normal(size=30)
    y = a[:, None] + b + 0.3 * rng.normal(size=(40, 30))
    fit = stanimport.variational(stanimport.loads(source), {"N": 40, "M": 30, "y": y}, minibatch={"N": 8, "M": 10},
                                 seed=1, iter=3000, require_converged=False)  # fmt: skip
    found = fit.info["params"]["a.loc"][:, None] + fit.info["params"]["b.loc"]
    assert np.abs(found - (a[:, None] + b)).mean() < 0.15
    assert fit.stan_variable("s").mean() == pytest.approx(0.3, abs=0.05)


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_parameters_with_rows_of_two_sizes_are_refused(backend):
    source = """
        data { int N; int M; matrix[N, M] y; }
        parameters { matrix[N, M] z; }
        model { to_vector(z) ~ normal(0, 1); to_vector(y) ~ normal(to_vector(z), 1); }
    """
    module, data = stanimport.loads(source, backend=backend), {"N": 4, "M": 4, "y": np.zeros((4, 4))}
    with pytest.raises(OptionError, match="z has an entry for every row of N and of M"):
        stanimport.variational(module, data, minibatch={"N": 2, "M": 2}, seed=1, iter=10)


def test_parameters_that_still_move_when_the_bound_hardly_does_are_told_of():
    """So small steps that the bound can't tell them from its noise, which is called converged."""
    line = stanimport.loads(LINE)
    with pytest.warns(ConvergenceWarning, match=r"had not come to rest .* \(R-hat of the iterates \d"):
        fit = stanimport.variational(line, line_data(), minibatch={"N": 64}, seed=1, iter=2000, eta=1e-4, draws=10,
                                     tol_rel_obj=0.5, khat=False)  # fmt: skip
    assert fit.info["converged"] and not fit.info["arrived"]


@pytest.mark.parametrize("backend", ["numpyro", pytest.param("pyro", marks=pytest.mark.slow)])
def test_importance_ratios_of_two_sizes_are_of_all_rows(backend, monkeypatch):
    """Where the approximation is the posterior, every ratio is the evidence, in whatever parts the rows are read."""
    source = """
        data { int N; int M; vector[N] x; vector[M] z; matrix[N, M] y; }
        parameters { vector[N] a; vector[M] b; real c; }
        model {
          a ~ normal(0, 1); b ~ normal(0, 1); c ~ normal(0, 2);
          x ~ normal(a, 0.5); z ~ normal(b, 0.5);
          for (n in 1:N) for (m in 1:M) y[n, m] ~ normal(c, 3);
        }
    """
    rng, N, M = np.random.default_rng(3), 12, 9
    x, z, y = rng.normal(size=N), rng.normal(size=M), rng.normal(size=(N, M))
    evidence = stats.norm(0, np.sqrt(1.25)).logpdf(np.concatenate([x, z])).sum()
    evidence += stats.multivariate_normal(cov=9 * np.eye(N * M) + 4.0).logpdf(y.ravel())
    found = []
    monkeypatch.setattr(fitting, "ROWS", 36)  # four rows of N at once
    monkeypatch.setattr(importance, "pareto_shape", lambda ratios: found.append(ratios) or 0.0)
    module, data = stanimport.loads(source, backend=backend), {"N": N, "M": M, "x": x, "z": z, "y": y}
    stanimport.variational(module, data, minibatch={"N": 4, "M": 3}, iter=4000, seed=1, eta=0.05,
                           require_converged=False)  # fmt: skip
    assert np.median(found[0]) == pytest.approx(evidence, abs=1.0)
    assert found[0].std() < 1.5


@pytest.mark.sampled(2)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_parameters_of_rows_are_drawn_with_those_of_all(backend):
    """The rows' law under this guide is around a draw of m, so that what is left of it is known."""
    source = """
        data { int N; vector[N] y; }
        parameters { real m; vector<lower=0>[N] z; }
        model { m ~ normal(0, 1); z ~ lognormal(m, 1); y ~ normal(z, 1); }
        guide parameters { real s; }
        guide { m ~ normal(s, 1); z ~ lognormal(m + y, 0.001); }
    """
    module, y, rows = stanimport.loads(source, backend=backend), np.linspace(-1, 1, 12), np.array([2, 11])
    options = {"minibatch": {"N": 3}, "iter": 6, "seed": 1, "require_converged": False, "khat": False}
    fit = stanimport.variational(module, {"N": 12, "y": y}, **options, draws=50, rows={"N": rows})
    assert fit.info["z.draws"].shape == (50, 2)
    expected = fit.stan_variable("m")[:, None] + y[rows - 1]
    np.testing.assert_allclose(np.log(fit.info["z.draws"]), expected, atol=0.01)
    for wrong, said in (({"N": [13]}, "from 1 to 12"), ({"M": [1]}, "a size of rows"), ({"N": [0.5]}, "whole numbers")):
        with pytest.raises(OptionError, match=said):
            stanimport.variational(module, {"N": 12, "y": y}, **options, rows=wrong)


@pytest.mark.slow
def test_rows_of_an_automatic_guide_are_drawn_from_its_lines(tmp_path):
    """Their draws are saved with the fit."""
    source = """
        data { int N; vector[N] y; }
        parameters { real mu; vector<lower=0>[N] z; }
        model { mu ~ normal(0, 1); z ~ lognormal(mu, 1); y ~ normal(z, 0.1); }
    """
    y = np.linspace(0.5, 3, 20)
    fit = stanimport.variational(stanimport.loads(source), {"N": 20, "y": y}, minibatch={"N": 5}, iter=400, seed=1,
                                 draws=400, rows={"N": [1, 20]}, require_converged=False)  # fmt: skip
    means, spreads = (fit.info["params"][f"z.{what}"][[0, 19]] for what in ("loc", "scale"))
    standardized = (np.log(fit.info["z.draws"]) - means) / spreads
    assert stats.kstest(standardized.ravel(), stats.norm.cdf).pvalue > 1e-4
    read = stanimport.inference.Fit.load(fit.save(tmp_path / "fit.nc"))
    np.testing.assert_array_equal(read.info["z.draws"], fit.info["z.draws"])


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_a_guide_with_nothing_to_learn_has_its_bound(backend):
    """Where the guide is the posterior that is the evidence, in every draw of all rows."""
    y = np.array([0.5, -1.0, 2.0, 1.5])
    source = """
        data { int N; vector[N] y; } parameters { real m; } model { m ~ normal(0, 1); y ~ normal(m, 1); }
        guide { m ~ normal(0.6, sqrt(0.2)); }
    """
    fit = stanimport.variational(stanimport.loads(source, backend=backend), {"N": 4, "y": y}, minibatch={"N": 4},
                                 iter=20, draws=5, seed=1, require_converged=False)  # fmt: skip
    evidence = stats.multivariate_normal(np.zeros(4), np.eye(4) + 1).logpdf(y)
    np.testing.assert_allclose(fit.info["elbo"], evidence, rtol=1e-6)


def test_a_ratio_beyond_all_others_is_no_reliable_approximation():
    """Next to it the exponentials of the others are 0, which they are not where all are equal."""
    assert importance.pareto_shape(np.linspace(0, 1e6, 200)) == np.inf
    assert importance.pareto_shape(np.zeros(200)) == -np.inf
