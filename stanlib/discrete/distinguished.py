"""The terms of copies of elements, one for each case, and the values of the elements from those of their copies."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial, reduce
from typing import Any

import numpy as np

from ..arrays.base import Array, Namespace, Real
from . import compounded
from .cases import Cases, Terms
from .problem import Factor, Rows, aligned, permuted, rows, sum_of

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
    column = np.zeros(c.copies.size, int)
    column[c.copies - c.copies.min()] = np.arange(len(c.members))
    return rows(xp, found, column)


def of_single(xp: Namespace, c: Cases, tables: Sequence[Rows]) -> Iterator[Factor]:
    """The terms that are of one copy each, as factors over those: what data tell, and all others together."""
    data, others = np.zeros((c.copies.size, c.kind)), list[Factor]()
    for t in c.single:
        used, codes = _rows_by_case(c, t, tables[t.slot])
        table, copies = _cases_as_rows(xp, c, t, used, tables[t.slot].table), c.copies[:, t.columns[:, 0]].reshape(-1)
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
    given = tables[t.slot]
    used, codes = _rows_by_case(c, t, given)
    split = partial(_cases_as_rows, xp, c, t, used)
    probabilities = None if given.probabilities is None else split(given.probabilities)
    return Rows(split(given.table), codes, probabilities)


def _rows_by_case(c: Cases, t: Terms, given: Rows) -> tuple[np.ndarray, np.ndarray]:
    """The rows of a slot that are used, and the numbers of those split by case, of all places in one case after another
    in the next.
    """
    used, codes = np.unique(given.at(t.rows), return_inverse=True)
    if all(axis >= len(c.sizes) for axis in t.axes):
        return used, np.tile(codes.reshape(-1), c.count)
    return used, (codes.reshape(-1) * c.count + np.arange(c.count)[:, None]).reshape(-1)


def _by_case(xp: Namespace, c: Cases, t: Terms, table: Array) -> Any:
    """Rows of a slot's table, by case where they differ in these: (rows, cases or 1, K) or (rows, cases or 1, K, K)."""
    outer = len(c.sizes)
    table = aligned(xp, table, t.axes, outer + t.columns.shape[1])
    count, sizes = xp.shape(table)[0], xp.shape(table)[1 + outer :]
    if all(axis >= outer for axis in t.axes):
        return xp.reshape(table, (count, 1, *sizes))
    table = xp.broadcast_to(table, (count, *c.sizes, *sizes))
    return xp.reshape(table, (count, c.count, *sizes))


def _cases_as_rows(xp: Namespace, c: Cases, t: Terms, used: np.ndarray, table: Array) -> Any:
    """Some rows of a slot's table, those of one after the other by case."""
    count, cases, *sizes = xp.shape(table := _by_case(xp, c, t, rows(xp, table, used)))
    return xp.reshape(table, (count * cases, *sizes))


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
