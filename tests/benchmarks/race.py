"""The time to an answer beside stanli's: whole processes, from a Stan file and its data to the table of 4 x 1000 draws.

    python tests/benchmarks/race.py [--only eight_schools,arK] [--turns N] [--longest SECONDS]

It needs posteriordb (see posteriordb.py) and stanli (`pip install stanli`), and races on the posteriors that have
reference draws. Each turn runs stanimport with empty caches, again with what that left, and stanli; medians of the
turns are printed. Seconds are those of the processor, all threads together, so that other processes on the machine
weigh less.
"""
from __future__ import annotations

import argparse
import math
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import posteriordb
from time_to_answer import timed

HERE = """
import sys, warnings
warnings.simplefilter("ignore")
import stanimport
from stanimport.inference.fits.summary import table
fit = stanimport.sample(sys.argv[1], sys.argv[2], seed=int(sys.argv[3]))
made = table(fit)
made.text()
"""
STANLI = """
import sys, json, pathlib
import stanli
model = stanli.Model(stan_code=pathlib.Path(sys.argv[1]).read_text(), data=json.load(open(sys.argv[2])))
fit = model.sample(seed=int(sys.argv[3]), refresh=0)
str(fit.summary())
"""


@dataclass
class Times:
    """Processor seconds of the turns."""

    first: list[float]
    again: list[float]
    stanli: list[float]

    def medians(self) -> tuple[float, float, float]:
        return tuple(statistics.median(column) for column in (self.first, self.again, self.stanli))  # type: ignore


def race(program: Path, data: Path, turns: int, longest: float) -> Times:
    """All turns of one posterior; a run that takes longer than `longest` seconds on the clock counts as infinite."""
    out = Times([], [], [])
    for seed in range(1, turns + 1):
        arguments = [str(program), str(data), str(seed)]
        with tempfile.TemporaryDirectory() as folder:
            for column in (out.first, out.again):
                column.append(seconds([sys.executable, "-c", HERE, *arguments], longest, STANIMPORT_CACHE_DIR=folder))
        out.stanli.append(seconds([sys.executable, "-c", STANLI, *arguments], longest))
    return out


def seconds(command: list[str], longest: float, **environment: str) -> float:
    try:
        return timed(["timeout", str(longest), *command], **environment)[1]
    except (RuntimeError, subprocess.SubprocessError) as e:
        print(f"{command[-3]}: {str(e).splitlines()[-1] if str(e) else e}", file=sys.stderr)
        return math.inf


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="posteriors whose name contains this; several by commas")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--longest", type=float, default=600.0, metavar="SECONDS")
    options = parser.parse_args()
    database = posteriordb.folder()
    if database is None:
        raise SystemExit("there is no checkout of posteriordb: set $POSTERIORDB")
    chosen = [n for n in posteriordb.names(database) if any(part in n for part in options.only.split(","))]
    print("| posterior | first run | again | stanli |\n| --- | --: | --: | --: |")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in chosen:
            program, data = posteriordb.written(database, name, Path(folder))
            rows.append(race(program, data, options.turns, options.longest).medians())
            print(f"| {name} | " + " | ".join(f"{t:.1f}" for t in rows[-1]) + " |", flush=True)
    finished = [row for row in rows if all(map(math.isfinite, row))]
    sums = [sum(column) for column in zip(*finished)]
    print(f"\n{len(finished)} posteriors, in all " + ", ".join(f"{t:.0f}" for t in sums)
          + f"; again ahead of stanli on {sum(r[1] < r[2] for r in finished)}, the first run on "
          f"{sum(r[0] < r[2] for r in finished)}; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")  # fmt: skip


if __name__ == "__main__":
    main()
