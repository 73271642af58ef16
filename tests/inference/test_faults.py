"""Faults while running: killed processes, full disks, interrupts, chains that fail, forks and threads.

Interrupts at random moments: `pytest -m slow tests/inference/test_faults.py -k moments`.
"""
from __future__ import annotations

import gc
import os
import random
import signal
import subprocess
import sys
import threading
import time
import types
from concurrent.futures import ThreadPoolExecutor

import compilation
import numpy as np
import numpyro
import pytest
from conftest import FLIPS, data_of, load

import stanimport
from stanimport import room
from stanimport.inference.running import interrupts
from stanimport.inference.samplers.nuts import NutsSampler

SHORT = dict(chains=2, iter_warmup=100, iter_sampling=100, seed=1)
posix = pytest.mark.skipif(os.name != "posix", reason="signals and limits of POSIX")


def run(code: str, *arguments: object, **options) -> subprocess.CompletedProcess:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, **options,
                          env=compilation.quickly(os.environ))  # fmt: skip


# --- killed while writing --------------------------------------------------------------------------------------------

# A child for every call of a C function in what writes, and every return from one, that is killed there.
KILLED = """
import os, signal, sys
from pathlib import Path
from stanimport import files
from stanimport.inference.io import data, files as results

class Writer:
    def __init__(self, name, write, old, new):
        self.path, self.write, self.old, self.new = Path(sys.argv[1]) / name, write, old, new

    def run(self, limit):
        seen = 0
        def count(frame, event, argument):
            nonlocal seen
            if event in ("c_call", "c_return") and "stanimport" in frame.f_code.co_filename:
                seen += 1
                if seen == limit:
                    os.kill(os.getpid(), signal.SIGKILL)
        sys.setprofile(count)
        self.write(self.path)
        sys.setprofile(None)
        os._exit(0)

new = os.urandom(100_000)
writers = [
    Writer("cache", lambda p: files.write(p, new, 0o600), b"old", new),
    Writer("fit.nc", lambda p: results.atomically(p, lambda place: place.write_bytes(new)), b"old", new),
    Writer("data.json", lambda p: data.write_json({"x": [1.0, 2.0]}, p), b"old", b'{"x": [1.0, 2.0]}'),
]
for writer in writers:
    phases = {}
    for limit in range(1, 2000):
        writer.path.write_bytes(writer.old)
        child = os.fork()
        if child == 0:
            writer.run(limit)
        status = os.waitpid(child, 0)[1]
        content = writer.path.read_bytes()
        assert content in (writer.old, writer.new), (writer.path, limit, len(content))
        phases[content == writer.old] = phases.get(content == writer.old, 0) + 1
        if status == 0:
            break
    assert status == 0 and writer.path.read_bytes() == writer.new
    assert phases[True] > 3 and phases[False] > 0, phases
print("whole")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system can't fork")
def test_a_killed_process_leaves_the_old_file_or_the_new_one(tmp_path):
    done = run(KILLED, tmp_path)
    assert done.stdout.strip() == "whole", done.stderr


FULL = """
import resource, signal, sys
from pathlib import Path
import stanimport
from stanimport.inference.io.data import write_json
fit = stanimport.sample(sys.argv[2], {"N": 2, "y": [1, 0]}, chains=1, iter_warmup=50, iter_sampling=3000, seed=1)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))
for name, save in (("fit.nc", fit.save), ("data.json", lambda p: write_json({"x": [0.5] * 10_000}, Path(p)))):
    path = Path(sys.argv[1]) / name
    path.write_text("old")
    try:
        save(str(path))
    except OSError as e:
        print(e.filename == str(path), path.read_text(), len(list(path.parent.glob("*"))))
