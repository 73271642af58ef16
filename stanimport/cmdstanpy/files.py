"""Reading and writing the files that CmdStanPy reads and writes."""
from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from ..errors import StanDataError
from ..inference.io.data import write_json
from ..inference.methods import regeneration
from .stanfit import KINDS, CmdStanFit

METHODS = ("sample", "optimize", "variational", "laplace", "pathfinder")


def write_stan_json(path: str | os.PathLike[str], data: Mapping[str, object]) -> None:
    """Write data as JSON: dicts of numbers, NumPy arrays, columns and tuples."""
    write_json(data, Path(path))


def from_csv(path: object = None, method: str | None = None) -> CmdStanFit:
    """The fit in CmdStan's CSV files: a path, a folder, a pattern, or a list of paths.

    Raises:
        ValueError: for files that are none, or of another method than is asked for.
    """
    if path is None:
        raise ValueError("Must specify path to Stan CSV files.")
    if method is not None and method not in METHODS:
        raise ValueError(f"Bad method argument {method}, must be one of: {', '.join(METHODS)}")
    fit = regeneration.from_csv(path)
    if method is not None and method != fit.method:
        raise StanDataError(f"Expecting Stan CSV output files from method {method}, found {fit.method}")
    return KINDS[fit.method](fit)
