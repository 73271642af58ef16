"""What a fit holds: shapes, names, tables, ArviZ's groups, and its life on disk and in other processes."""
import copy
import importlib
import os
import pickle
import signal
import subprocess
import sys
from xml.etree import ElementTree

import arviz
import compilation
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from arviz_groups import groups_of
from conftest import FLIPS, data_of, load
from scipy import stats

import stanimport
from stanimport.cmdstanpy import CmdStanMCMC
from stanimport.inference.fits import storage


def test_variables_and_columns(beta_fit):
    fit = beta_fit
    assert list(fit.stan_variables()) == ["theta", "m", "pair", "z", "noise"]
    theta, m = fit.stan_variable("theta"), fit.stan_variable("m")
    assert m.shape == (1000, 2, 3)
    np.testing.assert_allclose(m[:, 1, 2], 6 * theta)
    first, second = fit.stan_variable("pair")
    np.testing.assert_allclose(first, 2 * theta)
    assert second.shape == (1000, 2) and set(np.unique(second[:, 0])) <= {0, 1} and (second[:, 1] == 1).all()
    np.testing.assert_allclose(fit.stan_variable("z"), theta + 1j * (1 - theta))
    assert fit.column_names[:7] == (
        "lp__", "accept_stat__", "stepsize__", "treedepth__", "n_leapfrog__", "divergent__", "energy__")  # fmt: skip
    assert fit.column_names[7:] == (
        "theta", "m[1,1]", "m[2,1]", "m[1,2]", "m[2,2]", "m[1,3]", "m[2,3]", "pair:1", "pair:2[1]", "pair:2[2]",
        "z[real]", "z[imag]", "noise")  # fmt: skip


def test_draws_as_tables(beta_fit):
    draws, flat = beta_fit.draws(), beta_fit.draws(concat_chains=True)
    assert draws.shape == (500, 2, 20) and flat.shape == (1000, 20)
    at = beta_fit.column_names.index("m[2,3]")
    np.testing.assert_array_equal(flat[:500, at], draws[:, 0, at])
    np.testing.assert_array_equal(flat[:, at], beta_fit.stan_variable("m")[:, 1, 2])
    frame = beta_fit.draws_pd(["theta", "m[2,3]"])
    assert list(frame) == ["chain__", "iter__", "draw__", "theta", "m[2,3]"]
    assert frame["chain__"].tolist()[499:501] == [1, 2]
    xr = beta_fit.draws_xr("m")
    assert xr["m"].shape == (2, 500, 2, 3) and xr["m_dim_1"].values.tolist() == [0, 1, 2]
    assert {n: v.shape for n, v in beta_fit.method_variables().items()}["lp__"] == (500, 2)


def test_sampler_results(beta_fit):
    assert beta_fit.step_size.shape == (2,) and beta_fit.metric.shape == (2, 1)
    assert beta_fit.divergences.tolist() == [0, 0] and beta_fit.max_treedepths.tolist() == [0, 0]
    depth, leaps = beta_fit.stats["treedepth__"], beta_fit.stats["n_leapfrog__"]
    # a last subtree that turns before it is complete counts for the steps alone
    assert (leaps < 2.0 ** (depth + 1)).all() and (leaps >= 2.0**depth - 1).all()


def test_unknown_variables_are_suggested(beta_fit):
    for ask in (beta_fit.stan_variable, beta_fit.draws_pd, beta_fit.draws_xr):
        with pytest.raises(ValueError, match="did you mean 'theta'"):
            ask("thetta")


def test_summary_against_arviz(beta_fit):
    mine = beta_fit.summary(percentiles=(3, 97))
    theirs = arviz.summary({"theta": beta_fit.variables["theta"]}, round_to=10).loc["theta"]
    row = mine.loc["theta"]
    pairs = {"Mean": "mean", "StdDev": "sd", "ESS_bulk": "ess_bulk", "ESS_tail": "ess_tail", "R_hat": "r_hat",
             "MCSE": "mcse_mean"}  # fmt: skip
    for column, name in pairs.items():
        assert row[column] == pytest.approx(theirs[name], rel=0.02), column
    assert row["97%"] == pytest.approx(np.quantile(beta_fit.variables["theta"], 0.97))
    assert mine.index[0] == "lp__" and beta_fit.summary(sig_figs=2).loc["theta", "Mean"] == float(f"{row['Mean']:.2g}")


