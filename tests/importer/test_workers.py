"""Modules, models and fits in workers of joblib, and in processes that get them as Ray and Dask send them."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import stanimport

ROOT = Path(__file__).parent.parent.parent
TEXT = """data { int N; array[N] int<lower=0, upper=1> y; } parameters { real<lower=0, upper=1> theta; }
model { theta ~ beta(1, 1); y ~ bernoulli(theta); }"""
DATA = {"N": 4, "y": [0, 1, 1, 1]}
FEW = {"chains": 1, "iter_warmup": 100, "iter_sampling": 200, "seed": 1, "show_progress": False}


@pytest.fixture(params=["text", "file"])
def module(request, tmp_path):
    if request.param == "text":
        return stanimport.loads(TEXT, name="coin")
    (tmp_path / "coin-1.stan").write_text(TEXT)
    return stanimport.load(tmp_path / "coin-1.stan")


@pytest.mark.slow
def test_joblib(module):
    joblib = pytest.importorskip("joblib", reason="joblib is not installed")
    made = joblib.Parallel(n_jobs=2)(joblib.delayed(stanimport.sample)(module, DATA, **FEW) for _ in range(2))
    here = stanimport.sample(module, DATA, **FEW)
    assert all((fit.stan_variable("theta") == here.stan_variable("theta")).all() for fit in made)


def test_cloudpickle(module, tmp_path):
    """By which Ray and Dask send what functions refer to."""
    cloudpickle = pytest.importorskip("cloudpickle", reason="cloudpickle is not installed")
    fit = stanimport.sample(module, DATA, **FEW)

    def work():
        return module.stan.name, module.model is not None, float(fit.stan_variable("theta").mean())

    (tmp_path / "work.pickle").write_bytes(cloudpickle.dumps(work))
    code = "import pickle, sys; print(*pickle.load(open(sys.argv[1], 'rb'))())"
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "work.pickle"], cwd=tmp_path, capture_output=True, text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    name, _, mean = done.stdout.split()
    assert name.startswith("coin") and float(mean) == fit.stan_variable("theta").mean()
