"""Draws while they are made: rows in blocks of memory, which the system gets back as soon as they are read."""
from __future__ import annotations

import mmap
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

BLOCK, SMALL = 2**23, 2**17  # bytes
FEW = 2**24  # bytes of points that are handled in one piece


class Rows:
    """A growing array, to whose end rows are added, in memory or in a file.

    Large blocks are maps of memory of their own: what the allocator would take back of smaller pieces it would keep. In
    a file they are maps of it, and the system writes them to the disk as it sees fit, also if the process is killed.
    Only the last of those stays mapped: pages of maps count as the process's memory.

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
        self.in_file = path is not None and self.width > 0
        if expected:
            self.room = min(self.room, expected)
        self.blocks: list[np.ndarray] = []
        while len(self.blocks) * self.room < count:
            self._begin_block()

    def __len__(self) -> int:
        return self.count

    def add(self, rows: np.ndarray) -> None:
        """Copy rows, (count, ...), to the end."""
        start = 0
        while start < len(rows):
            at = self.count % self.room
            if at == 0:
                self._begin_block()
            taken = min(len(rows) - start, self.room - at)
            self.blocks[-1][at : at + taken] = rows[start : start + taken]
            start, self.count = start + taken, self.count + taken

    def _begin_block(self) -> None:
        if self.in_file and self.blocks:
            self._give_up(len(self.blocks) - 1)
        self.blocks.append(self._block(len(self.blocks)))

    def _block(self, number: int) -> np.ndarray:
        """A new block, or one of a file."""
        size = max(self.room * self.width, 1)
        if self.path is not None and self.in_file:
            return self._mapped(self.path, number * size, size)
        if size <= SMALL:  # which takes longer to map than to fill
            return np.empty((self.room, *self.shape), self.dtype)
        memory = mmap.mmap(-1, size)
        return np.frombuffer(memory, self.dtype, self.room * int(np.prod(self.shape))).reshape(self.room, *self.shape)

    def _mapped(self, path: Path, start: int, size: int) -> np.ndarray:
        """A part of the file; the disk's room for it is taken now, for a full disk found later ends the process.

        Raises:
            OSError: naming the file, if there is none.
        """
        with named(path), path.open("r+b" if path.exists() else "w+b") as file:
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
                held = self._block(i) if self.in_file and not len(block) else block
                made[low - start : high - start] = held[low - i * self.room : high - i * self.room]
        return made

    def drained(self, count: int, start: int = 0, end: int | None = None) -> Iterator[np.ndarray]:
        """The same rows, at most `count` at a time; they are gone afterwards from memory."""
        end = self.count if end is None else end
        for low in range(start, end, count):
            high = min(low + count, end)
            yield self.array(low, high)
            self.release(start, high)

    def release(self, start: int, end: int) -> None:
        """Give up the memory of the blocks that lie between two rows."""
        for i in range(-(-start // self.room), end // self.room):
            self._give_up(i)

    def _give_up(self, number: int) -> None:
        self.blocks[number] = np.zeros((0, *self.shape), self.dtype)


def take_room(file: int, has: int, size: int) -> None:
    """Make a file longer, the disk's room for it taken. Raises OSError if there is none."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file, has, size)
        return
    os.lseek(file, has, os.SEEK_SET)  # elsewhere by writing it
    for low in range(0, size, BLOCK):
        os.write(file, bytes(min(BLOCK, size - low)))


@contextmanager
def named(path: Path) -> Iterator[None]:
    """Within it errors of the system that name no file, such as those of a full disk, name this one."""
    try:
        yield
    except OSError as e:
        if e.filename is not None:
            raise
        raise OSError(e.errno, f"can't be written: {e.strerror or e}", str(path)) from e


class Points:
    """The points of all chains, (chains, draws, size), too large to be held twice: they are given up while read.

    Args:
        tracks: the rows of each chain, or of the chains of one program, (lanes, size) each.
        start, end: those of them that are its own.
    """

    def __init__(self, tracks: Sequence[Rows], start: int, end: int):
        self.tracks, self.start, self.end = list(tracks), start, end
        self.size = tracks[0].shape[-1]
        self.lanes = [int(np.prod(t.shape[:-1])) for t in tracks]
        self.shape = (sum(self.lanes), end - start, self.size)

    def __array__(self, dtype: object = None, copy: bool | None = None) -> np.ndarray:
        parts = [t.array(self.start, self.end).reshape(self.shape[1], -1, self.size) for t in self.tracks]
        return np.ascontiguousarray(np.concatenate(parts, axis=1).swapaxes(0, 1))

    def pieces(self, count: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The points, (rows, size), at most `count` at a time, behind the places of these, (rows,), among all.

        Places count the draws of one chain behind those of another. The chains of one program are read side by side.
        """
        chain, draws = 0, self.shape[1]
        while self.tracks:
            rows, lanes = self.tracks.pop(0), self.lanes.pop(0)
            first = (chain + np.arange(lanes)) * draws
            low = 0
            for block in rows.drained(-(-count // lanes), self.start, self.end):
                places = (np.arange(low, low + len(block))[:, None] + first).ravel()
                points = block.reshape(-1, self.size)
                for at in range(0, len(points), count):
                    yield places[at : at + count], points[at : at + count]
                low += len(block)
            chain += lanes


class Repeated:
    """The points of chains that don't move, (chains, draws, size), each held once.

    Args:
        points: of the chains, (chains, size).
        draws: of each of them.
    """

    def __init__(self, points: np.ndarray, draws: int):
        self.points = points
        self.shape = (len(points), draws, points.shape[1])

    def __array__(self, dtype: object = None, copy: bool | None = None) -> np.ndarray:
        return np.repeat(self.points[:, None], self.shape[1], axis=1)

    def pieces(self, count: int) -> Iterator[tuple[slice, np.ndarray]]:
        """As those of `Points`."""
        chains, draws, _ = self.shape
        for low in range(0, chains * draws, count):
            places = slice(low, min(low + count, chains * draws))
            yield places, self.points[np.arange(places.start, places.stop) // draws]
