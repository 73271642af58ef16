"""The commands of the shell: what they print, and their exit codes."""
import errno
import gc
import json
import subprocess
import sys

import numpy as np
import pytest

import stanimport.__main__
import stanimport.files
from stanimport.__main__ import main

COIN = """\
data { int<lower=0> N; array[N] int<lower=0, upper=1> y; }
parameters { real<lower=0, upper=1> theta; }
model { theta ~ beta(2, 2); y ~ bernoulli(theta); }
generated quantities { array[2] int next = bernoulli_rng({theta, theta}); }
"""


@pytest.fixture
def coin(tmp_path):
    file = tmp_path / "coin.stan"
    file.write_text(COIN)
    (tmp_path / "coin.json").write_text(json.dumps({"N": 10, "y": [1, 1, 0, 1, 1, 1, 0, 1, 0, 1]}))
    return file


def test_check_accepts(coin, capsys):
    assert main(["check", str(coin)]) == 0
    assert capsys.readouterr().out == f"{coin}: ok\n"


def test_check_reports_every_file_and_fails(coin, tmp_path, capsys):
    wrong = tmp_path / "wrong.stan"
    wrong.write_text("parameters { real a; }\nmodel { b ~ normal(0, 1); c ~ normal(0, 1); }\n")
    assert main(["check", str(wrong), str(coin)]) == 1
    shown = capsys.readouterr().out
    assert "'b'" in shown and "'c'" in shown and shown.count("wrong.stan:2:") == 2 and f"{coin}: ok" in shown


@pytest.mark.parametrize("command", [["check"], ["check", "--format", "json"], ["format", "--overwrite"]])
def test_files_that_can_not_be_read_leave_the_others(tmp_path, command, capsys):
    before, after = tmp_path / "before.stan", tmp_path / "z_after.stan"
    text = "parameters { array[2] real x; } model { y ~ normal(0, 1); }"
    for path in (before, after):
        path.write_text(text)
    missing = tmp_path / "nothing like them.stan"
    assert main([*command, str(before), str(missing), str(tmp_path), str(after)]) == 1
    told = capsys.readouterr()
    assert f"{missing}: No such file" in told.err and f"{tmp_path}: Is a directory" in told.err
    if "json" in command:
        assert [d["file"] for d in json.loads(told.out)] == [str(before), str(after)]
    elif command == ["check"]:
        assert f"{before}:1:41: error" in told.out and f"{after}:1:41: error" in told.out
    else:
        assert before.read_text() == after.read_text() == stanimport.format("p.stan", source=text)


def test_a_file_that_can_not_be_written_leaves_the_others(tmp_path, monkeypatch, capsys):
    write = stanimport.files.write

    def full(path, *more):
        if path.stem == "a":
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        write(path, *more)

    monkeypatch.setattr(stanimport.files, "write", full)
    paths = [tmp_path / "a.stan", tmp_path / "b.stan"]
    for path in paths:
        path.write_text("model{}")
    assert main(["format", "--overwrite", *map(str, paths)]) == 1
    assert [path.read_text() for path in paths] == ["model{}", "model {\n\n}\n"]
    assert capsys.readouterr().err == f"{paths[0]}: No space left on device\n"


def test_check_strict_refuses_the_old_syntax(tmp_path, capsys):
    old = tmp_path / "old.stan"
    old.write_text("data { int N; real y[N]; }\nmodel { }\n")
    assert main(["check", str(old)]) == 0
    assert ":1:21: deprecation: " in capsys.readouterr().out  # the deprecation warning
    assert main(["check", "--strict", str(old)]) == 1


def from_standard_input(text, *arguments):
    done = subprocess.run([sys.executable, "-m", "stanimport", *arguments], input=text.encode(), capture_output=True)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_programs_from_the_standard_input():
    """As stanc and formatters take them, by the name -, for editors that have no file."""
    tidy = "parameters {\n  real x; // é\n}\n"
    assert from_standard_input("parameters{real x;// é\n}", "format", "-") == (0, tidy, "")
    assert from_standard_input(tidy, "format", "--overwrite", "-") == (0, tidy, "")
    code, shown, _ = from_standard_input("parameters{real x;}", "format", "--check", "-")
    assert code == 1 and "--- <stdin>" in shown and "+  real x;" in shown
    assert from_standard_input("model { x ~ normal(0, 1); }", "check", "--format", "json", "-")[0] == 1
    code, shown, _ = from_standard_input("model { }\nparameters { real x }", "check", "-")
    assert code == 1 and shown.startswith("<stdin>:2:21: error")
    assert from_standard_input(tidy, "check", "-") == (0, "<stdin>: ok\n", "")


def test_translate_prints_a_python_program(coin, capsys):
    assert main(["translate", str(coin)]) == 0
    numpyro = capsys.readouterr().out
    assert main(["translate", str(coin), "--backend", "pyro"]) == 0
    pyro = capsys.readouterr().out
    assert numpyro != pyro
    for text in (numpyro, pyro):
        compile(text, "coin.py", "exec")
        assert "def model(" in text


def test_missing_file(tmp_path, capsys):
    assert main(["translate", str(tmp_path / "none.stan")]) == 1
    assert "none.stan" in capsys.readouterr().err


def test_sample_prints_the_posterior(coin, capsys):
    data = str(coin.with_suffix(".json"))
    assert main(["sample", str(coin), "--data", data, "--chains", "2", "--no-progress", "--seed", "3"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines() if line.strip()]
    rows = {words[0]: words for words in lines}
    assert {"theta", "next[1]", "next[2]"} <= set(rows)
    heading = next(words for words in lines if words[0] == "Mean")
    mean, sd = (float(rows["theta"][1 + heading.index(name)]) for name in ("Mean", "StdDev"))
    # the posterior is beta(9, 5)
    assert mean == pytest.approx(9 / 14, abs=0.02) and sd == pytest.approx(np.sqrt(45 / 14**2 / 15), abs=0.02)


@pytest.mark.parametrize(
    "content, named", [('{"N": 10}', "y"), ("[1, 2]", "coin.json"), ("{", "coin.json"), ('{"N": 1, "y": [3]}', "y[1]")]
)
def test_bad_data_exit_with_a_message(coin, content, named, capsys):
    coin.with_suffix(".json").write_text(content)
    assert main(["sample", str(coin), "--data", str(coin.with_suffix(".json"))]) == 1
    assert named in capsys.readouterr().err


def test_the_package_runs_as_a_module(coin):
    done = subprocess.run([sys.executable, "-m", "stanimport", "check", str(coin)], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"{coin}: ok\n")


def test_a_process_of_its_own_collects_garbage_late(monkeypatch):
    frozen = gc.get_freeze_count()
    monkeypatch.setattr(stanimport.__main__, "main", lambda: 7 if not gc.isenabled() else 0)
    try:
        assert stanimport.__main__.shell() == 7 and gc.get_freeze_count() > frozen
    finally:
        gc.enable()
        gc.unfreeze()
