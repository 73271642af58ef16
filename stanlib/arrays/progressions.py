"""Known indices as slices: XLA reads slices, and adds up their derivatives, faster than it gathers and scatters."""
from __future__ import annotations

import numpy as np

from ..dataclass import dataclass

MOST = 4  # slices that are put together: a gather is one operation
KEPT = 64  # counts that are kept, for loops that run in every step of inference
REGULAR = 2**14  # indices that are looked at beyond one slice: more are computed in blocks of rows
_CHUNK = 2**16  # indices that are looked at together


_counts: dict[tuple[int, int], np.ndarray] = {}
_starts: dict[int, tuple[np.ndarray, int]] = {}  # by the arrays' identities


def count(lower: int, upper: int) -> np.ndarray:
    """The integers from `lower` to `upper`, of which `progression` knows what they are; not to be written to."""
    made = _counts.get((lower, upper))
    if made is None:
        made = np.arange(lower, upper + 1)
        if made.size <= _CHUNK:
            _keep(made, lower, upper)
    return made


def _keep(made: np.ndarray, lower: int, upper: int) -> None:
    made.flags.writeable = False
    if len(_counts) >= KEPT:
        _counts.clear()
        _starts.clear()
    _counts[lower, upper] = made
    _starts[id(made)] = made, lower


def counted(index: np.ndarray) -> tuple[int, int] | None:
    """The first and the last of indices that `count` has made, None for others."""
    found = _starts.get(id(index))
    return None if found is None or found[0] is not index else (found[1], found[1] + index.size - 1)


def progression(index: np.ndarray, first: int = 0) -> slice | None:
    """The slice that selects what a vector of indices does, if there is one; they count from `first`."""
    bounds = counted(index)
    if bounds is not None:
        return slice(bounds[0] - first, bounds[1] - first + 1, 1)
    if index.size < 2:
        start = int(index[0]) - first if index.size else 0
        return slice(start, start + index.size, 1)
    step = int(index[1] - index[0])
    if step == 0 or not all((np.diff(index[i : i + _CHUNK + 1]) == step).all() for i in range(0, index.size, _CHUNK)):
        return None
    stop = int(index[-1]) - first + (1 if step > 0 else -1)
    return slice(int(index[0]) - first, stop if stop >= 0 else None, step)


def progressions(index: np.ndarray) -> list[slice] | None:
    """The slices that select what a vector of indices does, one after the other; None if they are more than a few."""
    whole = progression(index)
    if whole is not None or index.size > REGULAR:
        return None if whole is None else [whole]
    parts: list[slice] = []
    begin = 0
    while begin < index.size and len(parts) < MOST:
        end = _end(index, begin)
        part = progression(index[begin:end])
        assert part is not None
        parts.append(part)
        begin = end
    return parts if begin == index.size else None


def _end(index: np.ndarray, begin: int) -> int:
    """Where the longest progression ends that begins at a position."""
    steps = np.diff(index[begin:])
    if steps.size == 0 or steps[0] == 0:
        return begin + 1
    other = np.flatnonzero(steps != steps[0])
    return begin + 1 + (int(other[0]) if other.size else steps.size)


@dataclass(frozen=True)
class Repetition:
    """Indices that are `base`, each of them so many `times` in turn, or all of them again and again."""

    base: np.ndarray
    times: int
    in_turn: bool

    @property
    def shape(self) -> tuple[int, int]:
        """How all indices lie in rows that are alike, or whose entries are."""
        return (len(self.base), self.times) if self.in_turn else (self.times, len(self.base))


def repetition(index: np.ndarray) -> Repetition | None:
    """How a vector of indices repeats few of them; None if it doesn't, or is long."""
    n = index.size
    if n < 4 or n > REGULAR:
        return None
    again = np.flatnonzero(index == index[0])
    if len(again) < 2:
        return None
    changes = np.flatnonzero(index != index[0])
    length = int(changes[0]) if changes.size else n
    if length > 1:
        rows = index.reshape(-1, length) if n % length == 0 else index[:0]
        return Repetition(rows[:, 0], length, True) if rows.size and (rows == rows[:, :1]).all() else None
    rows = index.reshape(-1, again[1]) if n % again[1] == 0 else index[:0]
    return Repetition(rows[0], len(rows), False) if rows.size and (rows == rows[0]).all() else None


def is_order(index: np.ndarray, size: int) -> bool:
    """Whether indices, not too many, are different ones, and most of so many."""
    return index.size <= REGULAR and size <= 2 * index.size and len(np.unique(index)) == index.size
