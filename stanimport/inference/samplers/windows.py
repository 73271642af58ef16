"""Windows of warm-up: where a chain was while the metric was learned, or, where only they are asked for, the variances.

Source: Chan, Golub and LeVeque (1983), "Algorithms for Computing the Sample Variance", The American Statistician 37,
for the variances of parts that are put together.
"""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..rows import BLOCK, Rows

_COLUMNS = 1024  # of deviations, which take as much memory as what deviates


class Moments(NamedTuple):
    """How many rows, their mean, and the sums of squared deviations from it."""

    count: Any  # a method of tuples has this name
    mean: np.ndarray
    squares: np.ndarray

    @staticmethod
    def of(rows: np.ndarray) -> "Moments":
        """Those of rows, (count, ..., width)."""
        mean = rows.mean(axis=0)
        parts = [np.square(rows[..., i : i + _COLUMNS] - mean[..., i : i + _COLUMNS]).sum(axis=0)
                 for i in range(0, rows.shape[-1], _COLUMNS)]  # fmt: skip
        return Moments(len(rows), mean, np.concatenate(parts, axis=-1))

    def with_others(self, other: "Moments") -> "Moments":
        """The moments of these rows and others together."""
        count, apart = self.count + other.count, other.mean - self.mean
        mean = self.mean + apart * (other.count / count)
        return Moments(count, mean, self.squares + other.squares + apart**2 * (self.count * other.count / count))


class Window:
    """The rows of a window, (count, ..., width).

    Args:
        rows: that take them; those that they hold count already.
        by_variances: whether only variances will be asked for. Then as much is kept as one block of rows holds, of the
            same rows whatever pieces they come in.
    """

    def __init__(self, rows: Rows, by_variances: bool):
        self.rows, self.by_variances = rows, by_variances
        self._each = max(1, BLOCK // (8 * max(rows.shape[-1], 1)))
        self._done: Moments | None = None
        self._reduce()

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def is_reduced(self) -> bool:
        """Whether some of the rows are gone."""
        return self._done is not None

    def add(self, points: np.ndarray) -> None:
        self.rows.add(points)
        self._reduce()

    def array(self) -> np.ndarray:
        """All rows, where they are kept."""
        return self.rows.array()

    def variances(self) -> np.ndarray:
        """The variance of every column, (..., width); no numbers for fewer than two rows."""
        with np.errstate(all="ignore"):
            whole = self._with(self._done, len(self))
            return np.asarray(whole.squares / (whole.count - 1))

    def _reduce(self) -> None:
        """Keep the moments of rows that fill a block, and not the rows."""
        while self.by_variances and len(self) - self._reduced >= self._each:
            end = self._reduced + self._each
            with np.errstate(all="ignore"):  # a chain may fly off
                done = self._with(self._done, end)
            self.rows.release(0, end)
            self._done = done

    @property
    def _reduced(self) -> int:
        return 0 if self._done is None else self._done.count

    def _with(self, done: Moments | None, end: int) -> Moments:
        """Moments of the rows up to this one."""
        new = Moments.of(self.rows.array(self._reduced, end))
        return new if done is None else done if not new.count else done.with_others(new)
