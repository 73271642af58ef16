"""Translated modules as the inference functions take them: modules, paths, or programs whose module is gone."""
from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from stanlib.errors import StanError
from stanlib.networks import Network
from stanlib.program import Program

from .. import api


def module_of(module: Any, networks: Mapping[str, Any] | None = None) -> ModuleType:
    """The translated module that was given, or that of the program at a path, with its networks.

    Args:
        networks: by their names in the program, instead of those that it names.

    Raises:
        TypeError: for anything else.
        StanError: for what is wrong with the program, and for networks that it does not declare.
    """
    found = _module_of(module)
    return with_networks(found, networks or {}) if networks or found.stan.networks else found


def with_networks(module: ModuleType, networks: Mapping[str, Any]) -> ModuleType:
    """The module, whose functions have all of the program's networks: those given, the others as they are found."""
    before = module.model.with_networks(**networks).networks
    named = [v for v in vars(module).values() if isinstance(v, Network)]
    found = {n.name: n.module() for n in named if n.name not in before}
    made = ModuleType(module.__name__, module.__doc__)
    made.__dict__.update(vars(module))
    for name in ("model", "guide", "generated_quantities"):
        if hasattr(module, name):
            setattr(made, name, getattr(module, name).with_networks(**found, **before))
    return made


def with_weights(module: ModuleType, params: Mapping[str, Any]) -> ModuleType:
    """The module with its networks as NumPyro has trained them."""
    from stanlib.ppl.numpyro.networks import with_weights as trained_network

    trained = {n: params.get(f"{n}$params") for n in module.model.networks}
    known = {n: trained_network(module.model.networks[n], w) for n, w in trained.items() if w is not None}
    return with_networks(module, known)


def _module_of(module: Any) -> ModuleType:
    if isinstance(module, (str, os.PathLike)):
        return api.load(module)
    if not isinstance(getattr(module, "stan", None), Program):
        raise TypeError(f"the first argument must be a translated Stan module or a path, not {type(module).__name__}")
    return module


def restored(program: Program, *, backend: str | None = None, scheme: str | None = None) -> ModuleType:
    """The module of a program, from its file if that still holds the same text, else from its source."""
    backend, scheme = backend or program.backend, scheme or program.scheme
    path = Path(program.filename)
    try:
        if path.read_text(encoding="utf-8-sig") == program.source:
            return api.load(path, backend=backend, scheme=scheme)
    except (OSError, UnicodeDecodeError, ValueError):
        pass
    folders = (path.parent,) if path.parent.is_dir() else ()
    return api.loads(program.source, name=program.name, backend=backend, scheme=scheme, include_paths=folders)


def for_numpyro(module: ModuleType) -> ModuleType:
    """The same program for NumPyro: methods that Pyro does not have run there."""
    return module if module.stan.backend == "numpyro" else restored(module.stan, backend="numpyro")


def drawn_integers(program: Program) -> list[str]:
    """The discrete parameters that a program's model draws itself, as the scheme simulation has it."""
    return [v.name for v in program.transformed_parameters if v.type.rpartition(" ")[2] == "int"]


def require_density(program: Program) -> None:
    """Raise StanError for a program whose model draws discrete parameters: what it computes is not its density."""
    if drawn := drawn_integers(program):
        raise StanError(f"{program.name} under the scheme 'simulation' draws {', '.join(drawn)} and has no density to "
                        "fit: load the program with scheme=\"mixed\", which sums over all values")  # fmt: skip