def test_groups_for_arviz(schools_fit):
    data = schools_fit.to_arviz()
    assert {"posterior", "sample_stats", "log_likelihood", "posterior_predictive", "prior", "observed_data",
            "constant_data"} == groups_of(data)  # fmt: skip
    gain, se, effect = data.observed_data["gain"].values, data.constant_data["se"].values, data.posterior["effect"]
    expected = stats.norm.logpdf(gain, effect.values, se)
    np.testing.assert_allclose(data.log_likelihood["gain"].values, expected, rtol=1e-10)
    np.testing.assert_allclose(schools_fit.variables["log_lik"], expected, rtol=1e-10)
    assert "replicated" in data.posterior_predictive and "log_lik" not in data.posterior
    assert data.posterior["effect_dim_0"].values.tolist() == list(range(8))
    assert data.sample_stats["diverging"].dtype == bool
    replicated = data.posterior_predictive["gain"].values - effect.values
    assert stats.kstest((replicated / se).ravel(), "norm").pvalue > 1e-4
    assert data.prior["mean_effect"].values.std() == pytest.approx(5, rel=0.15)  # mean_effect ~ normal(0, 5)


def test_own_dims_and_coords(schools_fit):
    data = schools_fit.to_arviz(dims={"effect": ["school"]}, coords={"school": list("ABCDEFGH")}, prior=False,
                                log_likelihood=False, posterior_predictive=False)  # fmt: skip
    assert data.posterior["effect"].sel(school="C").shape == (2, 500) and "log_likelihood" not in groups_of(data)


@pytest.mark.parametrize("dims, coords, told", [
    ({"efect": ["school"]}, {}, "no variable 'efect'; did you mean 'effect'"),
    ({"effect": ["school", "year"]}, {}, "effect has 1 dimensions, not those of"),
    ({"effect": "school"}, {}, "effect has 1 dimensions, not those of 'school'"),
    (["school"], {}, "dims must be a dict of lists of names, not"),
    ({}, "school", "coords must be a dict of sequences, not 'school'"),
    ({"effect": ["school"]}, {"school": ["A", "B"]}, "school has 2 entries by its coordinates, 8 by effect"),
])  # fmt: skip
def test_dims_and_coords_that_do_not_fit_are_refused(schools_fit, dims, coords, told):
    for method in (schools_fit.draws_xr, schools_fit.to_arviz):
        with pytest.raises(stanimport.inference.options.OptionError, match=told):
            method(dims=dims, coords=coords)


def test_the_table_calls_rows_by_coordinates(schools_fit):
    named = copy.copy(schools_fit)
    named.dims, named.coords = {"effect": ("school",), "standardized": ("other",)}, {"school": list("ABCDEFGH")}
    rows = list(named.summary().index)
    assert rows.index("effect[C]") == list(schools_fit.summary().index).index("effect[3]")
    assert "standardized[3]" in rows and "effect[C]" in named._repr_html_()
    assert "effect[3]" in CmdStanMCMC(named).summary().index


def test_effective_sample_sizes_for_the_time_that_they_took(schools_fit):
    """As in CmdStan's stansummary: for the seconds of all chains after warm-up."""
    table = schools_fit.summary()
    assert list(table)[-4:] == ["ESS_bulk", "ESS_tail", "ESS_bulk/s", "R_hat"]
    seconds = sum(float(schools_fit.times[chain, 1]) for chain in range(2))
    np.testing.assert_allclose(table["ESS_bulk/s"] * seconds, table["ESS_bulk"])


def test_some_variables_are_saved(schools_fit, tmp_path):
    few = stanimport.Fit.load(schools_fit.save(tmp_path / "few.nc", keep=["effect", "spread"]))
    assert list(few.variables) == ["spread", "effect"] and few.settings["keep"] == ["effect", "spread"]
    np.testing.assert_array_equal(few.stan_variable("effect"), schools_fit.stan_variable("effect"))
    others = stanimport.Fit.load(schools_fit.save(tmp_path / "others.nc", leave_out="log_lik"))
    assert set(schools_fit.variables) - set(others.variables) == {"log_lik"}
    with pytest.raises(ValueError, match="no variable 'effects'; did you mean 'effect'"):
        schools_fit.save(tmp_path / "none.nc", keep="effects")


