"""The progress of chains while they run: a live table by rich, in terminals and notebooks, else one bar."""
from __future__ import annotations

import importlib.util
import sys
from datetime import timedelta
from typing import Any

from ..running.progress import Progress
from .control import ChainProgress, Control

_COLUMNS = ("chain", "", "iteration", "divergences", "step size", "leapfrogs", "left")


class Table(Progress):
    """A line for each chain: how far it is, divergences after warm-up, step size, leapfrog steps, time left."""

    def __init__(self, control: Control):
        from rich.console import Console
        from rich.live import Live

        super().__init__(0, False)
        self.control = control
        self._live = Live(console=Console(file=sys.stderr), get_renderable=self._table, refresh_per_second=4,
                          transient=True)  # fmt: skip

    def _table(self) -> Any:
        """The lines as they are now, each with a bar."""
        from rich.progress_bar import ProgressBar
        from rich.table import Column
        from rich.table import Table as Lines

        lines = Lines(*(Column(name, no_wrap=name == "iteration") for name in _COLUMNS), box=None)
        for chain in self.control.progress():
            first, *rest = cells(chain)
            lines.add_row(first, ProgressBar(chain.total, chain.iteration, 12), *rest)
        return lines

    def __enter__(self) -> "Table":
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()


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
        return Table(control)
    return Progress(total, show)
