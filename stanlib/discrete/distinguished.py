"""The terms of copies of elements, one for each case, and the values of the elements from those of their copies."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial, reduce
from typing import Any

import numpy as np

from ..arrays import namespace
from ..arrays.base import Array, Namespace, Real
from . import compounded
from .cases import Cases, Terms
from .problem import Factor, Rows, aligned, permuted, sum_of
from .rows import rows

NUMPY = namespace(())
OfElements = Callable[[np.ndarray], Any]  # the terms of elements of one kind, (n, K)


def single(xp: Namespace, c: Cases, of_elements: OfElements) -> Any:
    """The terms of single elements, (copies, K), in the order of the copies' numbers.

    Args:
        of_elements: the terms of elements of one kind, (n, K).
    """
    found = of_elements(c.members)
    places = np.diff(c.copies[0]) != 1
    size = int(np.flatnonzero(places)[0]) + 1 if places.any() else len(c.members)
    if len(c.members) % size == 0 and places.sum() == len(c.members) // size - 1:  # chains of one length
        found = xp.reshape(found, (-1, 1, size, c.kind))
        found = xp.broadcast_to(found, (len(c.members) // size, c.count, size, c.kind))
        return xp.reshape(found, (c.copies.size, c.kind))
    return rows(xp, found, columns(c))


def columns(c: Cases) -> np.ndarray:
    """The column of the member that every copy is of, in the order of the copies' numbers."""
    found = np.zeros(c.copies.size, int)
    found[c.copies - c.copies.min()] = np.arange(len(c.members))
    return found


def of_single(xp: Namespace, c: Cases, tables: Sequence[Rows]) -> Iterator[Factor]:
    """The terms that are of one copy each, as factors over those: what data tell, and all others together."""
    data, others = np.zeros((c.copies.size, c.kind)), list[Factor]()
    for t in c.single:
        used, codes = np.unique(tables[t.slot].at(t.rows), return_inverse=True)
        cases = _standing(c, t, used, tables[t.slot])
        if not len(cases):
            continue
        table, codes = _cases_as_rows(xp, c, t, used, tables[t.slot].table, cases), _by_row(c, t, codes, cases)
        copies = c.copies[np.ix_(cases, t.columns[:, 0])].reshape(-1)
        if isinstance(table, np.ndarray):
            np.add.at(data, copies - c.copies.min(), table[codes])
        else:
            others.append(Factor("", copies[:, None], table, codes))
    if data.any():
        yield Factor("", c.copies.min() + np.arange(c.copies.size)[:, None], data)
    if others:
        yield compounded.together(xp, others)


def of_links(xp: Namespace, c: Cases, t: Terms, tables: Sequence[Rows]) -> Rows:
    """Those of two, a row for each that the slot has and for each case."""
    given, cases = tables[t.slot], np.arange(c.count)
    used, codes = np.unique(given.at(t.rows), return_inverse=True)
    split = partial(_cases_as_rows, xp, c, t, used, cases=cases)
    probabilities = None if given.probabilities is None else split(given.probabilities)
    return Rows(split(given.table), _by_row(c, t, codes, cases), probabilities)


def _are_split(c: Cases, t: Terms) -> bool:
    """Whether terms differ by case."""
    return any(axis < len(c.sizes) for axis in t.axes)


def _standing(c: Cases, t: Terms, used: np.ndarray, given: Rows) -> np.ndarray:
    """The numbers of the cases in which terms are not known to be 0, whatever the elements of chains are."""
    if given.stands is None or not _are_split(c, t):
        return np.arange(c.count)
    there = _by_case(NUMPY, c, t, rows(NUMPY, given.stands, used))
    return np.flatnonzero(there.swapaxes(0, 1).reshape(c.count, -1).any(axis=1))


def _by_row(c: Cases, t: Terms, codes: np.ndarray, cases: np.ndarray) -> np.ndarray:
    """The numbers of rows that are split by case, at all places in one of some cases after another in the next."""
    codes = codes.reshape(-1)
    if not _are_split(c, t):
        return np.tile(codes, len(cases))
    return (codes * len(cases) + np.arange(len(cases))[:, None]).reshape(-1)


def _by_case(xp: Namespace, c: Cases, t: Terms, table: Array) -> Any:
    """Rows of a slot's table, by case where they differ in these: (rows, cases or 1, K) or (rows, cases or 1, K, K)."""
    outer = len(c.sizes)
    table = aligned(xp, table, t.axes, outer + t.columns.shape[1])
    count, sizes = xp.shape(table)[0], xp.shape(table)[1 + outer :]
    if not _are_split(c, t):
        return xp.reshape(table, (count, 1, *sizes))
    table = xp.broadcast_to(table, (count, *c.sizes, *sizes))
    return xp.reshape(table, (count, c.count, *sizes))


def _cases_as_rows(xp: Namespace, c: Cases, t: Terms, used: np.ndarray, table: Array, cases: np.ndarray) -> Any:
    """Some rows of a slot's table, those of one after the other by case, of some cases."""
    table = _by_case(xp, c, t, rows(xp, table, used))
    if len(cases) < c.count:
        table = xp.swapaxes(rows(xp, xp.swapaxes(table, 0, 1), cases), 0, 1)
    count, split, *sizes = xp.shape(table)
    return xp.reshape(table, (count * split, *sizes))


def own(xp: Namespace, c: Cases, ends: np.ndarray, of_elements: OfElements) -> Any:
    """The terms of the elements around chains alone, `ends`, in every case: (cases, chains)."""
    count = len(c.sizes)
    parts = [aligned(xp, of_elements(around), (axis,), count) for axis, around in enumerate(ends.T)]
    total = reduce(lambda a, b: sum_of(xp, a, b), parts)
    return xp.swapaxes(xp.reshape(xp.broadcast_to(total, (len(ends), *c.sizes)), (len(ends), c.count)), 0, 1)


def of_around(xp: Namespace, c: Cases, sums: Array) -> Any:
    """The sums of chains, all of one case after those of another, as terms of those around each, (n, K1, ..., Kq)."""
    table = xp.reshape(sums, (*c.sizes, -1))
    return permuted(xp, table, (len(c.sizes), *range(len(c.sizes))))


def with_members(xp: Namespace, c: Cases, values: Real) -> Any:
    """The positions of all elements, with those of members from the copies in the case that is given."""
    case: Any = np.zeros(len(c.members), int)
    for size, around in zip(c.sizes, c.around.T):
        case, here = xp.convert((case, xp.get(values, (around,))))
        case = case * size + here
    copies, values = xp.convert((c.copies, values))
    at = xp.get(copies, (case, np.arange(len(c.members))))
    return xp.at_set(values, c.members, xp.get(values, (at,)))
