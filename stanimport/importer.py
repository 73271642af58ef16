"""The import hook: `from models import eight_schools` finds models/eight_schools.stan.

A finder at the front of `sys.meta_path` looks for `<name>.stan` where a module of that name would be looked for, in
folders and zip files. A Python module of the same name wins over it (with a warning), a plain folder does not.
"""
from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import pkgutil
import sys
import types
import warnings
import zipimport
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import loading, settings
from .errors import StanWarning


class StanLoader(importlib.abc.InspectLoader):
    """Loads one Stan program as a module."""

    def __init__(self, name: str, program_path: str, archive: zipimport.zipimporter | None, chosen: dict[str, Any]):
        self.name, self.path, self.archive, self.chosen = name, program_path, archive, chosen

    def program(self) -> loading.StanFile:
        if self.archive is not None:
            return loading.decode(self.archive.get_data(self.path), self.path, None)
        return loading.read(Path(self.path))

    def settings(self) -> settings.Settings:
        return settings.current(**self.chosen)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:
        return None

    def exec_module(self, module: types.ModuleType) -> None:
        loading.execute(module, self.program(), self.settings())

    def get_code(self, fullname: str) -> types.CodeType:
        return loading.code_of(self.program(), self.settings())

    def get_source(self, fullname: str) -> str:
        """The Stan text: what tracebacks and `inspect` show."""
        return self.program().text

    def get_filename(self, fullname: str) -> str:
        return self.path

    def is_package(self, fullname: str) -> bool:
        return False

    def reference(self, attribute: str) -> tuple[Any, tuple[Any, ...]]:
        """How to pickle an attribute of the module: by name, through the hook."""
        return restore, (self.name, attribute)


def restore(module: str, attribute: str) -> Any:
    """Unpickle an attribute of a translated module; importing this function has installed the hook."""
    return getattr(importlib.import_module(module), attribute)


class StanFinder(importlib.abc.MetaPathFinder):
    """Finds `.stan` files on the path of a module."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        filename = fullname.rpartition(".")[2] + ".stan"
        for entry in sys.path if path is None else path:
            found = _locate(entry, filename)
            if found is None:
                continue
            if _python_module(fullname, path, found[0]):
                return None
            return _spec(fullname, *found)
        return None


def _locate(entry: str, filename: str) -> tuple[str, zipimport.zipimporter | None] | None:
    """The Stan file in a folder or zip file of the path."""
    candidate = os.path.join(entry or os.getcwd(), filename)
    if os.path.isfile(candidate):
        return candidate, None
    if ".zip" in entry or ".whl" in entry or ".pyz" in entry:
        archive = pkgutil.get_importer(entry)
        if isinstance(archive, zipimport.zipimporter) and not os.path.isdir(entry):
            try:
                archive.get_data(candidate)
            except OSError:
                return None
            return candidate, archive
    return None


def _python_module(fullname: str, path: Sequence[str] | None, stan_file: str) -> bool:
    """Whether a Python module or package has the name; a plain folder is none."""
    spec = importlib.machinery.PathFinder.find_spec(fullname, path)
    if spec is None or spec.loader is None or spec.origin is None:
        return False
    warnings.warn(f"{spec.origin} hides {stan_file}: both are called {fullname}", StanWarning, stacklevel=2)
    return True


def _spec(fullname: str, path: str, archive: zipimport.zipimporter | None) -> importlib.machinery.ModuleSpec:
    loader = StanLoader(fullname, path, archive, {})
    spec = importlib.util.spec_from_file_location(fullname, path, loader=loader)
    assert spec is not None
    if archive is None:
        from . import cache

        spec.cached = str(next(cache.locations(Path(path), loader.settings())))
    return spec


_finder = StanFinder()


def install() -> None:
    """Put the finder on `sys.meta_path`, unless it is there."""
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)


def uninstall() -> None:
    """Take the finder away again; modules that were imported stay."""
    if _finder in sys.meta_path:
        sys.meta_path.remove(_finder)
