"""Runs whose draws are on disk while they are made: what a killed process leaves goes on as if nothing had been."""
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import compilation
import numpy as np
import pytest

import stanimport
from stanimport.errors import StanDataError
from stanimport.inference.options import OptionError
from stanimport.inference.rows import Rows
from stanimport.inference.samplers import journal as journals

PROGRAM = """
data { int N; vector[N] y; }
parameters { vector[3] b; real<lower=0> sigma; }
model { y ~ normal(b[1] + b[2] * b[3], sigma); b ~ normal(0, 2); sigma ~ exponential(1); }
generated quantities { real later = normal_rng(b[1], sigma); vector[4] long = rep_vector(b[2], 4); }
"""
DATA = {"N": 5, "y": [1.0, 2.5, 0.3, 4.0, 2.2]}
OPTIONS = {"chains": 2, "seed": 3, "iter_warmup": 6000, "iter_sampling": 6000, "thin": 4, "save_warmup": True}

RUN = """
import json, sys
import stanimport
from stanimport.inference.samplers import journal
journal.SECONDS, journal.SHARE = 0.01, 0
program, data, folder, options = sys.argv[1:]
print("ready", flush=True)
stanimport.sample(program, json.loads(data), journal=folder, **json.loads(options))
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    path = tmp_path_factory.mktemp("journal") / "later.stan"
    path.write_text(PROGRAM)
    return path


@pytest.fixture(scope="module")
def whole(program):
    return stanimport.sample(program, DATA, **OPTIONS)


def made(folder: Path) -> int:
    """The transitions that the first chain is known to have made."""
    diary = journals.Journal(folder, 1).of_track(0)
    try:
        noted = diary.noted()
    except FileNotFoundError:
        return 0
    return 0 if noted is None else int(noted["done"])


def killed(program: Path, folder: Path, after: int) -> None:
    """A run that is killed when its first chain has made so many transitions."""
    command = [sys.executable, "-c", RUN, str(program), json.dumps(DATA), str(folder), json.dumps(OPTIONS)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env=compilation.quickly(os.environ))
    while made(folder) < after:
        assert process.poll() is None, "it ended before it was killed"
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert made(folder) < OPTIONS["iter_warmup"] + OPTIONS["iter_sampling"]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("after", [1, 2500, 7000], ids=["at the start", "in a window", "while sampling"])
def test_what_was_killed_goes_on_to_the_last_bit(program, whole, tmp_path, after):
    folder = tmp_path / "run"
    killed(program, folder, after)
    killed_at = made(folder)
    fit = stanimport.sample(program, resume=folder)
    assert killed_at >= after
    np.testing.assert_array_equal(fit.draws(inc_warmup=True), whole.draws(inc_warmup=True))
    np.testing.assert_array_equal(fit.metric, whole.metric)
    assert fit.settings == whole.settings


def test_a_journal_changes_no_draw_and_can_be_made_longer(program, tmp_path):
    chosen = {"chains": 2, "seed": 1, "iter_warmup": 100}
    fit = stanimport.sample(program, DATA, iter_sampling=40, journal=tmp_path / "run", **chosen)
    np.testing.assert_array_equal(fit.draws(), stanimport.sample(program, DATA, iter_sampling=40, **chosen).draws())
    longer = stanimport.sample(program, resume=tmp_path / "run", iter_sampling=70)
    np.testing.assert_array_equal(longer.draws(), stanimport.sample(program, DATA, iter_sampling=70, **chosen).draws())
    np.testing.assert_array_equal(longer.draws()[:40], fit.draws())


def test_large_draws_are_maps_of_files(program, tmp_path, monkeypatch):
    from stanimport.inference.samplers import chains

    monkeypatch.setattr(chains, "FEW", 1000)
    chosen = {"chains": 2, "seed": 1, "iter_warmup": 50, "iter_sampling": 700, "save_warmup": True}
    fit = stanimport.sample(program, DATA, journal=tmp_path / "run", **chosen)
    memory = fit.variables["long"]
    while isinstance(memory, np.ndarray) and not isinstance(memory, np.memmap):
        memory = memory.base
    assert isinstance(memory, np.memmap) and Path(memory.filename) == tmp_path / "run" / "draws" / "long.npy"
    whole = stanimport.sample(program, DATA, **chosen)
    np.testing.assert_array_equal(fit.draws(inc_warmup=True), whole.draws(inc_warmup=True))
    longer = stanimport.sample(program, resume=tmp_path / "run", iter_sampling=800)
    np.testing.assert_array_equal(fit.draws(), whole.draws())  # the older fit's files are still its own
    assert longer.draws_per_chain == 800


@pytest.mark.sampled(2)
@pytest.mark.parametrize("method", ["diag_e", "auto"])
def test_chains_in_one_program_go_on(program, tmp_path, method):
    chosen = {"chains": 3, "seed": 1, "iter_warmup": 200, "chain_method": "vectorized", "metric": method}
    stanimport.sample(program, DATA, journal=tmp_path / "run", iter_sampling=20, **chosen)
    longer = stanimport.sample(program, resume=tmp_path / "run", iter_sampling=50)
    whole = stanimport.sample(program, DATA, iter_sampling=50, **chosen)
    np.testing.assert_array_equal(longer.draws(), whole.draws())


def test_a_full_folder_is_refused_and_one_that_holds_no_journal(program, tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(OptionError, match="is not empty"):
        stanimport.sample(program, DATA, journal=tmp_path)
    with pytest.raises(StanDataError, match="holds no journal"):
        stanimport.sample(program, resume=tmp_path)


def test_damaged_journals_are_refused(program, tmp_path):
    stanimport.sample(program, DATA, journal=tmp_path / "run", chains=1, iter_warmup=20, iter_sampling=5)
    (tmp_path / "run" / "run.json").write_text('{"format": "another"}')
    with pytest.raises(StanDataError, match="of the format 'another'"):
        stanimport.sample(program, resume=tmp_path / "run")


@pytest.mark.parametrize("options", [{"method": "numpyro"}, {"fixed_param": True}], ids=["numpyro", "fixed"])
def test_what_keeps_no_journal_says_so(program, tmp_path, options):
    with pytest.raises(OptionError, match="journal"):
        stanimport.sample(program, DATA, journal=tmp_path / "run", iter_sampling=5, iter_warmup=5, **options)


def test_rows_of_a_file_outlive_the_object(tmp_path):
    values = np.random.default_rng(1).normal(size=(100, 3))
    rows = Rows((3,), float, tmp_path / "rows", 40)
    rows.add(values[:55])
    del rows
    again = Rows((3,), float, tmp_path / "rows", 7, 50)  # the last five did not count
    again.add(values[50:])
    np.testing.assert_array_equal(again.array(), values)
