"""Translated modules as the inference functions take them: modules, paths, or programs whose module is gone."""
from __future__ import annotations

import contextlib
import importlib
import inspect
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from stanlib.errors import StanError
from stanlib.metadata import POINTWISE, SIMULATION
from stanlib.networks import Network, StanNetworkError
from stanlib.program import Module, Program
from stanlib.unobserved import Observations

from .. import api, files
from ..errors import StanSyntaxError


def module_of(module: object, networks: Mapping[str, object] | None = None) -> Module:
    """The translated module that was given, or that of the program at a path, with its networks.

    Args:
        networks: by their names in the program, instead of those that it names.

    Raises:
        TypeError: for anything else.
        StanError: for what is wrong with the program, and for networks that it does not declare.
    """
    found = plain_module_of(module)
    return with_networks(found, networks or {}) if networks or found.stan.networks else found


def with_networks(module: Module, networks: Mapping[str, object]) -> Module:
    """The module, whose functions have all of the program's networks: those given, the others as they are found.

    They are as they are now, whatever becomes of them later, but Pyro's, which are trained in place.
    """
    before, library = module.model.with_networks(**networks).networks, _library_of(module.stan)
    # what is given as a class is made once, not anew in every call
    given = {n.name: n.instance(before[n.name]) if n.name in before else n.module() for n in _networks(module)}
    return _given(module, before | {n: library.kept(v) for n, v in given.items()})


def networks_of(module: Module) -> dict[str, Any]:
    """The networks that a module was given, as they were given."""
    library = _library_of(module.stan)
    return {n: library.own(v) for n, v in module.model.networks.items()}


def _networks(module: Module) -> list[Network]:
    return [v for v in vars(module).values() if isinstance(v, Network)]


def _given(module: Module, networks: Mapping[str, object]) -> Module:
    """The module, whose functions have these networks. Raises StanError for names that the program does not declare."""
    made = copied(module)
    for name in ("model", "guide", "generated_quantities"):
        if hasattr(module, name):
            setattr(made, name, getattr(module, name).with_networks(**networks))
    return made


def copied(module: Module) -> Module:
    """A module of the same functions, which may be given others."""
    made: Any = ModuleType(module.__name__, module.__doc__)
    made.__dict__.update(vars(module))
    translated: Module = made
    return translated


def with_weights(module: Module, params: Mapping[str, Any]) -> Module:
    """The module with its networks as NumPyro has trained them."""
    from stanlib.ppl.numpyro.networks import flat_weights, with_weights

    known = {}
    for name, network in module.model.networks.items():
        parts = params.get(f"{name}$params"), params.get(f"{name}$state", {}).get("state")
        weights = {n: w for part in parts if part is not None for n, w in flat_weights(part).items()}
        if weights:
            known[name] = with_weights(network, weights)
    return with_networks(module, known)


def weights_of(module: Module) -> dict[str, np.ndarray]:
    """The weights of the networks that a module was given, by the names that inference has for them."""
    library, made = _library_of(module.stan), dict[str, np.ndarray]()
    for name, network in module.model.networks.items():
        if not inspect.isclass(network) and not inspect.isroutine(network):
            made |= {f"{name}{library.SEPARATOR}{n}": np.asarray(w) for n, w in library.weights_of(network).items()}
    return made


def with_saved_weights(
    module: Module, params: Mapping[str, Any], networks: Mapping[str, Any] | None = None
) -> Module:
    """The module, whose networks have the weights that a fit has of them.

    Args:
        params: the parameters of the fit, as it holds them or by their names in its file.
        networks: by their names in the program, instead of those that it names. What is not found is left out: it is
            an error when it is called.

    Raises:
        StanError: for a network of other parameters than the fit's, and one that the program does not declare.
    """
    library, known = _library_of(module.stan), {**module.model.networks, **(networks or {})}
    params = library.flat_weights(params)
    for found in _networks(module):
        if found.name not in known:
            with contextlib.suppress(StanNetworkError):
                known[found.name] = found.module()
    for name, network in known.items():
        start = f"{name}{library.SEPARATOR}"
        weights = {n.removeprefix(start): w for n, w in params.items() if n.startswith(start)}
        if weights:
            made = network() if inspect.isclass(network) else network
            _verify_weights(name, library.weights_of(made), weights)
            known[name] = library.with_weights(made, weights)
    return _given(module, known)


