"""Arguments that commands share, and a parser that suggests the option that was meant."""
from __future__ import annotations

import argparse
import contextlib
import importlib.util
import io
import os
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

from stanlib.extras import require

from .. import files
from ..errors import MissingLibraryError, nearest
from ..settings import BACKENDS, SCHEMES


class Parser(argparse.ArgumentParser):
    """An argument parser that takes no abbreviations, and names the nearest option for an unknown one."""

    def __init__(self, **options: Any):
        super().__init__(allow_abbrev=False, **options)

    def parse_args(self, args: Sequence[str] | None = None, namespace: object = None) -> Any:  # type: ignore[override]
        options, unknown = self.parse_known_args(args, namespace)
        if unknown:
            self.error(self._unrecognized(unknown))
        return options

    def _unrecognized(self, unknown: Sequence[str]) -> str:
        given = next((u.partition("=")[0] for u in unknown if u.startswith("-")), unknown[0])
        similar = nearest(given, self._option_string_actions, 0.5)
        hint = f"; did you mean {similar}?" if similar else ""
        return f"unrecognized arguments: {' '.join(unknown)}{hint}"


def exit_with(message: str, code: int = 2) -> NoReturn:
    """Print a message to the standard error and end with an exit code."""
    print(f"stanimport: {message}", file=sys.stderr)
    raise SystemExit(code)


def tell(error: OSError) -> None:
    """Print what is wrong with a file to the standard error."""
    print(f"{error.filename}: {error.strerror}" if error.filename else error, file=sys.stderr)


@contextlib.contextmanager
def usage_errors() -> Iterator[None]:
    """Inside, options with wrong values end with exit code 2."""
    from ..inference.options import OptionError

    try:
        yield
    except OptionError as e:
        exit_with(str(e))


def program_of(file: Path) -> tuple[Path, str | None]:
    """The name of a program and, of one that comes from the standard input, for which "-" stands, its text."""
    if str(file) != "-":
        return file, None
    return Path("<stdin>"), files.program_text(sys.stdin.buffer.read())


def print_program(text: str) -> None:
    """Print what is to be a file: in UTF-8, as all programs are read, where it does not go to a terminal."""
    if isinstance(sys.stdout, io.TextIOWrapper) and not sys.stdout.isatty():
        sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")
    print(text, end="")


def add_includes(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--include-path", action="append", default=[], type=Path, metavar="DIR",
                        help="a folder in which #include looks")  # fmt: skip


def add_program(parser: argparse.ArgumentParser) -> None:
    """The Stan file, and how it is translated."""
    parser.add_argument("file", type=Path, metavar="FILE.stan")
    parser.add_argument("--backend", choices=BACKENDS, help="the language of the translation (default: numpyro)")
    parser.add_argument("--scheme", choices=SCHEMES, help="the compilation scheme (default: mixed)")
    add_functions(parser)
    add_includes(parser)


def add_functions(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--function", action="append", default=[], type=_bound, metavar="NAME=PATH",
                        help="where Python finds a function without a body: foo=package.module.foo")  # fmt: skip


def _bound(text: str) -> tuple[str, str]:
    name, found, path = text.partition("=")
    if not found:
        raise argparse.ArgumentTypeError(f"{text}: write NAME=package.module.name")
    return name, path


def names(text: str | None) -> list[str] | None:
    """The names of variables, or of single components such as `theta[1,2]`, with commas between them; None for none."""
    return re.split(r",(?![^\[]*\])", text) if text else None


def add_data(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", metavar="FILE", help="the program's data: JSON, R dump, CSV or NetCDF")
    parser.add_argument("--seed", type=int, help="of all random numbers (default: a new one, which is printed)")


def _file(text: str) -> str:
    """The path of a file that a run writes at its end; raises ArgumentTypeError, before it begins, if it can't."""
    folder = Path(text).expanduser().absolute().parent
    if not folder.is_dir():
        raise argparse.ArgumentTypeError(f"{text}: there is no folder {Path(text).parent}")
    if not os.access(folder, os.W_OK) or Path(text).is_dir():
        raise argparse.ArgumentTypeError(f"{text}: can't be written")
    return text


def _folder(text: str) -> str:
    """A folder that a run writes to at its end, and makes; raises ArgumentTypeError if it can't."""
    present = next(p for p in (Path(text).absolute(), *Path(text).absolute().parents) if p.exists())
    if not present.is_dir() or not os.access(present, os.W_OK):
        raise argparse.ArgumentTypeError(f"{text}: can't be written")
    return text


def _output(text: str) -> str:
    """A path that a fit can be saved to: told before there is a fit to lose."""
    from ..inference.fits.storage import SUFFIXES

    if Path(text).suffix.lower() not in SUFFIXES:
        hint = "; --csv FOLDER writes CmdStan's CSV files" if Path(text).suffix.lower() == ".csv" else ""
        raise argparse.ArgumentTypeError(f"{text}: fits are saved as NetCDF, in files called *.nc{hint}")
    _require(text, "xarray", "h5netcdf", "h5py")
    return _file(text)


def _picture(text: str) -> str:
    """A path that a plot can be saved to: told before there is a fit to lose."""
    _require(text, "matplotlib", "arviz" if importlib.util.find_spec("arviz_base") is None else "arviz_base")
    from matplotlib.backend_bases import FigureCanvasBase

    kind = Path(text).suffix.lower().removeprefix(".")
    if kind and kind not in FigureCanvasBase.filetypes:
        raise argparse.ArgumentTypeError(f"{text}: pictures are .{', .'.join(FigureCanvasBase.filetypes)}")
    return _file(text)


def _require(text: str, *libraries: str) -> None:
    try:
        require(*libraries, extra="inference")
    except MissingLibraryError as e:
        raise argparse.ArgumentTypeError(f"{text}: {e}") from None


def add_output(parser: argparse.ArgumentParser) -> None:
    """Where results go."""
    parser.add_argument("--output", metavar="FILE.nc", type=_output,
                        help="save the fit as NetCDF, for ArviZ, `generate` and `summary`")  # fmt: skip
    parser.add_argument("--csv", metavar="FOLDER", type=_folder,
                        help="save the draws as CmdStan's CSV files, one for each chain")  # fmt: skip
    parser.add_argument("--plot", metavar="FILE.png", type=_picture, help="save a picture of the posterior")
    parser.add_argument("--no-progress", action="store_true", help="no progress bar")
