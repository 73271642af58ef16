"""Rows of tables, without an index for each where they stand some one after the other."""
from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays.base import Namespace
from ..dataclass import dataclass

FEW = 4  # runs of rows, that may stand again and again


def rows(xp: Namespace, table: Any, index: np.ndarray) -> Any:
    """The rows of a table, zeros for -1; a shared one is that of all places. Evenly spaced rows are a slice."""
    size = xp.shape(table)[0]
    if size == 1 or len(index) == size and (index == np.arange(size)).all():
        return table
    steps = np.diff(index)
    if index[0] >= 0 and (len(index) == 1 or steps[0] > 0 and (steps == steps[0]).all()):
        step = int(steps[0]) if len(steps) else 1
        return xp.get(table, (slice(int(index[0]), int(index[-1]) + 1, step),))
    runs = runs_of(index, size)
    return xp.rearranged(table, index) if runs is None else _of_runs(xp, table, runs)


@dataclass(frozen=True)
class Run:
    """Rows one after the other, from the number `first` on, or none if it is -1; `count` times, each by so many rows
    (`step`) behind the last.
    """

    first: int
    width: int
    count: int
    step: int

    def fits(self, size: int) -> bool:
        """Whether a table of so many rows has all steps in full, and runs inside of them."""
        if self.first < 0 or self.count == 1:
            return True
        steps, at = divmod(self.first, self.step) if self.step > 0 else (0, self.width)
        return at + self.width <= self.step and (steps + self.count) * self.step <= size

    def of(self, xp: Namespace, table: Any) -> Any:
        """Those rows of a table, (count, width, ...)."""
        shape = xp.shape(table)[1:]
        if self.first < 0:
            return np.zeros((self.count, self.width, *shape))
        if self.count == 1:
            return xp.get(table, (slice(self.first, self.first + self.width),))[None]
        steps, at = divmod(self.first, self.step)
        found = xp.get(table, (slice(steps * self.step, (steps + self.count) * self.step),))
        found = xp.reshape(found, (self.count, self.step, *shape))
        return xp.get(found, (slice(None), slice(at, at + self.width)))


def _of_runs(xp: Namespace, table: Any, runs: tuple[Run, ...]) -> Any:
    parts = xp.convert(tuple(run.of(xp, table) for run in runs))
    found = parts[0] if len(parts) == 1 else xp.concatenate([*parts], axis=1)
    return xp.reshape(found, (-1, *xp.shape(table)[1:]))


def runs_of(index: np.ndarray, size: int) -> tuple[Run, ...] | None:
    """The few runs, that stand again and again, in which rows of a table of so many do; None if they are not few.

    Args:
        index: the number of the row at every place, -1 for none.
    """
    after, before = index[1:], index[:-1]
    follows = np.where(before < 0, after < 0, after == before + 1)
    starts = np.flatnonzero(np.concatenate([[True], ~follows]))
    widths = np.diff(starts, append=len(index))
    for few in range(1, FEW + 1):
        if len(starts) % few == 0:
            runs = _repeated(index[starts].reshape(-1, few), widths.reshape(-1, few), size)
            if runs is not None:
                return runs
    return None


def _repeated(first: np.ndarray, widths: np.ndarray, size: int) -> tuple[Run, ...] | None:
    """Runs, each of a column, if they are the same in all rows but for steps between their rows."""
    steps = np.diff(first, axis=0)
    if (widths != widths[0]).any() or len(steps) and (steps != steps[0]).any():
        return None
    found = [
        Run(int(f), int(w), len(first), int(steps[0, i]) if len(steps) else 0)
        for i, (f, w) in enumerate(zip(first[0], widths[0]))
    ]
    return tuple(found) if (first[:, first[0] < 0] < 0).all() and all(run.fits(size) for run in found) else None
