"""Gradients of posteriordb's models as compiled, against Stan's own compiled models.

    STANIMPORT_BENCH_PYSTAN=/path/to/python python tests/benchmarks/stan_gradients.py [--only garch,arma] [--seconds 2]
                                                                                     [--native] [--without-stan]

The variable names an interpreter that has PyStan 3: its httpstan brings stanc, the Stan library and its dependencies. A
C++ compiler is needed too (a model takes it about a minute; --build names a folder that keeps them), and a checkout of
posteriordb, in $POSTERIORDB.

Both sides compute the log density on the unconstrained scale and its gradient, as their samplers do, which here is in
one kernel where that can be. The column "NumPyro" is what NumPyro's own samplers compute of the same module: the
potential of `initialize_model`, compiled by `jax.jit`. All do so at a reference draw, on one core, in a loop within the
compiled program where each point depends on the gradient before: no call, copy or reading of data is counted. Stan's
drops constant terms and is built by the flags of CmdStan, -O3 without threads; with --native by stanc's --O1 and
-march=native too. They take turns, and the least processor time of each counts. Before, it is checked that the log
densities of two draws differ by the same.
"""
from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent.parent))

import gradients  # noqa: E402  (sets JAX up, before all others)

# isort: split
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
import posteriordb  # noqa: E402
from numpyro.infer.util import initialize_model  # noqa: E402

import stanimport  # noqa: E402
from stanimport.inference.density.posterior import Posterior, condition  # noqa: E402
from stanimport.inference.programs import Program  # noqa: E402

FLAGS = ["-std=c++17", "-O3", "-D_REENTRANT", "-DBOOST_DISABLE_ASSERTS", "-D_GLIBCXX_USE_CXX11_ABI=0", "-w"]
LIBRARIES = ["-lsundials_cvodes", "-lsundials_idas", "-lsundials_kinsol", "-lsundials_nvecserial", "-ltbb"]


def httpstan() -> Path | None:
    """The folder of PyStan's httpstan."""
    python = os.environ.get("STANIMPORT_BENCH_PYSTAN")
    if not python:
        return None
    command = [python, "-c", "import httpstan; print(httpstan.__path__[0])"]
    return Path(subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip())


def build(stan: Path, program: Path, folder: Path, native: bool) -> Path:
    """The timing program of a model, compiled if it is not there yet."""
    level, flags = ("--O1", [*FLAGS, "-march=native"]) if native else ("--O0", FLAGS)
    folder = folder / "native" if native else folder
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / program.stem
    if target.exists():
        return target
    code = folder / f"{program.stem}.cpp"
    subprocess.run([stan / "stanc", level, f"--o={code}", program], check=True, capture_output=True)
    include, lib = stan / "include", stan / "lib"
    command = ["g++", *flags, f'-DMODEL_FILE="{code}"', f"-I{include}", HERE / "stan_gradients.cpp", "-o", target,
               f"-L{lib}", f"-Wl,-rpath,{lib}", *LIBRARIES]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True)
    return target


