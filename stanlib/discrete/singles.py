"""The terms of single elements: a sum of tables, in each of which an element has a row or none.

Tables are looked up where terms are asked for, not added up for all elements beforehand: so no entry is moved twice,
and elements of which data tell everything have numbers.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays.base import Array, Namespace
from ..dataclass import dataclass
from .problem import is_sliced, rows, sum_of


@dataclass
class Part:
    """A table, (n, K) or (1, K), and the row that each element has in it, (elements,), -1 for none."""

    table: Any
    row: np.ndarray

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

    def moved(self, at: np.ndarray) -> int:
        """How many entries have to be looked up for the terms of elements."""
        index = self.index(at)
        return 0 if np.shape(self.table)[0] == 1 or is_sliced(index) else len(index)


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

    def add(self, xp: Namespace, at: np.ndarray, table: Any) -> None:
        """Terms of elements, (n or 1, K), which add up where an element stands more than once."""
        used, which = np.unique(at, return_inverse=True)
        if len(used) < len(at):
            at, table = used, _by_element(xp, table, which.reshape(-1), len(used))
        if isinstance(table, np.ndarray):
            self.data[at] += table
        else:
            self._add_part(xp, at, np.minimum(np.arange(len(at)), xp.shape(table)[0] - 1), table)

    def _add_part(self, xp: Namespace, at: np.ndarray, rows_: np.ndarray, table: Any) -> None:
        """A table whose rows each are of different elements, added to one of the same elements if there is one."""
        row = np.full(len(self.data), -1)
        row[at] = rows_
        for part in self.parts:
            if np.array_equal(part.row, row):
                part.table = sum_of(xp, part.table, table)
                return
        self.parts.append(Part(table, row))

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

    def _added_up(self, xp: Namespace, at: np.ndarray) -> None:
        """Have the parts that depend on many rows as one, where fewer entries are moved so."""
        several = [p for p in self.parts if xp.shape(p.table)[0] > 1]
        every = np.arange(len(self.data))
        if len(several) < 2 or sum(p.moved(at) for p in several) <= sum(p.moved(every) for p in several) + len(at):
            return
        total = several[0].of(xp, every)
        for p in several[1:]:
            total = sum_of(xp, total, p.of(xp, every))
        self.parts = [Part(total, every), *(p for p in self.parts if xp.shape(p.table)[0] == 1)]


def _by_element(xp: Namespace, table: Array, which: np.ndarray, count: int) -> Any:
    """The sums of the rows of a table, or of as many of its only one, that are of the same element."""
    if xp.shape(table)[0] > 1:
        return xp.segment_sum(table, which, count)
    often = np.bincount(which, minlength=count)[:, None]
    if (often == often[0]).all():
        return table * int(often[0, 0])
    often, table = xp.convert((often, table))
    return table * often
