"""Batches of rows, in random order: every row once before any comes again.

In memory the order is a permutation of all rows. On disk it is one of blocks, which are read some at a time and mixed
with one another. What is left at the end of a pass and is no batch is left out, which are other rows in every pass.
iterables.py has the batches of iterables.

Every batch is told by its number alone, so that a run goes on where it stopped.
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from stanlib.dataclass import dataclass
from stanlib.errors import StanDataError

from ...digests import digest_of
from ...io.data import array_of
from ...options import OptionError
from . import sources

MEMORY = 2**25  # bytes of rows from disk that are mixed with one another
_FEWEST = 4  # blocks that are
_STRETCHES, _TOLD = 16, 256  # of rows, and rows of each, by which data are told apart
_OFTEN = 32  # blocks that are, if their length is free


@dataclass(frozen=True)
class Chunk:
    """Consecutive batches.

    Attributes:
        steps: how many.
        rows: of each size the numbers of the rows, (steps, batch); none if they are not known.
        batches: their data: those with rows of one size together, (..., steps * batch, ...), or for several sizes one
            after the other.
    """

    steps: int
    rows: Mapping[str, np.ndarray]
    batches: Sequence[Mapping[str, np.ndarray]]


class Order:
    """The rows of one size in the order of one pass: `rows(lo, hi)`, by groups of blocks."""

    def __init__(self, total: int, block: int, group: int, seed: Sequence[int]):
        self.total, self.block, self.seed = total, block, tuple(seed)
        count = -(-total // block)
        self.blocks = np.random.default_rng(self.seed).permutation(count)
        lengths = np.minimum(block, total - self.blocks * block)
        self.ends = np.add.reduceat(lengths, np.arange(0, count, group)).cumsum()
        self.group = group

    def of_group(self, g: int) -> np.ndarray:
        """The blocks of a group, in the order in which they lie on disk."""
        return np.sort(self.blocks[g * self.group : (g + 1) * self.group])

    def mixed(self, g: int) -> np.ndarray:
        """The order of the rows of a group's blocks, counted in that group."""
        length = int(self.ends[g] - (self.ends[g - 1] if g else 0))
        return np.random.default_rng([*self.seed, g + 1]).permutation(length)

    def rows(self, g: int) -> np.ndarray:
        """The numbers of the rows of a group's blocks, as they lie on disk."""
        starts = self.of_group(g) * self.block
        return np.concatenate([np.arange(s, min(s + self.block, self.total)) for s in starts])

    def parts(self, lo: int, hi: int) -> Iterator[tuple[int, slice]]:
        """The groups in which the rows at places lo to hi lie, and their places there."""
        g = int(np.searchsorted(self.ends, lo, side="right"))
        while lo < hi:
            start = int(self.ends[g - 1]) if g else 0
            end = min(hi, int(self.ends[g]))
            yield g, slice(lo - start, end - start)
            lo, g = end, g + 1


