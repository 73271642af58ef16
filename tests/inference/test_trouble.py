"""What is said and done when sampling goes wrong: options, divergences, data, interrupts, missing libraries."""
import os
import signal
import subprocess
import sys
import threading
import warnings

import compilation
import pytest
from conftest import FLIPS, QUICK, data_of, load

import stanimport
from stanimport.cmdstanpy import CmdStanModel
from stanimport.inference import DivergenceWarning
from stanimport.inference.samplers import chains

SHORT = QUICK | dict(iter_warmup=100, iter_sampling=100)


@pytest.mark.parametrize("options, told", [
    (dict(warmup=100), "'iter_warmup'"), (dict(num_samples=100), "'iter_sampling'"), (dict(chain=2), "'chains'"),
    (dict(target_accept=0.9), "'adapt_delta'"),
])  # fmt: skip
def test_unknown_options_suggest_the_right_one(beta_module, options, told):
    with pytest.raises(TypeError, match=rf"no option .*did you mean {told}"):
        stanimport.sample(beta_module, FLIPS, **options)


def test_data_given_as_options_are_told_from_them(beta_module):
    with pytest.raises(TypeError, match=r"no option 'N': the data are one argument, \{'N': ...\}"):
        stanimport.sample(beta_module, **FLIPS)


@pytest.mark.parametrize("options, told", [
    (dict(chains=0), "chains must be at least 1"), (dict(adapt_delta=1.2), "between 0 and 1"),
    (dict(metric="dense"), "did you mean 'dense_e'"), (dict(method="numpiro"), "did you mean 'numpyro'"),
    (dict(metric=[1, 2]), r"shape \(1,\)"), (dict(inits=[1, 2, 3]), "3 chains, but 2"),
    (dict(step_size=-1), "positive"), (dict(metric=[float("nan")]), "finite and positive"),
    (dict(metric=[-1]), "finite and positive"), (dict(metric=[0]), "finite and positive"),
    (dict(metric=[[-2.0]]), "finite and positive"), (dict(metric=[print]), "must hold numbers"),
    (dict(metric=["a.json", "b.json"]), "metric, or inv_metric: a.json can.t be read"),
    (dict(inits=-1), "at least 0"),
], ids=str)  # fmt: skip
def test_wrong_values_of_options(beta_module, options, told):
    with pytest.raises(ValueError, match=told):
        stanimport.sample(beta_module, FLIPS, **SHORT | options)


def test_a_sampler_that_only_diverges_says_so():
    module = stanimport.loads("parameters { real x; } model { x ~ normal(0, 1e-9); }")
    options = SHORT | dict(adapt_engaged=False, step_size=10.0, inits={"x": 1e-9})
    with pytest.warns(DivergenceWarning, match="every transition diverged"):
        fit = stanimport.sample(module, **options)
    assert "All 200 transitions diverged" in str(fit.diagnose())


def test_the_funnel_is_diagnosed_with_advice():
    module = stanimport.loads("parameters { real s; real x; } model { s ~ normal(0, 3); x ~ normal(0, exp(s / 2)); }")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DivergenceWarning)
        found = stanimport.sample(module, **QUICK).diagnose()
    assert not found.ok and found.divergent > 0 and "adapt_delta" in str(found)


def test_data_errors_name_the_variable(beta_module):
    with pytest.raises(stanimport.StanDataError, match=r"y\[2\] is 3.*declared as"):
        stanimport.sample(beta_module, {"N": 2, "y": [1, 3]})


def test_a_module_is_wanted():
    with pytest.raises(TypeError, match="translated Stan module or a path, not int"):
        stanimport.sample(3)


@pytest.mark.skipif(threading.current_thread() is not threading.main_thread(), reason="signals need the main thread")
def test_an_interrupt_returns_the_draws_so_far(beta_module, monkeypatch):
    """The signal comes once, when both chains have draws: before that there would be none to return."""
    original, made, once = chains.Track.add, dict[int, int](), threading.Lock()

    def add(self, piece, count):
        original(self, piece, count)
        made[id(self)] = self.done - 300
        if len(made) == 2 and min(made.values()) > 1000 and once.acquire(blocking=False):
            os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell's background jobs ignore
    try:
        monkeypatch.setattr(chains.Track, "add", add)
        with pytest.warns(RuntimeWarning, match="interrupted"):
            fit = stanimport.sample(beta_module, FLIPS, chains=2, iter_warmup=300, iter_sampling=2_000_000, seed=1)
    finally:
        signal.signal(signal.SIGINT, before)
    assert fit.interrupted and 0 < fit.draws_per_chain < 2_000_000
    assert fit.stan_variable("theta").mean() == pytest.approx(8 / 12, abs=0.05)


def test_importing_the_package_loads_no_array_library():
    code = "import sys, stanimport; sys.exit(any(m in sys.modules for m in ('jax', 'numpy', 'torch')))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_sampling_needs_neither_pandas_nor_arviz():
    """The plain installation has none of them."""
    code = f"""
import sys
for name in ("arviz", "pandas", "xarray", "matplotlib"):
    sys.modules[name] = None
import stanimport
from stanimport.inference.fits.summary import table
fit = stanimport.sample({str(load("coin").stan.filename)!r}, {data_of("coin")!r}, chains=1, iter_warmup=50,
                        iter_sampling=50, seed=1)
assert "bias" in table(fit).text() and fit.diagnose() is not None
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                          env=compilation.quickly(os.environ))  # fmt: skip
    assert done.returncode == 0, done.stderr


DIVERGENT = dict(chains=1, iter_warmup=0, iter_sampling=20, seed=1, step_size=50, adapt_engaged=False)
RUNS = {
    "sample": lambda module, _: stanimport.sample(module, **DIVERGENT),
    "optimize": lambda module, _: stanimport.optimize(module, iter=1, require_converged=False, seed=1),
    "pathfinder": lambda module, _: stanimport.pathfinder(module, seed=1),
    "advi": lambda module, _: stanimport.advi(module, require_converged=False, iter=50, seed=1),
    "variational": lambda module, _: stanimport.variational(module, require_converged=False, iter=5, seed=1),
    "cmdstanpy": lambda _, model: model.sample(**DIVERGENT),
    "cmdstanpy, a mode": lambda _, model: model.optimize(iter=1, require_converged=False, seed=1).x,
}  # fmt: skip


@pytest.mark.sampled(8)
@pytest.mark.parametrize("run", RUNS)
def test_warnings_are_told_at_the_line_that_calls(run, tmp_path):
    program = tmp_path / "funnel.stan"
    program.write_text("parameters { real s; vector[9] x; } model { s ~ normal(0, 3); x ~ normal(0, exp(s)); }")
    module, model = stanimport.load(program), CmdStanModel(stan_file=program)
    with pytest.warns(Warning) as told:
        RUNS[run](module, model)
    assert {w.filename for w in told} == {__file__}
