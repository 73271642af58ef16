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
        entries: of those variables that are observed in part, or several numbers at a time, which entries along each
            axis, from 0, none along those of one observation; a variable of which no such thing can be said, as of
            scattered cells of a matrix, is not among them.
    """

    def __init__(self, terms: Mapping[str, np.ndarray], entries: Mapping[str, Entries]):
        super().__init__(terms)
        self.entries = {n: at for n, at in entries.items() if n in terms}


def entries_of(where: object, is_present: np.ndarray, datum: Any) -> Entries | None:
    """The entries of a datum that log densities are of, along each axis; None where they are all, or are not known.

    Those of several numbers each, as of vectors, are of entries along the axes that tell these apart, and of none along
    the others; where it is not known which those are, of entries along as many axes as tell them apart.

    Args:
        where: the positions of each in the datum, laid out flat.
        is_present: which of them there are, in the shape of the log densities: others observe nothing.
        datum: a tuple has no positions.
    """
    if isinstance(datum, tuple) or not isinstance(where, np.ndarray):
        return None
    if where.shape != is_present.shape and (of_vectors := _of_vectors(where, is_present, np.shape(datum))) is not None:
        return of_vectors
    found = cells(where, is_present.shape, np.shape(datum))
    if found is None or where.shape != is_present.shape and len(found[1]) >= np.ndim(datum):  # pieces of a vector
        return None
    parts, shape = found
    kept = parts if is_present.all() else parts[is_present]
    if kept.ndim != len(shape) or not kept.size or kept.size == math.prod(shape):
        return None
    along = [np.moveaxis(at, i, 0).reshape(kept.shape[i], -1) for i, at in enumerate(np.unravel_index(kept, shape))]
    return tuple(at[:, 0] for at in along) if all((at == at[:, :1]).all() for at in along) else None


def _of_vectors(where: np.ndarray, is_present: np.ndarray, shape: tuple[int, ...]) -> Entries | None:
    """The same for log densities of several numbers each, where it shows along which axes of the datum they stand."""
    kept = where if is_present.all() else where[is_present]
    own = is_present.shape if is_present.all() else (len(kept),)
    places = [at.reshape(math.prod(own), -1) for at in np.unravel_index(kept, shape)]
    telling = [i for i, at in enumerate(places) if (at == at[:, :1]).all()]
    if not kept.size or len(telling) != len(own):
        return None
    out = [np.zeros(0, int)] * len(shape)
    for j, i in enumerate(telling):
        along = np.moveaxis(places[i][:, 0].reshape(own), j, 0).reshape(own[j], -1)
        if not (along == along[:, :1]).all():
            return None
        out[i] = along[:, 0]
    return tuple(out)
