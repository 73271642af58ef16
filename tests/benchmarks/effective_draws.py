"""Effective draws a second beside Stan's sampler, on the posteriors of posteriordb that have reference draws.

    python tests/benchmarks/effective_draws.py [--only eight_schools,arK] [--seeds N] [--longest SECONDS]

It needs posteriordb (see posteriordb.py), ArviZ and stanli (`pip install stanli`), which runs Stan's sampler on Stan's
arithmetic. Each side samples 4 chains of 1000 warm-up and 1000 kept iterations in a process of its own that has done so
before with another seed, so that nothing is compiled in the time taken. Seconds are the processor's, warm-up, generated
quantities and the table's numbers included; effective draws are the least bulk effective sample size of all parameters.
Sums over seeds. A sampler whose chains disagree (R-hat above 1.05) has no effective draws to be counted, and says so.
"""
from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import posteriordb

COMMON = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
import arviz as az
program, data, seeds = sys.argv[1], sys.argv[2], int(sys.argv[3])

def measured(sample, draws):
    sample(0)
    for seed in range(1, seeds + 1):
        start = time.process_time()
        fit = sample(seed)
        seconds = time.process_time() - start
        found = draws(fit)
        effective = min(float(v.min()) for v in az.ess(found).data_vars.values())
        rhat = max(float(v.max()) for v in az.rhat(found).data_vars.values())
        print(json.dumps([effective, seconds, rhat]), flush=True)
"""
HERE = COMMON + """
import stanimport
module = stanimport.load(program)
names = [v.name for v in module.stan.parameters]
measured(lambda seed: stanimport.sample(module, data, seed=seed),
         lambda fit: {name: fit.variables[name] for name in names})
"""
STANLI = COMMON + """
import pathlib, stanli, stanimport
names = [v.name for v in stanimport.load(program).stan.parameters]
model = stanli.Model(stan_code=pathlib.Path(program).read_text(), data=json.load(open(data)))

measured(lambda seed: model.sample(seed=seed + 1, refresh=0),
         lambda fit: {name: fit.draws(name) for name in names})
"""


class Rate(NamedTuple):
    """Effective draws of all seeds, their seconds, and the largest R-hat."""

    effective: float
    seconds: float
    rhat: float

    @property
    def per_second(self) -> float:
        return self.effective / self.seconds if self.rhat <= 1.05 else math.nan


def rate(code: str, program: Path, data: Path, seeds: int, longest: float) -> Rate | None:
    """What a process that runs `code` measures, or nothing where that takes longer than `longest` seconds."""
    command = [sys.executable, "-c", code, str(program), str(data), str(seeds)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=longest)
    except subprocess.TimeoutExpired:
        return None
    if done.returncode:
        raise SystemExit(f"{program.name}: {done.stderr}")
    effective, seconds, rhat = zip(*map(json.loads, done.stdout.splitlines()))
    return Rate(sum(effective), sum(seconds), max(rhat))


def cells(here: Rate | None, stanli: Rate | None) -> str:
    texts = ["" if r is None else f"{r.effective:.0f} in {r.seconds:.2f} s" + f" (R-hat {r.rhat:.2f})" * (r.rhat > 1.05)
             for r in (here, stanli)]  # fmt: skip
    ratio = here.per_second / stanli.per_second if here and stanli else math.nan
    return " | ".join([*texts, f"{ratio:.2f}"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="posteriors whose name contains this; several by commas")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--longest", type=float, default=300.0, metavar="SECONDS")
    options = parser.parse_args()
    database = posteriordb.folder()
    if database is None:
        raise SystemExit("there is no checkout of posteriordb: set $POSTERIORDB")
    print("| posterior | here | Stan's sampler | ratio |\n| --- | --: | --: | --: |")
    ratios = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in posteriordb.names(database):
            if not any(part in name for part in options.only.split(",")):
                continue
            program, data = posteriordb.written(database, name, Path(folder))
            both = [rate(code, program, data, options.seeds, options.longest) for code in (HERE, STANLI)]
            print(f"| {name} | {cells(*both)} |", flush=True)
            if None not in both:
                ratios[name] = both[0].per_second / both[1].per_second  # type: ignore[union-attr]
    known = {name: r for name, r in ratios.items() if not math.isnan(r)}
    mean = math.exp(sum(map(math.log, known.values())) / len(known))
    print(f"\n{len(known)} posteriors: geometric mean {mean:.2f}, least {min(known.values()):.2f} "
          f"({min(known, key=known.__getitem__)}), below 1 on {sum(r < 1 for r in known.values())}; "
          f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")  # fmt: skip


if __name__ == "__main__":
    main()