print(fit.draws().shape[0])
"""


@pytest.mark.slow
@posix
def test_a_full_disk_loses_no_draws(tmp_path):
    """HDF5 would take the process down when it closes a file that it could not write."""
    folder = tmp_path / "results"
    folder.mkdir()
    (tmp_path / "m.stan").write_text(
        "data { int N; array[N] int y; } parameters { real<lower=0, upper=1> theta; } model { y ~ bernoulli(theta); }"
    )
    done = run(FULL, folder, tmp_path / "m.stan")
    assert (done.returncode, done.stdout.split("\n")[:3]) == (0, ["True old 1", "True old 2", "3000"]), done.stderr


# --- interrupts ------------------------------------------------------------------------------------------------------


@pytest.fixture
def handled():
    """The handler that a shell's background jobs don't have."""
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals need the main thread")
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler  # as it was found
    signal.signal(signal.SIGINT, before)


@pytest.mark.slow
def test_an_interrupt_in_the_garbage_collector_is_not_forgotten(beta_module, handled):
    """Python prints what a callback of the collector raises, and goes on."""
    sent, thresholds = [], gc.get_threshold()

    def interrupt(phase, info):
        if not sent:
            sent.append(True)
            signal.raise_signal(signal.SIGINT)

    gc.collect()
    gc.callbacks.append(interrupt)
    gc.set_threshold(700, 10, 10)  # Python's own: it is reached inside of `sample`, that of the tests is not
    try:
        with pytest.raises(KeyboardInterrupt):
            stanimport.sample(beta_module, FLIPS, chains=1, iter_warmup=100, iter_sampling=5_000_000, seed=1)
    finally:
        gc.set_threshold(*thresholds)
        gc.callbacks.remove(interrupt)
    assert sent


def test_an_interrupt_where_exceptions_are_swallowed(beta_module, handled, monkeypatch):
    """As while an extension module is initialized: what is raised there becomes another error."""
    original = NutsSampler.__init__

    def init(self, *arguments, **options):
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise ImportError("initialization failed") from None
        original(self, *arguments, **options)

    monkeypatch.setattr(NutsSampler, "__init__", init)
    with pytest.raises(KeyboardInterrupt):
        stanimport.sample(beta_module, FLIPS, **SHORT)


@pytest.mark.parametrize("sent_by", ["a function of the program", "what is called before"])
def test_an_interrupt_ends_the_tracing_of_a_program_at_its_next_line(handled, monkeypatch, sent_by):
    """Large programs take long to trace. Libraries that it calls are left at no place that they don't know."""
    if sys.gettrace() is not None:
        pytest.skip("a debugger traces this")
    calls, left = [], []

    def odds(x):
        calls.append(x)
        try:
            if len(calls) == 3 and sent_by == "a function of the program":
                signal.raise_signal(signal.SIGINT)
            left.append(sum(range(1000)))  # lines of others run to their end
            return 2 * x
        finally:
            assert len(left) == len(calls)

    holder = types.ModuleType("odds_of_tests")
    holder.odds = odds
    monkeypatch.setitem(sys.modules, "odds_of_tests", holder)
    lines = "\n".join(f"  target += -square(odds(a) - {i});" for i in range(50))
    source = f"functions {{ real odds(real x); }} parameters {{ real a; }} model {{\n{lines}\n}}"
    module = stanimport.loads(source, functions={"odds": "odds_of_tests.odds"})
    with pytest.raises(KeyboardInterrupt), interrupts.collected():
        if sent_by == "what is called before":
            signal.raise_signal(signal.SIGINT)
        numpyro.handlers.substitute(module.model, {"a": 1.0})()
    assert len(calls) == (3 if sent_by == "a function of the program" else 0) == len(left)
    assert sys.gettrace() is None


def test_a_second_interrupt_is_not_kept_waiting(handled):
    with pytest.raises(KeyboardInterrupt), interrupts.collected():
        signal.raise_signal(signal.SIGINT)
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise
        pytest.fail("the second interrupt was not raised")


def test_the_callers_own_handler_is_called(handled):
    called = []
    signal.signal(signal.SIGINT, lambda *_: called.append(1))
    try:
        with interrupts.collected():
            signal.raise_signal(signal.SIGINT)
            assert not called
            with interrupts.immediate():
                assert called == [1]
                signal.raise_signal(signal.SIGINT)
                assert called == [1, 1]
        assert called == [1, 1]
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def test_threads_run_without_a_handler(beta_module):
    with ThreadPoolExecutor(1) as pool:
        fit = pool.submit(stanimport.sample, beta_module, FLIPS, **SHORT).result()
    assert fit.draws_per_chain == 100


