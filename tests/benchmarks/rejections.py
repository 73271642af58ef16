"""What it costs to look after what Stan throws for: gradients of programs in models/ with and without conditions.

    python tests/benchmarks/rejections.py [--only names] [--seconds 5]

Without them, parameters outside of their domains and conditions on parameters are not looked at while the model is
traced. Both compiled programs take turns; the least processor time of each counts.
"""
from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import gradients
import jax
import numpy as np

from stanlib import domains, rejection
from stanlib.arrays import is_of_data


@contextmanager
def unchecked() -> Iterator[None]:
    """Inside, nothing that depends on parameters is looked at."""
    refuse = rejection.Rejections.note

    def of_data(self: Any, bad: Any, error: Any) -> None:
        if is_of_data((bad,)):
            refuse(self, bad, error)

    with mock.patch.object(domains.Domain, "looks_at", lambda self, x: False), \
            mock.patch.object(rejection.Rejections, "note", of_data):  # fmt: skip
        yield


def program(name: str, data: dict[str, Any], point: gradients.Parameters, count: int) -> Any:
    """The compiled gradients, traced now."""
    run = gradients.repeated(gradients.compiled(name, data, "comprehensive"), count)
    return run.lower(point).compile()


def cost(name: str, budget: float, count: int = 50) -> tuple[float, float]:
    """Seconds of one gradient with conditions, and without."""
    data = gradients.data_of(name)
    point = gradients.points_of(name, data, 1)[0]
    with_them = program(name, data, point, count)
    with unchecked():
        without = program(name, data, point, count)
    runs = [lambda run=run: jax.block_until_ready(run(point)) for run in (with_them, without)]
    a, b = gradients.times_of(runs, budget)
    return a / count, b / count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(gradients.NAMES), help="names of models, by commas")
    parser.add_argument("--seconds", type=float, default=5.0, help="to measure each model for")
    a = parser.parse_args()
    ratios = []
    for name in a.only.split(","):
        checked, bare = cost(name, a.seconds)
        ratios.append(checked / bare)
        print(f"{name}: {1e6 * checked:.2f} us with conditions, {1e6 * bare:.2f} without: {checked / bare:.3f}",
              flush=True)  # fmt: skip
    print(f"geometric mean of {len(ratios)} ratios: {math.exp(np.mean(np.log(ratios))):.3f}, worst {max(ratios):.3f}")


if __name__ == "__main__":
    main()
