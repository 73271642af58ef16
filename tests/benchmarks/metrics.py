"""Effective draws per gradient of each metric, on a normal law of 50 parameters and the posteriors of posteriordb.

    python tests/benchmarks/metrics.py [--only eight_schools,arK] [--metrics auto,low_rank] [--seeds N] [--all]

It needs posteriordb (see posteriordb.py) and ArviZ. Gradients are those of 4 chains of 1000 warm-up and 1000 kept
iterations; effective draws are the least bulk effective sample size of all parameters. Both are counts: the machine and
its load do not matter.
"""
from __future__ import annotations

import argparse
import math
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import posteriordb

# isort: split
import arviz as az
import numpy as np

import stanimport

FACTORS = """
data { int D; vector[D] s; matrix[D, 3] V; vector[3] v; }
parameters { vector[D] x; }
model {
  vector[D] z = x ./ s;
  target += -0.5 * (dot_self(z) + dot_product(square(V' * z), inv(v) - 1));
}
"""


class Counts(NamedTuple):
    """Of the seeds of one posterior: the sums, and the largest R-hat."""

    effective: float
    gradients: int
    divergences: int
    rhat: float

    @property
    def ratio(self) -> float:
        """Effective draws per thousand gradients, those of warm-up included."""
        return 1000 * self.effective / self.gradients


def stored(database: Path, name: str) -> tuple[Any, dict[str, Any]]:
    """A program of posteriordb and its data."""
    return stanimport.load(posteriordb.program(database, name)), posteriordb.data(database, name)


def factors(size: int = 50) -> tuple[Any, dict[str, Any]]:
    """A normal law of so many parameters, of different scales, that is wide in two directions and narrow in one."""
    rng = np.random.default_rng(0)
    directions = np.linalg.qr(rng.normal(size=(size, 3)))[0]
    data = {"D": size, "V": directions, "v": [400.0, 100.0, 0.02], "s": np.exp(rng.normal(size=size))}
    return stanimport.loads(FACTORS, name="factors"), data


def counted(module: Any, data: dict[str, Any], metric: str, seeds: int) -> Counts:
    """The counts of a metric."""
    fits = [stanimport.sample(module, data, seed=s, metric=metric, save_warmup=True) for s in range(1, seeds + 1)]
    columns = list(zip(*map(_counts, fits)))
    return Counts(sum(columns[0]), sum(columns[1]), sum(columns[2]), max(columns[3]))


def _counts(fit: Any) -> Counts:
    draws = {v.name: fit.variables[v.name] for v in fit.program.parameters}
    gradients = sum(int(stats["n_leapfrog__"].sum()) for stats in (fit.stats, fit.warmup[1]))
    effective = min(float(v.min()) for v in az.ess(draws).data_vars.values())
    rhat = max(float(v.max()) for v in az.rhat(draws).data_vars.values())
    return Counts(effective, gradients, int(fit.stats["divergent__"].sum()), rhat)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="")
    parser.add_argument("--metrics", default="auto,diag_e,dense_e,low_rank")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--all", action="store_true", help="posteriors without reference draws too")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    database = posteriordb.folder()
    if database is None:
        raise SystemExit("posteriordb is not there")
    metrics = arguments.metrics.split(",")
    found: dict[str, dict[str, Counts]] = {}
    for name in ["normal_50", *(posteriordb.every if arguments.all else posteriordb.names)(database)]:
        if any(part in name for part in arguments.only.split(",")):
            module, data = factors() if name == "normal_50" else stored(database, name)
            found[name] = {metric: counted(module, data, metric, arguments.seeds) for metric in metrics}
            print(name, *(_cell(metric, c) for metric, c in found[name].items()), sep=" | ", flush=True)
    for metric in metrics[1:]:
        ratios = [of[metrics[0]].ratio / of[metric].ratio for of in found.values()]
        print(f"{len(ratios)} posteriors: effective draws per gradient of {metrics[0]} over those of {metric}, "
              f"geometric mean {math.exp(np.mean(np.log(ratios))):.2f}, least {min(ratios):.2f}")  # fmt: skip


def _cell(metric: str, c: Counts) -> str:
    return (f"{metric}: {c.effective:.0f} of {c.gradients} gradients, {c.ratio:.2f} per 1000, "
            f"{c.divergences} divergent, R-hat {c.rhat:.3f}")  # fmt: skip


if __name__ == "__main__":
    main()