def keeping_weights(module: Module, params: Mapping[str, object]) -> Module:
    """The module, whose networks have these weights or those that they have now, and keep them if trained further."""
    return with_saved_weights(module, {**weights_of(module), **params}) if module.model.networks else module


def _verify_weights(name: str, own: Mapping[str, Any], weights: Mapping[str, Any]) -> None:
    """Raise StanError for weights that the network does not have, or in another shape."""
    for part, weight in weights.items():
        if part not in own or tuple(own[part].shape) != np.shape(weight):
            raise StanError(f"the network {name} of the fit has {part!r} of shape {np.shape(weight)}, this one has "
                            + (f"it of shape {tuple(own[part].shape)}" if part in own else f"only {', '.join(own)}"))


def _library_of(program: Program) -> Any:
    """What handles the networks of a program's backend."""
    return importlib.import_module(f"stanlib.ppl.{program.backend}.networks")


def plain_module_of(module: Any) -> Module:
    """The translated module that was given, or that of the program at a path. Raises TypeError, StanError."""
    module = files.as_path(module)
    if isinstance(module, (str, os.PathLike)):
        module = api.load(module)
    if not isinstance(getattr(module, "stan", None), Program):
        raise TypeError(f"the first argument must be a translated Stan module or a path, not {type(module).__name__}")
    translated: Module = module
    return translated


def restored(
    program: Program, *, backend: str | None = None, scheme: str | None = None, include_paths: Sequence[Path] = ()
) -> Module:  # fmt: skip
    """The module of a program, from its file if that and what it includes hold the same texts, else from its source.

    It calls the same functions in Python, but has no networks: `anew` has those too.

    Args:
        include_paths: where the files that it includes are looked for; they may be gone.
    """
    chosen: dict[str, Any] = dict(backend=backend or program.backend, scheme=scheme or program.scheme,
                                  functions=dict(program.functions) or None)  # fmt: skip
    path = Path(program.filename)
    try:
        if files.program_text(files.read_bytes(path)) == program.source:
            made = plain_module_of(api.load(path, include_paths=include_paths, **chosen))
            if made.stan.includes == program.includes:
                return made
    except (OSError, UnicodeDecodeError, ValueError, StanSyntaxError):
        pass
    return plain_module_of(api.loads_with(program.source, program.includes, name=program.name, **chosen))


def anew(module: Module, *, backend: str | None = None, scheme: str | None = None) -> Module:
    """The same program for another backend or scheme, with the module's networks, trained by its own backend alone."""
    settings = getattr(getattr(getattr(module, "__spec__", None), "loader", None), "settings", None)
    folders = settings().include_paths if settings else ()
    made = restored(module.stan, backend=backend, scheme=scheme, include_paths=folders)
    networks = module.model.networks
    if networks and made.stan.backend == "numpyro" != module.stan.backend:
        networks = {n: _library_of(made.stan).untrained(v) for n, v in networks.items()}
    return _given(made, networks) if networks else made


def for_numpyro(module: Module) -> Module:
    """The same program for NumPyro: methods that Pyro does not have run there."""
    return module if module.stan.backend == "numpyro" else anew(module, backend="numpyro")


def observing_apart(module: Module) -> Module:
    """The same for NumPyro, whose model observes data one by one where it can: see the scheme "pointwise"."""
    made = for_numpyro(module)
    return anew(made, scheme=POINTWISE) if told_apart(made).are_apart else made


def told_apart(module: Module) -> Observations:
    """Which observations the log likelihood of a program can tell apart; nothing is known of one that is gone."""
    try:
        return module.model.observations()
    except StanError:
        return Observations(False, ())


def drawn_integers(program: Program) -> list[str]:
    """The discrete parameters that a program's model draws itself, as the scheme simulation has it."""
    return [v.name for v in program.drawn_integers] if program.scheme == SIMULATION else []


def require_density(program: Program) -> None:
    """Raise StanError for a program whose model draws discrete parameters: what it computes is not its density."""
    if drawn := drawn_integers(program):
        raise StanError(f"{program.name} under the scheme 'simulation' draws {', '.join(drawn)} and has no density to "
                        "fit: load the program with scheme=\"mixed\", which sums over all values")  # fmt: skip
