"""The progress bar of a run, shared by its chains: in a terminal, in a notebook's cell, or as lines of a log."""
from __future__ import annotations

import contextlib
import sys
import threading
from typing import Any

from . import cells

SECONDS = 30.0  # between the lines of a log; a run that is over before the first has none
_LINE = "{desc}: {percentage:.0f}%, {n_fmt} of {total_fmt}, {elapsed} gone, {remaining} left"


class Progress:
    """Counts iterations of all chains; shows them on the standard error or in the cell, if asked to."""

    def __init__(self, total: int, show: bool, unit: str = "it"):
        self._lock = threading.Lock()
        self._bar = _bar(total, unit) if show else None

    def advance(self, count: int, phase: str = "") -> None:
        if self._bar is None:
            return
        with self._lock:
            if phase:
                self._bar.set_description_str(phase, refresh=False)
            self._bar.update(count)

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            if not self._bar.delay:
                self._bar.refresh()  # what came after its last look at the clock
            self._bar.close()


def _bar(total: int, unit: str) -> Any:
    """A bar that vanishes at its end from a terminal, and stays in a cell; a line now and then elsewhere."""
    from tqdm import tqdm

    if cells.are_there():
        return tqdm(total=total, unit=unit, file=_CellFile(), ascii=False, mininterval=0.25)
    if on_terminal():
        return tqdm(total=total, unit=unit, file=sys.stderr, dynamic_ncols=True, leave=False)
    return tqdm(total=total, unit=unit, file=_LogFile(), bar_format=_LINE, mininterval=SECONDS, miniters=1,
                delay=SECONDS)  # fmt: skip


def on_terminal() -> bool:
    """Whether the standard error is a terminal; a process in the background may have none at all."""
    return sys.stderr is not None and sys.stderr.isatty()


class _CellFile:
    """A file of which a cell shows the last line."""

    def __init__(self) -> None:
        self._cell = cells.Cell()

    def write(self, text: str) -> None:
        if line := text.strip():
            self._cell.show(line)

    def flush(self) -> None:
        pass


class _LogFile:
    """The standard error for a bar that is no line to be written over, but a new one where it has changed."""

    def __init__(self) -> None:
        self._last = ""

    def write(self, text: str) -> None:
        line = text.strip().removeprefix(": ")  # what is counted may have no name
        if line and line != self._last and sys.stderr is not None:
            with contextlib.suppress(OSError):  # nobody may read it any more, which does not end the run
                print(line, file=sys.stderr, flush=True)
            self._last = line

    def flush(self) -> None:
        pass
