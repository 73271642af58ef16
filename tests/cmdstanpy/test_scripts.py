"""Scripts written for CmdStanPy run with one changed import; shapes and names are those of its documentation."""
import time
import warnings

import numpy as np
import pytest

import stanimport
from stanimport import cmdstanpy
from stanimport.cmdstanpy import CmdStanModel, from_csv, write_stan_json

PROGRAM = """
functions {
#include half.stan
}
data { int<lower=0> N; array[N] int<lower=0, upper=1> y; }
parameters { real<lower=0, upper=1> theta; }
transformed parameters { vector[2] both = [theta, half(theta)]'; }
model { theta ~ beta(1, 1); y ~ bernoulli(theta); }
generated quantities { array[N] int y_rep; for (n in 1:N) y_rep[n] = bernoulli_rng(theta); }
"""
DATA = {"N": 10, "y": [0, 1, 0, 0, 0, 0, 0, 0, 0, 1]}  # the posterior is beta(3, 9)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("scripts")
    (made / "include").mkdir()
    (made / "include" / "half.stan").write_text("real half(real x) { return x / 2; }\n")
    (made / "coin.stan").write_text(PROGRAM)
    write_stan_json(made / "coin.json", DATA)
    return made


@pytest.fixture(scope="module")
def model(folder):
    options = {"include-paths": [str(folder / "include")]}
    return CmdStanModel(stan_file=folder / "coin.stan", stanc_options=options, cpp_options={"STAN_THREADS": True})


@pytest.fixture(scope="module")
def fit(model, folder):
    return model.sample(str(folder / "coin.json"), chains=4, parallel_chains=2, seed=123, iter_warmup=100,
                        iter_sampling=100, show_progress=False, show_console=False, refresh=10)  # fmt: skip


def test_the_model(model):
    assert model.name == "coin" and "bernoulli(theta)" in model.code()
    info = model.src_info()
    assert info["inputs"] == {"N": {"type": "int", "dimensions": 0}, "y": {"type": "int", "dimensions": 1}}
    assert list(info["parameters"]) == ["theta"] and info["transformed parameters"]["both"]["dimensions"] == 1
    with pytest.raises(ValueError, match="stan_file"):
        CmdStanModel(model_name="coin")


def test_sampling(fit):
    assert isinstance(fit, cmdstanpy.CmdStanMCMC) and fit.chains == 4 and fit.chain_ids == [1, 2, 3, 4]
    assert fit.num_draws_warmup == fit.num_draws_sampling == 100 and fit.thin == 1
    head = ("lp__", "accept_stat__", "stepsize__", "treedepth__", "n_leapfrog__", "divergent__", "energy__")
    own = ("theta", "both[1]", "both[2]", *(f"y_rep[{n}]" for n in range(1, 11)))
    assert fit.column_names == head + own
    assert fit.draws().shape == (100, 4, 20) and fit.draws(concat_chains=True).shape == (400, 20)
    assert fit.stan_variable("y_rep").shape == (400, 10) and fit.theta.shape == (400,)
    assert list(fit.draws_pd(vars=["theta"])) == ["theta"] and list(fit.draws_pd("lp__")) == ["lp__"]
    assert list(fit.draws_pd(["both", "chain__", "both"])) == ["both[1]", "both[2]", "chain__"]
    assert list(fit.draws_pd())[:3] == ["chain__", "iter__", "draw__"]
    with pytest.raises(ValueError, match="Unknown variable: thta; did you mean 'theta'"):
        fit.draws_pd(["thta"])
    for asked in (fit.draws, fit.draws_pd, lambda **o: fit.draws_xr(**o).theta,
                  lambda **o: fit.stan_variable("theta", **o)):
        with pytest.warns(UserWarning, match="save_warmup=True"):
            assert np.shape(asked(inc_warmup=True)) == np.shape(asked())
    assert fit.draws_xr("both")["both"].dims == ("chain", "draw", "both_dim_0")
    assert fit.method_variables()["lp__"].shape == (100, 4)
    assert fit.metric_type == "diag_e" and fit.metric.shape == (4, 1) and fit.step_size.shape == (4,)
    assert fit.divergences.shape == fit.max_treedepths.shape == (4,)
    summary = fit.summary()
    assert list(summary.index)[:2] == ["lp__", "theta"]
    assert summary.loc["theta", "Mean"] == pytest.approx(0.25, abs=0.05)
    assert {"MCSE", "StdDev", "MAD", "5%", "50%", "95%", "ESS_bulk", "ESS_tail", "R_hat"} <= set(summary)
    assert isinstance(fit.diagnose(), str) and fit.metadata.cmdstan_config["num_samples"] == 100
    assert fit.metadata.stan_vars["y_rep"].dimensions == (10,) and set(fit.time[0]) == {"warmup", "sampling", "total"}
    with pytest.raises(AttributeError, match="thta.*did you mean 'theta'"):
        fit.thta  # noqa: B018


