"""Gradients of the programs in models/ as compiled, against versions written by hand in JAX.

    python tests/benchmarks/gradients.py [--only name] [--scheme comprehensive] [--seconds 2]

Both are functions of the same dict of constrained parameters, differentiated by `jax.value_and_grad` in double
precision on one core. It is checked first that the log densities differ by a constant only and that the gradients are
equal. A compiled program evaluates 50 gradients in a row, each at a point that depends on the gradient before, as a
sampler does; the two take turns, and the least processor time of each counts. A line shows microseconds of one gradient
as compiled and by hand, their ratio, and the seconds to trace and compile each.
"""
from __future__ import annotations

import argparse
import importlib
import json
import math
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

ROOT = Path(__file__).parent.parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "models")]

import one_core  # noqa: E402, F401  (before all others)

# isort: split
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from numpyro.infer.util import log_density  # noqa: E402
from points import POINTS  # noqa: E402

import stanimport  # noqa: E402
from models.simulate import SIMULATIONS, simulate  # noqa: E402

Parameters = dict[str, Any]
LogDensity = Callable[[Parameters], Any]

# Data larger than those in models/, where they are simulated.
SIZES: dict[str, dict[str, int]] = {
    "arK": dict(T=1000), "arma11": dict(T=1000), "garch11": dict(T=1000), "hmm_example": dict(T=500),
    "gaussian_mixture": dict(N=1000), "gp_regr": dict(N=50), "logistic_regression_loop": dict(N=1000, K=5),
    "nested_loop": dict(people=200, items=20), "ragged": dict(groups=100), "multivariate": dict(N=500),
}  # fmt: skip
# Where two solvers of a differential equation agree to their tolerance only.
TOLERANCES = {"lotka_volterra": 1e-3}
HANDWRITTEN = sorted(p.stem for p in (ROOT / "tests/benchmarks/handwritten").glob("*.py"))
NAMES = [n for n in HANDWRITTEN if n not in ("__init__", "laws")]


def data_of(name: str) -> dict[str, Any]:
    """The program's data: the published ones, or simulated ones of a size that benchmarks deserve."""
    if name in SIMULATIONS:
        return simulate(name, **SIZES.get(name, {}))
    return json.loads((ROOT / f"models/{name}.json").read_text())


def compiled(name: str, data: dict[str, Any], scheme: str) -> LogDensity:
    module = stanimport.load(ROOT / f"models/{name}.stan", scheme=scheme)
    inputs = module.transformed_data(**data)
    return lambda p: log_density(module.model, (), inputs, p)[0]


def by_hand(name: str, data: dict[str, Any]) -> LogDensity:
    return importlib.import_module(f"handwritten.{name}").log_density(**data)


def points_of(name: str, data: dict[str, Any], count: int = 3) -> list[Parameters]:
    rng = np.random.default_rng(1)
    d = SimpleNamespace(**data)
    return [{k: jnp.asarray(v, float) for k, v in POINTS[name](d, rng).items()} for _ in range(count)]


def check(name: str, ours: LogDensity, theirs: LogDensity, points: list[Parameters]) -> None:
    """Raise if the log densities differ by more than a constant, or the gradients differ."""
    relative, shifts = TOLERANCES.get(name, 1e-8), []
    for p in points:
        (a, da), (b, db) = (jax.jit(jax.value_and_grad(f))(p) for f in (ours, theirs))
        shifts.append(float(a - b))
        absolute = relative * max(1, abs(float(b)))
        for k in p:
            np.testing.assert_allclose(da[k], db[k], rtol=relative, atol=absolute, err_msg=f"{name}: {k}")
    np.testing.assert_allclose(shifts, shifts[0], atol=absolute, err_msg=name)


def repeated(f: LogDensity, count: int = 50) -> Callable[[Parameters], Any]:
    """The program of several gradients in a row."""
    gradient = jax.value_and_grad(f)

    def body(_: int, state: tuple[Parameters, Any]) -> tuple[Parameters, Any]:
        p, total = state
        value, g = gradient(p)
        return jax.tree.map(lambda x, dx: x + 1e-14 * dx, p, g), total + value

    return jax.jit(lambda p: jax.lax.fori_loop(0, count, body, (p, 0.0)))


def seconds(run: Callable[[], Any]) -> float:
    """Of the processor, so that what else the machine does counts little."""
    start = time.process_time()
    run()
    return time.process_time() - start


def compile_time(f: LogDensity, p: Parameters) -> float:
    """Seconds to trace and compile one gradient; the second time, when all modules are loaded."""
    times = []
    for _ in range(2):
        jax.clear_caches()
        program = jax.jit(jax.value_and_grad(lambda q: f(q)))
        times.append(seconds(lambda: program.lower(p).compile()))
    return min(times)


def times_of(programs: list[Callable[[], Any]], budget: float) -> list[float]:
    """The least time of each program in seconds, taken in turns."""
    return least([lambda run=run: seconds(run) for run in programs], budget)


def least(timed: list[Callable[[], float]], budget: float) -> list[float]:
    """The least of the seconds that each function returns, called in turns, once before any counts."""
    for f in timed:
        f()
    best = [math.inf] * len(timed)
    end = time.perf_counter() + budget
    while time.perf_counter() < end:
        best = [min(b, f()) for b, f in zip(best, timed)]
    return best


def compare(name: str, scheme: str, budget: float, count: int = 50) -> tuple[float, float, float, float]:
    """Seconds of one gradient as compiled and by hand, and seconds to compile each."""
    data = data_of(name)
    both = compiled(name, data, scheme), by_hand(name, data)
    points = points_of(name, data)
    check(name, *both, points)
    compiling = [compile_time(f, points[0]) for f in both]
    runs = [lambda g=repeated(f, count): jax.block_until_ready(g(points[0])) for f in both]
    ours, theirs = times_of(runs, budget)
    return ours / count, theirs / count, *compiling


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="models whose name contains this; several by commas")
    parser.add_argument("--scheme", default="comprehensive", choices=["comprehensive", "mixed"])
    parser.add_argument("--seconds", type=float, default=2.0, help="to measure each model for")
    a = parser.parse_args()
    ratios = {}
    print("| model | compiled, µs | by hand, µs | ratio | compiling, s | by hand, s |")
    print("| --- |" + " --: |" * 5)
    for name in (n for n in NAMES if any(part in n for part in a.only.split(","))):
        try:
            ours, theirs, compiling, compiling_theirs = compare(name, a.scheme, a.seconds)
        except ModuleNotFoundError as e:
            print(f"{name} by hand needs {e.name}, which is not installed", file=sys.stderr)
            continue
        ratios[name] = ours / theirs
        print(f"| {name} | {1e6 * ours:.2f} | {1e6 * theirs:.2f} | {ratios[name]:.2f} "
              f"| {compiling:.2f} | {compiling_theirs:.2f} |", flush=True)  # fmt: skip
    worst = max(ratios, key=ratios.get)
    mean = math.exp(np.mean(np.log(list(ratios.values()))))
    print(f"\n{len(ratios)} models: geometric mean of the ratios {mean:.2f}, worst {ratios[worst]:.2f} ({worst})")


if __name__ == "__main__":
    main()
