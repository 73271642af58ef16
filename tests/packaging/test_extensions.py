"""Functions and distributions of other packages: found by their entry point, checked, run on both backends."""
from __future__ import annotations

import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RECORDS = re.search(r"```python\n# circles/records.py\n(.*?)```", (ROOT / "docs/extensions.md").read_text(), re.S)[1]
PROGRAM = """
data { int N; vector[N] y; }
parameters { real theta; vector[N] b; }
model {
  theta ~ cardioid(0, 0.3);
  for (n in 1:N) target += wrap(b[n] * 4) + cardioid_lpdf(y[n] | b[n], 0.2);
}
"""
DENSITY = """
import math, sys
import numpy as np
import stanimport
wrap = lambda x: x - 2 * math.pi * math.floor((x + math.pi) / (2 * math.pi))
lpdf = lambda y, mu, rho: math.log1p(2 * rho * math.cos(y - mu)) - math.log(2 * math.pi)
y, b = [0.3, -2.0, 1.0], [1.1, -0.2, 2.3]
expected = lpdf(0.4, 0, 0.3) + sum(wrap(4 * v) + lpdf(o, v, 0.2) for o, v in zip(y, b))
for backend in ("numpyro", "pyro"):
    module = stanimport.load("p.stan", backend=backend)
    found = stanimport.log_prob(module, {"N": 3, "y": y}, params={"theta": 0.4, "b": b}, jacobian=False)
    np.testing.assert_allclose(float(found.lp), expected, rtol=1e-12)
"""


def digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")


@pytest.fixture
def run(tmp_path):
    """Runs Python beside an installed package `circles` whose records are as given."""

    def installed(records: str) -> None:
        info = tmp_path / "site" / "circles-1.dist-info"
        info.mkdir(parents=True, exist_ok=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: circles\nVersion: 1\n")
        (info / "entry_points.txt").write_text("[stanlib]\ncircles = circles.records\n")
        (tmp_path / "site" / "circles").mkdir(exist_ok=True)
        files = {"circles/__init__.py": "", "circles/records.py": records}
        for name, text in files.items():
            (tmp_path / "site" / name).write_text(text)
        rows = (f"{name},sha256={digest(text)},{len(text)}\n" for name, text in files.items())
        (info / "RECORD").write_text("".join(rows))

    def call(code: str, records: str | None = RECORDS) -> subprocess.CompletedProcess[str]:
        if records is not None:
            installed(records)
        (tmp_path / "p.stan").write_text(PROGRAM)
        places = [str(ROOT), *([str(tmp_path / "site")] if records is not None else [])]
        env = os.environ | {"PYTHONPATH": os.pathsep.join(places), "STANIMPORT_CACHE_DIR": str(tmp_path / "cache")}
        return subprocess.run(
            [sys.executable, "-W", "ignore", "-c", textwrap.dedent(code)], cwd=tmp_path, env=env, text=True,
            capture_output=True,
        )  # fmt: skip

    return call


def test_the_example_of_the_documentation(run):
    made = run(DENSITY)
    assert made.returncode == 0, made.stderr


@pytest.mark.slow
def test_a_program_follows_a_change_of_the_functions_that_it_calls(run):
    assert run(DENSITY).returncode == 0
    renamed = run(DENSITY, RECORDS.replace("R wrap(T angle)", "real wrap(real angle, real period)"))
    assert "wrap" in renamed.stderr and "StanSemanticError" in renamed.stderr


SAMPLE = """
import stanimport
fit = stanimport.sample("q.stan", seed=1, chains=2, iter_warmup=200, iter_sampling=200)
print(fit.stan_variable("x").mean())
"""


@pytest.mark.slow
def test_draws_follow_a_change_of_the_functions_that_a_program_calls(run, tmp_path, monkeypatch):
    """The compiled program that a process left is of the functions that there were."""
    monkeypatch.setenv("STANIMPORT_JIT_CACHE", str(tmp_path / "jit"))
    (tmp_path / "q.stan").write_text("parameters { real x; } model { target += -0.5 * square((wrap(x) - 1) / 0.01); }")
    body = re.search(r"\n@stan_function\(\"R wrap.*?\n    return ", RECORDS, re.S)[0]
    means = [float(run(SAMPLE, RECORDS.replace(body, body + more)).stdout) for more in ("", "", "2 * ")]
    assert means[0] == means[1] and abs(means[0] - 1) < 0.01 and abs(means[2] - 0.5) < 0.01


def test_a_name_of_stans_can_not_be_taken(run):
    made = run("import stanimport; stanimport.load('p.stan')", RECORDS.replace("R wrap(", "R sqrt("))
    assert "circles.records" in made.stderr and "sqrt, which Stan has already" in made.stderr


def test_a_module_that_does_not_import_is_named(run):
    made = run("import stanimport; stanimport.load('p.stan')", "import nowhere_to_be_found")
    assert "circles.records" in made.stderr and "nowhere_to_be_found" in made.stderr


@pytest.mark.slow
def test_a_function_whose_package_is_gone(run):
    assert run(DENSITY).returncode == 0
    made = run(DENSITY, None)
    assert made.returncode != 0
    assert "cardioid" in made.stderr or "wrap" in made.stderr


def test_what_lies_in_the_working_folder_is_never_imported(run, tmp_path):
    """Neither a package with metadata of its own there, nor a module in the place of an installed one."""
    planted = 'open("planted", "w")'
    assert run("").returncode == 0
    shutil.copytree(tmp_path / "site", tmp_path, dirs_exist_ok=True)
    (tmp_path / "circles" / "__init__.py").write_text(planted)
    made = run("import stanimport; stanimport.load('p.stan')", None)
    assert "cardioid" in made.stderr and not (tmp_path / "planted").exists()
    made = run("import stanimport; stanimport.load('p.stan')")
    assert "not the installed one" in made.stderr and not (tmp_path / "planted").exists()
