"""What the paper's drivers import and is not installed: `stanpyro`, `stannumpyro` and `runtimes` are stanimport,
MNIST is scikit-learn's digits at 28 times 28 pixels, Stan is stanimport's `cmdstanpy`, and plots need no style.
"""
from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

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
RENAMED = {"lda": {"a": "alpha", "b": "beta"}}  # data that a driver gives by other names than the program has


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
            return {"images": [{**given, "x": x} | networks for x in given["x"]]}
        return given | networks if networks else self.module.transformed_data(**given)

    def step(self, given: Mapping[str, Any] | None = None, **more: Any) -> float:
        self.last = more
        inputs = given if given is not None and not more else self.preprocess({**(given or {}), **more})
        return float(self.svi.step(**inputs))

    def sample_posterior(self, count: int, data: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Draws of networks."""
        (name,), inputs = self.module.stan.networks, self.preprocess(data)
        drawn = [self.module.guide(**inputs) for _ in range(count)]
        weights = [{n.partition(".")[2]: w.detach() for n, w in d.items()} for d in drawn]
        return [{name: lambda x, w=w: torch.func.functional_call(data[name], w, (x,))} for w in weights]

    def posterior(self, count: int, **data: Any) -> list[dict[str, Any]]:
        """Draws of networks; where there are no data they are those of the last step."""
        return self.sample_posterior(count, {**self.last, **{n: v for n, v in data.items() if v is not None}})


def _of_each(function: Any, images: list[dict[str, Any]]) -> None:
    for i, inputs in enumerate(images):
        with scope(prefix=str(i)):
            function(**inputs)


def _as_declared(module: Any, name: str, value: Any) -> Any:
    """Images without the axis of channels, several as a list where one is declared; labels as integers.

    Pixels that are declared as integers stay reals, which is what networks take.
    """
    variable = next((v for v in module.stan.data if v.name == name), None)
    if not isinstance(value, torch.Tensor) or variable is None:
        return value
    value = value.int() if value.ndim == 1 and variable.type.endswith("int") else value
    value = value.squeeze(1) if value.ndim == 4 else value
    return list(value) if name == "x" and value.ndim == 3 else value


class Digits(torch.utils.data.Dataset):
    """scikit-learn's digits in the form of MNIST, black and white: every fourth is for the test.

    There are `most` of them; those to train on are there several times, as MNIST has many more.
    """

    most, copies = 2000, 1

    def __init__(self, *_: Any, train: bool = True, **__: Any):
        images, labels = (x[: self.most] for x in load_digits(return_X_y=True))
        chosen = (np.arange(len(labels)) % 4 == 0) != train
        large = np.kron(images.reshape(-1, 8, 8)[chosen], np.ones((1, 3, 3)))
        copies = self.copies if train else 1
        self.data = torch.tensor(np.pad(large, ((0, 0), (2, 2), (2, 2))) > 8).to(torch.uint8).repeat(copies, 1, 1)
        self.targets = torch.tensor(labels[chosen]).repeat(copies)

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
        names = RENAMED.get(self.name, {})
        self.data = {names.get(n, n): v for n, v in self.data.items()}
        given = {n: np.asarray(v).tolist() for n, v in self.data.items()}
        points, stans = by_stan(stanimport.format(self.model_file, canonicalize=True), given)
        for kind in (Models, OnNumPyro):
            model = kind(self.model_file)
            ours = densities(model.module, kind.backend, self.data, points)
            rise = [np.subtract(f[1][0], f[0][0]) for f in (ours, stans)]
            np.testing.assert_allclose(rise[0], rise[1], rtol=1e-6, atol=1e-6)
            np.testing.assert_allclose([f[1] for f in ours], [f[1] for f in stans], rtol=1e-5, atol=1e-5)
            if model.module.stan.parameters:
                chains = model.mcmc(self.config.iterations, self.config.warmups)
                chains.run(self.data)
                self.pyro_samples = chains.get_samples()
        return "the density is Stan's"

    run_pyro = run


def package() -> dict[str, types.ModuleType]:
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