class ArrayFeed:
    """Batches from arrays.

    Args:
        data: all of the data, by name.
        batch: the number of rows in a batch, by size.
        axes: the axis of the rows of each size, by the names of data.
        seed: of the order.

    Attributes:
        totals: how many rows there are, by size.
        shared: the data that have no rows.
        has_places: whether a row has a number, by which parameters of its own can be found.

    Raises:
        StanDataError: for arrays of different lengths, or a batch larger than these.
        OptionError: for several sizes of data on disk.
    """

    has_places = True

    def __init__(
        self, data: Mapping[str, Any], batch: Mapping[str, int], axes: Mapping[str, Mapping[str, int]], seed: int
    ):
        self.batch, self.axes, self.seed = dict(batch), axes, seed
        found = {n for a in axes.values() for n in a} & set(data)
        self.arrays = {n: data[n] if sources.is_array(data[n]) else array_of(n, data[n]) for n in found}
        self.totals = {size: _total(size, data, self.arrays, axes[size]) for size in batch}
        for size, total in self.totals.items():
            require_rows(size, batch[size], total)
        self.shared = {n: sources.whole(v) for n, v in data.items() if n not in found}
        self.is_single = len(batch) == 1
        self._layout = {size: self._blocks(size) for size in batch}
        self._orders: dict[str, tuple[int, Order]] = {}
        self._groups: dict[int, dict[str, np.ndarray]] = {}
        self._epoch = -1

    def digests(self) -> dict[str, str]:
        """What tells these data from others, by name: of arrays with many rows stretches of them in even distances."""
        found = {n: digest_of(v) for n, v in self.shared.items()}
        for name, array in self.arrays.items():
            axis = next(a[name] for a in self.axes.values() if name in a)
            total = int(array.shape[axis])
            starts = sorted({int(s) for s in np.linspace(0, max(total - _TOLD, 0), _STRETCHES)})
            parts = tuple(sources.part(array, axis, slice(s, s + _TOLD)) for s in starts)
            found[name] = digest_of((np.asarray(array.shape), *parts))
        return found

    def _blocks(self, size: str) -> tuple[int, int]:
        """The length of a block, and how many make a group: one group of single rows in memory."""
        total, axes = self.totals[size], self.axes[size]
        arrays = {n: a for n, a in self.arrays.items() if n in axes}
        if not self.is_single and any(not isinstance(a, np.ndarray) for a in arrays.values()):
            raise OptionError("batches of several sizes at once are cut out of NumPy's arrays")
        if not self.is_single or all(map(sources.is_in_memory, arrays.values())):
            return 1, total
        width = sum(int(np.prod(a.shape)) * np.dtype(a.dtype).itemsize for a in arrays.values()) / total
        most = max(int(MEMORY / max(width, 1)), self.batch[size])
        block = max(1, min(total, max(most // _OFTEN, *(sources.chunk_of(a, axes[n]) for n, a in arrays.items()))))
        return block, max(_FEWEST, most // block)

    def available(self, step: int) -> int:
        """How many batches are left in the passes in which a step lies."""
        counts = [self.totals[s] // b for s, b in self.batch.items()]
        return min(c - step % c for c in counts)

    def take(self, step: int, count: int) -> Chunk:
        """The batches of `count` steps from `step` on, as many as are available."""
        rows, parts = {}, {}
        for size, batch in self.batch.items():
            epoch, at = divmod(step, self.totals[size] // batch)
            order = self._order(size, epoch)
            rows[size], parts[size] = self._rows(size, order, at * batch, (at + count) * batch)
        if self.is_single:
            ((size, flat),) = parts.items()
            return Chunk(count, {size: rows[size].reshape(count, -1)}, [flat])
        shaped = {size: r.reshape(count, -1) for size, r in rows.items()}
        return Chunk(count, shaped, [self._cut({s: r[i] for s, r in shaped.items()}) for i in range(count)])

    def _order(self, size: str, epoch: int) -> Order:
        if size not in self._orders or self._orders[size][0] != epoch:
            place = sorted(self.batch).index(size)
            self._orders[size] = epoch, Order(self.totals[size], *self._layout[size], (self.seed, place, epoch))
            self._groups.clear()
        return self._orders[size][1]

    def _rows(self, size: str, order: Order, lo: int, hi: int) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """The numbers of the rows at places lo to hi of an order, and if this is the only size their data."""
        axes = {n: self.axes[size][n] for n in self.arrays if n in self.axes[size]}
        if order.block == 1:
            rows = order.blocks[lo:hi]
            return rows, {n: np.take(self.arrays[n], rows, axis=a) for n, a in axes.items()} if self.is_single else {}
        numbers, pieces = [], list[dict[str, np.ndarray]]()
        for g, places in order.parts(lo, hi):
            group = self._read(order, g, axes)
            numbers.append(group[""][places])
            pieces.append({n: group[n][(slice(None),) * a + (places,)] for n, a in axes.items()})
        joined = {n: np.concatenate([p[n] for p in pieces], axis=a) for n, a in axes.items()}
        return np.concatenate(numbers), joined

    def _read(self, order: Order, g: int, axes: Mapping[str, int]) -> dict[str, np.ndarray]:
        """A group of blocks, mixed; the numbers of the rows stand under ""."""
        if g not in self._groups:
            for old in [k for k in self._groups if k < g - 1]:
                del self._groups[old]
            mixed = order.mixed(g)
            made = {"": order.rows(g)[mixed]}
            for name, axis in axes.items():
                array = self.arrays[name]
                read = [sources.part(array, axis, s) for s in _stretches(order, g)]
                made[name] = np.take(np.concatenate(read, axis=axis) if len(read) > 1 else read[0], mixed, axis=axis)
                sources.releaser(array)()
            self._groups[g] = made
        return self._groups[g]

    def _cut(self, rows: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """One batch of several sizes."""
        made = dict(self.arrays)
        for size, chosen in rows.items():
            for name, axis in self.axes[size].items():
                if name in made:
                    made[name] = np.take(made[name], chosen, axis=axis)
        return made

    @property
    def longest(self) -> str:
        """The size with the most rows."""
        return max(self.totals, key=lambda size: self.totals[size])

    def everything(self, batch: int) -> Iterator[Chunk]:
        """All rows in order, in batches of so many rows and a smaller last one.

        Of several sizes the longest is divided; each batch has all rows of the others.
        """
        size = self.longest
        total = self.totals[size]
        axes = {n: self.axes[size][n] for n in self.arrays if n in self.axes[size]}
        for start in range(0, total, batch):
            rows = slice(start, min(start + batch, total))
            if not self.is_single:
                yield self.some({size: np.arange(rows.start, rows.stop)})
                continue
            flat = {n: sources.part(self.arrays[n], a, rows) for n, a in axes.items()}
            yield Chunk(1, {size: np.arange(rows.start, rows.stop)[None]}, [flat])
            for name in axes:
                sources.releaser(self.arrays[name])()

    def some(self, rows: Mapping[str, np.ndarray]) -> Chunk:
        """One batch of these rows, and of all rows of sizes of which none are named."""
        chosen = {size: rows.get(size, np.arange(total)) for size, total in self.totals.items()}
        made = dict(self.arrays)
        for size, numbers in chosen.items():
            for name, axis in self.axes[size].items():
                if name in made:
                    made[name] = sources.selected(made[name], axis, numbers)
        return Chunk(1, {size: numbers[None] for size, numbers in chosen.items()}, [made])


def _stretches(order: Order, g: int) -> Iterator[slice]:
    """The blocks of a group, those that lie beside one another together."""
    starts = order.of_group(g)
    breaks = np.flatnonzero(np.diff(starts) > 1) + 1
    for run in np.split(starts, breaks):
        yield slice(int(run[0]) * order.block, min((int(run[-1]) + 1) * order.block, order.total))


def _total(size: str, data: Mapping[str, Any], arrays: Mapping[str, Any], axes: Mapping[str, int]) -> int:
    """How many rows there are. Raises StanDataError for arrays that differ in it."""
    found = {n: int(arrays[n].shape[a]) for n, a in axes.items() if n in arrays and len(arrays[n].shape) > a}
    if size in data:
        if len(getattr(data[size], "shape", ())):
            raise StanDataError(f"{size} must be one number, not an array of {data[size].shape[0]}", size)
        total = int(np.asarray(data[size]))
    elif found:
        total = next(iter(found.values()))
    else:
        raise StanDataError(f"{size} is missing from the data", size)
    for name, length in found.items():
        if length != total:
            raise StanDataError(f"{name} has {length} rows, but {size} is {total}", name)
    return total


def require_rows(size: str, batch: int, total: int) -> None:
    if batch > total:
        raise StanDataError(f"batches of {batch} can't be taken of the {total} rows of {size}", size)
