"""Writing the files that CmdStanPy writes."""
from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from ..inference.io.data import write_json


def write_stan_json(path: str | os.PathLike[str], data: Mapping[str, object]) -> None:
    """Write data as JSON: dicts of numbers, NumPy arrays, columns and tuples."""
    write_json(data, Path(path))
