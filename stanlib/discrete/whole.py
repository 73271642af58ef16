"""Whether chains are summed out with their known elements or without them."""
from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from . import order
from .chains import Chains
from .problem import Problem, limit
from .sweeps import Sweep

_ALONG = (Chains, Sweep)

FEW = 0.25  # open elements among those of chains, below which it is worth to leave out the known ones
MANY = 10  # times as many steps without the known ones, above which they stay whatever else could be left out


def steps_saved(problem: Problem, known: np.ndarray) -> float:
    """How many times as many steps it takes to sum chains, or sweeps, out without their known elements, at least 1.

    It is 0 where that is as simple. What is known has but one value that counts: to sum over the others costs less
    than to pick pieces of many lengths out of tables.
    """
    several = [f.elements for f in problem.factors if f.elements.shape[1] > 1]
    inside = np.unique(np.concatenate([e.reshape(-1) for e in several])) if several else np.zeros(0, int)
    if not (known[inside] >= 0).any() or np.mean(known[inside] < 0) < FEW:
        return 0.0
    left = [scope for e in several for scope in _open_parts(e, known)]
    whole = order.plan(problem.kinds, np.arange(len(known)), several, limit()).steps
    pieces = order.plan(problem.kinds, np.flatnonzero(known < 0), left, limit()).steps
    alone = (isinstance(s, order.Class) and s.neighbours.shape[1] < 2 for s in whole if not isinstance(s, _ALONG))
    return len(pieces) / len(whole) if all(alone) and len(whole) < len(pieces) else 0.0


def _open_parts(elements: np.ndarray, known: np.ndarray) -> Iterator[np.ndarray]:
    """The scopes that the places of a factor have without known elements, as far as they still couple several."""
    is_open = known[elements] < 0
    for pattern in np.unique(is_open, axis=0):
        if pattern.sum() > 1:
            yield elements[(is_open == pattern).all(axis=1)][:, pattern]