def test_files(fit, model, folder, tmp_path):
    fit.save_csvfiles(str(tmp_path))
    again = from_csv(str(tmp_path), method="sample")
    np.testing.assert_array_equal(again.draws(), fit.draws())
    with pytest.raises(ValueError, match="found sample"):
        from_csv(str(tmp_path), method="optimize")
    files = sorted(map(str, tmp_path.iterdir()))
    for previous in (fit, files):
        made = model.generate_quantities(DATA, previous_fit=previous, seed=1)
        assert made.draws().shape == (100, 4, 10) and made.column_names == tuple(f"y_rep[{n}]" for n in range(1, 11))
        np.testing.assert_array_equal(made.stan_variable("theta"), fit.stan_variable("theta"))
        assert made.draws(inc_sample=True).shape == (100, 4, 20)
        assert made.mcmc_sample is previous or isinstance(made.mcmc_sample, cmdstanpy.CmdStanMCMC)
        assert list(made.draws_xr().data_vars) == ["y_rep"]


@pytest.mark.parametrize("method", ["sample", "optimize", "variational", "pathfinder", "laplace_sample"])
def test_folders_are_made_before_anything_is_computed(model, method, tmp_path):
    if method == "optimize":
        folder = tmp_path / "new" / "folder"
        mode = model.optimize(DATA, seed=1, output_dir=folder)
        assert len(list(folder.glob("*.csv"))) == 1
        mode.save_csvfiles(str(tmp_path / "another"))
        assert len(list((tmp_path / "another").glob("*.csv"))) == 1
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="Invalid path for output files"):
        getattr(model, method)({}, output_dir=tmp_path / "file")  # of the data, which are missing, nothing is said


def test_optimization_and_what_starts_from_it(model):
    mle = model.optimize(DATA, algorithm="BFGS", seed=1, init_alpha=None)
    assert mle.converged and mle.stan_variable("theta") == pytest.approx(0.2, abs=1e-4)
    assert mle.optimized_params_dict["theta"] == mle.optimized_params_pd["theta"][0]
    assert mle.optimized_params_np.shape == (2 + 3 + 10,) and mle.optimized_iterations_np is None
    mode = model.optimize(DATA, seed=1, jacobian=True)
    for laplace in (model.laplace_sample(DATA, mode=mode, draws=50, seed=1),
                    model.laplace_sample(DATA, draws=50, seed=1, opt_args={"iter": 500})):  # fmt: skip
        assert laplace.draws().shape == (50, 2 + 13) and laplace.mode.theta == pytest.approx(3 / 12, abs=1e-4)
        assert {n: v.shape for n, v in laplace.method_variables().items()} == {"log_p__": (50,), "log_q__": (50,)}
    started = model.sample(DATA, chains=1, inits=mle.create_inits(chains=1), iter_warmup=20, iter_sampling=5, seed=1)
    assert started.draws().shape == (5, 1, 20)


