"""Batches as a module's functions take them: checked, converted, and with their transformed data."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from stanlib.batches import Rows
from stanlib.errors import StanDataError

from .feeds import ArrayFeed, Chunk, IterableFeed

Feed = ArrayFeed | IterableFeed


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
        first = self._converted(feed.take(0, 1).batches[0], dict(feed.batch))
        self.varying = tuple(n for n in first if any(n in r.axes or n in r.sums for r in rows.values()))
        self.fixed = {n: v for n, v in first.items() if n not in self.varying}
        self._apart = len(rows) > 1 or any(r.sums for r in rows.values())

    def _converted(self, arrays: Mapping[str, Any], held: Mapping[str, int]) -> dict[str, Any]:
        given = {**self.feed.shared, **arrays, **held}
        try:
            return self.convert(given)
        except StanDataError as error:
            self._blame(given, held, error)
            raise

    def _blame(self, given: Mapping[str, Any], held: Mapping[str, int], error: StanDataError) -> None:
        """Raise the error of the first row that has it alone; return if it is not that of a row."""
        ((size, low),) = [(s, 0) for s in held] if len(held) == 1 else [("", 0)]
        if not size or held[size] < 2:
            return
        axes = {n: a for n, a in self.rows[size].axes.items() if n in given}
        high = held[size]
        while high - low > 1:
            middle = (low + high) // 2
            if self._fails(given, axes, size, low, middle) is not None:
                high = middle
            elif self._fails(given, axes, size, middle, high) is not None:
                low = middle
            else:
                return
        found = self._fails(given, axes, size, low, high)
        if found is not None:
            raise StanDataError(f"in a row of {size}, of which these are the data of one: {found}",
                                found.variable, found.filename, found.lineno) from error  # fmt: skip

    def _fails(self, given: Mapping[str, Any], axes: Mapping[str, int], size: str, lo: int, hi: int) -> Any:
        part = {n: np.asarray(given[n])[(slice(None),) * a + (slice(lo, hi),)] for n, a in axes.items()}
        try:
            self.convert({**given, **part, size: hi - lo})
        except StanDataError as error:
            return error
        return None

    def of(self, chunk: Chunk) -> dict[str, np.ndarray]:
        """What differs between batches, each with a first axis of batches: (steps, ...)."""
        if self._apart:
            made = [self._converted(b, self.feed.batch) for b in self._each(chunk)]
            return {n: np.stack([m[n] for m in made]) for n in self.varying}
        ((size, batch),) = self.feed.batch.items()
        made_of_all = self._converted(chunk.batches[0], {size: chunk.steps * batch})
        return {n: _apart(made_of_all[n], self.rows[size].axes[n], chunk.steps) for n in self.varying}

    def _each(self, chunk: Chunk) -> list[dict[str, np.ndarray]]:
        if len(self.rows) > 1:
            return [dict(b) for b in chunk.batches]
        (rows,) = self.rows.values()
        parts = {n: _apart(v, rows.axes[n], chunk.steps) for n, v in chunk.batches[0].items()}
        return [{n: p[i] for n, p in parts.items()} for i in range(chunk.steps)]

    def of_some(self, chunk: Chunk) -> dict[str, Any]:
        """All inputs of one batch, which may be smaller than others. For one size."""
        ((size, rows),) = self.rows.items()
        held = {n: v.shape[rows.axes[n]] for n, v in chunk.batches[0].items()}
        return {**self.fixed, **self._converted(chunk.batches[0], {size: next(iter(held.values()))})}


def _apart(flat: np.ndarray, axis: int, steps: int) -> np.ndarray:
    """Rows of several batches along one axis: (..., steps * batch, ...) as (steps, ..., batch, ...)."""
    shape = flat.shape
    divided = flat.reshape(*shape[:axis], steps, shape[axis] // steps, *shape[axis + 1 :])
    return np.moveaxis(divided, axis, 0)
