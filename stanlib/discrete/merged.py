"""Elements that nothing tells apart: no factor couples them with others, and all factors have the same rows for them.

One of them is summed out for all. So do the sites where nothing was seen, or the items that all raters judge alike.
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..arrays.base import Namespace
from .problem import Factor, rows

FEW = 0.5  # classes among elements that are worth it
GATHERED = 9  # rows of a table below which a product with counts costs less than to take them at an element's place


def spelled_out(xp: Namespace, f: Factor) -> Factor:
    """The factor with a row for every place, or every element."""
    if f.codes is None:
        return f
    count = xp.shape(f.table)[0]
    if count == 1:
        return replace(f, codes=None)
    elements, where = np.unique(f.elements[:, 0], return_inverse=True)
    if count >= GATHERED * len(f.codes) / len(elements):
        return replace(f, table=xp.get(f.table, (f.codes,)), codes=None)
    often = np.zeros((count, len(elements)))
    np.add.at(often, (f.codes, where), 1.0)
    return Factor(f.label, elements[:, None], _sums(xp, f.table, often))


def _sums(xp: Namespace, table: Any, often: np.ndarray) -> Any:
    """The sum of rows of a table, (rows, K), as often as each counts for an element, (rows, n); (n, K)."""
    often, table = xp.convert((often, xp.swapaxes(table, 0, 1)))
    finite = table > -xp.inf
    sums = xp.matmul(xp.where(finite, table, 0.0), often)
    none = xp.matmul(xp.where(finite, 0.0, 1.0), often) > 0.0
    return xp.swapaxes(xp.where(none, -xp.inf, sums), 0, 1)


def representatives(kinds: np.ndarray, possible: dict[int, np.ndarray], known: np.ndarray,
                    factors: Sequence[Factor]) -> np.ndarray:  # fmt: skip
    """For every element the one that is summed out for it, which for most is itself.

    Args:
        possible: by length of axes, which values the elements of that kind may have.
        known: -1 for elements that are summed out.
    """
    out = np.arange(len(kinds))
    if all(f.codes is None for f in factors):
        return out
    coupled = np.zeros(len(kinds), bool)
    for f in factors:
        coupled[f.elements.reshape(-1)] |= f.elements.shape[1] > 1
    for kind, allowed in possible.items():
        members = np.flatnonzero(kinds == kind)
        alone = (known[members] < 0) & ~coupled[members]
        here = members[alone]
        if not len(here):
            continue
        columns = [allowed[alone], *_columns(here, len(kinds), factors)]
        told = np.concatenate([np.asarray(c, float).reshape(len(here), -1) for c in columns], axis=1)
        _, first, which = np.unique(told, axis=0, return_index=True, return_inverse=True)
        if len(first) <= FEW * len(here):
            out[here] = here[first[which.reshape(-1)]]
    return out


def _columns(here: np.ndarray, size: int, factors: Sequence[Factor]) -> Iterator[np.ndarray]:
    """What tells the elements `here` apart: numbers, (elements,) or (elements, n), one array for every factor."""
    at = np.full(size, -1)
    at[here] = np.arange(len(here))
    for f in factors:
        mine = at[f.elements[:, 0]] if f.elements.shape[1] == 1 else np.full(len(f.elements), -1)
        places = np.flatnonzero(mine >= 0)
        if not len(places):
            continue
        if f.codes is not None:
            often = np.zeros((len(here), int(f.codes.max()) + 1))
            np.add.at(often, (mine[places], f.codes[places]), 1.0)
            yield often if often.shape[1] > 1 else often[:, 0]
        elif len(f.table) == 1:
            yield np.bincount(mine[places], minlength=len(here))
        elif isinstance(f.table, np.ndarray):
            sums = np.zeros((len(here), f.table.shape[1]))
            np.add.at(sums, mine[places], f.table[places])
            yield sums
        else:
            yield np.where(np.isin(here, f.elements[places, 0]), here, -1)


def without_copies(xp: Namespace, factors: Sequence[Factor], stands_for: np.ndarray) -> Iterator[Factor]:
    """The factors without the elements that others are summed out for."""
    is_copy = stands_for != np.arange(len(stands_for))
    for f in factors:
        if f.elements.shape[1] != 1 or not is_copy[f.elements[:, 0]].any():
            yield f
            continue
        kept = np.flatnonzero(~is_copy[f.elements[:, 0]])
        if f.codes is not None:
            yield replace(f, elements=f.elements[kept], codes=f.codes[kept])
        else:
            yield replace(f, elements=f.elements[kept], table=rows(xp, f.table, kept))
