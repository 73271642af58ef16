"""The notebook extension: `%load_ext stanimport`, then cells that begin with `%%stan NAME`; and `%autoreload`.

The only module that imports IPython for itself; elsewhere it is used where a notebook has imported it.
"""
from __future__ import annotations

import importlib
import keyword
import sys
from typing import Any

from IPython.core.magic import Magics, cell_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring

from . import api
from .errors import StanError
from .importer import StanLoader
from .loading import StanModule
from .settings import BACKENDS, SCHEMES


@magics_class
class StanMagics(Magics):
    """The cell magic `%%stan`."""

    @magic_arguments()
    @argument("name", help="the variable that the translated module is bound to")
    @argument("--backend", choices=BACKENDS, help="what to translate for; as configured if not given")
    @argument("--scheme", choices=SCHEMES, help="how to translate; as configured if not given")
    @argument("--include-path", action="append", default=[], metavar="DIR", help="a folder in which #include looks")
    @argument("--show", action="store_true", help="print the Python that the program becomes")
    @cell_magic
    def stan(self, line: str, cell: str) -> None:
        """Translate the Stan program in a cell, and bind it to a name as a module."""
        options = parse_argstring(self.stan, line)
        if not options.name.isidentifier() or keyword.iskeyword(options.name):
            raise ValueError(f"{options.name!r} can't name a variable")
        chosen: dict[str, Any] = {
            "backend": options.backend, "scheme": options.scheme, "include_paths": options.include_path,
        }  # fmt: skip
        try:
            module = api.loads(cell, name=options.name, **chosen)
        except StanError as e:
            raise e.with_traceback(None) from None  # the Stan line says it all
        self.shell.push({options.name: module})
        if options.show:
            print(api.translate(options.name, source=cell, **chosen), end="")


def register(shell: Any) -> None:
    """Make `%%stan` known to a shell, and edited programs to its `%autoreload`."""
    shell.register_magics(StanMagics)
    watch(shell)


def watch(shell: Any) -> None:
    """Let a shell's `%autoreload 2` reload edited programs too."""
    if not any(getattr(f, "__name__", "") == "_before_cell" for f in shell.events.callbacks["pre_run_cell"]):

        def _before_cell(*_: object) -> None:
            if _reloads_all(shell):
                reload_edited()

        shell.events.register("pre_run_cell", _before_cell)


def _reloads_all(shell: Any) -> bool:
    """Whether `%autoreload 2` is on: what it knows of are Python's files alone."""
    magics = shell.magics_manager.registry.get("AutoreloadMagics")
    reloader = getattr(magics, "_reloader", None)
    return bool(getattr(reloader, "enabled", False) and getattr(reloader, "check_all", False))


def reload_edited() -> list[str]:
    """Reload the imported modules whose programs were edited; their names. An error is shown and stops nothing."""
    edited = [n for n, m in list(sys.modules.items()) if isinstance(m, StanModule) and _is_edited(m)]
    for name in edited:
        try:
            importlib.reload(sys.modules[name])
        except StanError as e:
            print(e, file=sys.stderr)
    return edited


def _is_edited(module: StanModule) -> bool:
    loader = getattr(module.__spec__, "loader", None)
    return type(loader) is StanLoader and loader.is_edited()
