"""Translated modules as the inference functions take them: modules, paths, or programs whose module is gone."""
from __future__ import annotations

import os
from pathlib import Path
from types import ModuleType
from typing import Any

from stanlib.program import Program

from .. import api


def module_of(module: Any) -> ModuleType:
    """The translated module that was given, or that of the program at a path.

    Raises:
        TypeError: for anything else.
        StanError: for what is wrong with the program.
    """
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
