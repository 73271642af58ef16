"""Chains that go on: to the last bit what one longer run draws."""
import signal
import threading
import time

import numpy as np
import pytest

import stanimport
from stanimport.errors import StanDataError, StanError
from stanimport.inference import Fit
from stanimport.inference.options import OptionError
from stanimport.inference.samplers import chains
from stanimport.inference.samplers.tracks import Track

PROGRAM = """
data { int N; vector[N] y; }
parameters { real mu; real<lower=0> sigma; }
model { y ~ normal(mu, sigma); sigma ~ exponential(1); }
generated quantities { real later = normal_rng(mu, sigma); }
"""
DATA = {"N": 5, "y": np.array([1.0, 2.5, 0.3, 4.0, 2.2])}
SHORT = {"chains": 2, "iter_warmup": 100, "seed": 3}


@pytest.fixture(scope="module")
def module(tmp_path_factory):
    path = tmp_path_factory.mktemp("resumed") / "later.stan"
    path.write_text(PROGRAM)
    return stanimport.load(path)


def assert_same(a: Fit, b: Fit) -> None:
    np.testing.assert_array_equal(a.draws(), b.draws())
    assert a.column_names == b.column_names and {**a.settings} == {**b.settings}
    np.testing.assert_array_equal(a.metric, b.metric)
    for name in a.info:
        if name.startswith("standing_"):
            np.testing.assert_array_equal(a.info[name], b.info[name])


OPTIONS = {
    "as it is": {}, "thinned": {"thin": 3}, "diagonal": {"metric": "diag_e"}, "given": {"metric": np.array([0.5, 2.0])},
    "saved warm-up": {"save_warmup": True}, "one program": {"chain_method": "vectorized"},
    "chains and seeds": {"seed": [5, 8], "chain_ids": [4, 2]}, "no warm-up": {"iter_warmup": 0, "step_size": 0.2},
}  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_chains_that_go_on_are_those_of_one_long_run(module, options):
    chosen = {**SHORT, **options}
    part = stanimport.sample(module, DATA, iter_sampling=50, **chosen)
    whole = stanimport.sample(module, DATA, iter_sampling=130, **chosen)
    assert_same(stanimport.sample(module, DATA, resume=part, iter_sampling=130), whole)
    if part.warmup is not None:
        np.testing.assert_array_equal(whole.draws(inc_warmup=True),
                                      stanimport.sample(module, resume=part, iter_sampling=130).draws(inc_warmup=True))


@pytest.mark.slow
def test_a_fit_that_was_saved_goes_on(module, tmp_path):
    part = stanimport.sample(module, DATA, iter_sampling=20, **SHORT)
    path = part.save(tmp_path / "part.nc")
    more = stanimport.sample(module, resume=path, iter_sampling=60)
    assert_same(more, stanimport.sample(module, DATA, iter_sampling=60, **SHORT))
    assert_same(stanimport.sample(module, resume=more.save(tmp_path / "more.nc"), iter_sampling=75),
                stanimport.sample(module, DATA, iter_sampling=75, **SHORT))


def test_a_run_of_warm_up_alone_goes_on(module):
    warm = stanimport.sample(module, DATA, iter_sampling=0, save_warmup=True, **SHORT)
    assert_same(stanimport.sample(module, resume=warm, iter_sampling=30),
                stanimport.sample(module, DATA, iter_sampling=30, save_warmup=True, **SHORT))


@pytest.fixture
def interruptible():
    """Ctrl-C as it is in a terminal: what a shell runs in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_what_was_interrupted_ends_as_if_it_had_not_been(module, monkeypatch, interruptible):
    chosen = {**SHORT, "parallel_chains": 2, "iter_sampling": 2_000, "iter_warmup": 30}
    tracks, add, sent, once = dict[int, Track](), Track.add, threading.Event(), threading.Lock()

    def interrupting(self, piece, count):
        add(self, piece, count)
        if sent.is_set():
            time.sleep(0.3)  # until the main thread, which looks every tenth of a second, has seen it
        tracks[id(self)] = self
        made = [t.done - 30 for t in tracks.values()]
        if len(made) == 2 and min(made) > 0 and max(made) > 300 and once.acquire(blocking=False):
            sent.set()
            signal.raise_signal(signal.SIGINT)
            time.sleep(0.3)

    with monkeypatch.context() as patched, pytest.warns(RuntimeWarning, match="interrupted"):
        patched.setattr(Track, "add", interrupting)
        patched.setattr(chains, "PATIENCE", 1e-4)  # calls of few transitions
        part = stanimport.sample(module, DATA, **chosen)
    assert part.interrupted and 0 < part.draws_per_chain < 2_000 and part.info["standing_ahead"].min() == 0
    assert_same(stanimport.sample(module, resume=part), stanimport.sample(module, DATA, **chosen))


def test_nothing_left_to_do_is_the_fit(module):
    fit = stanimport.sample(module, DATA, iter_sampling=20, **SHORT)
    assert stanimport.sample(module, DATA, resume=fit) is fit


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({"iter_sampling": 10}, OptionError, "20 draws are made already"),
        ({"chains": 4}, OptionError, "chains is 2 in the run, and can't be 4"),
        ({"inits": 0.1}, OptionError, "inits is no option of a run that goes on"),
        ({"seed": 4}, OptionError, r"seed is \[3, 3\] in the run"),
        ({"data": {**DATA, "y": np.zeros(5)}}, StanDataError, "y differs"),
    ],
    ids=["fewer", "chains", "inits", "seed", "data"],
)
def test_what_is_not_the_fit_s_is_refused(module, given, error, said):
    fit = stanimport.sample(module, DATA, iter_sampling=20, **SHORT)
    with pytest.raises(error, match=said):
        stanimport.sample(module, resume=fit, **given)


def test_other_programs_and_methods_are_refused(module, tmp_path):
    path = tmp_path / "other.stan"
    path.write_text(PROGRAM.replace("exponential(1)", "exponential(2)"))
    fit = stanimport.sample(module, DATA, iter_sampling=20, **SHORT)
    with pytest.raises(StanError, match="not that of the run"):
        stanimport.sample(stanimport.load(path), resume=fit, iter_sampling=30)
    with pytest.raises(OptionError, match="method='nuts'"):
        stanimport.sample(module, resume=stanimport.sample(module, DATA, method="numpyro", iter_sampling=20, **SHORT))
