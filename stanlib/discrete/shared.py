"""Chains that are the same in several cases, or for several of the elements around them: one is summed for all.

An animal that does not exist can't be seen, so whatever tells it from others makes no difference. And what data exclude
in a case needs no chain there.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..arrays.base import Array, Namespace
from ..dataclass import dataclass
from .chains import Chains, Link
from .problem import Rows

FEW = 0.9  # chains that are left among all that are worth it


@dataclass(frozen=True)
class Shared:
    """The `chains` that are summed, and the number of the one that stands for each in every case, (cases, chains)."""

    chains: Chains
    of: np.ndarray

    def by_case(self, xp: Namespace, sums: Array) -> Any:
        """What every chain has in every case, (cases, chains), from what those have that are summed."""
        return xp.stack([_spread(xp, sums, row) for row in self.of])


def _spread(xp: Namespace, sums: Array, row: np.ndarray) -> Any:
    """Entries of an array; one for all, or some one after the other, without an index for each."""
    first, count = int(row[0]), len(row)
    if (row == first).all():
        return xp.broadcast_to(xp.get(sums, (slice(first, first + 1),)), (count,))
    if (np.diff(row) == 1).all():
        return xp.get(sums, (slice(first, first + count),))
    return xp.get(sums, (row,))


def shared(c: Chains, told: np.ndarray, is_possible: np.ndarray) -> Shared | None:
    """What is left of chains of several cases, all in one case after those in another; None where that is not less.

    Args:
        told: what tells chains apart, the same numbers where nothing does, (cases * chains, columns).
        is_possible: by data, in every case, (cases, chains).
    """
    number: dict[bytes, int] = {}
    first: list[int] = []
    of = np.full(is_possible.size, -1)
    for i in np.flatnonzero(is_possible).tolist():
        of[i] = number.setdefault(told[i].tobytes(), len(number))
        if of[i] == len(first):
            first.append(i)
    if not first or len(first) > FEW * len(of):
        return None
    numbers = of.reshape(is_possible.shape)
    for row in numbers:
        there = row >= 0
        row[~there] = row[there][0] if there.any() else 0  # which counts for nothing
    links = tuple(Link(link.slot, link.rows[first], link.swapped) for link in c.links)
    return Shared(Chains(c.elements[first], links), numbers)


def told_apart(c: Chains, tables: Sequence[Rows], of_elements: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """What tells chains apart, (chains, columns).

    Args:
        tables: by the slots that the links name.
        of_elements: the same of elements, (n, columns), whose terms are the same where the numbers are; -1 is none.
    """
    count = len(c.elements)
    own = of_elements(c.elements.reshape(-1)).reshape(count, -1)
    moves = [tables[link.slot].at(link.rows) for link in c.links]
    return np.ascontiguousarray(np.concatenate([c.elements >= 0, own, *moves], axis=1, dtype=float))
