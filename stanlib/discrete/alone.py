"""Draws of elements that were summed out without a loop, each given those that it stood with."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays.base import Namespace, Real
from ..dataclass import dataclass
from .chained import Choose
from .problem import permuted


@dataclass(frozen=True)
class Summed:
    """Elements that were summed out together, their neighbours, and the joint table of each, (n, K, K1, ..., Kq).

    With `codes` it has a row for those that are alike; they tell which one is that of each.
    """

    elements: np.ndarray
    neighbours: np.ndarray
    table: Any
    codes: np.ndarray | None = None


def with_elements(
    xp: Namespace, s: Summed, stands_for: np.ndarray, values: Real, choose: Choose, uniform: Callable[..., Any]
) -> Any:
    """The positions of all elements, with those of one kind that are chosen, each given its neighbours."""
    given = [xp.get(values, (s.neighbours[:, i],)) for i in range(s.neighbours.shape[1])]
    if not given:
        s = _of_all(xp, s, stands_for)
    count = len(s.elements)
    table = permuted(xp, s.table, (0, *range(2, xp.ndim(s.table)), 1))
    if given:
        table = xp.get(table, (np.arange(count) if s.codes is None else s.codes, *given))
    return xp.at_set(values, s.elements, choose(xp, table, uniform((count,))))


def _of_all(xp: Namespace, s: Summed, stands_for: np.ndarray) -> Summed:
    """Elements without neighbours, with those that they were summed out for."""
    row = np.full(len(stands_for), -1)
    row[s.elements] = np.arange(len(s.elements))
    all_ = np.flatnonzero(row[stands_for] >= 0)
    if len(all_) == len(s.elements):
        return s
    return Summed(all_, s.neighbours[:0], xp.get(s.table, (row[stands_for[all_]],)))
