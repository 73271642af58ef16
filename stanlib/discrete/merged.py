"""Elements that nothing tells apart: all factors have the same rows for them, and for those that they are coupled with.

One of them is summed out for all. So do the sites where nothing was seen, the items that all raters judge alike, and
the animals that were last seen on one occasion.
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..arrays.base import Array, Namespace, Real
from ..closeness import is_double
from .problem import Factor, rows_alike
from .rows import rows

FEW = 0.5  # classes among elements that are worth it,
FEW_COMPONENTS = 0.8  # and among components
FEW_ROWS, FEW_TERMS = 4, 1024  # of a table, or of all sums of a product, for which it is no call of a library
PADDED = 2  # places, with those that are empty, for each one of an element
GATHERED = 9  # rows of a table below which a product with counts costs less than to take them at an element's place


def spelled_out(xp: Namespace, f: Factor) -> Factor:
    """The factor with a row for every place, or every element; one of several elements as it is."""
    if f.codes is None or f.elements.shape[1] > 1:
        return f
    count = xp.shape(f.table)[0]
    if count == 1:
        return replace(f, codes=None)
    if not f.elements.shape[1]:
        return replace(f, table=xp.get(f.table, (f.codes,)), codes=None)
    elements, where = np.unique(f.elements[:, 0], return_inverse=True)
    if count >= GATHERED * len(f.codes) / len(elements):
        return _gathered(xp, f, elements, where.reshape(-1))
    often = np.zeros((count, len(elements)))
    np.add.at(often, (f.codes, where), 1.0)
    return Factor(f.label, elements[:, None], _sums(xp, f.table, often))


def _gathered(xp: Namespace, f: Factor, elements: np.ndarray, where: np.ndarray) -> Factor:
    """The factor with the row of every place; with one for every element, if nearly all stand equally often.

    Args:
        elements: those of the factor, without repetition.
        where: the number of the element of each place among these.
    """
    assert f.codes is not None
    times = int(np.bincount(where).max())
    order = np.argsort(where, kind="stable")
    if times == 1:  # in the elements' order, in which their terms stand
        return Factor(f.label, elements[:, None], xp.get(f.table, (f.codes[order],)))
    if times * len(elements) > PADDED * len(where):
        return replace(f, table=xp.get(f.table, (f.codes,)), codes=None)
    here = where[order]
    at = np.full((times, len(elements)), -1)
    at[np.arange(len(here)) - np.searchsorted(here, here), here] = f.codes[order]
    found = xp.rearranged(f.table, at.reshape(-1))
    table = xp.sum(xp.reshape(found, (*at.shape, *xp.shape(f.table)[1:])), axis=0)
    return Factor(f.label, elements[:, None], table)


def _sums(xp: Namespace, table: Array, often: np.ndarray) -> Any:
    """The sum of rows of a table, (rows, K), as often as each counts for an element, (rows, n); (n, K)."""
    least = -1e300 if is_double(xp, table) else -1e30  # in place of -inf, which no 0 may be multiplied with
    often, table = xp.convert((often, xp.swapaxes(table, 0, 1)))
    count, kind = xp.shape(often), xp.shape(table)[0]
    few = count[0] <= FEW_ROWS or kind * count[0] * count[1] <= FEW_TERMS
    sums = (_by_terms if few else _product)(xp, xp.maximum(table, least), often)
    return xp.swapaxes(xp.where(sums > 0.5 * least, sums, -xp.inf), 0, 1)


def _product(xp: Namespace, a: Real, b: Real) -> Any:
    return xp.matmul(a, b)


def _by_terms(xp: Namespace, a: Real, b: Real) -> Any:
    """The product of matrices as a sum of few terms, which XLA computes with what stands around it."""
    return xp.sum(xp.reshape(a, (*xp.shape(a), 1)) * b, axis=1)


def _coupled(count: int, factors: Sequence[Factor]) -> np.ndarray:
    """Which elements stand in factors with others."""
    coupled = np.zeros(count, bool)
    for f in factors:
        coupled[f.elements.reshape(-1)] |= f.elements.shape[1] > 1
    return coupled


def representatives(kinds: np.ndarray, possible: dict[int, np.ndarray], known: np.ndarray,
                    factors: Sequence[Factor], components: bool) -> np.ndarray:  # fmt: skip
    """For every element the one that is summed out for it, which for most is itself.

    Args:
        possible: by length of axes, which values the elements of that kind may have.
        known: -1 for elements that are summed out.
        components: whether elements that are coupled with others may stand for others too.
    """
    out = np.arange(len(kinds))
    if all(f.codes is None for f in factors):
        return out
    coupled, singles = _coupled(len(kinds), factors), [f for f in factors if f.elements.shape[1] == 1]
    told = np.full(len(kinds), -1)  # the same for coupled elements whose own terms and values are
    for kind, allowed in possible.items():
        members = np.flatnonzero(kinds == kind)
        for which in (~coupled, coupled)[: 1 + components]:
            of_these = (known[members] < 0) & which[members]
            here = members[of_these]
            if not len(here):
                continue
            found = alike(here, allowed[of_these], len(kinds), singles)
            if which is coupled:
                told[here] = found
            elif len(np.unique(found)) <= FEW * len(here):
                out[here] = found
    if (told >= 0).any():
        _merge_components(out, told, [f for f in factors if f.elements.shape[1] > 1])
    return out


def alike(here: np.ndarray, allowed: np.ndarray, size: int, singles: Sequence[Factor]) -> np.ndarray:
    """For every element `here` the first one whose values, `allowed`, and terms of its own are the same."""
    columns = [allowed, *_columns(here, size, singles)]
    all_ = np.concatenate([np.asarray(c, float).reshape(len(here), -1) for c in columns], axis=1)
    _, first, classes = np.unique(all_, axis=0, return_index=True, return_inverse=True)
    found: np.ndarray = here[first[classes.reshape(-1)]]
    return found


def _merge_components(out: np.ndarray, told: np.ndarray, factors: Sequence[Factor]) -> None:
    """Sets the representatives of coupled elements, where two components differ in nothing but their numbers.

    `told` has the same number for elements whose own terms are alike, and -1 for those that are not coupled.
    """
    component = components(len(told), [f.elements for f in factors])
    inside = np.flatnonzero(told >= 0)
    inside = inside[np.argsort(component[inside], kind="stable")]
    starts = np.flatnonzero(np.diff(component[inside], prepend=-1))
    place = np.zeros(len(told), int)  # of an element among those of its component
    place[inside] = np.arange(len(inside)) - np.repeat(starts, np.diff(starts, append=len(inside)))
    width = max(f.elements.shape[1] for f in factors)
    places = [_places(i, f, place, width) for i, f in enumerate(factors)]
    where = np.concatenate([component[f.elements[:, 0]] for f in factors])
    all_ = np.concatenate(places)
    order = np.lexsort((*all_.T[::-1], where))
    ends = np.searchsorted(where[order], component[inside[starts]], side="right")
    all_, first = all_[order], 0
    seen: dict[tuple[bytes, bytes], np.ndarray] = {}
    groups = np.split(inside, starts[1:])
    found = out.copy()
    for members, end in zip(groups, ends):
        found[members] = seen.setdefault((told[members].tobytes(), all_[first:end].tobytes()), members)
        first = end
    if len(seen) <= FEW_COMPONENTS * len(groups):
        out[:] = found


def _places(number: int, f: Factor, place: np.ndarray, width: int) -> np.ndarray:
    """What tells the places of a factor apart: its number, their rows, and the places of their elements; -1 is none."""
    out = np.full((len(f.elements), 2 + width), -1)
    out[:, 0], out[:, 1] = number, rows_alike(f)
    out[:, 2 : 2 + f.elements.shape[1]] = place[f.elements]
    return out


def components(size: int, scopes: Iterable[np.ndarray]) -> np.ndarray:
    """The least number of an element in its component, for every element; rows of scopes, (n, m), stand together."""
    out = np.arange(size)
    pairs = [scope[:, [0, i]] for scope in scopes for i in range(1, scope.shape[1])]
    a, b = np.concatenate([np.zeros((0, 2), int), *pairs]).T
    while True:
        least = np.minimum(out[a], out[b])
        if (out[a] == out[b]).all():
            return out
        np.minimum.at(out, out[a], least)
        np.minimum.at(out, out[b], least)
        while (out[out] != out).any():
            out = out[out]


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
        if f.elements.shape[1] < 1 or not is_copy[f.elements[:, 0]].any():
            yield f
            continue
        kept = np.flatnonzero(~is_copy[f.elements[:, 0]])
        if f.codes is not None:
            yield replace(f, elements=f.elements[kept], codes=f.codes[kept])
        else:
            yield f.changed(xp, partial(rows, index=kept), elements=f.elements[kept])
