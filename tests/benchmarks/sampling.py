"""Sampling by stanimport and by Stan: time to compile, time to sample, effective draws per second.

    STANIMPORT_BENCH_PYSTAN=/path/to/python python tests/benchmarks/sampling.py [--only garch]

The variable names an interpreter that has PyStan 3. Both sample 4 chains of 1000 warm-up and 1000 kept draws from the
same data. Times are those of the processor. Here, the time to compile is that of `stanimport.sample` for two
iterations, with translation, and the time to sample is what 2000 iterations take beyond that, transformed parameters
and generated quantities included; each is the lesser of two runs. Stan's time to compile is that of `stan.build`
without its cache, its time to sample that of the chains' processes, without what PyStan does with the draws. Effective
draws are the least bulk effective sample size of all parameters, by ArviZ.
"""
from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import tempfile
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradients  # sets JAX up, before all others

# isort: split
import arviz as az
import jax
import numpy as np

import stanimport
from stanimport.inference import DivergenceWarning

HERE = Path(__file__).parent
MODELS = ("eight_schools_noncentered", "logistic_regression_loop", "hierarchical_index", "garch11", "hmm_example",
          "lotka_volterra")  # fmt: skip
CHAINS, WARMUP, DRAWS = 4, 1000, 1000


@dataclass
class Run:
    compiling: float
    sampling: float
    ess: float
    steps: int  # gradients of the kept iterations

    @property
    def total(self) -> float:
        return self.compiling + self.sampling


def effective(draws: dict[str, Any]) -> float:
    """The least effective sample size of arrays (chains, draws, ...), constant components left out."""
    arrays = {n: np.asarray(v) for n, v in draws.items()}
    worst = max(float(v.max()) for v in az.rhat(arrays).data_vars.values())
    if worst > 1.05:
        raise RuntimeError(f"the chains did not converge: R-hat {worst:.2f}")
    return min(float(v.min()) for v in az.ess(arrays).data_vars.values())


def ours(name: str, data: dict[str, Any]) -> Run:
    """By NumPyro's NUTS through stanimport."""
    file = gradients.ROOT / f"models/{name}.stan"

    def sample(iterations: int) -> tuple[Any, float]:
        jax.clear_caches()
        start = time.process_time()
        module = stanimport.loads(file.read_text(), name=name)
        fit = stanimport.sample(module, data, chains=CHAINS, seed=1, iter_warmup=iterations, iter_sampling=iterations)
        return fit, time.process_time() - start

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DivergenceWarning)  # two iterations say nothing
        compiling = min(sample(1)[1] for _ in range(2))
    fit, total = min((sample(WARMUP) for _ in range(2)), key=lambda run: run[1])
    parameters = {v.name: fit.variables[v.name] for v in fit.program.parameters}
    return Run(compiling, total - compiling, effective(parameters), int(fit.stats["n_leapfrog__"].sum()))


def by_stan(python: str, name: str, data: dict[str, Any]) -> Run:
    """By Stan through PyStan, in a process of its own with an empty cache."""
    file = gradients.ROOT / f"models/{name}.stan"
    parameters = [v.name for v in stanimport.load(file).stan.parameters]
    with tempfile.TemporaryDirectory() as folder:
        job, result = Path(folder) / "job.json", Path(folder) / "result.json"
        job.write_text(json.dumps(dict(program=file.read_text(), data=data, parameters=parameters, chains=CHAINS,
                                       warmup=WARMUP, draws=DRAWS)))  # fmt: skip
        command = [python, str(HERE / "run_pystan.py"), str(job), str(result)]
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "XDG_CACHE_HOME": folder})
        if done.returncode:
            raise RuntimeError(f"PyStan failed with status {done.returncode}: {done.stderr[-1000:]}")
        out = json.loads(result.read_text())
    return Run(out["build"], out["sampling"], effective(out["draws"]), out["steps"])


def line(name: str, here: Run, stan: Run) -> str:
    pairs = [(here.compiling, stan.compiling), (here.sampling, stan.sampling), (here.total, stan.total)]
    times = " | ".join(f"{a:.2f} | {b:.2f}" for a, b in pairs)
    steps = " | ".join(f"{1000 * run.ess / run.steps:.0f}" for run in (here, stan))
    rates = here.ess / here.sampling, stan.ess / stan.sampling
    return f"| {name} | {times} | {steps} | {rates[0]:.0f} | {rates[1]:.0f} | {rates[0] / rates[1]:.1f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="models whose name contains this; several by commas")
    a = parser.parse_args()
    python = os.environ.get("STANIMPORT_BENCH_PYSTAN")
    if not python:
        print("skipped: STANIMPORT_BENCH_PYSTAN names no interpreter with PyStan")
        return
    ratios = []
    print("| model | compiling, s | Stan | sampling, s | Stan | both, s | Stan "
          "| effective draws in 1000 gradients | Stan | ... a second | Stan | ratio |")  # fmt: skip
    print("| --- |" + " --: |" * 11)
    for name in (n for n in MODELS if any(part in n for part in a.only.split(","))):
        data = gradients.data_of(name)
        here, stan = ours(name, data), by_stan(python, name, data)
        ratios.append(here.ess / here.sampling / (stan.ess / stan.sampling))
        print(line(name, here, stan), flush=True)
    print(f"\n{len(ratios)} models: effective draws per second over Stan's, geometric mean "
          f"{math.exp(np.mean(np.log(ratios))):.1f}, least {min(ratios):.1f}")  # fmt: skip


if __name__ == "__main__":
    main()
