"""How the gradient of three models grows with the data: python tests/benchmarks/scaling.py [--largest 1000000]

Independent observations (logistic_regression_loop), parameters by group (hierarchical_index, five observations to a
group), and a recurrence (garch11). A line shows the microseconds of one gradient, the nanoseconds per observation,
and the seconds to trace and compile it. One core, double precision, as in gradients.py.
"""
from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import gradients  # sets JAX up, before all others

# isort: split
import jax
import numpy as np

from models.simulate import simulate

OBSERVATIONS_PER_GROUP = 5


def grouped(n: int) -> dict[str, Any]:
    """Weights of n / 5 rats at five ages, in random order."""
    rng = np.random.default_rng(1)
    rats = n // OBSERVATIONS_PER_GROUP
    rat = rng.permutation(np.repeat(np.arange(1, rats + 1), OBSERVATIONS_PER_GROUP))
    age = rng.choice([8.0, 15.0, 22.0, 29.0, 36.0], n)
    weight = rng.normal(240, 15, rats)[rat - 1] + rng.normal(6, 0.5, rats)[rat - 1] * (age - 22) + rng.normal(0, 6, n)
    return dict(rats=rats, N=n, rat=rat, age=age, weight=weight)


CASES: dict[str, tuple[str, Callable[[int], dict[str, Any]]]] = {
    "independent": ("logistic_regression_loop", lambda n: simulate("logistic_regression_loop", N=n)),
    "grouped": ("hierarchical_index", grouped),
    "recurrence": ("garch11", lambda n: simulate("garch11", T=n)),
}


def measure(model: str, data: dict[str, Any], n: int, budget: float) -> tuple[float, float]:
    """Seconds of one gradient, and seconds to compile it."""
    f = gradients.compiled(model, data, "comprehensive")
    p = gradients.points_of(model, data, 1)[0]
    compiling = gradients.compile_time(f, p)
    count = max(1, min(50, 20_000 // n))
    program = gradients.repeated(f, count)
    return gradients.times_of([lambda: jax.block_until_ready(program(p))], budget)[0] / count, compiling


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--largest", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=1.0, help="to measure each size for")
    a = parser.parse_args()
    print("| observations | model | gradient, µs | ns per observation | compiling, s |\n| --: | --- |" + " --: |" * 3)
    for kind, (model, make) in CASES.items():
        n = 100
        while n <= a.largest:
            took, compiling = measure(model, make(n), n, a.seconds)
            print(f"| {n} | {kind} | {1e6 * took:.1f} | {1e9 * took / n:.1f} | {compiling:.2f} |", flush=True)
            n *= 10


if __name__ == "__main__":
    main()
