"""Batches from an iterable, in its order, cut anew into batches of one size; what is left begins the next pass."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from stanlib.errors import StanDataError

from ...digests import digest_of
from ...io.data import array_of, read_data
from ...options import OptionError
from . import sources
from .feeds import Chunk, require_rows


class IterableFeed:
    """Batches from an iterable of batches, or a function that returns one: dicts, or objects with columns.

    Args:
        batches: each iteration is a pass over all rows.
        batch: the number of rows in a batch, by the only size.
        axes: as for `ArrayFeed`.

    Raises:
        StanDataError: for batches whose arrays differ in length, for what can be iterated only once, and for a function
            that returns no iterable.
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
        total = 0
        self._first: dict[str, np.ndarray] = {}
        self._common: dict[str, Any] = {}
        told = set[int]()
        for piece in self.begin():
            given = read_data(piece)
            if not total:
                self._first = {n: array_of(n, given[n]) for n in self.axes if n in given}
                self._common = self._without_rows(given)
            length = self._length(given)
            total += length
            self._verify(given)
            if self.size in given:
                told |= {int(np.asarray(given[self.size]))} - {length}
        if not total:
            raise StanDataError("the iterable gives no rows: one that can be iterated only once gives them once")
        wrong = min(told - {total}, default=None)
        if wrong is not None:
            raise StanDataError(f"{self.size} is {wrong}, of a batch or of all, but there are {total} rows", self.size)
        return {self.size: total}, self._common | {self.size: total}

    def _without_rows(self, given: Mapping[str, object]) -> dict[str, Any]:
        return {n: sources.whole(v) for n, v in given.items() if n not in self.axes and n != self.size}

    def _verify(self, given: Mapping[str, object]) -> None:
        """Raise StanDataError for a batch that lacks what the first has, or has something else that has no rows."""
        missing = min((n for n in self.axes if (n in given) != (n in self._first)), default=None)
        if missing is not None:
            raise StanDataError(f"{missing} is in some batches, but not in all", missing)
        for name, value in self._without_rows(given).items():
            if name in self._common and not _is_same(value, self._common[name]):
                raise StanDataError(f"{name} has no rows of {self.size}: it must be the same in all batches", name)

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
        """The batches of one pass after the other; each pass must give as many rows as the first."""
        while True:
            found = 0
            for piece in self.begin():
                given = read_data(piece)
                found += self._length(given)
                self._verify(given)
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


def _is_same(one: object, other: object) -> bool:
    """Whether two values that have no rows are the same."""
    try:
        return bool(np.array_equal(np.asarray(one), np.asarray(other), equal_nan=True))
    except (TypeError, ValueError):  # what is no array of numbers, such as tuples
        return digest_of(one) == digest_of(other)


def _iterator(batches: Any) -> Callable[[], Iterator[Any]]:
    """What begins a pass."""
    if callable(batches):
        return lambda: _of_pass(batches())
    if iter(batches) is batches:
        raise StanDataError(f"a {type(batches).__name__} can be iterated only once: give a function that returns one, "
                            "or an object whose iterators begin anew")  # fmt: skip
    return lambda: iter(batches)


def _of_pass(batches: Any) -> Iterator[Any]:
    """The batches of what a function returned, which has to give some. Raises StanDataError."""
    if not is_iterable(batches) or not hasattr(batches, "__iter__"):
        raise StanDataError(f"the function must return an iterable of batches, not {type(batches).__name__}")
    return iter(batches)


def is_iterable(data: object) -> bool:
    """Whether data are an iterable of batches: neither a mapping, nor a path, nor an object with columns."""
    if data is None or isinstance(data, (str, bytes, Mapping)) or hasattr(data, "__fspath__"):
        return False
    if hasattr(data, "columns") or hasattr(data, "data_vars") or hasattr(data, "_asdict"):
        return False
    return callable(data) or hasattr(data, "__iter__")
