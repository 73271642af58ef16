"""Results from CmdStan's CSV files."""
from __future__ import annotations

import os
import re
from contextlib import suppress
from itertools import takewhile
from pathlib import Path

from stanlib.errors import StanDataError

from ...inference.fits import stan_csv
from ...inference.fits.fit import Fit
from ...inference.methods import regeneration
from .approximations import CmdStanLaplace, CmdStanMLE, CmdStanPathfinder, CmdStanVB
from .base import CmdStanFit
from .chains import CmdStanMCMC
from .gq import CmdStanGQ
from .runset import RunSet

_KINDS: dict[str, type[CmdStanFit]] = {
    "sample": CmdStanMCMC, "optimize": CmdStanMLE, "variational": CmdStanVB, "laplace": CmdStanLaplace,
    "pathfinder": CmdStanPathfinder,
}  # fmt: skip


def from_csv(path: object = None, method: str | None = None) -> CmdStanFit:
    """The fit in CmdStan's CSV files: a path, a folder, a pattern, or a list of paths.

    Raises:
        ValueError: for files that are none, or of another method than is asked for.
    """
    if path is None:
        raise ValueError("Must specify path to Stan CSV files.")
    if method is not None and method not in _KINDS:
        raise ValueError(f"Bad method argument {method}, must be one of: {', '.join(_KINDS)}")
    if not isinstance(path, (str, os.PathLike, list, tuple)):
        raise ValueError(f"Invalid path specification: {path}")
    files = stan_csv.found(path)
    fit = regeneration.from_csv(files)
    if method is not None and method != fit.method:
        raise StanDataError(f"Expecting Stan CSV output files from method {method}, found {fit.method}")
    made = _result(fit, files)
    made._told = _configuration(files[0])
    return made


def _result(fit: Fit, files: list[Path]) -> CmdStanFit:
    """The fit as a result of its method. Raises StanDataError for those that have none."""
    runset = RunSet(fit, files=files)
    if fit.method == "laplace":
        return CmdStanLaplace(fit, _mode_of(files[0]), runset)
    if fit.method == "generate":
        return CmdStanGQ(fit, runset=runset)
    if fit.method not in _KINDS:
        raise StanDataError(f"{files[0]}: results of the method {fit.method} can't be read")
    return _KINDS[fit.method](fit, runset)


def _configuration(path: Path) -> dict[str, object]:
    """The entries at the head of a file, numbers as numbers; the last "file" that is none of draws is the data's."""
    found: dict[str, object] = {}
    for line in takewhile(lambda one: one.startswith("#"), path.read_text(encoding="utf-8").splitlines()):
        key, is_entry, text = (part.strip() for part in line[1:].partition("="))
        text = text.replace("(Default)", "").strip()
        if is_entry and not (key == "file" and text.endswith(".csv")):
            found["data_file" if key == "file" else key] = _number(text)
    return found


def _number(text: str) -> object:
    """What a configuration tells as text: an int, a flag as 0 or 1, a float, or the text itself."""
    if text in ("true", "false"):
        return int(text == "true")
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text


def _mode_of(path: Path) -> CmdStanMLE | None:
    """The mode that a file of Laplace's method says it is around; None if there is no such file."""
    told = re.search(r"^# +mode = (\S.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    file = path.parent / told.group(1).strip() if told else path
    if not told or not file.is_file():
        return None
    mode = from_csv(file, "optimize")
    assert isinstance(mode, CmdStanMLE)
    return mode
