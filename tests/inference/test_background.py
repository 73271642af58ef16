"""Runs in the background: asked, waited for, ended."""
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Future

import compilation
import numpy as np
import pytest

import stanimport
from stanimport.errors import StanDataError, StanError
from stanimport.inference import Sampling
from stanimport.inference.running import compilers
from stanimport.inference.samplers import chains
from stanimport.inference.samplers import journal as journals
from stanimport.inference.samplers.nuts import NutsSampler

PROGRAM = """
data { int N; vector[N] y; }
parameters { real mu; real<lower=0> sigma; }
model { y ~ normal(mu, sigma); sigma ~ exponential(1); }
generated quantities { real later = normal_rng(mu, sigma); }
"""
DATA = {"N": 5, "y": [1.0, 2.5, 0.3, 4.0, 2.2]}
LONG = {"chains": 2, "parallel_chains": 2, "seed": 3, "iter_warmup": 300, "iter_sampling": 10_000_000}


@pytest.fixture(scope="module")
def module(tmp_path_factory):
    path = tmp_path_factory.mktemp("background") / "later.stan"
    path.write_text(PROGRAM)
    return stanimport.load(path)


def until_drawn(run: Sampling, count: int) -> None:
    while not run.progress or min(c.iteration for c in run.progress) < 300 + count:
        assert not run.is_done
        time.sleep(0.01)


@pytest.mark.filterwarnings("error:interrupted")
def test_a_run_is_previewed_and_ended_and_goes_on(module):
    run = stanimport.sample(module, DATA, blocking=False, **LONG)
    until_drawn(run, 100)
    before = run.preview()
    fit = run.abort()
    assert not before.settings.get("blocking") and before.draws_per_chain >= 100
    assert fit.interrupted and fit.draws_per_chain >= before.draws_per_chain
    np.testing.assert_array_equal(fit.draws()[: before.draws_per_chain], before.draws())
    whole = stanimport.sample(module, DATA, **{**LONG, "iter_sampling": 100})
    np.testing.assert_array_equal(fit.draws()[:100], whole.draws())
    assert run.is_done and run.wait() is fit and run.preview() is fit


def test_chains_take_turns_where_there_are_more_than_threads(module, monkeypatch):
    """So all have draws when they are asked for, and the same ones as in threads of their own."""
    monkeypatch.setattr(chains, "TURN", 0.0)
    run = stanimport.sample(module, DATA, blocking=False, **{**LONG, "chains": 3, "parallel_chains": 1})
    until_drawn(run, 100)
    fit = run.abort()
    assert fit.interrupted and fit.draws_per_chain >= 100
    whole = stanimport.sample(module, DATA, **{**LONG, "chains": 3, "parallel_chains": 3, "iter_sampling": 100})
    np.testing.assert_array_equal(fit.draws()[:100], whole.draws())
    fixed = {**LONG, "iter_sampling": 200, "save_warmup": True}
    each, both = (stanimport.sample(module, DATA, **{**fixed, "parallel_chains": n}) for n in (1, 2))
    np.testing.assert_array_equal(each.draws(inc_warmup=True), both.draws(inc_warmup=True))


def test_errors_of_chains_that_take_turns_are_told(module, monkeypatch):
    """Also those that are IndexErrors, as Stan's for an index out of range."""
    def fails(*_):
        raise IndexError("of the chain")

    monkeypatch.setattr(NutsSampler, "advance", fails)
    with pytest.raises(IndexError, match="of the chain"):
        stanimport.sample(module, DATA, chains=3, parallel_chains=1, iter_warmup=5, iter_sampling=5)


def test_waiting_gives_the_fit_of_a_blocking_run(module):
    chosen = {"chains": 2, "seed": 1, "iter_warmup": 50, "iter_sampling": 40}
    run = stanimport.sample(module, DATA, blocking=False, **chosen)
    np.testing.assert_array_equal(run.wait().draws(), stanimport.sample(module, DATA, **chosen).draws())
    assert [(c.chains, c.phase, c.iteration) for c in run.progress] == [((1,), "done", 90), ((2,), "done", 90)]
    assert repr(run) == "<Sampling, done: chain 1: 90/90 done, chain 2: 90/90 done>"


def test_a_run_is_of_the_data_and_options_that_it_was_given(module):
    """Whoever gave them may change them while it begins."""
    y, scales = np.array(DATA["y"]), [0.5, 0.25]
    options = {"chains": 2, "seed": 1, "iter_warmup": 0, "adapt_engaged": False}
    data = {"N": 5, "y": y, "more": [[1.0]]}
    run = stanimport.sample(module, data, blocking=False, step_size=scales, iter_sampling=40, **options)
    y[:], data["N"], scales[0] = 77, 3, 0.01
    whole = stanimport.sample(module, DATA, step_size=[0.5, 0.25], iter_sampling=40, **options)
    np.testing.assert_array_equal(run.wait().draws(), whole.draws())


