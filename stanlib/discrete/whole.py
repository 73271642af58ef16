"""Whether chains are summed out with their known elements or without them."""
from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..dataclass import dataclass
from . import order
from .cases import Cases
from .chains import Chains
from .compounds import Compounds
from .possible import left_possible
from .problem import Problem, limit
from .sweeps import Sweep

_ALONG = (Chains, Sweep, Compounds, Cases)

ALONE = 0.7  # elements among all that nothing stands for, above which it is worth to leave chains whole
STEP = 100  # elements that take as long as a step
FEW = 0.25  # open elements among those of chains, below which it is worth to leave out the known ones
MANY = 10  # times as many steps without the known ones, above which they stay whatever else could be left out


@dataclass(frozen=True)
class Saved:
    """How many more `steps` it takes to sum chains, or sweeps, out without their known elements, and `times` as many.

    They are 0 where that is as simple.
    """

    steps: int = 0
    times: float = 0.0

    def worth(self, whole: np.ndarray, pieces: np.ndarray, known: np.ndarray) -> bool:
        """Whether to leave the known elements in.

        Args:
            whole, pieces: which element is summed out for every one with them, and without them.
            known: -1 for elements that are not.
        """
        own = np.arange(len(known))
        more = np.sum(whole == own) - np.sum((pieces == own) & (known < 0))
        return bool(self.times > MANY or np.mean(pieces == own) > ALONE or self.steps * STEP > more)


def steps_saved(problem: Problem, known: np.ndarray) -> Saved:
    """What is saved by known elements that stay.

    What is known has but one value that counts: to sum over the others costs less than to pick pieces of many lengths
    out of tables.
    """
    several = [f.elements for f in problem.factors if f.elements.shape[1] > 1]
    inside = np.unique(np.concatenate([e.reshape(-1) for e in several])) if several else np.zeros(0, int)
    if not (known[inside] >= 0).any() or np.mean(known[inside] < 0) < FEW:
        return Saved()
    left = [scope for e in several for scope in _open_parts(e, known)]
    tables = [left_possible(f) for f in problem.factors if f.elements.shape[1] > 1]
    whole = order.plan(problem.kinds, np.arange(len(known)), several, limit(), tables).steps
    pieces = order.plan(problem.kinds, np.flatnonzero(known < 0), left, limit()).steps
    alone = (isinstance(s, order.Class) and s.neighbours.shape[1] < 2 for s in whole if not isinstance(s, _ALONG))
    if not all(alone) or len(whole) >= len(pieces):
        return Saved()
    return Saved(len(pieces) - len(whole), len(pieces) / len(whole))


def _open_parts(elements: np.ndarray, known: np.ndarray) -> Iterator[np.ndarray]:
    """The scopes that the places of a factor have without known elements, as far as they still couple several."""
    is_open = known[elements] < 0
    for pattern in np.unique(is_open, axis=0):
        if pattern.sum() > 1:
            yield elements[(is_open == pattern).all(axis=1)][:, pattern]
