"""The outcomes of which a model has log densities, told by the model where somebody asks where they stand."""
from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np


class Told:
    """Outcomes by site, in the order of their log densities; none where iterations came in no order that is known."""

    def __init__(self) -> None:
        self.outcomes: dict[str, np.ndarray] = {}
        self.parts: dict[str, list[np.ndarray]] = {}
        self.is_mixed_up = False

    def of(self, site: str) -> np.ndarray | None:
        """Those of a site, if they are known."""
        return None if self.is_mixed_up else self.outcomes.get(site)

    def by_density(self, site: str, count: int) -> np.ndarray | None:
        """Those of a site with so many log densities, (count,), or (count, n) where each is of n numbers."""
        outcomes = self.of(site)
        if outcomes is None or outcomes.size == count or not count:
            return outcomes
        axes = range(min((p.ndim for p in self.parts[site]), default=0))
        alike = any(_rows(self.parts[site], n) == count for n in axes)
        return outcomes.reshape(count, -1) if alike else None


def _rows(parts: Sequence[np.ndarray], axes: int) -> int | None:
    """How many arrays lie along the first axes of all parts; None if they are of several sizes."""
    alike = len({p.shape[axes:] for p in parts}) == 1
    return sum(math.prod(p.shape[:axes]) for p in parts) if alike else None


_told: ContextVar[Told | None] = ContextVar("told", default=None)


@contextmanager
def told() -> Iterator[Told]:
    """Gives what a model tells inside."""
    found = Told()
    token = _told.set(found)
    try:
        yield found
    finally:
        _told.reset(token)


def are_asked() -> bool:
    """Whether somebody asks, so that iterations are to come in the order of the program where they can."""
    return _told.get() is not None


def mix_up() -> None:
    """Tell that iterations come in another order."""
    found = _told.get()
    if found is not None:
        found.is_mixed_up = True


def stand(site: str, parts: Sequence[Any]) -> None:
    """Tell the outcomes of a site, unless the backend alone knows them."""
    found = _told.get()
    if found is not None and all(isinstance(p, (int, float, np.generic, np.ndarray)) for p in parts):
        found.parts[site] = [np.asarray(p) for p in parts]
        found.outcomes[site] = np.concatenate([np.ravel(p) for p in parts]) if parts else np.zeros(0)