class StanModel:
    """A running timing program."""

    def __init__(self, executable: Path, data: dict[str, Any], points: list[dict[str, Any]]):
        self.folder = tempfile.TemporaryDirectory()
        files = [Path(self.folder.name) / f"{i}.json" for i in range(3)]
        for file, value in zip(files, [data, *points]):
            file.write_text(json.dumps(value, default=lambda a: np.asarray(a).tolist()))
        self.process = subprocess.Popen([executable, *files], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.difference = self._read()

    def _read(self) -> float:
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("Stan's program ended")
        return float(line)

    def seconds(self, count: int) -> float:
        """The time of so many gradients."""
        self.process.stdin.write(f"{count}\n")
        self.process.stdin.flush()
        return self._read()

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()
        self.folder.cleanup()


def points_of(posterior: Posterior, draws: list[dict[str, Any]]) -> list[Any]:
    """The draws on the unconstrained scale; random points where the reference leaves a parameter out."""
    if not all(v.name in draws[0] for v in posterior.program.parameters):
        return list(np.random.default_rng(1).uniform(-1, 1, (len(draws), posterior.size)))
    return [posterior.unconstrain(d, jnp.zeros(posterior.size))[0] for d in draws]


def check(name: str, posterior: Posterior, points: list[Any], difference: float) -> None:
    """Raise if the log densities of the two points don't differ as Stan's do."""
    first, second = (float(jax.jit(lambda x: posterior.log_density(x, jacobian=False))(x)) for x in points)
    np.testing.assert_allclose(second - first, difference, atol=1e-6 * max(1, abs(first)), err_msg=name)


Timed = Callable[[], float]  # seconds of several gradients


def ours(posterior: Posterior, point: Any, count: int) -> tuple[Timed, Timed]:
    """Gradients as the package's own samplers compute them, and through NumPyro's potential of the same model."""
    kwargs = {"model_kwargs": posterior.inputs, "validate_grad": False}
    potential = initialize_model(jax.random.PRNGKey(0), posterior.module.model, **kwargs).potential_fn
    start, free = {"x": point}, {k: jnp.asarray(v) for k, v in posterior.split(point).items()}
    own = Program(gradients.repeated(lambda p: posterior.log_density(p["x"]), count), start, as_one=True)
    numpyros = gradients.repeated(lambda p: -potential(p), count)
    runs = (lambda: jax.block_until_ready(own(start)), lambda: jax.block_until_ready(numpyros(free)))
    return tuple(lambda run=run: gradients.seconds(run) for run in runs)


def compare(name: str, stan: list[Path], native: bool, folder: Path, database: Path, budget: float) -> list[float]:
    """Seconds of one gradient here, through NumPyro and in Stan, if it is there."""
    program, data, draws = (f(database, name) for f in (posteriordb.program, posteriordb.data, posteriordb.points))
    posterior = condition(stanimport.load(program), data)
    points = points_of(posterior, draws)
    there = [posterior.constrain(x) for x in points]
    theirs = [StanModel(build(s, program, folder, native), data, there) for s in stan]
    for model in theirs:
        check(name, posterior, points, model.difference)
    one = lambda: gradients.seconds(lambda: jax.block_until_ready(posterior.value_and_grad(points[0])))
    count = max(10, min(1000, int(0.02 / gradients.least([one], 0.05)[0])))
    timed = [*ours(posterior, points[0], count), *(lambda m=m: m.seconds(count) for m in theirs)]
    best = [t / count for t in gradients.least(timed, budget)]
    for model in theirs:
        model.close()
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="posteriors whose name contains this; several by commas")
    parser.add_argument("--seconds", type=float, default=2.0, help="to measure each for")
    parser.add_argument("--build", type=Path, default=Path(tempfile.gettempdir()) / "stanimport-stan-models")
    parser.add_argument("--native", action="store_true", help="Stan's programs by stanc --O1 and g++ -march=native")
    parser.add_argument("--without-stan", action="store_true", help="the two columns of this package alone")
    a = parser.parse_args()
    stan, database = None if a.without_stan else httpstan(), posteriordb.folder()
    if database is None or stan is None and not a.without_stan:
        print("skipped: STANIMPORT_BENCH_PYSTAN names no interpreter with PyStan, or there is no posteriordb")
        return
    ratios: dict[str, list[float]] = {}
    print("| posterior | here, µs | NumPyro, µs | NumPyro / here | Stan, µs | Stan / here | Stan / NumPyro |")
    print("| --- |" + " --: |" * 6)
    for name in (n for n in posteriordb.names(database) if any(part in n for part in a.only.split(","))):
        here, numpyros, *theirs = compare(name, [stan] if stan else [], a.native, a.build, database, a.seconds)
        ratios[name] = [numpyros / here, *(t / here for t in theirs), *(t / numpyros for t in theirs)]
        told = "".join(f" {1e6 * t:.2f} | {t / here:.1f} | {t / numpyros:.1f} |" for t in theirs) or " | | |"
        print(f"| {name} | {1e6 * here:.2f} | {1e6 * numpyros:.2f} | {numpyros / here:.2f} |{told}", flush=True)
    columns = ("NumPyro / here", "Stan / here", "Stan / NumPyro")
    print(f"\n{len(ratios)} posteriors")
    for column, values in zip(columns, zip(*ratios.values())):
        least = min(ratios, key=lambda name: ratios[name][columns.index(column)])
        print(f"{column}: geometric mean {math.exp(np.mean(np.log(values))):.2f}, least {min(values):.2f} ({least})")


if __name__ == "__main__":
    main()
