"""The second `sample` in a process, with other data of the same shapes: what it takes beside the sampling itself.

    python tests/benchmarks/second_sample.py [--turns N]

Seconds of the processor, medians: what all threads use from the call to the fit, without what they use while chains
run.
"""
from __future__ import annotations

import argparse
import json
import statistics
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import stanimport
from stanimport.inference.samplers import chains

MODELS = Path(__file__).parents[2] / "models"


class Clock:
    """Seconds that `chains.run` takes, which it stands in for."""

    def __init__(self) -> None:
        self.run, self.seconds = chains.run, 0.0

    def __call__(self, *arguments: Any) -> Any:
        start = time.process_time()
        made = self.run(*arguments)
        self.seconds = time.process_time() - start
        return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=11)
    turns = parser.parse_args().turns
    warnings.simplefilter("ignore")
    module = stanimport.load(MODELS / "eight_schools.stan")
    data = json.loads((MODELS / "eight_schools.json").read_text())
    clock = chains.run = Clock()
    rng, beside, sampling = np.random.default_rng(1), [], []
    for turn in range(turns + 1):
        other = data | {"gain": (np.array(data["gain"]) + rng.normal(size=len(data["gain"]))).tolist()}
        start = time.process_time()
        stanimport.sample(module, other, seed=turn)
        if turn:
            sampling.append(clock.seconds)
            beside.append(time.process_time() - start - clock.seconds)
    print(f"eight_schools, other data: sampling {statistics.median(sampling):.2f}, beside it "
          f"{statistics.median(beside):.2f}")  # fmt: skip


if __name__ == "__main__":
    main()
