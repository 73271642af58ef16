"""The notebook extension: `%load_ext stanimport`, then cells that begin with `%%stan NAME`.

The only module that imports IPython, which need not be installed for anything else.
"""
from __future__ import annotations

from typing import Any

from IPython.core.magic import Magics, cell_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring

from . import api
from .errors import StanError
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
        if not options.name.isidentifier():
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
    """Make `%%stan` known to a shell."""
    shell.register_magics(StanMagics)