def test_a_program_that_only_increments_the_target_takes_its_log_lik():
    module = stanimport.loads("""
data { int N; vector[N] y; }
parameters { real mu; }
model { target += -dot_self(y - mu) / 2; }
generated quantities { vector[N] log_lik; for (n in 1:N) log_lik[n] = normal_lpdf(y[n] | mu, 1); }
""")
    y = np.array([0.5, 1.0, -0.2])
    fit = stanimport.sample(module, {"N": 3, "y": y}, chains=2, iter_warmup=100, iter_sampling=100, seed=1)
    data = fit.to_arviz(prior=False)
    expected = stats.norm.logpdf(y, data.posterior["mu"].values[..., None], 1)
    np.testing.assert_allclose(data.log_likelihood["log_lik"].values, expected)
    assert "posterior_predictive" not in groups_of(data)


def test_saved_loaded_pickled(beta_fit, tmp_path):
    path = beta_fit.save(tmp_path / "fit.nc")
    again = (stanimport.Fit.load(path), pickle.loads(pickle.dumps(beta_fit)))
    for fit in again:
        for name, value in beta_fit.variables.items():
            np.testing.assert_array_equal(fit.variables[name], value)
        assert list(fit.variables) == list(beta_fit.variables) and fit.column_names == beta_fit.column_names
        assert fit.settings == beta_fit.settings and fit.program == beta_fit.program
        np.testing.assert_array_equal(fit.step_size, beta_fit.step_size)
        assert fit.data["N"] == 10 and type(fit.data["N"]) is int
        assert fit.module.stan.source == beta_fit.program.source
    assert arviz.from_netcdf(path).posterior["theta"].shape == (2, 500)
    assert [p.name for p in tmp_path.iterdir()] == ["fit.nc"]


def test_a_file_that_holds_no_fit(tmp_path):
    (tmp_path / "fit.nc").write_text("nothing")
    for name in ("fit.nc", "none.nc"):
        with pytest.raises(stanimport.StanDataError, match=name):
            stanimport.Fit.load(tmp_path / name)


def test_no_folder_for_a_fit(beta_fit, tmp_path):
    with pytest.raises(OSError, match="can't be written"):
        beta_fit.save(tmp_path / "no" / "folder.nc")


def test_plots(schools_fit, tmp_path):
    import matplotlib

    matplotlib.use("Agg")
    from stanimport.inference.fits.plots import save_figure

    axes = schools_fit.plot_trace(["spread"])
    assert np.shape(axes) == (1, 2)
    save_figure(axes, tmp_path / "trace.png")
    assert (tmp_path / "trace.png").read_bytes()[:4] == b"\x89PNG"
    assert len(np.ravel(schools_fit.plot_posterior(["spread", "mean_effect"]))) == 2
    assert schools_fit.plot_ppc(num_pp_samples=20) is not None
    matplotlib.pyplot.close("all")


LIFE = """
import sys, arviz, numpy as np, stanimport
fit = stanimport.Fit.load(sys.argv[1])
loo = arviz.loo(fit.to_arviz(), var_name="gain")
new = stanimport.generate_quantities(data=sys.argv[2], previous_fit=fit, seed=1)
print(loo.elpd_loo, new.stan_variable("replicated")[:, 0].std())
"""


@pytest.mark.slow
def test_the_life_of_a_model(tmp_path):
    """Data file in, sample, diagnose, save; elsewhere: load, LOO, quantities on new data."""
    import json

    data = data_of("eight_schools_noncentered")
    (tmp_path / "data.json").write_text(json.dumps(data))
    (tmp_path / "new.json").write_text(json.dumps(data | {"se": [100.0] * 8}))
    program = load("eight_schools_noncentered").stan.filename
    fit = stanimport.sample(program, tmp_path / "data.json", chains=4, iter_warmup=400, iter_sampling=400, seed=3,
                            adapt_delta=0.95)  # fmt: skip
    assert fit.diagnose().divergent < 20 and "effect[1]" in fit.summary().index
    saved = fit.save(tmp_path / "fit.nc")
    here = arviz.loo(fit.to_arviz(), var_name="gain")
    command = [sys.executable, "-c", LIFE, str(saved), str(tmp_path / "new.json")]
    done = subprocess.run(command, capture_output=True, text=True, env=compilation.quickly(os.environ))
    assert done.returncode == 0, done.stderr
    elpd, spread = map(float, done.stdout.split())
    assert elpd == pytest.approx(here.elpd_loo) == pytest.approx(-30.8, abs=0.4)  # -30.8 by R's loo
    assert spread == pytest.approx(100, rel=0.1)


