"""`sample(..., journal=folder)`: what a run is, beside the journals of its chains: what it takes to go on with it."""
from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from stanlib.errors import StanDataError

from ..fits import storage
from ..options import OptionError
from ..samplers.journal import Journal, replace
from ..samplers.tracks import Settings

FORMAT = "stanimport journal 1"
_RUN, _DATA = "run.json", "data.npz"


class Run:
    """A run whose journal is on disk.

    Attributes:
        folder: of the journal.
        program: the Stan program.
        data: data and transformed data.
        settings: the options that it runs with.
        metric: the name of its metric's kind.
        lanes: how many chains one program runs; 0 for one without an axis of chains.
    """

    def __init__(self, folder: Path):
        """Raises StanDataError for a folder that holds no journal."""
        self.folder = folder
        try:
            described = json.loads((folder / _RUN).read_text(encoding="utf-8"))
            if described["format"] != FORMAT:
                raise ValueError(f"it is of the format {described['format']!r}, not {FORMAT!r}")
            self.settings: dict[str, Any] = described["settings"]
            self.lanes = int(described["lanes"])
            self.metric = "low_rank" if described.get("low_rank") else "dense_e" if described["dense"] else "diag_e"
            self.program = storage.program_of(described["program"])
            with np.load(folder / _DATA, allow_pickle=False) as held:
                self.data = storage.data_of(self.program, {n: held[n] for n in held.files})
        except (OSError, ValueError, KeyError, TypeError) as e:
            raise StanDataError(f"{folder}: holds no journal of a run: {e}") from None


def is_journal(folder: Path) -> bool:
    """Whether a folder is the journal of a run."""
    return (folder / _RUN).is_file()


def begin(
    folder: Path, posterior: Any, recorded: Mapping[str, Any], settings: Settings, lanes: int
) -> Journal:  # fmt: skip
    """Make the journal of a run, or go on with one that is there, of which `resume` has checked that it is the run's.

    Args:
        recorded: the options that the fit will keep.

    Raises:
        OptionError: for a folder that holds something else, or chains that ran in other programs.
        OSError: if it can't be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if is_journal(folder) and Run(folder).lanes != lanes:
        raise OptionError(f"journal: {folder} is of chains that run otherwise together: give their chain_method")
    if not is_journal(folder):
        content = io.BytesIO()
        np.savez(content, **storage.flat(posterior.inputs))
        replace(folder / _DATA, content.getbuffer())
    described = {"format": FORMAT, "program": asdict(posterior.program), "settings": _plain(recorded),
                 "dense": settings.metric.dense, "low_rank": settings.metric.low_rank, "lanes": lanes}  # fmt: skip
    text = json.dumps(described)
    if not is_journal(folder) or (folder / _RUN).read_text(encoding="utf-8") != text:
        replace(folder / _RUN, text.encode())
    return Journal(folder, settings.saved + len(range(0, settings.iter_sampling, settings.thin)))


def require_new(folder: Path) -> None:
    """Raise OptionError for a folder in which a new run would overwrite something."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise OptionError(f"journal: {folder} is not empty: resume={str(folder)!r} goes on with a run that is there")


def _plain(recorded: Mapping[str, object]) -> dict[str, Any]:
    """The options that JSON can hold. Chains with initial values of their own don't begin anew elsewhere."""
    inits = recorded["inits"]
    by_radius = inits is None or isinstance(inits, (int, float))
    kept = {n: v for n, v in recorded.items() if isinstance(v, (bool, int, float, str, list, tuple, type(None)))}
    return {**kept, "inits": inits if by_radius else 0, "restart_stranded": recorded["restart_stranded"] and by_radius}
