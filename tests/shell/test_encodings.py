"""Texts and names that the encoding of the output does not have."""
from __future__ import annotations

import os
import subprocess
import sys

import pytest

import stanimport

PROGRAM = "// étude β\nparameters {\n  real x;\n}\nmodel {\n  x ~ normal(0, 1);\n}\n"


def shell(*arguments, encoding):
    environment = {**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    command = [sys.executable, "-m", "stanimport", *arguments]
    return subprocess.run(command, capture_output=True, timeout=240, env=environment)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-8"])
def test_programs_are_printed_as_they_are_read(tmp_path, encoding):
    """In UTF-8: what a pipe or a file gets is the same program, comments and all."""
    path = tmp_path / "ü.stan"
    path.write_text(PROGRAM, encoding="utf-8")
    done = shell("format", str(path), encoding=encoding)
    assert (done.returncode, done.stderr, done.stdout.decode()) == (0, b"", PROGRAM)
    done = shell("translate", str(path), encoding=encoding)
    assert (done.returncode, done.stderr) == (0, b"") and done.stdout.decode() == stanimport.translate(path)


def test_names_that_can_not_be_printed_are_escaped(tmp_path):
    (tmp_path / "ü.stan").write_text(PROGRAM, encoding="utf-8")
    done = shell("check", str(tmp_path / "ü.stan"), encoding="ascii")
    assert (done.returncode, done.stderr) == (0, b"") and done.stdout.rstrip().endswith(b"\\xfc.stan: ok")


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are text there")
@pytest.mark.parametrize("command", [["check"], ["format", "--check"]])
def test_names_that_are_no_text(tmp_path, command):
    path = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.stan")
    with open(path, "w", encoding="utf-8") as f:
        f.write(PROGRAM)
    done = shell(*command, path, encoding="utf-8")
    assert (done.returncode, done.stderr) == (0, b"")
