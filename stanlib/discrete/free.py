"""Elements that no term depends on: how many assignments there are to them."""
from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from .problem import Factor


def without_terms(kinds: np.ndarray, possible: Mapping[int, np.ndarray], left: np.ndarray, often: np.ndarray,
                  used: np.ndarray, given: Sequence[Factor]) -> float:  # fmt: skip
    """The logarithm of the number of assignments to those among the elements left, which are left no more.

    Args:
        possible: which values the elements of each kind may have.
        often: how often each element counts.
        used: elements that are needed for something else.
    """
    alone = left.copy()
    for f in given:
        alone[f.elements.reshape(-1)] = False
    alone[used] = False
    left &= ~alone
    often = often * alone
    return float(sum(often[kinds == kind] @ np.log(np.maximum(rows.sum(axis=1), 1)) for kind, rows in possible.items()))
