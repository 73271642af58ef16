"""The paper's own drivers, on this compiler: `python -m tests.deepstan.artefact FOLDER [DRIVER ...] [--epochs 20]`.

FOLDER holds clones of deepppl/evaluation and deepppl/stanc3. Their scripts run as they are, with a package of the
names that they import: `stanpyro`, `stannumpyro` and `runtimes` are stanimport, MNIST is scikit-learn's digits at 28
times 28 pixels, Stan is stanimport's `cmdstanpy`, and runs are shorter. What Stan programs say of a single image, or of
a network of one vector, where the driver means a batch, is what docs/deepstan.md lists.

The drivers of posteriors, in the compiler's `dppl/inference`, give their data: on them the density must be Stan's, by
stanli, on both backends, and the backends' own NUTS must run. A line is printed for each driver.
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
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

os.environ |= {"MPLBACKEND": "agg", "TQDM_DISABLE": "1"}
import jax
import numpy as np
import numpyro
import pyro
import torch
from pyro.contrib.autoname import scope
from sklearn.datasets import load_digits

import stanimport

from ..wild import by_stan, densities

BATCHED = {  # what docs/deepstan.md says to write of a network of a batch
    "vector mlp(": "array[] vector mlp(", "vector[batch_size] lambda": "array[batch_size] vector[ny] lambda",
    "imgs[28,28,batch_size]": "imgs[batch_size, 28, 28]",
    "labels ~ categorical_logit(lambda)": "for (n in 1:batch_size) labels[n] ~ categorical_logit(lambda[n])",
}  # fmt: skip
# The size of hidden layers and runs; the paper's are for a day's work.
SCALED = {"rq4/multimodal.py": {"iterations": 200, "warmup": 100, "svi_steps": 2000},
          "rq5/vae.py": {"batch_size": 32, "nh": 32},
          "rq5/mlp.py": {"nh": 64, "lr": 0.05, "posterior_size": 30}}  # fmt: skip


# --- the package that the drivers import -----------------------------------------------------------------------------


class Models:
    """A program of the paper's compiler, on one backend: inference as its drivers call it."""

    backend = "pyro"

    def __init__(self, path: str, recompile: bool = True, mode: str = "mixed"):
        self.text = Path(path).read_text()
        for before, after in BATCHED.items() if "mlp(" in self.text else ():
            self.text = self.text.replace(before, after)
        name = Path(path).stem.replace("-", "_").replace(" ", "_")
        self.module = stanimport.loads(self.text, backend=self.backend, scheme=mode, name=name)

    def mcmc(self, samples: int, warmups: int = 10, chains: int = 1, thin: int = 1) -> Any:
        return Chains(self, samples, warmups)

    def svi(self, optim: Any = None, loss: Any = None, params: Mapping[str, Any] | None = None) -> "Steps":
        return Steps(self.module, optim or pyro.optim.Adam(params), loss or pyro.infer.Trace_ELBO())


class OnNumPyro(Models):
    backend = "numpyro"


class Chains:
    """The backend's NUTS."""

    def __init__(self, model: Models, samples: int, warmups: int):
        self.model, numbers = model, dict(num_samples=samples)
        if model.backend == "pyro":
            kernel = pyro.infer.NUTS(model.module.model)
            self.mcmc = pyro.infer.MCMC(kernel, warmup_steps=warmups, disable_progbar=True, **numbers)
        else:
            kernel = numpyro.infer.NUTS(model.module.model)
            self.mcmc = numpyro.infer.MCMC(kernel, num_warmup=warmups, progress_bar=False, **numbers)

    def run(self, *given: Any) -> None:
        keys, data = given[:-1] or (jax.random.PRNGKey(0),), dict(given[-1])
        keys = keys if self.model.backend == "numpyro" else ()
        self.mcmc.run(*keys, **self.model.module.transformed_data(**data))

    def get_samples(self) -> dict[str, Any]:
        return dict(self.mcmc.get_samples())

    def summary(self) -> None:
        (self.mcmc.summary if self.model.backend == "pyro" else self.mcmc.print_summary)()


