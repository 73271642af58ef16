"""Gradients and samplers on a GPU beside the CPU of the same machine: python tests/benchmarks/gpu.py

The first table has the microseconds of one gradient by rows of data, on each device, as inference compiles it; the
second those of one gradient of all chains at once; the third the seconds of `sample` with so many chains as one
program, 200 iterations of warm-up and 100 draws, by NUTS and by ChEES, compilation apart: the second call of two is
timed. All in double precision, by the clock. `--device cpu` tries the script where there is no GPU.
"""
from __future__ import annotations

import argparse
import importlib.util
import json
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent
sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]

import jax  # noqa: E402
import numpy as np  # noqa: E402
import scaling  # noqa: E402

import stanimport  # noqa: E402

jax.config.update("jax_enable_x64", True)
KINDS = ("independent", "grouped, 5 each", "recurrence")
SLOW = "recurrence"  # a GPU starts each step of a loop: more rows than 10^5 take seconds
CHAINED = ("eight_schools_noncentered", "logistic_regression_loop", "hierarchical_index")
CHAINS = (4, 64, 512, 4096)
Devices = tuple[Any, Any]


def seconds_of(run: Callable[[], object], limit: float = 1.0) -> float:
    """The least time of one call; the first does not count."""
    run()
    best, end = np.inf, time.perf_counter() + limit
    while time.perf_counter() < end or not np.isfinite(best):
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return best


def gradient(device: Any, module: Any, data: dict[str, Any], chains: int = 0) -> float:
    """Seconds of one gradient, or of one of so many chains together."""
    from stanimport.inference.density.posterior import condition
    from stanimport.inference.programs import Program

    with jax.default_device(device):
        posterior = condition(module, data)
        point = np.random.default_rng(1).normal(0, 0.1, (max(chains, 1), posterior.size))
        one = jax.value_and_grad(posterior.log_density)
        program = Program(jax.vmap(one) if chains else one, point if chains else point[0])
        placed = jax.device_put(point if chains else point[0], device)
        return seconds_of(lambda: jax.block_until_ready(program(placed)))


def sampling(device: Any, module: Any, data: dict[str, Any], chains: int, method: str) -> float:
    """Seconds of the second of two runs."""
    times = []
    for seed in (1, 2):
        start = time.perf_counter()
        with jax.default_device(device):
            stanimport.sample(module, data, chains=chains, iter_warmup=200, iter_sampling=100, seed=seed, method=method,
                              chain_method="vectorized")
        times.append(time.perf_counter() - start)
    return times[1]


def row(name: str, seconds: list[float], scale: float, unit: str) -> None:
    there, here = seconds
    print(f"| {name} | {there * scale:.4g} {unit} | {here * scale:.4g} {unit} | {here / there:.3g} |", flush=True)


def by_rows(devices: Devices, largest: int) -> None:
    heading("one gradient")
    for kind in KINDS:
        model, make = scaling.CASES[kind]
        module = scaling.loaded(model)
        most = min(largest, 10**5) if kind == SLOW else largest
        for rows in (n for n in (10**4, 10**5, 10**6, 10**7) if n <= most):
            row(f"{kind}, {rows:,} rows", [gradient(d, module, make(rows)) for d in devices], 1e6, "µs")


def by_chains(devices: Devices, largest: int) -> None:
    heading("one gradient of all chains")
    for name in CHAINED:
        module, data = example(name)
        for chains in (n for n in CHAINS if n <= largest):
            row(f"{name}, {chains:,} chains", [gradient(d, module, data, chains) for d in devices], 1e6, "µs")


def of_samplers(devices: Devices, largest: int) -> None:
    heading("`sample`")
    module, data = example(CHAINED[0])
    for method in ("nuts", "chees") if importlib.util.find_spec("blackjax") else ("nuts",):
        for chains in (n for n in CHAINS if 64 <= n <= largest):
            row(f"{method}, {chains:,} chains", [sampling(d, module, data, chains, method) for d in devices], 1, "s")


def example(name: str) -> tuple[Any, dict[str, Any]]:
    return scaling.loaded(name), json.loads((ROOT / f"models/{name}.json").read_text())


def heading(what: str) -> None:
    print(f"\n| {what} | GPU | CPU | CPU / GPU |\n| --- | --: | --: | --: |", flush=True)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--device", default="gpu")
    arguments.add_argument("--largest", type=int, default=10**7)
    arguments.add_argument("--chains", type=int, default=max(CHAINS))
    tables = ["rows", "chains", "sample"]
    arguments.add_argument("--tables", nargs="+", choices=tables, default=tables)
    options = arguments.parse_args()
    devices = jax.devices(options.device)[0], jax.devices("cpu")[0]
    warnings.simplefilter("ignore")  # of few divergent transitions
    print(f"{devices[0].device_kind} beside the CPU, JAX {jax.__version__}")
    if "rows" in options.tables:
        by_rows(devices, options.largest)
    if "chains" in options.tables:
        by_chains(devices, options.chains)
    if "sample" in options.tables:
        of_samplers(devices, options.chains)


if __name__ == "__main__":
    main()
