"""NUTS and WALNUTS where posteriors are narrow in places: divergences, quantiles of the scale, draws per gradient.

    python tests/benchmarks/walnuts.py [--only funnel,schools,volatility] [--draws N] [--seeds N]
                                       [--methods nuts:0.8,walnuts:0.6]

It needs ArviZ. Each line is 4 chains of 1000 warm-up iterations and N kept ones, for each seed; methods stand with
their `adapt_delta`. Draws of all seeds are taken together for quantiles; effective draws and gradients are added. The
quantiles are those of the logarithm of the scale: 1%, 5%, 50%, 95%, 99%, first exact ones, in closed form or by NUTS on
a non-centered program. Effective draws are the bulk effective sample size of that parameter, and the least of all, for
a thousand gradients with those of warm-up. All are counts: the machine and its load do not matter.
"""
from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import arviz as az
import numpy as np
from scipy import stats

import stanimport

MODELS = Path(__file__).parents[2] / "models"
LEVELS = (0.01, 0.05, 0.5, 0.95, 0.99)
FUNNEL = "parameters { real v; vector[9] x; } model { v ~ normal(0, 3); x ~ normal(0, exp(v / 2)); }"
VOLATILITY = """
data { int T; vector[T] y; }
parameters { real mu; real<lower=-1, upper=1> phi; real<lower=0> sigma; @ }
model {
  phi ~ beta(20, 1.5); sigma ~ cauchy(0, 1); mu ~ cauchy(0, 10);
  h[1] ~ normal(mu, sigma / sqrt(1 - square(phi)));
  for (t in 2:T) h[t] ~ normal(mu + phi * (h[t - 1] - mu), sigma);
  y ~ normal(0, exp(h / 2));
}
"""
INNOVATIONS = """
data { int T; vector[T] y; }
parameters { real mu; real<lower=-1, upper=1> phi; real<lower=0> sigma; vector[T] z; }
transformed parameters {
  vector[T] h = sigma * z;
  h[1] = h[1] / sqrt(1 - square(phi)) + mu;
  for (t in 2:T) h[t] += mu + phi * (h[t - 1] - mu);
}
model { phi ~ beta(20, 1.5); sigma ~ cauchy(0, 1); mu ~ cauchy(0, 10); z ~ std_normal(); y ~ normal(0, exp(h / 2)); }
"""


class Case(NamedTuple):
    """A program with data, its scale, whether that is a logarithm already, and another program with the same law."""

    module: Any
    data: dict[str, Any]
    scale: str
    is_log: bool
    other: Any


def funnel() -> Case:
    return Case(stanimport.loads(FUNNEL, name="funnel"), {}, "v", True, None)


def schools() -> Case:
    data = json.loads((MODELS / "eight_schools.json").read_text())
    centered = (MODELS / "eight_schools.stan").read_text()
    declared = "vector[schools] effect;", "vector<offset=mean_effect, multiplier=spread>[schools] effect;"
    other = centered.replace(*declared)
    return Case(stanimport.loads(centered, name="schools"), data, "spread", False, stanimport.loads(other))


def volatility() -> Case:
    rng = np.random.default_rng(1)
    h = [-1.0]
    for e in rng.normal(0, 0.15, size=199):
        h.append(-1 + 0.95 * (h[-1] + 1) + e)
    data = {"T": 200, "y": np.exp(np.array(h) / 2) * rng.normal(size=200)}
    centered = VOLATILITY.replace("@", "vector[T] h;")
    return Case(stanimport.loads(centered, name="volatility"), data, "sigma", False, stanimport.loads(INNOVATIONS))


def quantiles(fits: list[Any], case: Case) -> str:
    values = np.concatenate([fit.variables[case.scale] for fit in fits])
    return _numbers(np.quantile(values if case.is_log else np.log(values), LEVELS))


def _numbers(values: Any) -> str:
    return ", ".join(f"{v:.2f}" for v in values)


def report(case: Case, method: str, draws: int, delta: float, seeds: int) -> str:
    """The line of a method."""
    fits, scale, least = [], 0.0, 0.0
    for seed in range(1, seeds + 1):
        fits.append(stanimport.sample(case.module, case.data, seed=seed, method=method, iter_sampling=draws,
                                      save_warmup=True, adapt_delta=delta))  # fmt: skip
        effective = az.ess({v.name: fits[-1].variables[v.name] for v in fits[-1].program.parameters}).data_vars
        scale, least = scale + float(effective[case.scale]), least + min(float(e.min()) for e in effective.values())
    gradients = sum(int(s["n_leapfrog__"].sum()) for fit in fits for s in (fit.stats, fit.warmup[1]))
    divergences = sum(int(fit.divergences.sum()) for fit in fits)
    return (f"{method}, adapt_delta {delta} | {divergences} | {quantiles(fits, case)} | "
            f"{gradients / 1e6:.2f} million | {1000 * scale / gradients:.2f} | "
            f"{1000 * least / gradients:.2f}")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="funnel,schools,volatility")
    parser.add_argument("--draws", type=int, default=4000)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--methods", default="nuts:0.8,nuts:0.99,walnuts:0.8")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    cases = {"funnel": funnel, "schools": schools, "volatility": volatility}
    for name in arguments.only.split(","):
        case = cases[name]()
        if case.other is None:
            exact = _numbers(stats.norm(0, 3).ppf(LEVELS))
        else:
            other = stanimport.sample(case.other, case.data, seed=2, adapt_delta=0.95, iter_sampling=10_000)
            exact = quantiles([other], case)
        print(f"{name} | exact | | {exact}", flush=True)
        for method, delta in (m.split(":") for m in arguments.methods.split(",")):
            print(f"{name} | {report(case, method, arguments.draws, float(delta), arguments.seeds)}", flush=True)


if __name__ == "__main__":
    main()
