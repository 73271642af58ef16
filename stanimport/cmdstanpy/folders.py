"""Folders that CmdStanPy's methods and results write to."""
from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np


def ready(folder: Any, sig_figs: object = None) -> Path | None:
    """The folder for files of a fit, which is made where it is missing, before anything is computed; None for none.

    Raises:
        ValueError: if it can't be made, or nothing can be written in it, and for digits that no file can have.
    """
    if sig_figs is not None and (not isinstance(sig_figs, (int, np.integer)) or not 1 <= sig_figs <= 18):
        raise ValueError(f"sig_figs must be an integer between 1 and 18, found {sig_figs}")
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