MOMENT = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
import stanimport
print("start", flush=True)
try:
    fit = stanimport.sample({model!r}, {data!r}, seed=1, iter_warmup=300, iter_sampling=2_000_000)
    print("fit", fit.interrupted and fit.draws_per_chain > 0)
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.slow
@posix
@pytest.mark.parametrize("number", range(100))
def test_an_interrupt_at_random_moments(number):
    """Never swallowed, never a hang, never another error."""
    moment = random.Random(number).choice([1.5, 12.0]) * random.Random(number + 1000).random()
    code = MOMENT.format(model=str(load("coin").stan.filename), data=data_of("coin"))
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "start\n"
    time.sleep(moment)
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=120)
    assert (process.returncode, out.strip() in ("fit True", "interrupted")) == (0, True), (moment, out, errors)
    assert "Exception ignored" not in errors


# --- chains that fail ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("failing", [{1}, {0, 1, 2}], ids=["one", "all"])
def test_chains_that_fail_end_the_run(beta_module, monkeypatch, failing):
    original, started = NutsSampler.advance, []

    def run_chain(self, track, *arguments):
        started.append(1)
        if len(started) - 1 in failing:
            raise FloatingPointError("this chain is broken")
        return original(self, track, *arguments)

    monkeypatch.setattr(NutsSampler, "advance", run_chain)
    began = time.perf_counter()
    with pytest.raises(FloatingPointError, match="this chain is broken"):
        stanimport.sample(beta_module, FLIPS, chains=3, iter_warmup=100, iter_sampling=5_000_000, seed=1)
    assert time.perf_counter() - began < 60


def test_a_chain_that_can_not_start_is_named(beta_module):
    with pytest.raises(stanimport.StanDataError, match="theta is 2.0, outside its domain"):
        stanimport.sample(beta_module, FLIPS, inits=[{"theta": 0.5}, {"theta": 2.0}], **SHORT)


NOTHING = """
data { int N; }
transformed data { real t = N; }
generated quantities { real x = t + 1; real z = normal_rng(0, 1); }
"""


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_a_program_without_parameters(backend):
    module = stanimport.loads(NOTHING, backend=backend)
    fit = stanimport.sample(module, {"N": 2}, **SHORT)
    assert np.all(fit.stan_variable("x") == 3.0) and len(np.unique(fit.stan_variable("z"))) == 200
    for approximate in (stanimport.variational, stanimport.pathfinder):
        with pytest.raises(stanimport.StanError, match="has no parameters to approximate"):
            approximate(module, {"N": 2}, seed=1)


# --- processes and threads -------------------------------------------------------------------------------------------

# Children forked before JAX runs draw what their parent draws later; one forked after that is told at once.
FORKS = """
import os, sys
import numpy as np
import stanimport
from stanimport.inference.methods import sampling
options = dict(chains=2, iter_warmup=50, iter_sampling=50, seed=7)
def draw():
    return stanimport.sample(sys.argv[1], {"N": 2, "y": [1, 0]}, **options).draws()
children = []
for i in range(2):
    child = os.fork()
    if child == 0:
        np.save(f"{sys.argv[2]}/{i}.npy", draw())
        os._exit(0)
    children.append(child)
status = [os.waitpid(c, 0)[1] for c in children]
own = draw()
print(status, [bool(np.array_equal(np.load(f"{sys.argv[2]}/{i}.npy"), own)) for i in range(2)], flush=True)
child = os.fork()
if child == 0:
    try:
        draw()
    except stanimport.StanError as e:
        os._exit(7 if "spawn" in str(e) else 8)
    os._exit(9)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
np.save(f"{sys.argv[2]}/own.npy", own)
"""
PROGRAM = "data { int N; array[N] int y; } parameters { real<lower=0, upper=1> theta; } model { y ~ bernoulli(theta); }"


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system can't fork")
def test_forked_workers_and_the_same_draws_in_all_processes(tmp_path):
    (tmp_path / "m.stan").write_text(PROGRAM)
    done = run(FORKS, tmp_path / "m.stan", tmp_path)
    assert done.stdout.split("\n")[:2] == ["[0, 0] [True, True]", "7"], done.stderr
    module, data = stanimport.load(tmp_path / "m.stan"), {"N": 2, "y": [1, 0]}
    options = dict(iter_warmup=50, iter_sampling=50, seed=7)
    expected = np.load(tmp_path / "own.npy")
    for chains, workers in ((2, 1), (2, 2), (3, 2), (1, 1)):  # whatever runs beside a chain
        found = stanimport.sample(module, data, chains=chains, parallel_chains=workers, **options).draws()
        both = min(chains, 2)
        np.testing.assert_array_equal(found[:, :both], expected[:, :both])


