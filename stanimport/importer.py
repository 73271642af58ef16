"""The import hook: `from models import eight_schools` finds models/eight_schools.stan.

A finder at the front of `sys.meta_path` looks for `<name>.stan` where a module of that name would be looked for, in
folders and zip files. A Python module of the same name wins over it (with a warning), a plain folder does not.
"""
from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import os
import sys
import types
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import cache, files, loading, permissions, settings
from .errors import StanSemanticError, StanSyntaxError, StanWarning

if TYPE_CHECKING:
    from importlib.abc import InspectLoader as _Loader

    from stanlib.batches import Rows
    from stanlib.program import Program
    from stanlib.unobserved import Observations
else:
    _Loader = object  # importlib.abc takes 20 ms to import, and all of a loader's methods are here


def _plainly(function: Callable[..., object], *args: object) -> Any:
    return function(*args)


_folders: set[str] = set()  # that were seen
_without_frames = getattr(importlib._bootstrap, "_call_with_frames_removed", _plainly)


class StanLoader(_Loader):
    """Loads one Stan program as a module."""

    def __init__(self, name: str, program_path: str):
        self.name, self.path = name, program_path
        self._loaded: tuple[str, cache.Entry] | None = None

    def is_edited(self) -> bool:
        """Whether the program, or a file that it includes, was edited since the module was loaded."""
        if self._loaded is None:  # reloading it failed
            return True
        text, entry = self._loaded
        try:
            return self.program().text != text or not entry.is_current()
        except (OSError, StanSyntaxError):  # it is gone, or being written
            return False

    def program(self) -> loading.StanFile:
        return loading.read(Path(self.path))

    def settings(self) -> settings.Settings:
        return settings.current()

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return loading.StanModule(spec.name)

    @property
    def exec_module(self) -> Callable[[types.ModuleType], None]:
        """What fills a module. Python cuts its own frames off a traceback only in front of calls by this helper."""
        return partial(_without_frames, self._execute)

    def _execute(self, module: types.ModuleType) -> None:
        __tracebackhide__ = True  # for pytest and IPython
        try:
            program = self.program()
            entry = loading.entry_of(program, self.settings())
            loading.execute(module, program, entry)
            self._loaded = program.text, entry
        except (StanSyntaxError, StanSemanticError) as e:
            raise e.with_traceback(None) from None  # the Stan line says it all

    def get_code(self, fullname: str) -> types.CodeType:
        return loading.code_of(self.program(), self.settings())

    def get_source(self, fullname: str) -> str:
        """The Stan text: what tracebacks and `inspect` show."""
        return self.program().text

    def get_filename(self, fullname: str) -> str:
        return self.path

    def get_data(self, path: str) -> bytes:
        """The content of a file beside the program."""
        return files.read_bytes(Path(path))

    def is_package(self, fullname: str) -> bool:
        return False

    def network_access(self, module: str) -> str:
        """What the program may do with a Python module that it names in `networks`: see `permissions.access`."""
        return permissions.access(module, self.name, self.settings().network_packages)

    def rows_of(self, program: Program, sizes: Sequence[str], guide: bool) -> dict[str, Rows]:
        """For each of some sizes of the data, what of the model, or guide, depends on its rows.

        Raises:
            StanSemanticError: naming the statements that depend on rows otherwise.
        """
        return loading.rows_of(program, sizes, guide)

    def unpredictable(self, program: Program, guide: bool) -> dict[str, str]:
        """The data that the model, or guide, can't draw where it is called with None for them: why, by name."""
        return loading.unpredictable(program, guide)

    def computed_from(self, program: Program) -> dict[str, frozenset[str]]:
        """The transformed data that may depend on the values of each of the data, by name."""
        return loading.computed_from(program)

    def observations(self, program: Program) -> Observations:
        """Which observations the log likelihood of the program can tell apart."""
        return loading.observations(program)

    def reference(self, attribute: str | None) -> tuple[Any, tuple[Any, ...]]:
        """How to pickle the module, or an attribute of it: by name, through the hook."""
        return restore, (self.name, attribute)


def restore(module: str, attribute: str | None) -> Any:
    """Unpickle a translated module or an attribute of it; importing this function has installed the hook."""
    found = importlib.import_module(module)
    return found if attribute is None else getattr(found, attribute)


class StanFinder:
    """Finds `.stan` files on the path of a module."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """The spec of the Stan file with the module's name; None if there is none, or Python has such a module."""
        parent, _, name = fullname.rpartition(".")
        filename = f"{name}.stan"
        places = (_locate(entry, filename) for entry in (sys.path if path is None else path))
        found = next((p for p in places if p is not None), None)
        if found is None and path is not None and not any(_is_folder(p) or os.path.exists(p) for p in path):
            found = _mapped(parent, filename)
        if found is None or self._is_python(fullname, path, target, found):
            return None
        return _spec(fullname, found)

    def _is_python(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None, stan_file: str
    ) -> bool:
        """Whether the other finders know a Python module or package of the name; a plain folder is none."""
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(fullname, path, target)
            if spec is not None and spec.origin is not None:
                place = spec.origin if spec.has_location else f"a {spec.origin} module"
                text = f"{place} hides {stan_file}: both are called {fullname}"
                warnings.warn(text, StanWarning, stacklevel=3)
                return True
        return False


def _locate(entry: object, filename: str) -> str | None:
    """The Stan file in a folder or zip file of the path; entries that Python itself skips are skipped."""
    if not isinstance(entry, str):
        return None
    try:
        folder = entry or os.getcwd()
    except FileNotFoundError:
        return None
    candidate = os.path.join(folder, filename)
    if os.path.isfile(candidate):
        return candidate
    if not _is_folder(folder) and files.is_file(Path(candidate)):
        return candidate
    return None


def _is_folder(path: str) -> bool:
    """Whether a path is, or was, a folder: every import of any module asks."""
    if path not in _folders and os.path.isdir(path):
        _folders.add(path)
    return path in _folders


def _mapped(package: str, filename: str) -> str | None:
    """The Stan file among the resources of a package that lies in no folder.

    The editable installs of meson-python map names to files in the sources, and tell them as resources.
    """
    loader: Any = getattr(sys.modules.get(package), "__loader__", None)
    if not hasattr(loader, "get_resource_reader"):
        return None
    try:
        reader = loader.get_resource_reader(package)
        found = reader.files().joinpath(filename) if hasattr(reader, "files") else None
    except OSError:  # a namespace package without folders
        return None
    return str(found) if isinstance(found, Path) and found.is_file() else None


def _spec(fullname: str, path: str) -> importlib.machinery.ModuleSpec:
    path = os.path.abspath(path)  # the module stays that of this file when the working folder changes
    loader = StanLoader(fullname, path)
    spec = importlib.util.spec_from_file_location(fullname, path, loader=loader)
    assert spec is not None
    if os.path.isfile(path):
        spec.cached = str(cache.location(Path(path), loader.settings()))
    return spec


_finder = StanFinder()


def install() -> None:
    """Put the finder on `sys.meta_path`, unless it is there; importing the package does.

    Examples:
        >>> stanimport.install()
        >>> from models import coin
        >>> coin.stan.filename.endswith("coin.stan")
        True
    """
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)


def uninstall() -> None:
    """Take the finder away again; modules that were imported stay.

    Examples:
        >>> stanimport.uninstall()
        >>> from models import garch11
        Traceback (most recent call last):
        ImportError: cannot import name 'garch11' from 'models'...
        >>> stanimport.install()
    """
    if _finder in sys.meta_path:
        sys.meta_path.remove(_finder)