def test_quantities_of_plain_draws(beta_module):
    fit = stanimport.generate_quantities(beta_module, FLIPS, previous_fit={"theta": [0.25, 0.5]}, seed=1)
    np.testing.assert_allclose(fit.stan_variable("pair")[0], [0.5, 1.0])
    with pytest.raises(stanimport.StanDataError, match="lack parameter theta"):
        stanimport.generate_quantities(beta_module, FLIPS, previous_fit={"other": [0.25]})
    with pytest.raises(TypeError, match="previous_fit must be"):
        stanimport.generate_quantities(beta_module, FLIPS)


def test_the_warm_up_is_saved(beta_module, tmp_path):
    fit = stanimport.sample(beta_module, FLIPS, chains=2, iter_warmup=60, iter_sampling=40, save_warmup=True, seed=1)
    again = stanimport.Fit.load(fit.save(tmp_path / "fit.nc"))
    np.testing.assert_array_equal(again.draws(inc_warmup=True), fit.draws(inc_warmup=True))
    assert again.draws_xr("theta", inc_warmup=True)["theta"].shape == (2, 100)
    for data in (fit.to_arviz(prior=False), arviz.from_netcdf(tmp_path / "fit.nc")):
        assert data.warmup_posterior["theta"].shape == (2, 60)
        np.testing.assert_array_equal(data.warmup_sample_stats["step_size"].values, fit.warmup[1]["stepsize__"])


@pytest.mark.slow
def test_what_is_saved_of_what_the_model_computes(schools_fit, tmp_path):
    bare = stanimport.Fit.load(schools_fit.save(tmp_path / "bare.nc"))
    full = stanimport.Fit.load(schools_fit.save(tmp_path / "full.nc", log_likelihood=True, prior=True))
    groups = [groups_of(arviz.from_netcdf(tmp_path / f"{n}.nc")) for n in ("bare", "full")]
    assert "prior" not in groups[0] and "prior" in groups[1]
    expected = schools_fit.to_arviz().log_likelihood["gain"]
    for fit in (bare, full):  # computed anew where it was not saved
        np.testing.assert_allclose(fit.to_arviz().log_likelihood["gain"], expected, rtol=1e-12)
        np.testing.assert_array_equal(fit.draws(), schools_fit.draws())


def test_no_other_format_is_written_under_its_name(beta_fit, tmp_path):
    with pytest.raises(ValueError, match="fits are saved as NetCDF.*save_csvfiles"):
        beta_fit.save(tmp_path / "fit.csv")
    assert not list(tmp_path.iterdir())


def test_names_that_data_carry(tmp_path):
    module = stanimport.loads("""
data { int J; int K; vector[J] y; matrix[J, K] x; }
parameters { vector[J] a; vector[K] b; real m; }
model { a ~ normal(0, 1); b ~ normal(0, 1); m ~ normal(0, 1); y ~ normal(m + a + x * b, 1); }
generated quantities { matrix[J, K] z = a * b'; }
""")
    schools = pd.Index(["Choate", "Deerfield"], name="school")
    y, x = pd.Series([1.0, 2.0], index=schools), xr.DataArray([[1.0, 2, 3]] * 2, dims=("school", "cause"))
    data = {"J": 2, "K": 3, "y": y, "x": x}
    fit = stanimport.sample(module, data, chains=1, iter_warmup=50, iter_sampling=20, seed=1)
    assert fit.dims["a"] == ("school",) and fit.dims["z"] == ("school", "z_dim_1")
    for one in (fit, stanimport.Fit.load(fit.save(tmp_path / "fit.nc"))):
        for draws in (one.draws_xr(), one.to_arviz(prior=False).posterior):
            assert draws["a"].dims == ("chain", "draw", "school") and draws["b"].dims == ("chain", "draw", "b_dim_0")
            np.testing.assert_array_equal(draws["a"].sel(school="Deerfield"), fit.variables["a"][..., 1])
    named = fit.draws_xr("b", dims={"b": ["cause"]}, coords={"cause": ["heat", "cold", "rain"]})
    np.testing.assert_array_equal(named["b"].sel(cause="cold"), fit.variables["b"][..., 1])


WITHOUT = {
    "pandas": (lambda fit: fit.summary(), lambda fit: fit.draws_pd()),
    "xarray": (lambda fit: fit.draws_xr(), lambda fit: fit.to_arviz(), lambda fit: fit.save("fit.nc")),
    "torch": (lambda fit: stanimport.loads("parameters { real x; } model { }", backend="pyro").model(),
              lambda fit: stanimport.sample(stanimport.loads("parameters { real x; } model { }", backend="pyro"))),
}  # fmt: skip


