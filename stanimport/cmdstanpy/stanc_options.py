"""The options of stanc that CmdStanPy passes on: which there are, and those that are heeded here."""
from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .. import api
from ..errors import StanWarning

_LEVELS = ("O", "O0", "O1", "Oexperimental")
_KNOWN = (
    *_LEVELS, "allow-undefined", "include-paths", "include_paths", "name", "no-soa", "o", "print-cpp", "print-lexer",
    "standalone-functions", "use-opencl", "warn-pedantic", "warn-uninitialized",
)  # fmt: skip


def verified(stanc_options: Mapping[str, object] | None) -> dict[str, Any]:
    """The options.

    Raises:
        ValueError: for those that stanc does not have, and folders for `#include` that are not there.
    """
    options = dict(stanc_options or {})
    for name in options:
        if name not in _KNOWN:
            raise ValueError(f"unknown stanc compiler option: {name}; there are {', '.join(_KNOWN)}")
    for folder in include_paths(options):
        if not Path(folder).expanduser().is_dir():
            raise ValueError(f"invalid include paths: {folder} is no folder")
    return options


def include_paths(
    stanc_options: Mapping[str, object] | None, program: str | os.PathLike[str] | None = None
) -> Sequence[str | os.PathLike[str]]:  # fmt: skip
    """The folders for `#include` among the options, a path, a list or a text with commas, and the program's own.

    Raises:
        ValueError: for what is neither.
    """
    options = stanc_options or {}
    given = options.get("include-paths", options.get("include_paths", ()))
    paths = given.split(",") if isinstance(given, str) else [given] if isinstance(given, os.PathLike) else given
    if not isinstance(paths, (list, tuple)):
        raise ValueError(f"include-paths must be a path or a list of paths, not {given!r}")
    return [*paths, Path(program).parent] if paths and program is not None else paths


def warn_pedantically(program: Path, stanc_options: Mapping[str, object], functions: Mapping[str, str] | None) -> None:
    """Warn of what is allowed but seldom meant, where "warn-pedantic" asks for it."""
    if stanc_options.get("warn-pedantic"):
        found = api.check(
            program, include_paths=include_paths(stanc_options, program), pedantic=True, functions=functions
        )
        for d in found:
            if d.severity == "warning":  # of deprecations one is told when the program is loaded
                warnings.warn_explicit(d.message, StanWarning, d.filename, d.line)


def refuse_header(user_header: object) -> None:
    """Raise NotImplementedError for a file of functions in C++."""
    if user_header is not None:
        raise NotImplementedError("functions in C++ (user_header) can't be used: write them in Stan, or in Python "
                                  "and give CmdStanModel(..., functions={'name': 'package.module.name'})")
