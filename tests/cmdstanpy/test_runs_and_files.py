"""Files of results, generated quantities of all iterations, and what results tell of themselves, as in CmdStanPy."""
import os
import pickle
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from arviz_groups import groups_of

from stanimport import cmdstanpy
from stanimport.cmdstanpy import CmdStanModel, from_csv

DATA = {"N": 10, "y": [0, 1, 0, 0, 0, 0, 0, 0, 0, 1]}
CHAINS = dict(chains=2, iter_warmup=30, iter_sampling=20, seed=1, show_progress=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("runs")
    coin = """
data { int<lower=0> N; array[N] int<lower=0, upper=1> y; }
parameters { real<lower=0, upper=1> theta; }
model { y ~ bernoulli(theta); }"""
    (made / "coin.stan").write_text(coin)
    (made / "more.stan").write_text(f"""{coin}
generated quantities {{
  matrix[2, 3] m;
  complex z = to_complex(theta, -theta);
  array[2] tuple(real, vector[2]) t = {{(theta, [theta, 1]'), (2 * theta, [theta, 2]')}};
  for (i in 1:2) for (j in 1:3) m[i, j] = i * 10 + j + theta;
}}""")
    return made


@pytest.fixture(scope="module")
def coin(folder):
    return CmdStanModel(stan_file=folder / "coin.stan")


@pytest.fixture(scope="module")
def more(folder):
    return CmdStanModel(stan_file=folder / "more.stan")


@pytest.fixture(scope="module")
def fit(coin):
    return coin.sample(DATA, save_warmup=True, **CHAINS)


def test_files_are_there_when_they_are_asked_for(coin, tmp_path):
    fit = coin.sample(DATA, **CHAINS)
    runset = fit.runset
    assert (runset.model, runset.chains, runset.chain_ids) == ("coin", 2, [1, 2])
    assert runset.method == cmdstanpy.stanfit.Method.SAMPLE and "files=[]" in repr(runset)
    again = from_csv(runset.csv_files)
    np.testing.assert_array_equal(again.draws(), fit.draws())
    assert again.runset.csv_files == runset.csv_files and "csv" in repr(runset)
    text = Path(runset.stdout_files[1]).read_text()
    assert "method = sample" in text and "seconds (Total)" in text and len(runset.stdout_files) == 2
    assert runset.diagnostic_files == runset.profile_files == [] and runset.get_err_msgs() == ""
    first = runset.csv_files[0]
    fit.save_csvfiles(tmp_path / "new")  # moves what is in the folder for this process
    assert not Path(first).exists() and set(map(Path, runset.csv_files)) == set((tmp_path / "new").iterdir())
    fit.save_csvfiles(tmp_path / "copy")
    assert len([*(tmp_path / "new").iterdir()]) == len([*(tmp_path / "copy").iterdir()]) == 2
    with pytest.raises(ValueError, match="File exists, not overwriting"):
        fit.save_csvfiles(tmp_path / "new")
    Path(fit.runset.csv_files[0]).unlink()
    with pytest.raises(ValueError, match="Cannot access CSV file"):
        fit.save_csvfiles(tmp_path / "third")
    (tmp_path / "file").write_text("")
    with pytest.raises(RuntimeError, match="Cannot save to path"):
        fit.save_csvfiles(tmp_path / "file")


def test_names_and_digits_of_files(coin, tmp_path):
    for wrong in (0, 19, 2.5, "x"):
        with pytest.raises(ValueError, match="sig_figs must be an integer between 1 and 18"):
            coin.sample({}, sig_figs=wrong)
    fit = coin.sample(DATA, output_dir=tmp_path, time_fmt="now", sig_figs=3, adapt_init_phase=11, **CHAINS)
    text = (tmp_path / "coin-now_1.csv").read_text()
    assert "init_buffer = 11" in text and "term_buffer = 50" in text and "window = 25" in text
    assert sorted(p.name for p in tmp_path.iterdir()) == ["coin-now_1.csv", "coin-now_2.csv"]
    assert [Path(p).name for p in fit.runset.csv_files] == ["coin-now_1.csv", "coin-now_2.csv"]
    np.testing.assert_allclose(from_csv(tmp_path).theta, [float(f"{v:.3g}") for v in fit.theta], rtol=1e-15)
    kept = coin.sample(DATA, sig_figs=2, **CHAINS)  # also in files that are written later
    np.testing.assert_allclose(from_csv(kept.runset.csv_files).theta, [float(f"{v:.2g}") for v in kept.theta])


def test_results_go_to_other_processes(fit, tmp_path):
    (tmp_path / "fit.pickle").write_bytes(pickle.dumps((fit.runset.csv_files, fit)))
    script = """
import pickle, sys, os
files, fit = pickle.load(open(sys.argv[1], "rb"))
assert fit.theta.shape == (40,) and fit.draws(inc_warmup=True).shape == (50, 2, 8)
mine = fit.runset.csv_files
assert not set(mine) & set(files) and all(map(os.path.exists, mine))
print(os.path.dirname(os.path.dirname(mine[0])))"""
    done = subprocess.run([sys.executable, "-c", script, tmp_path / "fit.pickle"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not Path(done.stdout.strip()).exists()  # the folder of the process is gone with it


def test_profiles_of_a_run(folder):
    (folder / "timed.stan").write_text("""parameters { real x; }
model { profile("one") { x ~ normal(0, 1); } }""")
    fit = CmdStanModel(stan_file=folder / "timed.stan").sample(save_profile=True, **CHAINS)
    assert len(fit.runset.profile_files) == 2
    assert "one" in Path(fit.runset.profile_files[0]).read_text()


def test_metrics_in_files(coin):
    for metric in ("unit_e", "diag_e", "dense_e"):
        fit = coin.sample(DATA, metric=metric, **CHAINS)
        again = from_csv(fit.runset.csv_files)
        assert again.metric_type == fit.metric_type == metric
        assert (again.metric is None) == (fit.metric is None) == (metric == "unit_e")


def test_nothing_is_told_of_a_sampler_where_there_is_none(coin, folder):
    (folder / "noise.stan").write_text("generated quantities { real x = normal_rng(0, 1); }")
    noise = CmdStanModel(stan_file=folder / "noise.stan")
    few = dict(chains=1, iter_sampling=5, seed=1)
    assert np.isnan(noise.sample(**few).step_size).all()
    for fit in (noise.sample(fixed_param=True, **few), coin.sample(DATA, fixed_param=True, **few)):
        assert fit.chains == 1 and fit.num_draws_sampling == 5
        told = [fit.metric_type, fit.inv_metric, fit.step_size, fit.divergences, fit.max_treedepths]
        assert told == [None] * 5
        assert from_csv(fit.runset.csv_files).metric_type is None


def test_files_that_hold_no_results(fit, tmp_path):
    text = Path(fit.runset.csv_files[0]).read_text().replace("method = sample", "method = diagnose")
    (tmp_path / "other.csv").write_text(text)
    for given, told in ((tmp_path / "other.csv", "method diagnose can't"), (3, "Invalid path"), ([], "no CSV"),
                        (tmp_path / "*.txt", "no CSV"), (None, "Must specify path")):  # fmt: skip
        with pytest.raises(ValueError, match=told):
            from_csv(given)


def test_the_mode_goes_with_the_approximation(coin, tmp_path):
    kept = coin.laplace_sample(DATA, seed=1, draws=20, output_dir=tmp_path)
    (file,) = (p for p in tmp_path.iterdir() if "opt" not in p.name)
    for fit in (from_csv(file), from_csv(coin.laplace_sample(DATA, seed=1, draws=20).runset.csv_files)):
        assert fit.mode.theta == pytest.approx(kept.mode.theta) == pytest.approx(3 / 12, abs=1e-4)


def test_variables_among_the_columns(more):
    """They are taken out of all columns as `stan_variable` gives them."""
    fit = more.sample(DATA, **CHAINS)
    told = fit.metadata
    assert told.column_names == fit.column_names == told["column_names"] and told["num_samples"] == 20
    assert told.cmdstan_config["model"] == "more_model" and "m.2.1" in told["raw_header"]
    draws = fit.draws(concat_chains=True)
    for name in ("theta", "m", "z"):
        np.testing.assert_array_equal(told.stan_vars[name].extract_reshape(draws), fit.stan_variable(name))
    m = told.stan_vars["m"]
    assert m.dimensions == (2, 3) and [fit.column_names[i] for i in m.columns()][:3] == ["m[1,1]", "m[2,1]", "m[1,2]"]
    t = told.stan_vars["t"]
    assert (t.type, t.dimensions, len(t.columns())) == ("tuple", (2,), 6)
    with pytest.raises(ValueError, match="t is a tuple"):
        t.extract_reshape(draws)
    lp = told.method_vars["lp__"].extract_reshape(fit.draws())
    np.testing.assert_array_equal(lp, fit.method_variables()["lp__"])
    assert {v.dtype.kind for v in fit.method_variables().values()} == {"f"}
    data = fit.draws_xr(["theta", "m"])
    assert data.attrs == {"stan_version": "2.39.0", "model": "more_model", "num_draws_sampling": 20}
    with pytest.raises(KeyError, match="thta.*did you mean 'theta'"):
        fit.draws_xr("thta")


def test_quantities_of_the_warm_up(fit, more):
    made = more.generate_quantities(DATA, previous_fit=fit, seed=1)
    assert made.column_names[:2] == ("m[1,1]", "m[2,1]") and made.draws().shape == (20, 2, 6 + 2 + 6)
    assert made.draws(inc_warmup=True).shape == (50, 2, 14)
    assert made.draws(inc_warmup=True, concat_chains=True, inc_sample=True).shape == (100, 8 + 14)
    np.testing.assert_array_equal(made.draws(inc_sample=True)[:, :, :8], fit.draws())
    everything = fit.stan_variable("theta", inc_warmup=True)
    np.testing.assert_allclose(made.stan_variable("m", inc_warmup=True)[:, 1, 2], 23 + everything)
    np.testing.assert_array_equal(made.stan_variable("theta", inc_warmup=True), everything)
    np.testing.assert_allclose(made.z, fit.theta * (1 - 1j))
    assert list(made.stan_variables()) == ["m", "z", "t", "theta"]
    with pytest.raises(ValueError, match="Unknown variable"):
        made.draws_xr("eta")
    with pytest.raises(AttributeError, match="Unknown variable name: eta"):
        made.eta  # noqa: B018
    frame = made.draws_pd(inc_sample=True)
    assert list(frame)[:11] == [*fit.column_names, "chain__", "iter__", "draw__"] and frame.shape == (40, 8 + 3 + 14)
    assert list(made.draws_pd(["theta", "iter__", "z"])) == ["theta", "iter__", "z[real]", "z[imag]"]
    whole = made.draws_xr(inc_sample=True, inc_warmup=True)
    assert whole.m.shape == (2, 50, 2, 3) and whole.theta.shape == (2, 50) and whole.attrs["num_draws_warmup"] == 30
    np.testing.assert_array_equal(made.draws_pd(inc_warmup=True)["iter__"], [*range(1, 51)] * 2)
    again = more.generate_quantities(DATA, previous_fit=from_csv(fit.runset.csv_files), seed=1)
    np.testing.assert_array_equal(again.draws(inc_warmup=True), made.draws(inc_warmup=True))


def test_quantities_at_modes_and_of_approximations(coin, more):
    mode = coin.optimize(DATA, seed=1, save_iterations=True, inits={"theta": 0.9})
    made = more.generate_quantities(DATA, previous_fit=mode)
    steps = len(mode.optimized_iterations_np)
    assert made.draws().shape == (1, 1, 14) and made.draws(inc_iterations=True).shape == (steps, 1, 14)
    found = made.stan_variable("m", inc_iterations=True)[:, 0, 0] - 11
    np.testing.assert_allclose(found, mode.stan_variable("theta", inc_iterations=True))
    assert made.stan_variable("theta").shape == (1,) and made.draws(inc_sample=True).shape == (1, 1, 3 + 14)
    vb = coin.variational(DATA, seed=1, require_converged=False, iter=100)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = more.generate_quantities(DATA, previous_fit=vb)
        assert made.draws(inc_sample=True).shape == (1000, 1, 4 + 14)
        np.testing.assert_allclose(made.stan_variable("m", mean=False)[:, 0, 0] - 11, vb.variational_sample[:, -1])
        assert made.stan_variable("theta", mean=False).shape == (1000,)
    with pytest.warns(UserWarning, match="save_warmup=True"):
        assert made.draws(inc_warmup=True).shape == (1000, 1, 14)


def test_a_mode_is_one_start_for_all_chains(coin):
    mode = coin.optimize(DATA, seed=1)
    for inits in (mode.create_inits(), mode.create_inits(seed=1, chains=3)):
        assert isinstance(inits, dict) and inits["theta"] == pytest.approx(0.2, abs=1e-4)
    assert coin.sample(DATA, inits=mode.create_inits(), **CHAINS).theta.shape == (40,)


@pytest.mark.slow
def test_paths_of_pathfinder(coin):
    """A draw without resampling is of the path that its place tells."""
    every = coin.pathfinder(DATA, psis_resample=False, num_paths=2, num_single_draws=20, seed=1)
    paths = every.method_variables()["path__"]
    assert every.column_names[:3] == ("lp_approx__", "lp__", "path__") and sorted(paths) == [1.0] * 20 + [2.0] * 20
    resampled = coin.pathfinder(DATA, num_paths=3, draws=200, seed=1)
    assert set(resampled.method_variables()["path__"]) <= {1.0, 2.0, 3.0}
    assert set(from_csv(every.runset.csv_files).method_variables()) == {"lp_approx__", "lp__", "path__"}


@pytest.mark.parametrize("options, told", [
    ({"percentiles": []}, "percentiles"), ({"percentiles": [50, 5]}, "percentiles"), ({"percentiles": [-1]}, "from"),
    ({"percentiles": (5, 5)}, "percentiles"), ({"percentiles": [100]}, "percentiles"), ({"sig_figs": 0}, "sig_figs"),
    ({"sig_figs": 19}, "sig_figs"), ({"sig_figs": 2.5}, "sig_figs"), ({"sig_figs": None}, "sig_figs"),
])  # fmt: skip
def test_tables_that_there_are_not(fit, options, told):
    with pytest.raises(ValueError, match=told):
        fit.summary(**options)


def test_tables_that_there_are(fit):
    assert {"1%", "45%", "99%"} <= set(fit.summary(percentiles=[1, 45, 99])) and fit.summary().index.name is None
    assert "2.5%" in fit.summary(percentiles=(2.5, 97.5), sig_figs=np.int64(18))


def test_programs_that_there_are_not(folder, tmp_path):
    for given, told in ((tmp_path / "none.stan", "no such file"), (None, "Missing model file")):
        with pytest.raises(ValueError, match=told):
            CmdStanModel(stan_file=given)
    (tmp_path / "coin.txt").write_text("")
    with pytest.raises(ValueError, match="invalid stan filename"):
        CmdStanModel(stan_file=tmp_path / "coin.txt")
    with pytest.raises(ValueError, match="model name"):
        CmdStanModel(stan_file=folder / "coin.stan", model_name=" ")
    assert CmdStanModel(stan_file=folder / "coin.stan", model_name=" one ").name == "one"


def test_options_of_stanc(tmp_path):
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "far.stan").write_text("real far(real x) { return x; }")
    (tmp_path / "near.stan").write_text("real near(real x) { return x; }")
    program = "functions {\n#include far.stan\n#include near.stan\n}\nparameters { real x; } model { }"
    (tmp_path / "wide.stan").write_text(program)
    for paths in (str(tmp_path / "inc"), tmp_path / "inc", [tmp_path / "inc"], (str(tmp_path / "inc"),)):
        assert CmdStanModel(stan_file=tmp_path / "wide.stan", stanc_options={"include-paths": paths}).name == "wide"
    later = CmdStanModel(stan_file=tmp_path / "wide.stan", compile=False)
    later.compile(stanc_options={"include-paths": tmp_path / "inc", "O1": True})
    assert later.stanc_options["O1"] and list(later.src_info()["parameters"]) == ["x"]
    with pytest.warns(UserWarning, match="'x' is not used in the log density"):
        later.compile(stanc_options={"warn-pedantic": True})
    for wrong, told in (({"X": True}, "unknown stanc compiler option"), ({"include-paths": True}, "include-paths"),
                        ({"include-paths": "lkjdf"}, "lkjdf is no folder")):  # fmt: skip
        with pytest.raises(ValueError, match=told):
            CmdStanModel(stan_file=tmp_path / "wide.stan", stanc_options=wrong)


def test_the_text_of_a_program_that_is_not_ready(tmp_path):
    program = tmp_path / "external.stan"
    program.write_text("functions { real odds(real x); }\n")
    assert CmdStanModel(stan_file=program, compile=False).code() == program.read_text()


def test_the_number_of_threads_is_where_scripts_look_for_it(coin, monkeypatch):
    monkeypatch.setenv("STAN_NUM_THREADS", "")
    coin.sample(DATA, threads_per_chain=2, **CHAINS | {"chains": 1})
    assert os.environ["STAN_NUM_THREADS"] == "2"


def test_the_logger(caplog):
    logger = cmdstanpy.utils.get_logger()
    with cmdstanpy.disable_logging():
        logger.warning("unheard")
        with cmdstanpy.enable_logging():
            logger.warning("heard")
        logger.warning("unheard")
    cmdstanpy.disable_logging()
    logger.warning("unheard")
    cmdstanpy.enable_logging()
    assert caplog.messages == ["heard"] and not logger.disabled


def test_versions_and_data():
    assert not cmdstanpy.utils.cmdstan_version_before(2, 30) and cmdstanpy.utils.cmdstan_version_before(99, 0)
    assert cmdstanpy.utils.write_stan_json is cmdstanpy.write_stan_json


def test_arviz_reads_results_under_cmdstanpys_name(coin, fit, monkeypatch):
    arviz = pytest.importorskip("arviz", reason="ArviZ is not installed")
    if not hasattr(arviz, "from_cmdstanpy"):
        pytest.skip("this ArviZ is one of several packages")
    monkeypatch.setitem(sys.modules, "cmdstanpy", cmdstanpy)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        read = arviz.from_cmdstanpy(fit, observed_data={"y": DATA["y"]}, save_warmup=True)
        plain = arviz.from_cmdstanpy(coin.sample(DATA, **CHAINS))
    np.testing.assert_array_equal(read.posterior.theta.values.ravel(), fit.theta)
    assert read.warmup_posterior.theta.shape == (2, 30) and read.posterior.attrs["inference_library_version"] == "1.3.0"
    assert read.sample_stats.diverging.dtype == bool and "warmup_posterior" not in groups_of(plain)
