"""Commands whose output nobody reads to its end: what they were to save is saved, and the exit code alone tells."""
from __future__ import annotations

import errno
import json
import os
import subprocess
import sys

import pytest

import stanimport
from stanimport.__main__ import main

PROGRAM = """
data { int N; real y[N]; }
parameters { real m; vector[900] w; }
model { m ~ normal(0, 1); w ~ normal(0, 1); y ~ normal(m, 1); }
"""
RUN = ["--chains", "1", "--iter-warmup", "60", "--iter-sampling", "60", "--seed", "1", "--max-treedepth", "1"]


@pytest.fixture
def program(tmp_path):
    (tmp_path / "wide.json").write_text(json.dumps({"N": 2, "y": [0.5, 1.0]}))
    path = tmp_path / "wide.stan"
    path.write_text(PROGRAM)
    return path


def shell(*arguments, stdout, **options):
    command = [sys.executable, "-m", "stanimport", *map(str, arguments)]
    return subprocess.run(command, stdout=stdout, text=True, timeout=240, **options)


@pytest.fixture
def unread():
    """A pipe that nobody reads."""
    read, write = os.pipe()
    os.close(read)
    yield write
    os.close(write)


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_stops_loses_no_fit(program, unread, unbuffered):
    """The reader of warnings too, of which the old syntax of an array brings one."""
    unread_fit, read_fit = program.with_name("unread.nc"), program.with_name("read.nc")
    run = ["sample", program, "--data", program.with_suffix(".json"), *RUN, "--output"]
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    assert shell(*run, unread_fit, stdout=unread, stderr=unread, env=environment).returncode == 141
    done = shell(*run, read_fit, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
    assert done.returncode == 0 and "StdDev" in done.stdout
    draws = [stanimport.Fit.load(path).stan_variable("w") for path in (unread_fit, read_fit)]
    assert draws[0].shape == (60, 900) and (draws[0] == draws[1]).all()


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_nothing_is_printed_of_a_closed_pipe(program, unread, unbuffered):
    done = shell("translate", program, stdout=unread, stderr=subprocess.PIPE,
                 env={**os.environ, "PYTHONUNBUFFERED": unbuffered})  # fmt: skip
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no full device")
def test_output_that_finds_no_room_is_told(program):
    with open("/dev/full", "w") as full:
        done = shell("translate", program, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 1 and os.strerror(errno.ENOSPC) in done.stderr and "Traceback" not in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="descriptors are closed by the shell")
def test_an_output_that_is_closed(program):
    command = f'exec "{sys.executable}" -m stanimport check "{program}" >&-'
    done = subprocess.run(["sh", "-c", command], stderr=subprocess.PIPE, text=True, timeout=240)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_table_is_printed_where_the_fit_can_not_be_saved(program, monkeypatch, capsys):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "wide.nc")

    monkeypatch.setattr(stanimport.Fit, "save", full)
    arguments = ["--data", str(program.with_suffix(".json")), *RUN, "--output", str(program.with_suffix(".nc"))]
    assert main(["sample", str(program), *arguments]) == 1
    told = capsys.readouterr()
    assert "wide.nc: No space left" in told.err and "StdDev" in told.out and "saved" not in told.out
