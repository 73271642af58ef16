"""ChEES and MEADS beside NUTS with as many chains: effective draws for a gradient, and a second.

    python tests/benchmarks/ensembles.py [--only eight_schools,arK] [--chains N] [--seeds N]

It needs posteriordb (see posteriordb.py), ArviZ and BlackJAX. Each method runs N chains (64): NUTS and ChEES with 400
iterations of warm-up and 100 draws, MEADS, whose iterations are single leapfrog steps, with 2000 of both, every tenth
kept. Effective draws are the least bulk effective sample size of all parameters; with more than 1.05 as an R-hat there
are none to be counted. Gradients are those after warm-up, since ChEES and MEADS do not tell those before; seconds are
the processor's of a whole call of `sample` in a process that has made it before with another seed.
"""
from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import arviz as az
import numpy as np
import posteriordb

import stanimport

DEFAULT = "eight_schools_noncentered,arK-arK,kidscore_interaction_c2,logvolume"
METHODS: dict[str, dict[str, Any]] = {
    "nuts": {"iter_warmup": 400, "iter_sampling": 100},
    "chees": {"iter_warmup": 400, "iter_sampling": 100},
    "meads": {"iter_warmup": 2000, "iter_sampling": 2000, "thin": 10},
}


def measured(module: Any, data: Path, method: str, chains: int, seeds: int) -> str:
    """The cells of a method: effective draws, R-hat, and effective draws for a thousand gradients and a second."""
    effective, gradients, seconds, rhat = 0.0, 0.0, 0.0, 0.0
    for seed in range(seeds + 1):
        start = time.process_time()
        fit = stanimport.sample(module, str(data), method=method, chains=chains, seed=seed, **METHODS[method])
        if seed:
            seconds += time.process_time() - start
            draws = {v.name: fit.variables[v.name] for v in fit.program.parameters}
            effective += min(float(v.min()) for v in az.ess(draws).data_vars.values())
            rhat = max(rhat, *(float(v.max()) for v in az.rhat(draws).data_vars.values()))
            gradients += float(np.sum(fit.stats["n_leapfrog__"])) * METHODS[method].get("thin", 1)
    if rhat > 1.05:
        return f"{effective:.0f} | {rhat:.2f} | | "
    return f"{effective:.0f} | {rhat:.3f} | {1000 * effective / gradients:.1f} | {effective / seconds:.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default=DEFAULT, help="posteriors whose name contains this; several by commas")
    parser.add_argument("--chains", type=int, default=64)
    parser.add_argument("--seeds", type=int, default=1)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    database = posteriordb.folder()
    if database is None:
        raise SystemExit("there is no checkout of posteriordb: set $POSTERIORDB")
    print("| posterior | method | effective draws | R-hat | for 1000 gradients | a second |\n"
          "| --- | --- | --: | --: | --: | --: |")  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        for name in posteriordb.names(database):
            if any(part in name for part in options.only.split(",")):
                program, data = posteriordb.written(database, name, Path(folder))
                module = stanimport.load(str(program))
                for method in METHODS:
                    cells = measured(module, data, method, options.chains, options.seeds)
                    print(f"| {name} | {method} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
