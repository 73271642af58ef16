"""Terms of some elements among those of all of a kind."""
from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays.base import Array, Namespace


def spread(xp: Namespace, table: Array, at: np.ndarray, size: int) -> Any:
    """The terms of elements, (n or 1, K), in their rows `at` of so many, 0 in all others; as often as they stand there.
    """
    if xp.shape(table)[0] == 1:
        often = np.bincount(at, minlength=size)[:, None]
        if (often == often[0]).all():
            return table * int(often[0, 0])
        often, table = xp.convert((often, table))
        return xp.where(often > 0, table, 0.0) * often
    if (np.diff(at) == 1).all():
        return _among_zeros(xp, table, int(at[0]), size)
    if len(np.unique(at)) == len(at):
        inverse = np.full(size, -1)
        inverse[at] = np.arange(len(at))
        return xp.rearranged(table, inverse)
    return xp.segment_sum(table, at, size)


def _among_zeros(xp: Namespace, table: Array, first: int, size: int) -> Any:
    """The rows of a table from a place on, among so many."""
    count, kind = xp.shape(table)
    if count == size:
        return table
    around = [np.zeros((n, kind)) for n in (first, size - first - count)]
    parts = [p for p in (around[0], table, around[1]) if xp.shape(p)[0]]
    return xp.concatenate([*xp.convert(tuple(parts))])
