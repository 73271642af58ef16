"""The paper's own drivers, on this compiler: `python -m tests.deepstan.artefact FOLDER [NAME ...] [--epochs 2]`.

FOLDER holds clones of deepppl/evaluation and deepppl/stanc3. Their scripts run as they are, in shorter runs, on a
package of the names that they import (artefact_package.py). What Stan programs say of a single image, or of a network
of one vector, where the driver means a batch, is what docs/deepstan.md lists.

The drivers of posteriors, in the compiler's `dppl/inference`, give their data: on them the density must be Stan's, by
stanli, on both backends, and the backends' own NUTS must run. Programs without a driver, of `evaluation` and those in
`dppl/good` that the compiler is tested on, get data here, for the same; guides must find the posterior. A line is
printed for each driver or program, and the sum; what the drivers print themselves with `--verbose`.
"""
from __future__ import annotations

import argparse
import ast
import contextlib
import importlib
import os
import sys
import types
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

os.environ |= {"MPLBACKEND": "agg", "TQDM_DISABLE": "1"}
import jax
import numpy as np
import pyro
import torch

from .artefact_package import Digits, MCMCTest, Models, package

# The size of layers and runs; the paper's are for a day's work.
SCALED: dict[str, dict[str, Any]] = {
    "multimodal": {"iterations": 200, "warmup": 100, "svi_steps": 2000},
    "vae": {"batch_size": 32, "nh": 32}, "mlp": {"posterior_size": 30}, "test_vae": {"batch_size": 120, "nh": 32},
}  # fmt: skip
DIGITS = {"vae": (160, 1), "test_vae": (700, 1), "mlp": (2000, 20), "test_mlp": (2000, 20)}  # how many, how often
SCRIPTS = ("rq4/multimodal.py", "rq5/vae.py", "rq5/mlp.py")
NEEDLESS = ("test_lstm", "test_golds")  # of a program that their compiler refuses; of all posteriordb, a benchmark here

COIN = [0, 1, 0, 0, 0, 0, 0, 0, 0, 1]
ROWS = {"N": 4, "K": 2, "x": [[0.5, 1.0], [-1.0, 0.3], [0.2, -0.7], [1.5, 0.1]], "y": [0.4, -1.1, 0.3, 0.9]}
EQUIVALENT: dict[str, dict[str, Any]] = {  # programs without a driver there, with data
    "coin": {"N": 10, "x": COIN}, "coin_vect": {"N": 10, "x": COIN}, "coin_vectorized": {"x": COIN},
    "coin_reverted": {"x": COIN}, "coin_transformed_data": {"x": COIN}, "operators": {"x": COIN},
    "operators-expr": {"x": COIN},
    "log_normal": {}, "simple_init": {}, "posterior_twice": {}, "regression_matrix": ROWS, "squared_error": ROWS,
    "vectorized_probability": ROWS, "gaussian_process": {"N": 4, "x": [0.0, 0.5, 1.5, 3.0]},
    "missing_data": {"N_obs": 3, "N_mis": 2, "y_obs": [0.5, 1.5, 0.7]},
}  # fmt: skip
# Guides without a driver there: the data, and what the guide's parameters must come to, by the posterior.
GUIDED: dict[str, tuple[dict[str, Any], Callable[..., list[float]], list[float]]] = {
    "coin_guide_init": ({"N": 10, "x": COIN}, lambda alpha_q, beta_q: [alpha_q / (alpha_q + beta_q)], [12 / 30]),
    "multimodal_guide": ({}, lambda mu_cluster, mu1, mu2, **_: [mu_cluster, mu1, mu2], [0.0, 2.0, 0.0]),
}


def _scaled(path: Path, values: Mapping[str, Any]) -> Any:
    """The code of a script, some of whose constants have other values."""
    tree = ast.parse(path.read_text())
    for s in tree.body:
        if isinstance(s, ast.Assign):
            for target, value in _pairs(s):
                if target in values and isinstance(value, ast.Constant):
                    value.value = values[target]
    return compile(tree, str(path), "exec")


def _pairs(s: ast.Assign) -> Iterator[tuple[str, ast.expr]]:
    target = s.targets[0]
    if isinstance(target, ast.Name):
        yield target.id, s.value
    elif isinstance(target, ast.Tuple) and isinstance(s.value, ast.Tuple):
        yield from ((t.id, v) for t, v in zip(target.elts, s.value.elts) if isinstance(t, ast.Name))


