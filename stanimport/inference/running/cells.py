"""The cell of a notebook that runs: a place in its output whose text changes, for which no widgets are needed."""
from __future__ import annotations

import sys
from importlib import import_module
from typing import Any


def are_there() -> bool:
    """Whether this process is the kernel of a notebook: not so in IPython's shell, which is a terminal."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", _nothing)()
    return getattr(shell, "kernel", None) is not None


def _nothing() -> None:
    return None


class Cell:
    """A text in the output of the cell that runs when it is first shown."""

    def __init__(self) -> None:
        self._handle: Any = None

    def show(self, text: str) -> None:
        """Show a text instead of the last one."""
        content = {"text/plain": text}
        if self._handle is None:
            self._handle = import_module("IPython.display").display(content, raw=True, display_id=True)
        else:
            self._handle.update(content, raw=True)