DEEP = "model { real x = " + 200 * "(" + "1" + 200 * ")" + "; target += x; }"


def test_twenty_threads_translate_and_sample():
    """Each its own program and data; only what XLA compiled is the same. Five of them sample."""
    def fit(i: int) -> float:
        if i % 5 == 0:
            stanimport.translate("deep.stan", source=DEEP)
        text = "data { real m; } parameters { real x; } model { x ~ normal(m, 0.001); }"
        module = stanimport.loads(f"{text} // {i}", name=f"thread_{i}")
        if i % 4:
            return float(module.transformed_data(m=i)["m"])
        fit = stanimport.sample(module, {"m": i}, **SHORT | {"chains": 1, "inits": {"x": i}})
        return float(fit.stan_variable("x").mean())

    before = sys.getrecursionlimit()
    with ThreadPoolExecutor(20) as pool:
        means = list(pool.map(fit, range(20)))
    np.testing.assert_allclose(means, np.arange(20), atol=0.01)
    assert sys.getrecursionlimit() == before


AT_ONCE = """
import threading
import stanimport
from stanimport.inference import LogProb
start, out = threading.Barrier(10), {}
METHODS = [
    lambda m: stanimport.log_prob(m, params={"x": 1.0}).gradient[0],
    lambda m: stanimport.generate_quantities(m, previous_fit={"x": [1.0]}, seed=1).stan_variable("two")[0] - 3,
    lambda m: stanimport.optimize(m, seed=1).stan_variable("two") - 1,
    lambda m: stanimport.sample(m, chains=1, iter_sampling=1, fixed_param=True, inits={"x": 0.0}, seed=1,
                                show_progress=False).stan_variable("two")[0] - 1,
    lambda m: stanimport.prior_predictive(m, draws=1, seed=1).stan_variable("two").size - 2,
]
def begin(i):
    text = "parameters { real x; } transformed parameters { real two = 2 * x; } model { x ~ normal(0, 1); }"
    module = stanimport.loads(f"{text} // {i}")
    start.wait()
    out[i] = METHODS[i % 5](module)
threads = [threading.Thread(target=begin, args=(i,)) for i in range(10)]
for t in threads: t.start()
for t in threads: t.join()
print(len(out), {round(float(v), 6) for v in out.values()})
"""


def test_threads_begin_at_once(tmp_path):
    """In a process that has loaded nothing yet: packages are loaded whole, by one of them."""
    done = run(AT_ONCE, cwd=tmp_path)
    assert done.stdout.strip() == "10 {-1.0}", done.stderr


def test_the_limit_of_recursion_holds_while_any_translation_needs_it():
    limit, inside, leave = sys.getrecursionlimit(), threading.Event(), threading.Event()

    def other():
        with room.deep():
            inside.set()
            leave.wait(60)

    thread = threading.Thread(target=other)
    with room.deep():
        thread.start()
        assert inside.wait(60)
    assert sys.getrecursionlimit() == room._RECURSION_LIMIT
    leave.set()
    thread.join()
    assert sys.getrecursionlimit() == limit
