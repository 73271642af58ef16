"""Which axis of the data each axis of their log densities runs along."""
from __future__ import annotations

from itertools import permutations

import numpy as np


def axes_in_order(where: np.ndarray, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The axes along which positions run through those of a datum of a shape, one for each of these; else none.

    Columns that a loop goes through have the datum's second axis first.
    """
    if where.ndim != len(shape) or not where.size:
        return ()
    along = np.unravel_index(where, shape)
    for axes in permutations(range(where.ndim)):
        lines = (np.moveaxis(at, i, 0).reshape(where.shape[i], -1) for i, at in zip(axes, along))
        if all((at == at[:, :1]).all() for at in lines):
            return axes
    return ()
