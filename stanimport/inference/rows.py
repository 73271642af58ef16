"""Draws while they are made: rows in blocks of memory, which the system gets back as soon as they are read."""
from __future__ import annotations

import mmap
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

BLOCK = 2**23  # bytes
FEW = 2**26  # bytes of points that are handled in one piece


class Rows:
    """A growing array, to whose end rows are added, in memory or in a file.

    Blocks are maps of memory of their own: what the allocator would take back of smaller pieces it would keep. In a
    file they are maps of it, and the system writes them to the disk as it sees fit, also if the process is killed.

    Args:
        shape, dtype: of a row.
        path: of the file.
        expected: how many rows there will be; more are possible.
        count: rows that the file holds already.
    """

    def __init__(self, shape: tuple[int, ...], dtype: Any, path: Path | None = None, expected: int = 0, count: int = 0):
        self.shape, self.dtype, self.count, self.path = shape, np.dtype(dtype), count, path
        self.width = int(np.prod(shape)) * self.dtype.itemsize
        self.room = max(1, BLOCK // max(self.width, 1))  # rows of a block
        if path is not None and expected:
            self.room = min(self.room, expected)
        self.blocks: list[np.ndarray] = []
        while len(self.blocks) * self.room < count:
            self.blocks.append(self._block())

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
        size = max(self.room * self.width, 1)
        if self.path is not None and self.width:
            return self._mapped(self.path, len(self.blocks) * size, size)
        memory = mmap.mmap(-1, size)
        return np.frombuffer(memory, self.dtype, self.room * int(np.prod(self.shape))).reshape(self.room, *self.shape)

    def _mapped(self, path: Path, start: int, size: int) -> np.ndarray:
        """A part of the file; the disk's room for it is taken now, for a full disk found later ends the process."""
        with path.open("r+b" if path.exists() else "w+b") as file:
            has = os.fstat(file.fileno()).st_size
            if has < start + size:
                take_room(file.fileno(), has, start + size - has)
            return np.memmap(file, self.dtype, "r+", start, (self.room, *self.shape))

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


def take_room(file: int, has: int, size: int) -> None:
    """Make a file longer, the disk's room for it taken. Raises OSError if there is none."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file, has, size)
        return
    os.lseek(file, has, os.SEEK_SET)  # elsewhere by writing it
    for low in range(0, size, BLOCK):
        os.write(file, bytes(min(BLOCK, size - low)))


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
