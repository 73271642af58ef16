"""What generated code imports: `ppl, dist, fn = backend("numpyro")`, loaded when first used.

`ppl` holds sample sites, factors, control flow and indexing, `dist` the distributions, `fn` the library functions.
Importing a translated module imports neither NumPy nor an array library.
"""
from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cached_property
from typing import Any

from . import networks, program
from .extras import require

ABI_VERSION = 16  # raised whenever code generated before would no longer run

Program, Variable = program.Program, program.Variable


class _Loaded:
    """Names that are made when they are first asked for."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        made = self._made(name)
        setattr(self, name, made)
        return made

    def _made(self, name: str) -> object:
        raise AttributeError(name)


class Backend(_Loaded):
    """The names of one backend's module stanlib.ppl.<name>, and the decorators of a translated module's functions."""

    Program, Variable = program.Program, program.Variable

    def __init__(self, name: str):
        self.backend_name = name

    def _made(self, name: str) -> object:
        try:
            module = importlib.import_module(f"stanlib.ppl.{self.backend_name}")
        except ModuleNotFoundError:
            if self.backend_name == "pyro":
                require("torch", "pyro", extra="pyro")
            raise
        return getattr(module, name)

    def transformed_data(self, stan: program.Program) -> Callable[[Callable[..., Any]], program.TransformedData]:
        """Decorator of the function that reads the data."""
        return lambda f: program.TransformedData(f, self, stan)

    def model(
        self, data: program.TransformedData, **stan_names: str
    ) -> Callable[[Callable[..., Any]], program.Model]:
        """Decorator of the model; `stan_names` tells the arguments that could not have Stan's name in Python."""
        return lambda f: program.Model(f, data, stan_names)

    def guide(
        self, data: program.TransformedData, **stan_names: str
    ) -> Callable[[Callable[..., Any]], program.Guide]:
        return lambda f: program.Guide(f, data, stan_names)

    def network(self, stan: program.Program, *declared: Any, **options: Any) -> networks.Network:
        """A declared network; arguments as for networks.Network."""
        return networks.Network(self, stan, *declared, **options)

    def external(self, signature: str, path: str, dims: int, spec: object = None) -> Any:
        """A function that the program declares without a body; arguments as for externals.external."""
        from . import externals

        return externals.external(self.backend_name, signature, path, dims, spec)

    def generated_quantities(
        self, data: program.TransformedData, **stan_names: str
    ) -> Callable[[Callable[..., Any]], program.GeneratedQuantities]:
        return lambda f: program.GeneratedQuantities(f, data, stan_names)


class Distributions(_Loaded):
    """`dist.normal(mu, sigma)`: the backend's distribution of Stan's law."""

    def __init__(self, ppl: Backend):
        self._ppl = ppl

    def _made(self, name: str) -> Callable[..., object]:
        from .distribution import get

        record, make = get(name), self._ppl.make_distribution

        def distribution(*arguments: object) -> object:
            return make(record, arguments)

        return distribution


class Functions(_Loaded):
    """`fn.log_sum_exp(x)`: the library function of that symbol."""

    @cached_property
    def added(self) -> Added:
        return Added(self)

    def _made(self, name: str) -> object:
        from .registry import by_symbol

        return by_symbol(name)


class Added(_Loaded):
    """`fn.added.normal_lpdf(y, mu, sigma)`: a density in an increment, which tells of NaN."""

    def __init__(self, functions: Functions):
        self._functions = functions

    def _made(self, name: str) -> Callable[..., object]:
        from .observations import adding

        return adding(getattr(self._functions, name))


def backend(name: str, abi: int = ABI_VERSION) -> tuple[Backend, Distributions, Functions]:
    """The namespaces for a backend. `abi` is the version that the calling code was generated for."""
    if abi != ABI_VERSION:
        raise ImportError(f"this module was translated for version {abi} of stanlib's interface, not {ABI_VERSION}")
    ppl = Backend(name)
    return ppl, Distributions(ppl), Functions()