class Steps:
    """Pyro's SVI; of a batch where the program is of one image, model and guide are called for each."""

    def __init__(self, module: Any, optim: Any, loss: Any):
        self.module = module
        each = "x" in module.stan.names("data") and module.stan.networks
        model, guide = (partial(_of_each, f) if each else f for f in (module.model, module.guide))
        self.svi = pyro.infer.SVI(model, guide, optim, loss)

    def preprocess(self, data: Mapping[str, Any]) -> dict[str, Any]:
        networks = {n: data[n] for n in self.module.stan.networks}
        given = {n: _as_declared(self.module, n, v) for n, v in data.items() if n not in networks}
        if "batch_size" in given:
            given["batch_size"] = len(given["labels"])
        if isinstance(given.get("x"), list):  # of images
            return {"images": [self.module.transformed_data(**{**given, "x": x}) | networks for x in given["x"]]}
        return self.module.transformed_data(**given) | networks

    def step(self, given: Mapping[str, Any] | None = None, **more: Any) -> float:
        inputs = given if given is not None and not more else self.preprocess({**(given or {}), **more})
        return float(self.svi.step(**inputs))

    def sample_posterior(self, count: int, data: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Draws of networks."""
        (name,), inputs = self.module.stan.networks, self.preprocess(data)
        drawn = [self.module.guide(**inputs) for _ in range(count)]
        weights = [{n.partition(".")[2]: w.detach() for n, w in d.items()} for d in drawn]
        return [{name: lambda x, w=w: torch.func.functional_call(data[name], w, (x,))} for w in weights]

    def posterior(self, count: int, **data: Any) -> list[dict[str, Any]]:
        return self.sample_posterior(count, {n: v for n, v in data.items() if v is not None})


def _of_each(function: Any, images: list[dict[str, Any]]) -> None:
    for i, inputs in enumerate(images):
        with scope(prefix=str(i)):
            function(**inputs)


def _as_declared(module: Any, name: str, value: Any) -> Any:
    """Images without the axis of channels, several as a list where one is declared, integers where declared."""
    variable = next((v for v in module.stan.data if v.name == name), None)
    if not isinstance(value, torch.Tensor) or variable is None:
        return value
    value = value.int() if variable.type.endswith("int") else value
    value = value.squeeze(1) if value.ndim == 4 else value
    return list(value) if name == "x" and value.ndim == 3 else value


# --- what else they import -------------------------------------------------------------------------------------------


class Digits(torch.utils.data.Dataset):
    """scikit-learn's digits in the form of MNIST, black and white: every fourth is for the test."""

    most = 2000

    def __init__(self, *_: Any, train: bool = True, **__: Any):
        images, labels = (x[: self.most] for x in load_digits(return_X_y=True))
        chosen = (np.arange(len(labels)) % 4 == 0) != train
        large = np.kron(images.reshape(-1, 8, 8)[chosen], np.ones((1, 3, 3)))
        self.data = torch.tensor(np.pad(large, ((0, 0), (2, 2), (2, 2))) > 8).to(torch.uint8)
        self.targets = torch.tensor(labels[chosen])

    def __len__(self) -> int:
        return len(self.targets)

    def __getitem__(self, i: int) -> tuple[torch.Tensor, torch.Tensor]:
        return self.data[i][None].to(torch.get_default_dtype()), self.targets[i]


class Stan:
    """CmdStanPy as it was: draws as a data frame."""

    def __init__(self, stan_file: str):
        from stanimport.cmdstanpy import CmdStanModel

        self.model = CmdStanModel(stan_file=stan_file)

    def sample(self, **options: Any) -> Any:
        import pandas as pd

        fit = self.model.sample(show_progress=False, **options)
        frame = lambda name: pd.DataFrame({name: fit.stan_variable(name)})
        return types.SimpleNamespace(stan_variable=frame)

    def variational(self, output_samples: int, **options: Any) -> Any:
        return self.model.variational(draws=output_samples, require_converged=False, **options)


@dataclass
class Config:
    iterations: int = 10
    warmups: int = 10
    chains: int = 1
    thin: int = 1


@dataclass
class MCMCTest:
    """In the place of the drivers' harness: Stan's density, and the backends' own NUTS."""

    name: str
    model_file: str
    pyro_file: str | None = None
    data: dict[str, Any] = field(default_factory=dict)
    compare_params: Any = None
    config: Config = field(default_factory=Config)
    with_pyro: bool = True
    with_numpyro: bool = True
    pyro_samples: dict[str, Any] = field(default_factory=dict)

    def run(self) -> str:
        given = {n: np.asarray(v).tolist() for n, v in self.data.items()}
        points, stans = by_stan(stanimport.format(self.model_file), given)
        for kind in (Models, OnNumPyro):
            model = kind(self.model_file)
            ours = densities(model.module, kind.backend, self.data, points)
            rise = [np.subtract(f[1][0], f[0][0]) for f in (ours, stans)]
            np.testing.assert_allclose(rise[0], rise[1], rtol=1e-6, atol=1e-6)
            np.testing.assert_allclose([f[1] for f in ours], [f[1] for f in stans], rtol=1e-5, atol=1e-5)
            chains = model.mcmc(self.config.iterations, self.config.warmups)
            chains.run(self.data)
            self.pyro_samples = chains.get_samples()
        return "the density is Stan's"

    run_pyro = run


def _package() -> dict[str, types.ModuleType]:
    """All modules that the drivers import and that are not installed."""
    compose = types.SimpleNamespace(Compose=lambda _: None, ToTensor=lambda: None)
    contents: dict[str, dict[str, Any]] = {
        "stanpyro": {}, "stanpyro.dppl": {"PyroModel": Models}, "stannumpyro": {},
        "stannumpyro.dppl": {"NumPyroModel": OnNumPyro}, "runtimes": {},
        "runtimes.dppl": {"PyroModel": Models, "NumpyroModel": OnNumPyro,
                          "Model": lambda backend, *a: (Models if backend == "pyro" else OnNumPyro)(*a)},
        "torchvision": {"transforms": compose}, "torchvision.transforms": vars(compose),
        "torchvision.datasets": {"MNIST": Digits}, "cmdstanpy": {"CmdStanModel": Stan},
        "seaborn": {"set_style": lambda *_, **__: None, "set_context": lambda *_, **__: None},
        "inference.harness": {"MCMCTest": MCMCTest, "Config": Config},
    }  # fmt: skip
    made = {}
    for name, values in contents.items():
        made[name] = types.ModuleType(name)
        made[name].__dict__.update(values)
    made["stanpyro"].dppl = made["stanpyro.dppl"]  # type: ignore[attr-defined]
    return made


# --- running them ----------------------------------------------------------------------------------------------------


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
    loader, pyro_checks = torch.utils.data.dataloader.DataLoader, pyro.settings.get("validate_poutine")
    torch.utils.data.dataloader.DataLoader = lambda *a, num_workers=0, **k: loader(*a, **k)  # type: ignore
    try:
        sys.argv = ["driver", *arguments]
        sys.modules.update(_package())
        sys.path.insert(0, str(folder))
        os.chdir(folder)
        pyro.clear_param_store()
        pyro.enable_validation(False)  # those by hand have no plates
        yield
    finally:
        os.chdir(place)
        sys.argv, torch.utils.data.dataloader.DataLoader = before, loader
        sys.path.remove(str(folder))
        pyro.enable_validation(bool(pyro_checks))
        for name in set(sys.modules) - set(known):
            if name in _package() or name.startswith("inference"):
                del sys.modules[name]


def script(path: Path, values: Mapping[str, Any], arguments: list[str]) -> str:
    Digits.most = 160 if path.stem == "vae" else 2000  # each image is a call of its own
    with surroundings(path.parent, arguments):
        exec(_scaled(path, values), {"__name__": "__main__", "__file__": str(path)})
    return "runs"


def test(path: Path) -> str:
    """A driver in the form of a test."""
    with surroundings(path.parents[1], []):
        package = types.ModuleType("inference")
        package.__path__ = [str(path.parent)]
        sys.modules["inference"] = package
        module = importlib.import_module(f"inference.{path.stem}")
        tests = [f for n, f in vars(module).items() if n.startswith("test_")]
        return "; ".join(str(getattr(t, "__wrapped__", t)() or "runs") for t in tests)


def drivers(folder: Path, epochs: int) -> dict[str, Any]:
    """What runs a driver, by its name."""
    evaluation, dppl = folder / "evaluation", folder / "stanc3" / "test" / "integration" / "dppl"
    paths = [*sorted(evaluation.glob("exec_*.py")), *(evaluation / n for n in SCALED)]
    arguments = {"vae": ["-epochs", "1"], "mlp": ["-epochs", str(epochs)]}
    found = {p.stem: partial(script, p, SCALED.get(f"{p.parent.name}/{p.name}", {}), arguments.get(p.stem, []))
             for p in paths if p.is_file()}  # fmt: skip
    for path in sorted((dppl / "inference").glob("test_*.py")):
        if "harness" in path.read_text() or path.stem == "test_coin_guided":
            found[path.stem] = partial(test, path)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("drivers", nargs="*", metavar="DRIVER", help="some of them; else all")
    parser.add_argument("--epochs", type=int, default=20, help="of the Bayesian network")
    given = parser.parse_args()
    found = drivers(given.folder.resolve(), given.epochs)
    if not found:
        raise SystemExit(f"skipped: no clones of deepppl/evaluation and deepppl/stanc3 in {given.folder}")
    warnings.simplefilter("ignore")
    jax.config.update("jax_enable_x64", True)
    failed = 0
    for name in given.drivers or found:
        try:
            told = found[name]()
        except Exception as e:
            failed, told = failed + 1, f"fails: {type(e).__name__}: {e}".partition("\n")[0]
        print(f"{name}: {told}", flush=True)
    print(f"{len(given.drivers or found)} drivers, {failed} fail")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
