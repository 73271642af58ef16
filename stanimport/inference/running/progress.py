"""The progress bar of a run, shared by its chains."""
from __future__ import annotations

import sys
import threading


class Progress:
    """Counts iterations of all chains; shows them on the standard error if asked to."""

    def __init__(self, total: int, show: bool, unit: str = "it"):
        self._lock, self._bar = threading.Lock(), None
        if show:
            from tqdm import tqdm

            self._bar = tqdm(total=total, unit=unit, file=sys.stderr, dynamic_ncols=True, leave=False)

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
            self._bar.refresh()  # what came after its last look at the clock
            self._bar.close()
