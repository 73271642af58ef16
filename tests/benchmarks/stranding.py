"""How many chains are stranded after warm-up, on the posteriors that have reference draws.

    python tests/benchmarks/stranding.py [--only arma11,lotka_volterra] [--chains N] [--warmup N] [--longest SECONDS]

It needs posteriordb (see posteriordb.py), and for Stan's sampler stanli (`pip install stanli`). Chains begin at values
uniform on (-2, 2), seed 1, and draw 50 times after warm-up. A chain counts as stranded if the median of a parameter's
draws lies outside the range of all 10,000 reference draws of it. That is judged by nothing that the sampler knows. Each
posterior runs in a process of its own; one that takes too long is told.
"""
from __future__ import annotations

import argparse
import subprocess
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import posteriordb

# isort: split
import numpy as np

DRAWS = 50


def stranded(draws: Mapping[str, np.ndarray], ranges: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Which chains are stranded, (chains,), from draws, (chains, draws, ...) of each variable."""
    out = np.zeros(len(next(iter(draws.values()))), bool)
    for name, (least, greatest) in ranges.items():
        if name in draws:
            middle = np.median(draws[name], axis=1)
            outside = ~((least <= middle) & (middle <= greatest))  # of NaN too
            out |= outside.reshape(len(out), -1).any(axis=1)
    return out


def here(program: Path, data: Any, chains: int, warmup: int, restart: bool) -> tuple[dict[str, np.ndarray], str]:
    """The draws of this package's sampler, and how many chains began anew."""
    import stanimport

    fit = stanimport.sample(str(program), data, chains=chains, iter_warmup=warmup, iter_sampling=DRAWS, seed=1,
                            restart_stranded=restart)  # fmt: skip
    return fit.variables, f" ({len(fit.restarts)} restarts)" if restart else ""


def by_stanli(program: Path, data: Any, chains: int, warmup: int) -> dict[str, np.ndarray]:
    """The draws of Stan's sampler."""
    import stanli

    model = stanli.Model(stan_code=program.read_text(), data=data)
    fit = model.sample(chains=chains, warmup=warmup, samples=DRAWS, seed=1, refresh=0)
    return {name: fit.draws(name) for name in fit.variables}


def one(name: str, chains: int, warmup: int) -> None:
    """Print the row of a posterior."""
    warnings.simplefilter("ignore")
    database = posteriordb.folder()
    assert database is not None
    program, data, ranges = (f(database, name) for f in (posteriordb.program, posteriordb.data, posteriordb.ranges))
    print(f"| {name}", end="", flush=True)
    for restart in (True, False):
        draws, told = here(program, data, chains, warmup, restart)
        print(f" | {stranded(draws, ranges).sum()}{told}", end="", flush=True)
    try:
        print(f" | {stranded(by_stanli(program, data, chains, warmup), ranges).sum()} |", flush=True)
    except ImportError:
        print(" | |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="posteriors whose name contains this; several by commas")
    parser.add_argument("--chains", type=int, default=40)
    parser.add_argument("--warmup", type=int, default=300)
    parser.add_argument("--longest", type=float, default=600.0, metavar="SECONDS")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        one(options.one, options.chains, options.warmup)
        return
    database = posteriordb.folder()
    if database is None:
        raise SystemExit("there is no checkout of posteriordb: set $POSTERIORDB")
    print(f"| posterior, {options.chains} chains | stranded | without restarts | stanli |\n| --- | --: | --: | --: |")
    for name in posteriordb.names(database):
        if any(part in name for part in options.only.split(",")):
            command = [sys.executable, __file__, "--one", name, "--chains", str(options.chains),
                       "--warmup", str(options.warmup)]  # fmt: skip
            try:
                subprocess.run(command, timeout=options.longest, check=True)
            except (subprocess.TimeoutExpired, subprocess.CalledProcessError) as e:
                print(f" | {type(e).__name__} |", flush=True)


if __name__ == "__main__":
    main()
