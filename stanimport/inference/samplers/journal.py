"""A folder to which a run goes while it is made, so that a crash loses seconds, and memory need not hold the draws.

The draws of a chain are the rows of plain files of numbers; where the chain stands, and how many rows count, is in a
file that is replaced as a whole. Rows behind those that count are what a run that was killed was about to add.
"""
from __future__ import annotations

import io
import json
import os
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from ..rows import Rows, named
from .stranding import Restart

SECONDS, SHARE = 2.0, 20  # between notes of where a chain stands: at least so long, and so many times what one takes
_RESTARTS = "restarts.json"


class Journal:
    """The folder.

    Args:
        folder: that is there, and holds nothing or a journal.
        draws: rows to expect of each chain.
    """

    def __init__(self, folder: Path, draws: int):
        self.folder, self.draws = folder, draws

    @property
    def restarts(self) -> list[Restart]:
        """The chains that began anew."""
        path = self.folder / _RESTARTS
        return [Restart(**r) for r in json.loads(path.read_text())] if path.exists() else []

    @restarts.setter
    def restarts(self, found: Sequence[Restart]) -> None:
        replace(self.folder / _RESTARTS, json.dumps([asdict(r) for r in found]).encode())

    def of_track(self, number: int) -> "Diary":
        return Diary(self, number)


class Diary:
    """What a journal holds of one track: a chain, or the chains of one program."""

    def __init__(self, journal: Journal, number: int):
        self.journal, self.number = journal, number
        self._next = 0.0

    def rows(self, name: str, shape: tuple[int, ...], dtype: object, count: int = 0) -> Rows:
        """Rows in a file, of which so many are there already."""
        return Rows(shape, dtype, self._path(name), self.journal.draws, count)

    @property
    def is_due(self) -> bool:
        """Whether it is time to note where the chain stands."""
        return time.monotonic() >= self._next

    def note(self, arrays: dict[str, Any]) -> None:
        """Replace what is known of where the chain stands, as a whole."""
        began = time.monotonic()
        content = io.BytesIO()
        np.savez(content, **arrays)
        replace(self._path("state.npz"), content.getbuffer())
        now = time.monotonic()
        self._next = now + max(SECONDS, SHARE * (now - began))

    def noted(self) -> dict[str, np.ndarray] | None:
        """What was noted last; None if there is nothing."""
        path = self._path("state.npz")
        if not path.is_file():
            return None
        with np.load(path, allow_pickle=False) as held:
            return {n: held[n] for n in held.files}

    def _path(self, name: str) -> Path:
        return self.journal.folder / f"chain-{self.number + 1}.{name}"


def replace(path: Path, content: bytes | memoryview) -> None:
    """Write a file, whole or not at all; one that is there is replaced. Raises OSError, naming the file."""
    new = path.with_name(f"{path.name}.new")
    with named(new), new.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(new, path)
