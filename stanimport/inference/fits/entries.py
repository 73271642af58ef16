"""Of which entries of their data log densities are, where statements observe only some of them."""
from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from .axes import cells

Entries = tuple[np.ndarray, ...]


class LogDensities(dict[str, np.ndarray]):
    """Log densities (chains, draws, ...) by observed variable.

    Attributes:
        entries: of those variables that are observed in part, which entries along each axis, from 0; a variable of
            which no such thing can be said, as of scattered cells of a matrix, is not among them.
    """

    def __init__(self, terms: Mapping[str, np.ndarray], entries: Mapping[str, Entries]):
        super().__init__(terms)
        self.entries = {n: at for n, at in entries.items() if n in terms}


def entries_of(where: object, is_present: np.ndarray, datum: Any) -> Entries | None:
    """The entries of a datum that log densities are of, along each axis; None where they are all, or are not known.

    Those of several numbers each, as of vectors, are of entries along the axes that tell these apart.

    Args:
        where: the positions of each in the datum, laid out flat.
        is_present: which of them there are, in the shape of the log densities: others observe nothing.
        datum: a tuple has no positions.
    """
    if isinstance(datum, tuple) or not isinstance(where, np.ndarray):
        return None
    found = cells(where, is_present.shape, np.shape(datum))
    if found is None or where.shape != is_present.shape and len(found[1]) >= np.ndim(datum):  # pieces of a vector
        return None
    parts, shape = found
    kept = parts if is_present.all() else parts[is_present]
    if kept.ndim != len(shape) or not kept.size or kept.size == math.prod(shape):
        return None
    along = [np.moveaxis(at, i, 0).reshape(kept.shape[i], -1) for i, at in enumerate(np.unravel_index(kept, shape))]
    return tuple(at[:, 0] for at in along) if all((at == at[:, :1]).all() for at in along) else None