@pytest.mark.slow
def test_approximations(model, tmp_path):
    vb = model.variational(DATA, seed=1, draws=200, iter=2000, require_converged=False, grad_samples=2,
                           elbo_samples=50, adapt_iter=20, eval_elbo=10, tol_rel_obj=0.02)  # fmt: skip
    assert len(vb.fit.info["elbo"]) == vb.fit.info["steps"] // 10 and vb.fit.settings["adapt_iter"] == 20
    assert vb.variational_params_np.shape == (vb.columns,) and vb.variational_sample.shape == (200, vb.columns)
    assert vb.stan_variable("theta", mean=True) == vb.variational_params_dict["theta"] == pytest.approx(0.25, abs=0.1)
    assert vb.stan_variable("theta", mean=False).shape == (200,) and vb.eta in (100, 10, 1, 0.1, 0.01)
    vb.save_csvfiles(tmp_path)
    assert cmdstanpy.from_csv(tmp_path).eta == vb.eta
    given = model.variational(DATA, seed=1, iter=10, eta=0.3, adapt_engaged=False, require_converged=False)
    assert given.eta == 0.3 and given.fit.info["steps"] == 10
    paths = model.pathfinder(DATA, seed=1, draws=100, num_paths=2, num_single_draws=100)
    assert paths.is_resampled and paths.draws().shape == (100, 3 + 13)
    assert set(paths.create_inits(chains=1)) == {"theta"} and len(paths.create_inits(chains=3)) == 3


def test_log_densities(model):
    """Of a beta(3, 9) without and with the Jacobian of the logit, up to the constant of the beta function."""
    frame = model.log_prob({"theta": 0.3}, DATA)
    assert list(frame) == ["lp__", "g_theta"]
    np.testing.assert_allclose(frame["lp__"][0], 3 * np.log(0.3) + 9 * np.log(0.7), rtol=1e-12)
    np.testing.assert_allclose(frame["g_theta"][0], 3 * 0.7 - 9 * 0.3, rtol=1e-12)
    assert model.log_prob({"theta": 0.3}, DATA, sig_figs=3)["lp__"][0] == float(f"{frame['lp__'][0]:.3g}")
    plain = model.log_prob({"theta": 0.3}, DATA, jacobian=False)
    np.testing.assert_allclose(plain["lp__"][0], 2 * np.log(0.3) + 8 * np.log(0.7), rtol=1e-12)


def test_the_metric_is_called_as_it_was_asked_for(model):
    few = dict(chains=1, iter_warmup=10, iter_sampling=5, seed=1, show_progress=False)
    assert [model.sample(DATA, metric=m, **few).metric_type for m in ("unit_e", "dense_e")] == ["unit_e", "dense_e"]


def test_files_of_programs_without_parameters(tmp_path):
    """Their metric is an empty list."""
    (tmp_path / "chain.csv").write_text("""\
# model = noise_model
# method = sample (Default)
#   sample
#     num_samples = 2
#     num_warmup = 0
lp__,accept_stat__,x.1
# Adaptation terminated
# Step size = 1
# Diagonal elements of inverse mass matrix:
#
0,1,0.5
0,1,1.5
""")
    again = from_csv(str(tmp_path / "chain.csv"))
    np.testing.assert_array_equal(again.stan_variable("x"), [[0.5], [1.5]])
    assert again.metric is None


def test_descriptions_are_cmdstanpys(model, fit):
    assert repr(fit).startswith("CmdStanMCMC: model=coin method=sample")
    assert fit.metadata.stan_vars["both"].dimensions == (2,) and fit.metadata.method_vars["lp__"].dimensions == ()
    with pytest.raises(AttributeError, match="Unknown variable name: c"):
        fit.c  # noqa: B018


