"""The terms of single elements: a sum of tables, in each of which an element has a row or none.

Tables are looked up where terms are asked for, not added up for all elements beforehand: so no entry is moved twice,
and elements of which data tell everything have numbers.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays.base import Array, Namespace
from ..dataclass import dataclass
from .problem import sum_of
from .rows import rows, runs_of


@dataclass
class Part:
    """A table, (n, K) or (1, K), and the row that each element has in it, (elements,), -1 for none.

    Rows that are `alike`, (n,), have the same number there.
    """

    table: Any
    row: np.ndarray
    alike: np.ndarray

    def of(self, xp: Namespace, at: np.ndarray) -> Any:
        """The terms of elements, (n, K), or (1, K) if all have the same; zeros for -1."""
        index = self.index(at)
        if xp.shape(self.table)[0] > 1:
            return rows(xp, self.table, index)
        if (index == 0).all():
            return self.table
        there, table = xp.convert(((index == 0)[:, None], self.table))
        return xp.where(there, table, 0.0)

    def index(self, at: np.ndarray) -> np.ndarray:
        """The rows of elements, -1 for none."""
        return np.where(at < 0, -1, self.row[at])

    def told(self, at: np.ndarray) -> np.ndarray:
        """Numbers of elements, (n, 1), that are the same where their rows are; -1 for none."""
        index = self.index(at)
        return np.where(index < 0, -1, self.alike[index])[:, None]

    def moved(self, at: np.ndarray) -> int:
        """How many entries have to be looked up for the terms of elements."""
        index = self.index(at)
        return 0 if np.shape(self.table)[0] == 1 or runs_of(index, np.shape(self.table)[0]) is not None else len(index)


class Singles:
    """The terms of the elements of one kind: the `data` of all, (elements, K), and the parts that depend on parameters.
    """

    def __init__(self, data: np.ndarray):
        self.data = data.copy()
        self.parts: list[Part] = []

    def extended(self, count: int) -> np.ndarray:
        """Have more elements, of no terms yet: their numbers."""
        before, kind = self.data.shape
        self.data = np.concatenate([self.data, np.zeros((count, kind))])
        for part in self.parts:
            part.row = np.concatenate([part.row, np.full(count, -1)])
        return np.arange(before, before + count)

    def add(self, xp: Namespace, at: np.ndarray, table: Any, alike: np.ndarray | None = None) -> None:
        """Terms of elements, (n or 1, K), which add up where an element stands more than once.

        Args:
            alike: numbers that are the same for elements whose terms are known to be, (n,).
        """
        used, which = np.unique(at, return_inverse=True)
        if len(used) < len(at):
            at, table, alike = used, _by_element(xp, table, which.reshape(-1), len(used)), None
        if isinstance(table, np.ndarray):
            self.data[at] += table
            return
        rows_ = np.minimum(np.arange(len(at)), xp.shape(table)[0] - 1)
        self._add_part(xp, at, rows_, table, np.unique(rows_) if alike is None else alike)

    def _add_part(self, xp: Namespace, at: np.ndarray, rows_: np.ndarray, table: Any, alike: np.ndarray) -> None:
        """A table whose rows each are of different elements, added to one of the same elements if there is one."""
        row = np.full(len(self.data), -1)
        row[at] = rows_
        for part in self.parts:
            if np.array_equal(part.row, row):
                part.table = sum_of(xp, part.table, table)
                part.alike = numbered(np.stack(np.broadcast_arrays(part.alike, alike), axis=1))
                return
        self.parts.append(Part(table, row, alike))

    def of(self, xp: Namespace, at: np.ndarray) -> Any:
        """The terms of elements, (n, K); zeros for -1."""
        self._added_up(xp, at)
        total: Any = np.where(at[:, None] < 0, 0.0, self.data[at])
        found = [p.of(xp, at) for p in self.parts if (p.index(at) >= 0).any()]
        if not total.any() and any(xp.shape(f)[0] == len(at) for f in found):
            total = None
        for f in found:
            total = f if total is None else sum_of(xp, total, f)
        return total

    def told(self, at: np.ndarray) -> np.ndarray:
        """Numbers, (n, columns), that are the same for elements whose terms surely are; -1 is none."""
        data = np.where(at[:, None] < 0, 0.0, self.data[at])
        return np.concatenate([data, *(p.told(at) for p in self.parts)], axis=1)

    def _added_up(self, xp: Namespace, at: np.ndarray) -> None:
        """Have the parts that depend on many rows as one, where fewer entries are moved so."""
        several = [p for p in self.parts if xp.shape(p.table)[0] > 1]
        every = np.arange(len(self.data))
        if len(several) < 2 or sum(p.moved(at) for p in several) <= sum(p.moved(every) for p in several) + len(at):
            return
        total = several[0].of(xp, every)
        for p in several[1:]:
            total = sum_of(xp, total, p.of(xp, every))
        alike = numbered(np.concatenate([p.told(every) for p in several], axis=1))
        self.parts = [Part(total, every, alike), *(p for p in self.parts if xp.shape(p.table)[0] == 1)]


def numbered(columns: np.ndarray) -> np.ndarray:
    """A number for every row of an array, (n, columns), the same where all of the columns are."""
    found = np.zeros(len(columns), int)
    for column in columns.T:
        if (column != column[:1]).any():
            values, which = np.unique(column, return_inverse=True)
            found = np.unique(found * len(values) + which.reshape(-1), return_inverse=True)[1].reshape(-1)
    return found


def _by_element(xp: Namespace, table: Array, which: np.ndarray, count: int) -> Any:
    """The sums of the rows of a table, or of as many of its only one, that are of the same element."""
    if xp.shape(table)[0] > 1:
        return xp.segment_sum(table, which, count)
    often = np.bincount(which, minlength=count)[:, None]
    if (often == often[0]).all():
        return table * int(often[0, 0])
    often, table = xp.convert((often, table))
    return table * often
