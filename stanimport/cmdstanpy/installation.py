"""What CmdStanPy asks of an installation of CmdStan: there is none, so most of it has nothing to do."""
from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from .. import api


def install_cmdstan(*args: Any, **options: Any) -> bool:
    """Nothing has to be installed."""
    return True


def rebuild_cmdstan(*args: Any, **options: Any) -> None:
    """Nothing has to be built."""


def set_cmdstan_path(path: str) -> None:
    """There is no CmdStan to find."""


def set_make_env(make: str) -> None:
    """Nothing is made."""


def cmdstan_path() -> str:
    """There is no folder of CmdStan's: raises ValueError, as CmdStanPy does where none is installed."""
    raise ValueError("stanimport.cmdstanpy runs without CmdStan: it has no folder")


def cmdstan_version() -> tuple[int, int]:
    """The version of the language."""
    return 2, 39


def compile_stan_file(
    src: str | os.PathLike[str], force: bool = False, stanc_options: Mapping[str, Any] | None = None, **options: Any
) -> str:
    """Check and translate a program; the path of its file, for there is no executable.

    Raises:
        StanError: for what is wrong with the program.
    """
    api.load(src, include_paths=include_paths(stanc_options))
    return os.fspath(src)


def format_stan_file(*args: Any, **options: Any) -> None:
    """Not there. Raises NotImplementedError."""
    raise NotImplementedError("stanimport has no formatter of Stan programs: use stanc --auto-format")


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


def include_paths(stanc_options: Mapping[str, Any] | None) -> Sequence[str | os.PathLike[str]]:
    """The folders for `#include` among the options of stanc: a list, or a text with commas."""
    options = stanc_options or {}
    given = options.get("include-paths", options.get("include_paths", ()))
    return given.split(",") if isinstance(given, str) else list(given)