@contextlib.contextmanager
def surroundings(folder: Path, arguments: list[str]) -> Iterator[None]:
    """The drivers' folder and arguments, and the package that they import."""
    before, place, known = sys.argv, os.getcwd(), dict(sys.modules)
    library, pyro_checks = torch.utils.data.dataloader, pyro.settings.get("validate_poutine")
    loader = library.DataLoader
    library.DataLoader = lambda *a, num_workers=0, **k: loader(*a, **k)  # type: ignore
    library._BaseDataLoaderIter.next = lambda batches: next(batches)  # type: ignore  # as it was called
    try:
        sys.argv = ["driver", *arguments]
        sys.modules.update(package())
        sys.path.insert(0, str(folder))
        os.chdir(folder)
        pyro.clear_param_store()
        pyro.enable_validation(False)  # those by hand have no plates
        yield
    finally:
        os.chdir(place)
        sys.argv, library.DataLoader = before, loader  # type: ignore
        sys.path.remove(str(folder))
        pyro.enable_validation(bool(pyro_checks))
        for name in set(sys.modules) - set(known):
            if name in package() or name.startswith("inference"):
                del sys.modules[name]


def script(path: Path, arguments: list[str]) -> str:
    with surroundings(path.parent, arguments):
        exec(_scaled(path, SCALED.get(path.stem, {})), {"__name__": "__main__", "__file__": str(path)})
    return "runs"


def test(path: Path) -> str:
    """A driver in the form of a test."""
    with surroundings(path.parents[1], []):
        made = types.ModuleType("inference")
        made.__path__ = [str(path.parent)]
        sys.modules["inference"] = made
        module = importlib.import_module(f"inference.{path.stem}")
        vars(module).update(SCALED.get(path.stem, {}))
        tests = [f for n, f in vars(module).items() if n.startswith("test_")]
        return "; ".join(str(getattr(t, "__wrapped__", t)() or "runs") for t in tests)


def equivalent(path: Path) -> str:
    """A program on the data given here."""
    with surroundings(path.parent, []):
        return MCMCTest(path.stem, str(path), data=dict(EQUIVALENT[path.stem])).run()


def guided(path: Path, steps: int = 2000) -> str:
    """A program with a guide: the means of what it comes to in the second half of the steps."""
    data, told, expected = GUIDED[path.stem]
    with surroundings(path.parents[1], []):
        pyro.set_rng_seed(1)
        svi = Models(str(path)).svi(params={"lr": 0.02})
        found = []
        for _ in range(steps):
            svi.step(data)
            found.append(told(**{n: p.item() for n, p in pyro.get_param_store().items()}))
    np.testing.assert_allclose(np.mean(found[steps // 2 :], 0), expected, atol=0.25)
    return "the guide finds the posterior"


def drivers(folder: Path, epochs: int) -> dict[str, Callable[[], str]]:
    """What runs a driver or its equivalent, by its name."""
    evaluation, dppl = folder / "evaluation", folder / "stanc3" / "test" / "integration" / "dppl"
    arguments = {"vae": ["-epochs", "1"], "mlp": ["-epochs", str(epochs)]}
    scripts = [*sorted(evaluation.glob("exec_*.py")), *(evaluation / s for s in SCRIPTS)]
    found: dict[str, Callable[[], str]] = {p.stem: partial(script, p, arguments.get(p.stem, [])) for p in scripts}
    tests = sorted((dppl / "inference").glob("test_*.py"))
    found |= {p.stem: partial(test, p) for p in tests if p.stem not in NEEDLESS}
    good = dppl / "good"
    programs = {n: good / f"{n}.stan" for n in (*EQUIVALENT, *GUIDED)} | {"coin": evaluation / "coin.stan"}
    runs = {n: partial(guided if n in GUIDED else equivalent, path) for n, path in programs.items()}
    return found | {path.name: runs[n] for n, path in programs.items()}


def told(name: str, run: Callable[[], str], verbose: bool) -> str:
    """How a driver fares."""
    Digits.most, Digits.copies = DIGITS.get(name, (2000, 1))
    pyro.set_rng_seed(0)
    with open(os.devnull, "w") as nowhere, contextlib.ExitStack() as quiet:
        if not verbose:
            quiet.enter_context(contextlib.redirect_stdout(nowhere))
            quiet.enter_context(contextlib.redirect_stderr(nowhere))
        try:
            return run()
        except Exception as e:
            return f"fails: {type(e).__name__}: {e}".partition("\n")[0]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME", help="some of the drivers and programs; else all")
    parser.add_argument("--epochs", type=int, default=2, help="of the Bayesian network")
    parser.add_argument("--verbose", action="store_true", help="show what drivers print")
    given = parser.parse_args()
    folder = given.folder.resolve()
    if not all((folder / n).is_dir() for n in ("evaluation", "stanc3")):
        raise SystemExit(f"skipped: no clones of deepppl/evaluation and deepppl/stanc3 in {given.folder}")
    warnings.simplefilter("ignore")
    jax.config.update("jax_enable_x64", True)
    found, failed = drivers(folder, given.epochs), 0
    if unknown := set(given.names) - found.keys():
        parser.error(f"no drivers or programs {', '.join(sorted(unknown))}; there are {', '.join(found)}")
    for name in given.names or found:
        said = told(name, found[name], given.verbose)
        failed += said.startswith("fails")
        print(f"{name}: {said}", flush=True)
    print(f"{len(given.names or found)} drivers and programs, {failed} fail")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
