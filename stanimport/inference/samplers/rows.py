"""Draws while they are made: rows in blocks of memory, which the system gets back as soon as they are read."""
from __future__ import annotations

import mmap
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

BLOCK = 2**23  # bytes
FEW = 2**26  # bytes of points that are handled in one piece


class Rows:
    """A growing array, to whose end rows are added.

    Blocks are maps of memory of their own: what the allocator would take back of smaller pieces it would keep.
    """

    def __init__(self, shape: tuple[int, ...], dtype: Any):
        self.shape, self.dtype, self.count = shape, np.dtype(dtype), 0
        self.width = int(np.prod(shape)) * self.dtype.itemsize
        self.room = max(1, BLOCK // max(self.width, 1))  # rows of a block
        self.blocks: list[np.ndarray] = []

    def __len__(self) -> int:
        return self.count

    def add(self, rows: np.ndarray) -> None:
        """Copy rows, (count, ...), to the end."""
        start = 0
        while start < len(rows):
            at = self.count % self.room
            if at == 0:
                self.blocks.append(self._block())
            taken = min(len(rows) - start, self.room - at)
            self.blocks[-1][at : at + taken] = rows[start : start + taken]
            start, self.count = start + taken, self.count + taken

    def _block(self) -> np.ndarray:
        memory = mmap.mmap(-1, max(self.room * self.width, 1))
        return np.frombuffer(memory, self.dtype, self.room * int(np.prod(self.shape))).reshape(self.room, *self.shape)

    def array(self, start: int = 0, end: int | None = None) -> np.ndarray:
        """The rows from start to end as one array."""
        end = self.count if end is None else end
        made = np.empty((max(end - start, 0), *self.shape), self.dtype)
        for i, block in enumerate(self.blocks):
            low, high = max(start, i * self.room), min(end, (i + 1) * self.room)
            if low < high:
                made[low - start : high - start] = block[low - i * self.room : high - i * self.room]
        return made

    def drained(self, count: int, start: int = 0, end: int | None = None) -> Iterator[np.ndarray]:
        """The same rows, at most `count` at a time; they are gone afterwards."""
        end = self.count if end is None else end
        for low in range(start, end, count):
            high = min(low + count, end)
            yield self.array(low, high)
            for i in range(-(-start // self.room), high // self.room):
                self.blocks[i] = np.zeros((0, *self.shape), self.dtype)


class Points:
    """The points of all chains, (chains, draws, size), too large to be held twice: they are given up while read.

    Args:
        chains: the rows of each.
        start, end: those of them that are its own.
    """

    def __init__(self, chains: Sequence[Rows], start: int, end: int):
        self.chains, self.start, self.end = list(chains), start, end
        self.shape = (len(self.chains), end - start, *self.chains[0].shape)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.stack([c.array(self.start, self.end) for c in self.chains])

    def pieces(self, count: int) -> Iterator[np.ndarray]:
        """The points of one chain after the other, (rows, size), at most `count` at a time."""
        while self.chains:
            yield from self.chains.pop(0).drained(count, self.start, self.end)
