"""Linear recurrences whose terms are the same along runs of places: each run is a power of its map, by squaring.

With r(t) = growth r(t + 1) + added at n places in a row, r is n times the map x -> growth x + added of what is behind
them: log2(n) maps in place of n steps. Growth and added terms are positive, and so is all that is added up.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays.base import Namespace
from ..dataclass import dataclass

MOST = 4  # runs of a column
SHORT = 32  # places of a column, for which steps are as fast


@dataclass(frozen=True)
class Runs:
    """Columns as runs of places of one kind, from the end, and the places of which values are asked for.

    `kinds` and `lengths` are those of runs, (runs, columns), those that a column lacks of length 0. A value that is
    asked for stands before `steps` places of run `run` of `column`.
    """

    kinds: np.ndarray
    lengths: np.ndarray
    column: np.ndarray
    run: np.ndarray
    steps: np.ndarray

    def values(self, xp: Namespace, growth: Any, added: Any) -> tuple[Any, Any]:
        """What is asked for, and the values before every run, (runs, columns), where 1 is behind all.

        Args:
            growth, added: by kind.
        """
        kinds = np.concatenate([self.kinds.reshape(-1), self.kinds[self.run, self.column]])
        steps = np.concatenate([self.lengths.reshape(-1), self.steps])
        used = np.unique(kinds)
        growth, added, of_kind = xp.convert((growth[used], added[used], (used[:, None] == kinds) * 1.0))
        growth, added = power(xp, xp.matmul(growth, of_kind), xp.matmul(added, of_kind), steps)
        shape, size = self.kinds.shape, self.kinds.size
        whole = xp.reshape(growth[:size], shape), xp.reshape(added[:size], shape)
        behind = [xp.convert((np.ones(shape[1]), whole[0]))[0]]
        for g, a in zip(*map(xp.unstack, whole)):
            behind.append(g * behind[-1] + a)
        ends = xp.stack(behind)
        return growth[size:] * xp.get(ends, (self.run, self.column)) + added[size:], ends


def runs(codes: np.ndarray, column: np.ndarray, places: np.ndarray) -> Runs | None:
    """Those of columns of kinds, (length, columns), and of the places asked for; None if steps are as fast."""
    length, count = codes.shape
    if length < SHORT:
        return None
    begins = np.vstack([np.ones((1, count), bool), codes[1:] != codes[:-1]])
    most = int(begins.sum(axis=0).max())
    if most > MOST:
        return None
    kinds, ends = np.zeros((most, count), int), np.zeros((most, count), int)
    before = np.zeros((most, count), int)
    for c in range(count):
        first = np.flatnonzero(begins[:, c])[::-1]
        kinds[: len(first), c], before[: len(first), c] = codes[first, c], first
        ends[: len(first), c] = np.append(length, first[:-1])
    run = (before[:, column] > places).sum(axis=0)
    return Runs(kinds, ends - before, column, run, ends[run, column] - places)


def power(xp: Namespace, growth: Any, added: Any, steps: np.ndarray) -> tuple[Any, Any]:
    """The maps x -> growth x + added taken `steps` times, 0 or more, each as growth and added term."""
    one, none, growth, added = xp.convert((np.ones(len(steps)), np.zeros(len(steps)), growth, added))
    to, plus = one, none
    for bit in range(int(steps.max(initial=0)).bit_length()):
        taken, more = xp.convert((steps >> bit & 1 == 1, steps >> (bit + 1) > 0))
        plus = xp.where(taken, growth * plus + added, plus)
        to = xp.where(taken, growth * to, to)
        # the squares of those that are done might overflow, and their derivatives with them
        added = xp.where(more, growth * added + added, added)
        growth = xp.where(more, growth * growth, growth)
    return to, plus
