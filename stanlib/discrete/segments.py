"""Sums over iterations of what each of them can be, for all values of the elements that decide which.

Where those of one kind are next to each other, as the years before a change point, a sum over them is one of all before
or of all after, or the difference of two sums. For several elements such a sum mostly depends on the value of one at
each of its ends; so tables are put together of sums along single axes.
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays.base import Namespace
from .problem import rows, sum_of

RUNS = 4  # stretches of one kind, above which differences of sums are not worth it
PARTS = 3  # indices of one element that make up those of several
REGIONS = 8  # parts of a table in which all indices are those of one element each


@dataclass(frozen=True)
class _Ends:
    """Where stretches end in an array of sums, (n + 1,): an index for all values, -1 where there is no stretch."""

    sums: Any
    sign: float
    at: np.ndarray


@dataclass(frozen=True)
class _Lines:
    """An index into sums for every place on each of some axes; `which` of them counts for all values, -1 for none."""

    by_axis: tuple[tuple[int, np.ndarray], ...]
    which: np.ndarray


def sums(xp: Namespace, codes: Any, groups: Any, terms: Any) -> Any:
    """The sum over iterations for all values.

    Args:
        codes: the number of the term, from 1, for all values and iterations, (K1, ..., Km, iterations); no two of one
            sum are the same.
        groups: the number of its kind, from 1; terms of one kind have numbers in the order of their iterations.
        terms: an array of all terms, some of which may be -inf.

    Returns:
        An array (K1, ..., Km).
    """
    codes, groups = np.asarray(codes), np.asarray(groups)
    shape = codes.shape[:-1]
    if not codes.size:
        return np.zeros(shape)
    total: Any = np.zeros(())
    ends: list[_Ends] = []
    never: list[_Ends] = []
    for first, member in _kinds(codes.reshape(-1, codes.shape[-1]) - 1, groups.reshape(-1, codes.shape[-1])):
        here = xp.get(terms, (slice(first, first + member.shape[1]),))
        edges = np.diff(np.pad(member, ((0, 0), (1, 1))).astype(np.int8), axis=1)
        if (edges == 1).sum(axis=1).max() > RUNS:
            total = sum_of(xp, total, xp.reshape(_product(xp, member, here), shape))
            continue
        for low, high in _runs(edges):
            _add(xp, here, low.reshape(shape), high.reshape(shape), ends, never)
    if ends:
        total = sum_of(xp, total, _picked(xp, ends))
    if never:
        impossible, total = xp.convert((_picked(xp, never) > 0.5, total))
        total = xp.where(impossible, -xp.inf, total)
    return total


def _kinds(codes: np.ndarray, groups: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """For every kind the first of its terms, and which of them are in the sum for all values, (values, terms)."""
    for group in range(1, int(groups.max()) + 1):
        value, iteration = np.nonzero(groups == group)
        inside = codes[value, iteration]
        first = int(inside.min())
        member = np.zeros((len(codes), int(inside.max()) + 1 - first), bool)
        member[value, inside - first] = True
        yield first, member


def _product(xp: Namespace, member: np.ndarray, terms: Any) -> Any:
    """The sums of the terms that are in them, (values,)."""
    member, terms = xp.convert((member.astype(float), terms))
    never = xp.matmul(member, xp.where(terms == -xp.inf, 1.0, 0.0))
    return xp.where(never > 0.5, -xp.inf, xp.matmul(member, xp.where(terms == -xp.inf, 0.0, terms)))


def _runs(edges: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Where the first stretches of every row begin and end, then the second ones; -1 where a row has no more."""
    number = np.cumsum(edges == 1, axis=1)
    for k in range(1, int(number.max(initial=0)) + 1):
        starts = (edges == 1) & (number == k)
        ends = (edges == -1) & (number == k)
        low = np.where(starts.any(axis=1), starts.argmax(axis=1), -1)
        yield low, np.where(low >= 0, ends.argmax(axis=1), -1)


def _add(
    xp: Namespace, terms: Any, low: np.ndarray, high: np.ndarray, ends: list[_Ends], never: list[_Ends]
) -> None:  # fmt: skip
    """Adds the ends of stretches from low to high, and those in the numbers of terms that are -inf, where they count.

    What is -inf makes all sums from the beginning, or to the end, what it should; a difference of two it makes NaN.
    """
    there, count = low >= 0, xp.shape(terms)[0]
    if (low[there] == 0).all():
        ends.append(_Ends(_before(xp, terms), 1.0, np.where(there, high, 0)))
    elif (high[there] == count).all():
        after = xp.flip(_before(xp, xp.flip(terms, axis=0)), axis=0)
        ends.append(_Ends(after, 1.0, np.where(there, low, count)))
    else:
        finite = _before(xp, xp.where(terms == -xp.inf, 0.0, terms))
        impossible = _before(xp, xp.where(terms == -xp.inf, 1.0, 0.0))
        for sign, at in ((1.0, high), (-1.0, low)):
            ends.append(_Ends(finite, sign, at))
            never.append(_Ends(impossible, sign, at))


