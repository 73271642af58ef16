"""Processor time of many fits of eight schools: python tests/benchmarks/many_fits.py [--fits 10000]

Data simulated from the prior, the noncentered model, by default one chain of 500 and 500 iterations for each data set,
kept in a zarr store while they are made. It prints the milliseconds of processor time for each fit, with translation
and compilation, and the p-value of the ranks of what was simulated from, which are
uniform if all fits are right.
"""
from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT))


def simulated(rng: np.random.Generator) -> tuple[float, dict[str, Any]]:
    """The mean effect, and data."""
    se = np.array([15.0, 10, 16, 11, 9, 11, 10, 18])
    mean, spread = rng.normal(0, 5), abs(5 * rng.standard_cauchy())
    return mean, {"schools": 8, "gain": rng.normal(rng.normal(mean, spread, 8), se), "se": se}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fits", type=int, default=10_000)
    parser.add_argument("--chains", type=int, default=1)
    parser.add_argument("--warmup", type=int, default=500)
    parser.add_argument("--draws", type=int, default=500)
    a = parser.parse_args()
    import stanimport
    from stanimport.inference.studies.calibration import Calibration

    rng = np.random.default_rng(1)
    truths, data = zip(*(simulated(rng) for _ in range(a.fits)))
    options = dict(chains=a.chains, iter_warmup=a.warmup, iter_sampling=a.draws)
    with tempfile.TemporaryDirectory() as folder:
        began = time.process_time(), time.perf_counter()
        fits = stanimport.sample_many(ROOT / "models/eight_schools_noncentered.stan", data, seed=1, show_progress=True,
                                      folder=Path(folder) / "fits.zarr", sampling=options)  # fmt: skip
        took, wall = time.process_time() - began[0], time.perf_counter() - began[1]
        draws = fits.dataset()["mean_effect"].values.reshape(a.fits, -1)[:, ::10]
    ranks = (draws < np.array(truths)[:, None]).sum(axis=1)
    made = Calibration(["mean_effect"], ranks[:, None], draws.shape[1], np.array(truths)[:, None], [])
    print(f"{a.fits:,} fits, {len(fits.failures)} failed: {1e3 * took / a.fits:.1f} ms of processor time each, "
          f"{wall:.0f} s in all; ranks: p = {made.pvalues()['mean_effect']:.3f}")  # fmt: skip


if __name__ == "__main__":
    main()
