"""Folders that CmdStanPy's methods and results write to."""
from __future__ import annotations

import os
from pathlib import Path
from typing import Any


def ready(folder: Any) -> Path | None:
    """The folder for files of a fit, which is made where it is missing, before anything is computed; None for none.

    Raises:
        ValueError: if it can't be made, or nothing can be written in it.
    """
    if folder is None:
        return None
    path = Path(folder).expanduser()
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise ValueError(f"Invalid path for output files, no such dir: {path}: {e.strerror}") from None
    if not os.access(path, os.W_OK):
        raise ValueError(f"Invalid path for output files, cannot write to dir: {path}")
    return path