@pytest.mark.parametrize("library", WITHOUT)
def test_what_is_missing_of_an_extra_is_named(library, beta_fit, monkeypatch):
    for name in [n for n in sys.modules if n == library or n.startswith("stanlib.ppl.pyro")]:
        monkeypatch.setitem(sys.modules, name, None) if name == library else monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)  # as if it were not installed
    before = set(sys.modules)
    for use in WITHOUT[library]:
        with pytest.raises(stanimport.StanError, match=f"this needs {library}: pip install 'stanimport"):
            use(beta_fit)
    for name in set(sys.modules) - before:  # what was half loaded
        del sys.modules[name]


def test_what_notebooks_show(schools_fit, beta_module):
    """Well-formed tables, with a picture for some parameters."""
    shown = ElementTree.fromstring(f"<div>{schools_fit._repr_html_().replace('&times;', 'x')}</div>")
    first = shown.find("table")
    head = [th.text for th in first.find("thead/tr")]
    assert head[1] == "Mean" and len(first.findall("tbody/tr")) == 20
    assert float(first.find("tbody/tr/td").text) == pytest.approx(schools_fit.stats["lp__"].mean(), rel=0.01)
    lines = shown.findall(".//polyline")
    assert len(shown.findall(".//svg")) == 2 * 4 and len(lines) == 2 * 4 * schools_fit.chains
    assert schools_fit.diagnose()._repr_html_().startswith("<p>")
    module = ElementTree.fromstring(f"<div>{beta_module._repr_html_().replace('<br>', ' ')}</div>")
    assert module.find(".//pre").text == beta_module.stan.source
    assert [th.text for th in module.findall(".//th")] == ["data", "parameters", "transformed parameters",
                                                           "generated quantities"]  # fmt: skip


def test_a_fit_stays_that_of_its_program_when_the_module_is_loaded_anew(tmp_path, monkeypatch):
    """As %autoreload does with an edited file: the module is the same object."""
    path = tmp_path / "edited_later.stan"
    path.write_text("data { int N; vector[N] y; } parameters { real before; } model { y ~ normal(before, 1); }")
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("edited_later")
    fit = stanimport.sample(module, {"N": 2, "y": [0.5, 1.0]}, chains=1, iter_warmup=50, iter_sampling=20, seed=1)
    path.write_text("data { int N; vector[N] y; } parameters { real now; } model { y ~ normal(now, 2); }")
    assert importlib.reload(module).stan.names("parameters") == ("now",)
    assert fit.module.stan.names("parameters") == ("before",)
    assert fit.posterior_predictive(seed=1).stan_variable("y").shape == (20, 2) and "before" in fit.to_arviz().posterior


def test_an_interrupt_while_saving_is_raised_when_the_file_is_whole(beta_fit, tmp_path, monkeypatch):
    """Wherever it comes: in a callback of the garbage collector Python prints it and goes on."""
    before, save = signal.signal(signal.SIGINT, signal.default_int_handler), storage.save

    class Interrupting:
        def __del__(self):
            signal.raise_signal(signal.SIGINT)

    def saving(*arguments):
        Interrupting()
        return save(*arguments)

    monkeypatch.setattr(storage, "save", saving)
    try:
        with pytest.raises(KeyboardInterrupt):
            beta_fit.save(tmp_path / "fit.nc")
    finally:
        signal.signal(signal.SIGINT, before)
    assert stanimport.Fit.load(tmp_path / "fit.nc").num_draws == beta_fit.num_draws


ASKED = {
    "summary": "fits.summary.table", "diagnose": "fits.diagnosis.diagnose", "profiles": "fits.profiling.table",
    "to_arviz": "fits.groups.all_groups", "posterior_predictive": "fits.predictive.posterior_predictive",
    "plot_trace": "fits.plots.plot", "save_csvfiles": "fits.stan_csv.save",
}  # fmt: skip


@pytest.mark.parametrize("asked", ASKED)
def test_an_interrupt_is_not_lost_in_a_callback(beta_fit, asked, monkeypatch):
    """Where Python would print what is raised and forget it, as in one of the garbage collector."""

    def lost(*args, **options):
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            pass

    monkeypatch.setattr(f"stanimport.inference.{ASKED[asked]}", lost)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # which jobs in the background ignore
    try:
        with pytest.raises(KeyboardInterrupt):
            getattr(beta_fit, asked)()
    finally:
        signal.signal(signal.SIGINT, before)