def _before(xp: Namespace, terms: Any) -> Any:
    """The sums of all terms before each, and of all."""
    return xp.cumsum(xp.concatenate([*xp.convert((np.zeros(1), terms))]), axis=0)


# --- tables from sums along single axes ------------------------------------------------------------------------------


def _picked(xp: Namespace, ends: Sequence[_Ends]) -> Any:
    """The sum of the entries at all ends, with their signs."""
    shape, total = ends[0].at.shape, np.zeros(())
    lines = [_by_axis(e.at) for e in ends]
    along = [(e, found) for e, found in zip(ends, lines) if found is not None]
    for e, found in zip(ends, lines):
        if found is None:
            one = xp.reshape(xp.get(e.sums, (np.maximum(e.at, 0).reshape(-1),)), shape)
            there, one = xp.convert((e.at >= 0, one))
            total = sum_of(xp, total, xp.where(there, e.sign * one, 0.0))
    if not along:
        return total
    together = np.stack([found.which.reshape(-1) for _, found in along])
    kinds, where = np.unique(together, axis=1, return_inverse=True)
    if kinds.shape[1] > REGIONS:
        for one in along:
            total = sum_of(xp, total, _of_regions(xp, [one], one[1].which.reshape(1, -1), shape))
        return total
    return sum_of(xp, total, _of_regions(xp, along, together, shape))


def _of_regions(
    xp: Namespace, along: Sequence[tuple[_Ends, _Lines]], which: np.ndarray, shape: tuple[int, ...]
) -> Any:  # fmt: skip
    """The sum for all values, from that of each region: where the indices of all ends are by the same axes."""
    kinds, where = np.unique(which, axis=1, return_inverse=True)
    total: Any = None
    for number, kind in enumerate(kinds.T):
        one: Any = np.zeros((1,) * len(shape))
        for (e, found), part in zip(along, kind):
            if part >= 0:
                axis, index = found.by_axis[part]
                line = e.sign * rows(xp, e.sums, index)
                one = sum_of(xp, one, xp.reshape(line, tuple(-1 if a == axis else 1 for a in range(len(shape)))))
        if total is None:
            total = xp.broadcast_to(one, shape)
            continue
        here, one, total = xp.convert(((where == number).reshape(shape), one, total))
        total = xp.where(here, one, total)
    return total


def _by_axis(at: np.ndarray) -> _Lines | None:
    """Indices that are those of one axis here and of another there; none where that takes too many."""
    which = np.full(at.shape, -1)
    found: list[tuple[int, np.ndarray]] = []
    while (left := (at >= 0) & (which < 0)).any():
        if len(found) == PARTS:
            return None
        options = [(axis, *_along(np.where(left, at, -1), axis)) for axis in range(at.ndim)]
        axis, index, shown = max(options, key=lambda o: int(((at == o[2]) & left).sum()))
        which[(at == shown) & left] = len(found)
        found.append((axis, index))
    return _Lines(tuple(found), which)


def _along(at: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray]:
    """The most common index for every place on an axis, and the same as one that goes with `at`; -1 counts nothing."""
    lines = np.moveaxis(at, axis, 0).reshape(at.shape[axis], -1)
    often = np.zeros((len(lines), int(at.max()) + 2), int)
    np.add.at(often, (np.arange(len(lines))[:, None], lines + 1), 1)
    known = often[:, 1:].any(axis=1)
    index = _filled(np.where(known, often[:, 1:].argmax(axis=1), -1), int(at.max()))
    shown = np.where(known, index, -2)
    return index, shown.reshape(tuple(-1 if a == axis else 1 for a in range(at.ndim)))


def _filled(index: np.ndarray, most: int) -> np.ndarray:
    """Indices for places that have none: as if all were evenly spaced, which makes them a slice."""
    known = np.flatnonzero(index >= 0)
    if len(known) == len(index):
        return index
    step = (index[known[-1]] - index[known[0]]) / max(1, known[-1] - known[0])
    even = np.round(index[known[0]] + step * (np.arange(len(index)) - known[0])).astype(int)
    return np.where(index >= 0, index, np.clip(even, 0, most))
