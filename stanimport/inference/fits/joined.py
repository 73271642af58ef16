"""Log densities of several statements that observe one variable of the data, as one array."""
from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from stanlib.absent import NOTHING

from ..density.posterior import Posterior
from .axes import cells
from .positions import variable_of

Places = Mapping[str, np.ndarray | str]


def joined(
    every: Mapping[str, np.ndarray], places: Places, posterior: Posterior
) -> tuple[dict[str, np.ndarray], Places]:  # fmt: skip
    """Log densities of several statements that observe one variable part by part, or each in other iterations, as one.

    Those of statements that observe the same numbers, or of which it is not known where they stand, stay apart. Beside
    them, the positions of what they are of.
    """
    out, where, sites = dict(every), dict(places), dict[str, list[str]]()
    for name in every:
        sites.setdefault(variable_of(name, posterior.program), []).append(name)
    for variable, (first, *others) in sites.items():
        mine = {n: every[n] for n in (first, *others)}
        whole = _whole(mine, places, posterior.inputs.get(variable)) if others else None
        if whole is not None:
            out = {n: whole[0] if n == first else v for n, v in out.items() if n not in others}
            where = {n: w for n, w in where.items() if n not in mine} | {first: whole[1]}
    return out, where


def _whole(
    terms: Mapping[str, np.ndarray], places: Places, datum: object
) -> tuple[np.ndarray, np.ndarray | str] | None:
    """Those of one variable as one array, and where they stand, None where they are no parts of one."""
    shape = () if isinstance(datum, tuple) else np.shape(np.asarray(datum))  # parts of tuples have no places
    known = {n: w for n in terms if (w := cells(places.get(n), terms[n].shape[2:], shape)) is not None}
    if len(known) == len(terms) and len({heads for _, heads in known.values()}) == 1:
        made = _by_places(terms, places, {n: w for n, (w, _) in known.items()}, next(iter(known.values()))[1])
        if made is not None:
            return made
    first, *others = terms.values()
    if any(v.shape != first.shape for v in others):
        return None
    present = np.array([v != NOTHING for v in terms.values()])
    if not first.size or (present.sum(axis=0) > 1).any() or present[0].all():
        return None
    return np.select(list(present), list(terms.values()), NOTHING), ""


def _by_places(
    terms: Mapping[str, np.ndarray], places: Places, rows: Mapping[str, np.ndarray], shape: tuple[int, ...]
) -> tuple[np.ndarray, np.ndarray] | None:
    """Log densities (chains, draws, ...) of parts, and their positions; in rows and columns if they are of such.

    None where a part or a draw has one of them twice.

    Args:
        terms, places: of each part.
        rows: which of the rows of the datum each log density is of.
        shape: of all rows.
    """
    if any(np.unique(at).size < at.size for at in rows.values()):
        return None
    head, size = next(iter(terms.values())).shape[:2], math.prod(shape)
    flat, numbers = np.full((*head, size), NOTHING), dict[int, np.ndarray]()
    for name, at in rows.items():
        new, own = terms[name].reshape(*head, at.size), at.ravel()
        if ((flat[..., own] != NOTHING) & (new != NOTHING)).any():
            return None
        flat[..., own] = np.where(new == NOTHING, flat[..., own], new)
        numbers |= zip(own.tolist(), np.asarray(places[name]).reshape(at.size, -1))
    event = np.asarray(places[next(iter(terms))]).shape[terms[next(iter(terms))].ndim - 2 :]
    observed = np.unique(np.concatenate([at.ravel() for at in rows.values()]))
    grid = _grid(observed, shape)
    where = np.stack([numbers[k] for k in observed.tolist()]).reshape(*grid, *event)
    return flat[..., observed].reshape(*head, *grid), where


def _grid(observed: np.ndarray, shape: tuple[int, ...]) -> tuple[int, ...]:
    """How many entries along each axis positions of a shape are all of; the number of positions, if of no such."""
    sizes = tuple(np.unique(at).size for at in np.unravel_index(observed, shape))
    return sizes if math.prod(sizes) == observed.size else (observed.size,)