@pytest.mark.slow
def test_pathfinder_draws_and_columns(model):
    """Those of all paths unless they are resampled, which those of a single path are not."""
    resampled = model.pathfinder(DATA, draws=300, seed=1)
    assert resampled.is_resampled and resampled.column_names[:2] == ("lp_approx__", "lp__")
    assert resampled.draws().shape[0] == 300
    every = model.pathfinder(DATA, psis_resample=False, num_paths=2, num_single_draws=150, seed=1)
    assert not every.is_resampled and every.theta.shape == (300,) and len(set(every.theta.tolist())) == 300
    for options in ({"draws": 120}, {"num_single_draws": 120}):
        single = model.pathfinder(DATA, num_paths=1, seed=1, **options)
        assert not single.is_resampled and single.theta.shape == (120,)
    with pytest.raises(ValueError, match="Cannot specify both 'draws' and 'num_single_draws'"):
        model.pathfinder(DATA, num_paths=1, draws=120, num_single_draws=60)


@pytest.mark.parametrize("options, told", [
    ({"init_alpha": -1.0}, "'init_alpha' must be greater than 0"), ({"tol_obj": "x"}, "must be of type float"),
    ({"history_size": 2.5}, "must be of type int"), ({"algorithm": "Newton", "tol_grad": 1}, "bfgs or lbfgs"),
    ({"algorithm": "BFGS", "history_size": 3}, "bfgs or lbfgs"),
])  # fmt: skip
def test_options_of_optimizers_are_verified(model, options, told):
    with pytest.raises(ValueError, match=told):
        model.optimize(DATA, **options)


def test_a_mode_goes_with_its_options(model, tmp_path):
    """Of the density that the approximation is of, and not computed anew when it is given."""
    mode = model.optimize(DATA, seed=1, output_dir=tmp_path)
    (path,) = tmp_path.glob("*.csv")
    for given in (mode, path):
        with pytest.raises(ValueError, match="Jacobian argument"):
            model.laplace_sample(DATA, mode=given, jacobian=True)
        assert model.laplace_sample(DATA, mode=given, jacobian=False, draws=20, seed=1).theta.shape == (20,)
    with pytest.raises(ValueError, match="both 'opt_args' and 'mode'"):
        model.laplace_sample(DATA, mode=mode, opt_args={"iter": 10}, jacobian=False)


def test_options_that_are_not_there_are_told(model):
    for refused in (lambda: model.compile(user_header="f.hpp"),
                    lambda: cmdstanpy.compile_stan_file(model.stan_file, user_header="f.hpp")):  # fmt: skip
        with pytest.raises(NotImplementedError, match="user_header"):
            refused()
    with cmdstanpy.disable_logging(), cmdstanpy.enable_logging():
        few = dict(chains=1, iter_warmup=5, iter_sampling=2, seed=1, show_progress=False)
        with pytest.warns(UserWarning, match="save_latent_dynamics has no effect"):
            assert model.sample(DATA, save_diagnostics=True, **few).draws().shape[0] == 2
    with pytest.raises(NotImplementedError, match="user_header"):
        cmdstanpy.CmdStanModel(stan_file=model.stan_file, user_header="functions.hpp")
    with pytest.warns(UserWarning, match="init_alpha has no effect"):
        model.optimize(DATA, init_alpha=0.1, seed=1)
    with pytest.raises(stanimport.StanDataError, match="y is missing"):
        model.sample({"N": 1})


@pytest.mark.sampled(4)
@pytest.mark.parametrize("algorithm", ["lbfgs", "bfgs", "newton"])
def test_the_steps_of_an_optimizer_are_kept(model, algorithm, tmp_path):
    """From the start to the mode, uphill; in CmdStan's files too."""
    plain = model.optimize(DATA, seed=1, algorithm=algorithm)
    assert plain.optimized_iterations_np is plain.optimized_iterations_pd is None
    start = {"theta": 0.9}
    mode = model.optimize(DATA, inits=start, seed=1, algorithm=algorithm, save_iterations=True, output_dir=tmp_path)
    steps = mode.stan_variable("theta", inc_iterations=True)
    assert len(steps) == mode.fit.info["iterations"] + 1 or algorithm == "newton"
    assert steps[0] == pytest.approx(0.9) and steps[-1] == mode.stan_variable("theta") and len(steps) > 2
    found = mode.optimized_iterations_pd
    assert (np.diff(found["lp__"]) >= 0).all() and np.array_equal(found["theta"], steps)
    again = cmdstanpy.from_csv(tmp_path)
    assert np.allclose(again.optimized_iterations_np, mode.optimized_iterations_np)
    assert again.stan_variable("theta") == pytest.approx(mode.stan_variable("theta"))


