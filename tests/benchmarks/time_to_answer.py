"""How long a user waits for the posterior of a program, in fresh processes: first run, and with warm caches.

    python tests/benchmarks/time_to_answer.py [--models eight_schools ...] [--repeat N] [--stan PYTHON]

Each run is `python -m stanimport sample` with its defaults: 4 chains of 1000 + 1000 iterations, the table printed. The
first has empty caches: it translates the program and XLA compiles it. Beside it stands PyStan's run of the same
program, which compiles it too: with the interpreter that --stan or STAN_PYTHON names, or this one, if it has pystan.
"wall" is what a user waits, "cpu" the processor time of all threads, which other processes on the machine don't change.
"""
from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MODELS = Path(__file__).parents[2] / "models"
PYSTAN = """
import json, sys, stan
model = stan.build(open(sys.argv[1]).read(), data=json.load(open(sys.argv[2])), random_seed=1)
model.sample(num_chains=4, num_warmup=1000, num_samples=1000)
"""


def timed(command: list[str], **environment: str) -> tuple[float, float]:
    """Wall and processor time of a command.

    Raises:
        RuntimeError: with what it printed, if it fails.
    """
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    environment |= {"PYTHONDONTWRITEBYTECODE": ""}  # it would keep the translation from being cached
    done = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command[:4])} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def ours(name: str) -> tuple[tuple[float, float], tuple[float, float]]:
    """The first run and the second."""
    program, data = MODELS / f"{name}.stan", MODELS / f"{name}.json"
    command = [sys.executable, "-m", "stanimport", "sample", str(program), "--data", str(data), "--seed", "1"]
    with tempfile.TemporaryDirectory() as folder:
        return timed(command, STANIMPORT_CACHE_DIR=folder), timed(command, STANIMPORT_CACHE_DIR=folder)


def pystan(interpreter: str, name: str) -> tuple[float, float] | None:
    """PyStan's run with its compilation; None where it can't run."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            return timed([interpreter, "-c", PYSTAN, str(MODELS / f"{name}.stan"), str(MODELS / f"{name}.json")],
                         XDG_CACHE_HOME=folder)  # fmt: skip
        except (RuntimeError, OSError) as e:
            print(f"PyStan does not run: {str(e).splitlines()[-1]}", file=sys.stderr)
            return None


def best(runs: list[tuple[float, float]]) -> str:
    wall, cpu = (min(column) for column in zip(*runs))
    return f"{wall:6.1f} {cpu:5.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", nargs="*", default=["eight_schools"])
    parser.add_argument("--repeat", type=int, default=1, help="take the best of so many")
    parser.add_argument("--stan", default=os.environ.get("STAN_PYTHON", sys.executable), metavar="PYTHON")
    options = parser.parse_args()
    print(f"{'':28} {'first run':>12} {'second run':>12} {'PyStan':>12}")
    print(f"{'seconds':28} {'wall   cpu':>12} {'wall   cpu':>12} {'wall   cpu':>12}", flush=True)
    for name in options.models:
        first, second = zip(*(ours(name) for _ in range(options.repeat)))
        stan = pystan(options.stan, name)
        told = "not there" if stan is None else best([stan])
        print(f"{name:28} {best(list(first)):>12} {best(list(second)):>12} {told:>12}", flush=True)
    print(json.dumps({"load": os.getloadavg()[0], "cores": os.cpu_count()}))


if __name__ == "__main__":
    main()
