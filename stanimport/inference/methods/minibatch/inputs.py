"""Batches as a module's functions take them: checked, converted, and with their transformed data."""
from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from stanlib.batches import Rows, reading
from stanlib.errors import StanDataError, StanError

from .feeds import ArrayFeed, Chunk
from .iterables import IterableFeed

Feed = ArrayFeed | IterableFeed
_ENTRY = re.compile(r"\b(\w+)\[(\d+(?:,\d+)*)\]")


class Inputs:
    """The data and transformed data of batches.

    Args:
        convert: `transformed_data` of the module, a function of a dict.
        rows: of each size, what of the program depends on its rows.

    Attributes:
        fixed: what all batches have in common.
        varying: the names of what differs between batches.
    """

    def __init__(self, feed: Feed, convert: Callable[[dict[str, Any]], dict[str, Any]], rows: Mapping[str, Rows]):
        self.feed, self.convert, self.rows = feed, convert, rows
        start = feed.take(0, 1)
        first = self._converted(start.batches[0], feed.batch, self._numbers(start))
        self.varying = tuple(n for n in first if any(n in r.axes or n in r.sums for r in rows.values()))
        self.fixed = {n: v for n, v in first.items() if n not in self.varying}
        self._apart = len(rows) > 1 or any(r.sums for r in rows.values())

    def _converted(
        self, arrays: Mapping[str, object], held: Mapping[str, int], numbers: np.ndarray | None = None
    ) -> dict[str, Any]:
        """The inputs of so many rows of each size; `numbers` are those of the rows of the only size, if known."""
        given = {**self.feed.shared, **arrays, **held}
        try:
            with reading(held):
                return self.convert(given)
        except StanDataError as error:
            if len(held) == 1:
                self._blame(given, *next(iter(held.items())), numbers, error)
            raise

    def _blame(
        self, given: Mapping[str, object], size: str, held: int, numbers: np.ndarray | None, error: StanDataError
    ) -> None:
        """Raise the error of the first row that has it; return where all rows have, so that it is none of a row."""
        axes = {n: a for n, a in self.rows[size].axes.items() if n in given}

        def failure(lo: int, hi: int) -> StanDataError | None:
            part = {n: np.asarray(given[n])[(slice(None),) * a + (slice(lo, hi),)] for n, a in axes.items()}
            try:
                with reading((size,)):
                    self.convert({**given, **part, size: hi - lo})
            except StanDataError as found:
                return found
            return None

        if all(failure(i, i + 1) for i in (0, held // 2, held - 1)):
            return
        low, high = 0, held
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if failure(low, middle) is not None else (middle, high)
        found = failure(low, high)
        if found is not None:
            where = f"in a row of {size}" if numbers is None else f"in row {int(numbers[low]) + 1} of {size}"
            raise StanDataError(f"{where}: {found}", found.variable, found.filename, found.lineno) from error

    def of(self, chunk: Chunk) -> dict[str, np.ndarray]:
        """What differs between batches, each with a first axis of batches: (steps, ...)."""
        if self._apart:
            made = [self._converted(b, self.feed.batch) for b in self._each(chunk)]
            return {n: np.stack([m[n] for m in made]) for n in self.varying}
        ((size, batch),) = self.feed.batch.items()
        made_of_all = self._converted(chunk.batches[0], {size: chunk.steps * batch}, self._numbers(chunk))
        return {n: _apart(made_of_all[n], self.rows[size].axes[n], chunk.steps) for n in self.varying}

    @staticmethod
    def _numbers(chunk: Chunk) -> np.ndarray | None:
        """The numbers of the rows of the only size, where they are known."""
        return next(iter(chunk.rows.values())).ravel() if len(chunk.rows) == 1 else None

    def _each(self, chunk: Chunk) -> list[dict[str, np.ndarray]]:
        if len(self.rows) > 1:
            return [dict(b) for b in chunk.batches]
        (rows,) = self.rows.values()
        parts = {n: _apart(v, rows.axes[n], chunk.steps) for n, v in chunk.batches[0].items()}
        return [{n: p[i] for n, p in parts.items()} for i in range(chunk.steps)]

    def of_some(self, chunk: Chunk) -> dict[str, Any]:
        """All inputs of one batch, which may be smaller than others."""
        made = self._converted(chunk.batches[0], self.held(chunk), self._numbers(chunk))
        return {**self.fixed, **made}

    def held(self, chunk: Chunk) -> dict[str, int]:
        """How many rows of each size one batch has."""
        if chunk.rows:
            return {size: rows.shape[1] for size, rows in chunk.rows.items()}
        ((size, rows),) = self.rows.items()
        return {size: next(v.shape[rows.axes[n]] for n, v in chunk.batches[0].items())}

    @contextmanager
    def naming_rows(self, chunk: Chunk, step: int = 0) -> Iterator[None]:
        """Errors that tell an entry's place in a batch of the chunk get a note which row of the data it is of."""
        try:
            yield
        except StanError as error:
            told = self._row(str(error), chunk, step)
            if told is not None:
                error.add_note(told)
            raise

    def _row(self, message: str, chunk: Chunk, step: int) -> str | None:
        """Where in the data the first entry with a row is that a message names, if rows have numbers."""
        for name, told in _ENTRY.findall(message):
            indices = [int(i) - 1 for i in told.split(",")]
            for size, rows in self.rows.items():
                axis = rows.axes.get(name, len(indices))
                if axis < len(indices) and size in chunk.rows and indices[axis] < chunk.rows[size].shape[1]:
                    indices[axis] = int(chunk.rows[size][step, indices[axis]])
                    entry = ",".join(str(j + 1) for j in indices)
                    return f"{name}[{told}] of the batch is {name}[{entry}] of the data"
        return None


def _apart(flat: np.ndarray, axis: int, steps: int) -> np.ndarray:
    """Rows of several batches along one axis: (..., steps * batch, ...) as (steps, ..., batch, ...)."""
    shape = flat.shape
    divided = flat.reshape(*shape[:axis], steps, shape[axis] // steps, *shape[axis + 1 :])
    return np.moveaxis(divided, axis, 0)