def test_an_optimizer_stops_at_small_steps(model):
    """The last step is the first that is small enough, by each of the two measures."""
    for name, tolerance in (("tol_obj", 0.05), ("tol_param", 0.3)):
        mode = model.optimize(DATA, inits={"theta": 0.9}, seed=1, save_iterations=True, **{name: tolerance})
        steps = mode.optimized_iterations_pd
        measured = steps["lp__"] if name == "tol_obj" else np.log(steps["theta"] / (1 - steps["theta"]))
        found = np.abs(np.diff(measured)) < tolerance
        assert mode.converged and found[-1] and not found[:-1].any()


@pytest.mark.sampled(4)
@pytest.mark.parametrize("method, options", [
    ("sample", {"iter_warmup": 10**7, "chains": 2}), ("variational", {"iter": 10**7, "tol_rel_obj": 1e-12}),
    ("optimize", {"inits": {"theta": 0.9}}), ("pathfinder", {"num_paths": 10**5}),
])  # fmt: skip
def test_a_run_ends_when_its_time_is_over(model, method, options):
    begin = time.monotonic()
    with pytest.raises(TimeoutError):
        getattr(model, method)(DATA, seed=1, timeout=1e-9 if method == "optimize" else 0.5, **options)
    assert time.monotonic() - begin < 30
    assert model.optimize(DATA, seed=1, timeout=1000).converged  # and no deadline is left behind


def test_programs_are_formatted(folder, capsys):
    """Printed, or written with a copy of what was there."""
    path = folder / "rough.stan"
    path.write_text("data{int N;} model{for(i in 1:N)print(i);}")
    smooth = "data {\n  int N;\n}\nmodel {\n  for (i in 1 : N)\n    print(i);\n}\n"
    model = cmdstanpy.CmdStanModel(stan_file=path)
    model.format()
    assert capsys.readouterr().out == f"{smooth}\n" and path.read_text() != smooth
    cmdstanpy.format_stan_file(path, overwrite_file=True, canonicalize="braces")
    assert path.read_text() == smooth.replace(": N)\n    print(i);", ": N) {\n    print(i);\n  }")
    (copy,) = folder.glob("rough.stan.bak-*")
    assert copy.read_text().startswith("data{int N;}")
    with pytest.raises(ValueError, match="File does not exist"):
        cmdstanpy.format_stan_file(folder / "none.stan")


