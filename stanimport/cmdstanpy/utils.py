"""CmdStanPy's helpers. Most are about an installation of CmdStan, which nothing here needs, and have nothing to do."""
from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from datetime import datetime
from logging import Logger, getLogger
from pathlib import Path

from .. import api
from .errors import compiling
from .files import write_stan_json as write_stan_json  # where CmdStanPy has it too
from .stanc_options import include_paths, refuse_header, verified, warn_pedantically


def install_cmdstan(*args: object, **options: object) -> bool:
    """Nothing has to be installed."""
    return True


def rebuild_cmdstan(*args: object, **options: object) -> None:
    """Nothing has to be built."""


def set_cmdstan_path(path: str | os.PathLike[str]) -> None:
    """Say where CmdStan is, for scripts that take programs and data from its folder."""
    os.environ["CMDSTAN"] = os.fspath(path)


def set_make_env(make: str) -> None:
    """Nothing is made."""


def cmdstan_path() -> str:
    """CmdStan's folder, if there is one: $CMDSTAN, else the newest in ~/.cmdstan. It is read by scripts, not here.

    Raises:
        ValueError: if there is none.
    """
    given = os.environ.get("CMDSTAN")
    found = [Path(given)] if given else sorted(Path.home().glob(".cmdstan/cmdstan-*"), key=_version)
    if not found or not found[-1].is_dir():
        where = f"$CMDSTAN is {given}" if given else "it is not in ~/.cmdstan"
        raise ValueError(f"there is no folder of CmdStan, which stanimport.cmdstanpy runs without: {where}")
    return os.path.normpath(found[-1])


def _version(folder: Path) -> list[int]:
    """The numbers in the name of CmdStan's folder; a release candidate comes before its release."""
    numbers = [int(n) for n in re.findall(r"\d+", folder.name.partition("-rc")[0])]
    return [*numbers, 0 if "-rc" in folder.name else 1]


def cmdstan_version() -> tuple[int, int]:
    """The version of the language."""
    return 2, 39


def compile_stan_file(
    src: str | os.PathLike[str], force: bool = False, stanc_options: Mapping[str, object] | None = None,
    cpp_options: Mapping[str, object] | None = None, user_header: object = None,
) -> str:  # fmt: skip
    """Check and translate a program; the path of its file, for there is no executable.

    Raises:
        StanError: for what is wrong with the program.
        NotImplementedError: for functions in C++.
    """
    refuse_header(user_header)
    options = verified(stanc_options)
    with compiling():
        warn_pedantically(Path(src), options, None)
        api.load(src, include_paths=include_paths(options, src))
    return os.fspath(src)


def get_logger() -> Logger:
    """CmdStanPy's logger, for scripts that set its level: results and warnings say everything, nothing is logged."""
    return getLogger("cmdstanpy")


class _Logging(AbstractContextManager[None]):
    """Switches the logger at once, and back where it is left as a context."""

    def __init__(self, disabled: bool):
        self._before = get_logger().disabled
        get_logger().disabled = disabled

    def __repr__(self) -> str:
        return ""

    def __exit__(self, *_: object) -> None:
        get_logger().disabled = self._before


def enable_logging() -> AbstractContextManager[None]:
    """Enable the logger, for good or as a context: see `get_logger`."""
    return _Logging(disabled=False)


def disable_logging() -> AbstractContextManager[None]:
    """Disable the logger, for good or as a context: see `get_logger`."""
    return _Logging(disabled=True)


def cmdstan_version_before(major: int, minor: int, info: Mapping[str, str] | None = None) -> bool:
    """Whether the version of the language is older."""
    return cmdstan_version() < (major, minor)


def format_stan_file(
    stan_file: str | os.PathLike[str], *, overwrite_file: bool = False,
    canonicalize: bool | str | Iterable[str] = False, max_line_length: int | None = 78, backup: bool = True,
    stanc_options: Mapping[str, object] | None = None,
) -> None:  # fmt: skip
    """Print a program in stanc's layout, or write it so: see `stanimport.format`.

    Args:
        stan_file: the program.
        overwrite_file: write the file instead of printing.
        canonicalize: True, or some of the canonicalizations, a list or a text with commas.
        max_line_length: of lines that can be broken.
        backup: keep the file as it was, with the suffix ".bak-" and the time.
        stanc_options: of these "include-paths" is heeded.

    Raises:
        ValueError: if there is no such file.
        StanError: for what is wrong with the program.
    """
    path = Path(stan_file)
    if not path.exists():
        raise ValueError(f"File does not exist: {path}")
    given = canonicalize.split(",") if isinstance(canonicalize, str) else canonicalize
    chosen = given if isinstance(given, bool) else list(given)
    text = api.format(path, include_paths=include_paths(stanc_options, path), canonicalize=chosen,
                      max_line_length=78 if max_line_length is None else max_line_length)  # fmt: skip
    if not overwrite_file:
        print(text)
        return
    if backup:
        shutil.copyfile(path, f"{path}.bak-{datetime.now():%Y%m%d%H%M%S}")
    path.write_text(text, encoding="utf-8")


def show_versions(output: bool = True) -> str:
    """The versions of what runs the models, printed unless `output` is false."""
    from importlib import metadata

    packages = ("stanimport", "numpyro", "jax", "numpy", "pandas", "xarray", "arviz")
    lines = [f"python: {sys.version.split()[0]}"]
    for package in packages:
        try:
            lines.append(f"{package}: {metadata.version(package)}")
        except metadata.PackageNotFoundError:
            lines.append(f"{package}: not installed")
    text = "\n".join(lines)
    if output:
        print(text)
    return text
