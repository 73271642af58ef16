"""The columns of parquet files, read by groups of rows."""
from __future__ import annotations

from typing import Any

import numpy as np

from stanlib.errors import StanDataError


class Column:
    """A column of a parquet file, numbers or lists of numbers of one length, read by groups of rows.

    Attributes:
        shape, dtype: as of an array.
        chunks: the number of rows that are read at once.
    """

    def __init__(self, file: Any, name: str):
        self.file, self.name = file, name
        self._length: int | None = None  # of the lists
        counts = [file.metadata.row_group(i).num_rows for i in range(file.metadata.num_row_groups)]
        self.ends = np.cumsum(counts, dtype=int)
        rows = int(self.ends[-1]) if len(counts) else 0
        self.chunks = (max(counts, default=1),)
        first = self._group(0)[:1] if rows else np.zeros(0)
        self.shape, self.dtype = (rows, *first.shape[1:]), first.dtype

    def _group(self, i: int) -> np.ndarray:
        """The entries of one group of rows, (rows,), or (rows, length) where they are lists.

        Raises:
            StanDataError: where entries are missing, or lists differ in length.
        """
        column = self.file.read_row_group(i, columns=[self.name]).column(0).combine_chunks()
        if column.null_count:
            raise StanDataError(f"{self.name} has missing entries", self.name)
        if not hasattr(column, "flatten") or not hasattr(column.type, "value_type"):
            return np.asarray(column.to_numpy(zero_copy_only=False))
        inner = column.flatten()
        if inner.null_count:
            raise StanDataError(f"{self.name} has missing entries", self.name)
        lengths = np.unique(np.asarray(column.value_lengths()))
        if self._length is None and len(lengths):
            self._length = int(lengths[0])
        if any(n != self._length for n in lengths):
            told = f"its lists have {self._length} numbers, and {lengths[-1]}"
            raise StanDataError(f"{self.name} is ragged: {told}", self.name)
        return np.asarray(inner.to_numpy(zero_copy_only=False)).reshape(len(column), self._length or 0)

    def __getitem__(self, index: object) -> np.ndarray:
        first, *rest = index if isinstance(index, tuple) else (index,)
        start, stop, _ = first.indices(self.shape[0])
        groups = range(*np.searchsorted(self.ends, [start, max(stop - 1, start)], side="right") + [0, 1])
        begin = int(self.ends[groups[0] - 1]) if groups and groups[0] else 0
        read = np.concatenate([self._group(i) for i in groups]) if groups else np.zeros((0, *self.shape[1:]))
        made: np.ndarray = read[(slice(start - begin, stop - begin), *rest)]
        return made