def test_there_is_no_installation(folder, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("CMDSTAN", "")  # restores it afterwards
    monkeypatch.setenv("HOME", str(tmp_path))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cmdstanpy.install_cmdstan(version="2.36.0", overwrite=True) is True
        cmdstanpy.set_cmdstan_path("anywhere")
        cmdstanpy.set_make_env("make")
        cmdstanpy.rebuild_cmdstan()
    with pytest.raises(ValueError, match="runs without: .CMDSTAN is anywhere"):
        cmdstanpy.cmdstan_path()
    assert "numpyro" in cmdstanpy.show_versions() and capsys.readouterr().out
    assert cmdstanpy.cmdstan_version() >= (2, 36)
    options = {"include-paths": str(folder / "include")}
    assert cmdstanpy.compile_stan_file(folder / "coin.stan", stanc_options=options).endswith("coin.stan")
    with pytest.raises(ValueError, match="none is no folder"):
        cmdstanpy.compile_stan_file(folder / "coin.stan", stanc_options={"include-paths": str(folder / "none")})
    with pytest.raises(ValueError, match="unknown stanc compiler option: include-path"):
        cmdstanpy.compile_stan_file(folder / "coin.stan", stanc_options={"include-path": str(folder)})


def test_scripts_find_the_examples_of_cmdstan_where_it_is(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CMDSTAN", raising=False)
    with pytest.raises(ValueError, match="there is no folder of CmdStan"):
        cmdstanpy.cmdstan_path()
    for version in ("2.9.0", "2.36.0", "2.36.0-rc1"):
        (tmp_path / ".cmdstan" / f"cmdstan-{version}").mkdir(parents=True)
    assert cmdstanpy.cmdstan_path() == str(tmp_path / ".cmdstan" / "cmdstan-2.36.0")
    monkeypatch.setenv("CMDSTAN", "")  # what set_cmdstan_path sets is forgotten with the test
    cmdstanpy.set_cmdstan_path(tmp_path)
    assert cmdstanpy.utils.cmdstan_path() == str(tmp_path)


def test_modules_have_cmdstanpys_names():
    from stanimport.cmdstanpy import model, utils
    from stanimport.cmdstanpy.model import CmdStanModel
    from stanimport.cmdstanpy.stanfit import CmdStanMCMC
    from stanimport.cmdstanpy.utils import cmdstan_path

    assert model.cmdstan_path is utils.cmdstan_path
    assert (CmdStanModel, CmdStanMCMC, cmdstan_path) == (
        cmdstanpy.CmdStanModel, cmdstanpy.CmdStanMCMC, cmdstanpy.cmdstan_path)  # fmt: skip


def test_functions_in_python_take_the_place_of_those_in_cpp(tmp_path):
    program = tmp_path / "external.stan"
    program.write_text("""
functions { real my_sqrt(real x); }
parameters { real<lower=0> theta; }
model { theta ~ gamma(3, 2); }
generated quantities { real root = my_sqrt(theta); }""")
    with pytest.raises(stanimport.StanError, match="functions="):
        cmdstanpy.CmdStanModel(stan_file=program, stanc_options={"allow-undefined": True})
    external = cmdstanpy.CmdStanModel(stan_file=program, functions={"my_sqrt": "jax.numpy.sqrt"})
    fit = external.sample(chains=1, iter_warmup=50, iter_sampling=20, seed=1, show_progress=False)
    np.testing.assert_allclose(fit.root, np.sqrt(fit.theta))


def test_gradients_are_checked(model, folder):
    """The posterior on the logit scale is proportional to theta^3 (1 - theta)^9."""
    found = model.diagnose(inits={"theta": 0.3}, data=str(folder / "coin.json"))
    assert list(found.columns) == ["param_idx", "value", "model", "finite_diff", "error"]
    np.testing.assert_allclose(found.loc[0], [0, np.log(3 / 7), 3 - 12 * 0.3, 3 - 12 * 0.3, 0], atol=1e-7)
    with pytest.raises(RuntimeError, match="gradients of theta differ"):
        model.diagnose(inits={"theta": 0.3}, data=DATA, epsilon=0.5)
    assert abs(model.diagnose({"theta": 0.3}, DATA, epsilon=0.5, require_gradients_ok=False)["error"][0]) > 1e-3


def test_the_warm_up_of_tuples_and_an_invalid_estimate(tmp_path):
    (tmp_path / "pair.stan").write_text("parameters { tuple(real, vector[2]) t; } "
                                        "model { t.1 ~ normal(0, 1); t.2 ~ normal(0, 1); }")
    pair = CmdStanModel(stan_file=tmp_path / "pair.stan")
    fit = pair.sample(chains=2, iter_warmup=7, iter_sampling=5, seed=1, save_warmup=True, show_progress=False)
    whole = fit.stan_variable("t", inc_warmup=True)
    assert whole.shape == (24,) and whole[0][1].shape == (2,)
    assert [one[0] for one in whole[7:12]] == [one[0] for one in fit.stan_variable("t")[:5]]
    mode = pair.optimize(seed=1, inits={"t": (50.0, [50.0, 50.0])}, iter=1, require_converged=False)
    if not mode.converged:
        with pytest.warns(UserWarning, match="invalid estimate"):
            mode.stan_variable("t")
    with pytest.warns(UserWarning, match="save_iterations=True"):
        mode.stan_variable("t", inc_iterations=True, warn=False)


@pytest.mark.parametrize("loop", ["while (1) {}", "int n = 0; while (1) n += 1;"])
def test_the_time_ends_in_a_loop_that_does_not(loop, tmp_path):
    program = f"transformed data {{ {loop} }} parameters {{ real a; }} model {{ a ~ normal(0, 1); }}"
    (tmp_path / "endless.stan").write_text(program)
    model = CmdStanModel(stan_file=tmp_path / "endless.stan")
    start = time.monotonic()
    with pytest.raises(TimeoutError):
        model.sample(chains=1, timeout=0.5)
    assert time.monotonic() - start < 60


def test_metrics_have_short_names(model):
    few = dict(chains=1, iter_warmup=10, iter_sampling=5, seed=1, show_progress=False)
    found = [model.sample(DATA, metric=m, **few).metric_type for m in ("unit", "diag", "dense", None)]
    assert found == ["unit_e", "diag_e", "dense_e", "diag_e"]
    with pytest.raises(ValueError, match="'eta' must be greater than 0"):
        model.variational(DATA, eta=-1)


def test_columns_of_gradients(tmp_path):
    """As stanc 2.35 orders and names the unconstrained parameters, with the slopes that the density has."""
    (tmp_path / "kinds.stan").write_text("""
        parameters { array[2] complex z; matrix[2, 3] m; array[2] tuple(real, vector[2]) t; simplex[3] s;
          tuple(real, tuple(real, real)) tt; array[2] vector[2] a; complex c; }
        model { for (i in 1:2) { for (j in 1:3) target += (10 * i + j) * m[i, j];
          for (j in 1:2) target += (20 * i + j) * a[i, j] + (30 * i + j) * t[i].2[j];
          target += 40 * i * t[i].1 + 50 * i * get_real(z[i]) + 51 * i * get_imag(z[i]); }
          target += 60 * tt.1 + 61 * tt.2.1 + 62 * tt.2.2 + 70 * get_imag(c); }
    """)
    point = {"z": [[0, 1], [1, 0]], "m": np.zeros((2, 3)), "t": [{"1": 0, "2": [0, 0]}] * 2, "s": [0.2, 0.3, 0.5],
             "tt": {"1": 0, "2": {"1": 0, "2": 0}}, "a": np.zeros((2, 2)), "c": [1, 1]}  # fmt: skip
    frame = CmdStanModel(stan_file=tmp_path / "kinds.stan").log_prob(point, jacobian=False)
    expected = {
        "z.1.real": 50, "z.1.imag": 51, "z.2.real": 100, "z.2.imag": 102, "m.1.1": 11, "m.2.1": 21, "m.1.2": 12,
        "m.2.2": 22, "m.1.3": 13, "m.2.3": 23, "t.1:1": 40, "t.1:2.1": 31, "t.1:2.2": 32, "t.2:1": 80, "t.2:2.1": 61,
        "t.2:2.2": 62, "s.1": 0, "s.2": 0, "tt:1": 60, "tt:2:1": 61, "tt:2:2": 62, "a.1.1": 21, "a.2.1": 41,
        "a.1.2": 22, "a.2.2": 42, "c.real": 0, "c.imag": 70,
    }  # fmt: skip
    assert list(frame)[1:] == [f"g_{n}" for n in expected]
    np.testing.assert_allclose(frame.to_numpy()[0, 1:], list(expected.values()), atol=1e-12)
