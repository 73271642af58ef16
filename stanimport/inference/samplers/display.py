"""The progress of chains while they run: a live table by rich, in terminals and notebooks, else one bar or lines."""
from __future__ import annotations

import importlib.util
import io
import sys
import threading
from datetime import timedelta
from typing import Any

from ..running import cells as notebooks
from ..running.progress import Progress, on_terminal
from .control import ChainProgress, Control

REFRESH = 0.25  # seconds between two looks at the chains
_COLUMNS = ("chain", "", "iteration", "divergences", "step size", "leapfrogs", "left")


def _table(control: Control) -> Any:
    """A line for each chain as it is now: how far it is, divergences after warm-up, step size, leapfrogs, time left."""
    from rich.progress_bar import ProgressBar
    from rich.table import Column
    from rich.table import Table as Lines

    lines = Lines(*(Column(name, no_wrap=name == "iteration") for name in _COLUMNS), box=None)
    for chain in control.progress():
        first, *rest = cells(chain)
        lines.add_row(first, ProgressBar(chain.total, chain.iteration, 12), *rest)
    return lines


class Table(Progress):
    """The lines of all chains in a terminal, which vanish when the run is over."""

    def __init__(self, control: Control):
        from rich.console import Console
        from rich.live import Live

        super().__init__(0, False)
        self._live = Live(console=Console(file=sys.stderr), get_renderable=lambda: _table(control),
                          refresh_per_second=1 / REFRESH, transient=True)  # fmt: skip

    def __enter__(self) -> "Table":
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()


class CellTable(Progress):
    """The lines of all chains in a notebook's cell, where the last ones stay."""

    def __init__(self, control: Control):
        super().__init__(0, False)
        self._control, self._cell, self._over = control, notebooks.Cell(), threading.Event()
        self._watch = threading.Thread(target=self._watched, daemon=True)

    def _show(self) -> None:
        from rich.console import Console

        if self._control.tracks:
            text = io.StringIO()
            Console(file=text, width=100, force_jupyter=False, force_terminal=False).print(_table(self._control))
            self._cell.show(text.getvalue())

    def _watched(self) -> None:
        while not self._over.wait(REFRESH):
            self._show()

    def __enter__(self) -> "CellTable":
        self._watch.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._watch.join()
        self._show()


def cells(chain: ChainProgress) -> tuple[str, ...]:
    """The texts of a line, without the bar."""
    name = str(chain.chains[0]) if len(chain.chains) == 1 else f"{chain.chains[0]}-{chain.chains[-1]}"
    left = "" if chain.seconds_left is None else str(timedelta(seconds=round(chain.seconds_left)))
    known = chain.iteration > 0
    numbers = (f"{chain.step_size:.2g}", f"{chain.leapfrog_steps:.1f}") if known else ("", "")
    return name, f"{chain.iteration}/{chain.total} {chain.phase}", str(chain.divergences), *numbers, left


def shown(control: Control, total: int, show: bool) -> Progress:
    """What shows the progress of a run of so many transitions; nothing if it is not to be shown."""
    if show and importlib.util.find_spec("rich") is not None:
        if notebooks.are_there():
            return CellTable(control)
        if on_terminal():
            return Table(control)
    return Progress(total, show)
