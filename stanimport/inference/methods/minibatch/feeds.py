"""Batches of rows, in random order: every row once before any comes again.

In memory the order is a permutation of all rows. On disk it is one of blocks, which are read some at a time and mixed
with one another. What is left at the end of a pass and is no batch is left out, which are other rows in every pass. An
iterable's batches are taken in its order, and cut anew into batches of one size; what is left begins the next pass.

Every batch is told by its number alone, so that a run goes on where it stopped.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stanlib.errors import StanDataError

from ...digests import digest_of
from ...io.data import array_of, read_data
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


class IterableFeed:
    """Batches from an iterable of batches, or a function that returns one: dicts, or objects with columns.

    Args:
        batches: each iteration is a pass over all rows.
        batch: the number of rows in a batch, by the only size.
        axes: as for `ArrayFeed`.

    Raises:
        StanDataError: for batches whose arrays differ in length, and for what can be iterated only once.
        OptionError: for several sizes.
    """

    has_places = False

    def __init__(self, batches: Any, batch: Mapping[str, int], axes: Mapping[str, Mapping[str, int]]):
        if len(batch) != 1:
            raise OptionError("an iterable gives batches of one size")
        ((self.size, self.rows_of_batch),) = batch.items()
        self.batch, self.axes, self.begin = dict(batch), axes[self.size], _iterator(batches)
        self.totals, self.shared = self._counted()
        require_rows(self.size, self.rows_of_batch, self.totals[self.size])
        self._pieces: Iterator[dict[str, np.ndarray]] = iter(())
        self._kept: dict[str, np.ndarray] = {}
        self._step = -1

    def _counted(self) -> tuple[dict[str, int], dict[str, Any]]:
        """How many rows one pass gives, by size, and the data that have no rows, with that number.

        Raises:
            StanDataError: if there are no rows, or the arrays of a batch differ in length.
        """
        total, shared = 0, None
        self._first: dict[str, np.ndarray] = {}
        for piece in self.begin():
            given = read_data(piece)
            self._first = self._first or {n: array_of(n, given[n]) for n in self.axes if n in given}
            total += self._length(given)
            shared = shared or {n: sources.whole(v) for n, v in given.items() if n not in self.axes}
        if not total:
            raise StanDataError("the iterable gives no rows: one that can be iterated only once gives them once")
        assert shared is not None
        return {self.size: total}, shared | {self.size: total}

    def digests(self) -> dict[str, str]:
        """What tells these data from others, by name: of those with rows the first batch."""
        return {n: digest_of(v) for n, v in {**self.shared, **self._first}.items()}

    def _length(self, given: Mapping[str, Any]) -> int:
        lengths = {n: np.shape(given[n])[a] for n, a in self.axes.items() if n in given and np.ndim(given[n]) > a}
        if len(set(lengths.values())) != 1:
            told = ", ".join(f"{n} has {k}" for n, k in lengths.items()) or f"no data with rows of {self.size}"
            raise StanDataError(f"the arrays of a batch must have one length: {told}")
        return int(next(iter(lengths.values())))

    def available(self, step: int) -> int:
        return 2**31

    def take(self, step: int, count: int) -> Chunk:
        """The batches of `count` steps from `step` on."""
        if step != self._step:
            self._seek(step)
        flat = self._next(count * self.rows_of_batch)
        self._step = step + count
        return Chunk(count, {}, [flat])

    def _seek(self, step: int) -> None:
        """Begin a pass, and leave out what a run that goes on has seen of it."""
        self._pieces, self._kept = self._endless(), {}
        left = step * self.rows_of_batch % self.totals[self.size]
        while left:
            some = min(left, 2**16)
            self._next(some)
            left -= some

    def _endless(self) -> Iterator[dict[str, np.ndarray]]:
        while True:
            found = 0
            for piece in self.begin():
                given = read_data(piece)
                found += self._length(given)
                yield {n: array_of(n, given[n]) for n in self.axes if n in given}
            if found != self.totals[self.size]:
                raise StanDataError(f"a pass over the batches gave {found} rows, the first {self.totals[self.size]}")

    def _next(self, count: int) -> dict[str, np.ndarray]:
        """The next rows, from what is kept and from further batches."""
        pieces, held = ([self._kept] if self._kept else []), self._held(self._kept)
        while held < count:
            pieces.append(next(self._pieces))
            held += self._held(pieces[-1])
        joined = {n: np.concatenate([p[n] for p in pieces], axis=self.axes[n]) for n in pieces[0]}
        before, after = (
            {n: v[(slice(None),) * self.axes[n] + (s,)] for n, v in joined.items()}
            for s in (slice(count), slice(count, None))
        )  # fmt: skip
        self._kept = after if held > count else {}
        return before

    def _held(self, piece: Mapping[str, np.ndarray]) -> int:
        return self._length(piece) if piece else 0

    @property
    def longest(self) -> str:
        """The only size."""
        return self.size

    def everything(self, batch: int) -> Iterator[Chunk]:
        """All rows of one pass, in batches of so many rows and a smaller last one."""
        self._seek(0)
        self._step, left = -1, self.totals[self.size]
        while left:
            some = min(batch, left)
            yield Chunk(1, {}, [self._next(some)])
            left -= some


def _iterator(batches: Any) -> Callable[[], Iterator[Any]]:
    """What begins a pass."""
    if callable(batches):
        return lambda: iter(batches())
    if iter(batches) is batches:
        raise StanDataError(f"a {type(batches).__name__} can be iterated only once: give a function that returns one, "
                            "or an object whose iterators begin anew")  # fmt: skip
    return lambda: iter(batches)


def is_iterable(data: Any) -> bool:
    """Whether data are an iterable of batches: neither a mapping, nor a path, nor an object with columns."""
    if data is None or isinstance(data, (str, bytes, Mapping)) or hasattr(data, "__fspath__"):
        return False
    if hasattr(data, "columns") or hasattr(data, "data_vars") or hasattr(data, "_asdict"):
        return False
    return callable(data) or hasattr(data, "__iter__")
