"""The factors of a problem, from what translated code tells of its terms."""
from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..arrays import namespace
from ..arrays.base import Array, Namespace, Real
from ..distributions._terms import log0
from .problem import Factor, Variable, permuted
from .rows import rows

NUMPY = namespace(())
ARGUMENTS = 7  # that describe a term


def places_first(xp: Namespace, table: Array, axes: int, places: int) -> Any:
    """A table whose first axis, not its last ones, is that of the places; of length 1 if it is the same for all."""
    shape = xp.shape(table)
    table = xp.reshape(table, (*shape[:axes], 1 if len(shape) == axes else places))
    return permuted(xp, table, (axes, *range(axes)))


def factors_of(
    xp: Namespace, variables: Sequence[Variable], kinds: np.ndarray, label: str, numbers: Any, widths: Any, table: Any,
    codes: Any, probable: Any, stands: object,
) -> Iterator[Factor]:  # fmt: skip
    """A term as factors whose elements are different and in ascending order at every place.

    The table may be `probable`: it holds probabilities, the logarithms of which are the term. Or it may be known in
    which of its entries the term `stands`, by an axis for each of the table's before that of places, else 0.
    """
    if probable and isinstance(table, np.ndarray):
        table, probable = log0(NUMPY, table), 0
    found = list(_of_term(xp, variables, kinds, label, numbers, widths, table, codes))
    if probable:
        yield from (f.by(xp, f.table) for f in found)
    elif isinstance(stands, np.ndarray) and not isinstance(table, np.ndarray):
        told = list(_of_term(NUMPY, variables, kinds, label, numbers, widths, stands, np.zeros(())))
        yield from map(partial(_standing, xp), found, told) if len(found) == len(told) else found
    else:
        yield from found


def _standing(xp: Namespace, f: Factor, told: Factor) -> Factor:
    """The factor with what is told of its entries, by another one of the same places."""
    if not np.array_equal(f.elements, told.elements) or xp.shape(f.table)[1:] != told.table.shape[1:]:
        return f
    return replace(f, stands_in=(f.table, told.table > 0))


def _of_term(
    xp: Namespace, variables: Sequence[Variable], kinds: np.ndarray, label: str, numbers: object, widths: object,
    table: Array, codes: Array,
) -> Iterator[Factor]:  # fmt: skip
    """The same of a table of a term.

    The places come last in the table, behind the values, where they are long and next to each other in memory.
    `widths` are the numbers of elements on each axis of the table. Places where no term stands have 0 for the numbers
    of their elements; where the term does not read those of an axis they are -1, and it is constant along that axis.
    """
    numbers, widths = np.asarray(numbers, int), np.asarray(widths, int)
    numbers = numbers.reshape(math.prod(numbers.shape[:-1]), numbers.shape[-1])  # of no elements too
    standing = np.flatnonzero((numbers != 0).all(axis=1))
    if not len(standing):
        return
    if np.ndim(codes):
        yield from _of_rows(xp, label, numbers, table, np.asarray(codes, int).reshape(-1) - 1)
        return
    table = places_first(xp, table, len(widths), len(numbers))
    starts = np.cumsum(widths) - widths
    starts, widths_ = starts[widths > 0], widths[widths > 0]
    read = numbers[:, starts] > 0
    for places in _alike(read, standing):
        there = read[places[0]]
        part = xp.get(rows(xp, table, places), _first_where(widths > 0, there))
        columns = np.repeat(there, widths_)
        elements = numbers[places][:, columns] - 1
        kept, part = _spelled_out(xp, part, variables, kinds, elements, widths_[there])
        yield from ascending(xp, label, elements[:, kept], part)


def _of_rows(xp: Namespace, label: str, numbers: np.ndarray, table: Array, codes: np.ndarray) -> Iterator[Factor]:
    """A term with the rows of its table, (K1, ..., Km, rows), at the places."""
    width = numbers.shape[1]
    table = permuted(xp, table, (width, *range(width)))
    if len(codes) == xp.shape(table)[0] and (codes == np.arange(len(codes))).all():
        yield from ascending(xp, label, numbers - 1, table)
    elif isinstance(table, np.ndarray):  # which is looked at place by place
        yield from ascending(xp, label, numbers - 1, table[codes])
    else:
        yield from ascending(xp, label, numbers - 1, table, codes)


