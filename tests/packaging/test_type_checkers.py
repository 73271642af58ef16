"""Code of users that is right passes mypy and pyright as they are strict, and what is wrong in it is found.

The models are those of a package that is installed in place, with stubs beside its programs.
"""
from __future__ import annotations

import json
import os
import pathlib
import re
import subprocess
import sys
import venv
import zipfile

import pytest

from stanimport.stubs import write_stubs

ROOT = pathlib.Path(__file__).parent.parent.parent
PROJECT = """\
[build-system]
requires = ["setuptools>=70.1"]
build-backend = "setuptools.build_meta"
[project]
name = "moths"
version = "1"
[tool.setuptools.packages.find]
where = ["src"]
"""
PROGRAM = """
data { int<lower=0> N; vector[N] y; }
parameters { real<lower=0> scale; }
model { y ~ normal(0, scale); }
generated quantities { real twice = 2 * scale; }
"""
USER = '''
from __future__ import annotations

from pathlib import Path
from typing import assert_type

import numpy as np
import stanimport
from moths import flight
from stanimport import inference
from stanimport.cmdstanpy import CmdStanMCMC, CmdStanModel
from stanimport.inference import Failure, Fit

inputs = flight.transformed_data(N=2, y=[1.0, 2.0])
assert_type(inputs["N"], int)
drawn = flight.model(**inputs)
made = flight.generated_quantities(**inputs, scale=1.0)
fit = stanimport.sample(
    flight, inputs, chains=np.int64(2), thin=None, seed=[1, 2], step_size=[0.1, 0.2], metric="diag_e", inits=None)
assert_type(fit, Fit)
scale: np.ndarray = fit.stan_variable("scale")
print(fit.summary(), fit.diagnose(), fit.divergences, fit.step_size, fit.draws_xr(dims={"y": ["row"]}))
mode = stanimport.optimize(flight, inputs, algorithm="newton", jacobian=True)
laplace = stanimport.laplace_sample(flight, inputs, mode=mode, draws=np.int32(100))
others = stanimport.pathfinder(flight, inputs), stanimport.variational(flight, inputs), stanimport.advi(flight, inputs)
again = stanimport.generate_quantities(flight, inputs, previous_fit=fit)
new = fit.posterior_predictive({"N": 1, "y": [1.0]}, seed=3)
prior = stanimport.prior_predictive(flight, {"N": 2}, draws=10)
for one in stanimport.sample_many(flight, [inputs, inputs]):
    print(one.summary() if one else one.error)
many = stanimport.sample_many(flight, {"a": inputs, "b": inputs})
assert_type(many, dict[str, Fit | Failure])
value = stanimport.log_prob(flight, inputs, params={"scale": 1.0}), inference.LogProb(flight, inputs)
text: str = stanimport.translate("flight.stan")
warnings = stanimport.check(Path("flight.stan"), strict=True)
module = stanimport.loads(text, name="flight", backend="numpyro")
stanimport.configure(scheme="mixed")
running = stanimport.sample(flight, inputs, blocking=False)
running.wait()
fit.save("flight.nc")
assert_type(Fit.load("flight.nc"), Fit)
mcmc = CmdStanModel(stan_file="flight.stan").sample(inputs, chains=2, show_progress=False)
assert_type(mcmc, CmdStanMCMC)
table = mcmc.draws_pd(vars=["scale"])

flight.transformed_data(N="two", y=[])  # wrong
flight.generated_quantities(**inputs)  # wrong
flight.no_such_function()  # wrong
stanimport.no_such_function()  # wrong
stanimport.sample(flight, inputs, chain=2)  # wrong
stanimport.optimize(flight, inputs, chains=2)  # wrong
fit.no_such_method()  # wrong
many["a"].summary()  # wrong
'''
WRONG = [i for i, line in enumerate(USER.splitlines(), 1) if line.endswith("# wrong")]


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """The Python of an environment in which the package is installed in place, beside what this one has."""
    project = tmp_path_factory.mktemp("project")
    package = project / "src" / "moths"
    package.mkdir(parents=True)
    (project / "pyproject.toml").write_text(PROJECT)
    (package / "__init__.py").write_text("")
    (package / "py.typed").write_text("")
    (package / "flight.stan").write_text(PROGRAM)
    write_stubs(package)
    (project / "made").mkdir()
    build = "import setuptools.build_meta as b; b.build_editable('made')"
    subprocess.run([sys.executable, "-c", build], cwd=project, check=True, capture_output=True,
                   env=os.environ | {"PYTHONPATH": str(ROOT)})  # fmt: skip
    (wheel,) = (project / "made").glob("*.whl")
    environment = project / "environment"
    venv.create(environment)
    (site,) = environment.glob("**/site-packages")
    zipfile.ZipFile(wheel).extractall(site)
    (site / "around.pth").write_text("\n".join([str(ROOT), *(p for p in sys.path if p.endswith("site-packages"))]))
    return next(p for p in (environment / "bin" / "python", environment / "Scripts" / "python.exe") if p.exists())


def run(folder, *arguments):
    environ = {n: v for n, v in os.environ.items() if n not in ("PYTHONPATH", "MYPYPATH")}
    return subprocess.run([sys.executable, "-m", *map(str, arguments)], cwd=folder, capture_output=True, text=True,
                          env=environ, timeout=300)  # fmt: skip


@pytest.mark.slow
def test_mypy(python, tmp_path, mypy_cache):
    pytest.importorskip("mypy", reason="mypy is not installed")
    (tmp_path / "user.py").write_text(USER)
    options = "--strict", "--cache-dir", mypy_cache, "--python-executable", python, "--follow-imports=silent"
    done = run(tmp_path, "mypy", *options, "user.py")
    found = re.findall(r"^user\.py:(\d+): error", done.stdout, re.MULTILINE)
    assert sorted(map(int, found)) == WRONG, done.stdout + done.stderr


def test_pyright(python, tmp_path):
    """A stub whose module is no Python file is none to pyright if it is strict, unless it is told so."""
    pytest.importorskip("pyright", reason="pyright is not installed")
    (tmp_path / "user.py").write_text(USER)
    settings = {"include": ["user.py"], "typeCheckingMode": "strict", "reportMissingModuleSource": False}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    try:
        done = run(tmp_path, "pyright", "--outputjson", "--pythonpath", python)
    except subprocess.TimeoutExpired:
        pytest.skip("pyright does not run here: it could not be fetched")  # it is a program of Node.js
    if not done.stdout.lstrip().startswith("{"):
        pytest.skip(f"pyright does not run here: {done.stderr[-200:]}")
    told = [d for d in json.loads(done.stdout)["generalDiagnostics"] if d["severity"] == "error"]
    assert sorted({d["range"]["start"]["line"] + 1 for d in told}) == WRONG, done.stdout