def test_waiting_can_end_before_the_run(module):
    run = stanimport.sample(module, DATA, blocking=False, **LONG)
    with pytest.raises(TimeoutError, match="not ended after 0.2 seconds"):
        run.wait(0.2)
    until_drawn(run, 1)
    assert not run.is_done and run.abort().interrupted


def test_errors_reach_who_waits(module):
    run = stanimport.sample(module, {"N": 5}, blocking=False)
    for ask in (run.wait, run.preview, run.abort):
        with pytest.raises(StanDataError, match="y"):
            ask()


def test_a_run_without_draws_says_so(module, monkeypatch):
    begun = threading.Event()

    def waits(self, track, program, until, stop, progress):
        begun.set()
        while not stop.is_set():
            time.sleep(0.01)

    monkeypatch.setattr(NutsSampler, "advance", waits)
    run = stanimport.sample(module, DATA, blocking=False, **LONG)
    begun.wait()
    with pytest.raises(StanError, match="no draws yet"):
        run.preview()
    with pytest.raises(StanError, match="before the first draw of every chain"):
        run.abort()


def test_a_journal_is_read_while_its_run_goes_on(module, tmp_path, monkeypatch):
    monkeypatch.setattr(journals, "SECONDS", 0.0)
    monkeypatch.setattr(journals, "SHARE", 0.0)
    run = stanimport.sample(module, DATA, journal=tmp_path / "run", blocking=False, **LONG)
    until_drawn(run, 600)  # pieces of 250 transitions are noted one after the other
    read = stanimport.Fit.load(tmp_path / "run")
    fit = run.abort()
    assert 0 < read.draws_per_chain <= fit.draws_per_chain
    np.testing.assert_array_equal(fit.draws()[: read.draws_per_chain], read.draws())
    assert stanimport.Fit.load(tmp_path / "run").draws_per_chain == fit.draws_per_chain


ENDING = """
import signal, sys, stanimport
signal.signal(signal.SIGINT, signal.default_int_handler)  # which jobs in the background ignore
run = stanimport.sample(sys.argv[1], {"N": 1, "y": [1.0]}, chains=1, seed=1, iter_warmup=100,
                        iter_sampling=int(sys.argv[2]), blocking=False, keep=["mu"])
print("begun", flush=True)
if sys.argv[3] == "wait":
    run.wait()
elif sys.argv[3] == "error":
    raise ValueError("of the program")
"""


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("how", "last"), [("wait", "KeyboardInterrupt"), ("error", "ValueError: of the program")])
def test_a_program_that_ends_by_an_error_ends_its_runs(module, how, last):
    """Else Ctrl-C would leave a process that samples on, for hours."""
    command = [sys.executable, "-c", ENDING, module.stan.filename, "1000000000", how]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env=compilation.quickly(os.environ)) as process:  # fmt: skip
        process.stdout.readline()
        if how == "wait":
            time.sleep(1)
            process.send_signal(signal.SIGINT)
        try:
            assert process.communicate(timeout=60)[1].strip().splitlines()[-1] == last
        finally:
            process.kill()
    assert process.returncode != 0


@pytest.mark.slow
def test_a_program_that_ends_waits_for_its_runs(module, tmp_path):
    code = ENDING.replace("blocking=False", f"blocking=False, journal={str(tmp_path / 'run')!r}")
    subprocess.run([sys.executable, "-c", code, module.stan.filename, "3000", "end"], check=True, timeout=120,
                   env=compilation.quickly(os.environ))  # fmt: skip
    assert stanimport.Fit.load(tmp_path / "run").draws_per_chain == 3000


def test_a_program_that_ends_tells_of_runs_that_failed(module):
    code = ENDING.replace('"y": [1.0]', '"y": [1.0, 2.0]')
    done = subprocess.run([sys.executable, "-c", code, module.stan.filename, "30", "end"], check=True, timeout=120,
                          capture_output=True, text=True, env=compilation.quickly(os.environ))  # fmt: skip
    assert "a run in the background failed: StanDataError: y must have" in done.stderr


def test_a_run_that_is_ended_does_not_wait_for_what_is_compiled(monkeypatch):
    """XLA takes minutes for large programs, and can't be stopped."""
    asked, never = threading.Event(), Future()

    def submit(self, function, *arguments, **options):
        asked.set()
        return never

    monkeypatch.setattr(compilers.Compilers, "submit", submit)
    module = stanimport.loads("parameters { vector[3] of_this_test; } model { of_this_test ~ normal(0, 1.25); }")
    run = stanimport.sample(module, chains=1, iter_warmup=10, iter_sampling=10, seed=1, blocking=False)
    assert asked.wait(60) and not run.is_done
    with pytest.raises(stanimport.StanError, match="ended before the first draw"):
        run.abort()
    assert run.is_done