def _spelled_out(
    xp: Namespace, table: Array, variables: Sequence[Variable], kinds: np.ndarray, elements: np.ndarray, widths: Real
) -> tuple[np.ndarray, Any]:  # fmt: skip
    """Which elements the table has an axis for, and the table, from one with an axis for `widths` elements together.

    The values of several elements are either all between the least and the greatest of the variable, or, where the
    elements are the same at all places, those within the bounds of each. Then there are zeros for the others, and no
    axes for elements of one value.
    """
    ends = np.cumsum(widths)
    lengths: list[int] = []
    kept = np.ones(int(np.sum(widths)), bool)
    inner: list[tuple[int, int, int]] = []  # an axis that is shorter than its element's, and how much lacks at each end
    for axis, (first, last) in enumerate(zip(ends - widths, ends), start=1):
        several = elements[0, first:last]
        if xp.shape(table)[axis] == math.prod(kinds[several].tolist()):
            lengths += kinds[several].tolist()
            continue
        for column, e in enumerate(several.tolist(), start=first):
            v = next(v for v in reversed(variables) if e >= v.first)
            low, high = (int(b.reshape(-1)[e - v.first]) for b in (v.lower, v.upper))
            kept[column] = high > low
            if high > low:
                lengths.append(high - low + 1)
                inner.append((len(lengths), low - v.least, v.least + v.values - 1 - high))
    table = xp.reshape(table, (xp.shape(table)[0], *lengths))
    for axis, before, after in inner:
        shape = xp.shape(table)
        ends_ = [np.zeros((*shape[:axis], n, *shape[axis + 1 :])) for n in (before, after)]
        table = xp.concatenate([*xp.convert((ends_[0], table, ends_[1]))], axis=axis)
    return kept, table


def _alike(read: np.ndarray, places: np.ndarray) -> Iterator[np.ndarray]:
    """The places, those together that read the same axes."""
    if read[places].all():
        yield places
        return
    patterns, which = np.unique(read[places], axis=0, return_inverse=True)
    for i in range(len(patterns)):
        yield places[which.reshape(-1) == i]


def _first_where(sized: np.ndarray, read: np.ndarray) -> tuple[Any, ...]:
    """An index of a table that takes the first entries of axes that are not read, or that no element belongs to."""
    whole = sized.copy()
    whole[sized] = read
    return (slice(None), *(slice(None) if w else 0 for w in whole))


def ascending(
    xp: Namespace, label: str, elements: np.ndarray, table: Array, codes: np.ndarray | None = None
) -> Iterator[Factor]:  # fmt: skip
    """The factors of places whose elements stand in any order, and may be equal."""
    if elements.shape[1] < 2:
        yield Factor(label, elements, table, codes)
        return
    orders = np.argsort(elements, axis=1, kind="stable")
    ascending = np.take_along_axis(elements, orders, axis=1)
    same = ascending[:, 1:] == ascending[:, :-1]
    patterns, which = np.unique(np.concatenate([orders, same], axis=1), axis=0, return_inverse=True)
    for i, pattern in enumerate(patterns):
        chosen = np.flatnonzero(which.reshape(-1) == i)
        order, equal = pattern[: elements.shape[1]], pattern[elements.shape[1] :].astype(bool)
        part = permuted(xp, table if codes is not None else rows(xp, table, chosen), (0, *(order + 1)))
        keep = np.concatenate([[True], ~equal])
        own = codes[chosen] if codes is not None else None
        yield Factor(label, ascending[chosen][:, keep], _diagonals(xp, part, equal), own)


def _diagonals(xp: Namespace, table: Array, equal: np.ndarray) -> Array:
    """The table where neighbouring axes belong to one element: its diagonal."""
    for axis in reversed(np.flatnonzero(equal)):
        at = np.arange(xp.shape(table)[axis + 1])
        table = xp.get(table, (*(slice(None),) * (axis + 1), at, at))
    return table
