"""Known indices as slices: XLA reads slices, and adds up their derivatives, faster than it gathers and scatters."""
from __future__ import annotations

import numpy as np

MOST = 4  # slices that are put together: a gather is one operation
SHORT = 256  # indices among which more than one slice is looked for
_CHUNK = 2**16  # indices that are looked at together


def progression(index: np.ndarray, first: int = 0) -> slice | None:
    """The slice that selects what a vector of indices does, if there is one; they count from `first`."""
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
    if whole is not None or index.size > SHORT:
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
