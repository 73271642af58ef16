"""Sums over iterations of what each of them can be, for all values of the elements that decide which.

Where those of one kind are next to each other, as the years before a change point, a sum over them is the difference of
two sums over all before.
"""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..arrays.base import Namespace

RUNS = 4  # stretches of one kind, above which differences of sums are not worth it
PARTS = 3  # indices of one element that make up those of several


def sums(xp: Namespace, codes: np.ndarray, groups: np.ndarray, terms: Any) -> Any:
    """The sum over iterations for all values.

    Args:
        codes: the number of the term, from 1, for all values and iterations, (K1, ..., Km, iterations); no two of one
            sum are the same.
        groups: the number of its kind, from 1; terms of one kind have numbers in the order of their iterations.
        terms: an array of all terms, some of which may be -inf.

    Returns:
        An array (K1, ..., Km).
    """
    shape = codes.shape[:-1]
    if not codes.size:
        return np.zeros(shape)
    below, finite = xp.convert((np.zeros(1), terms))
    impossible = xp.where(finite == -xp.inf, 1.0, 0.0)
    finite = xp.where(finite == -xp.inf, 0.0, finite)
    flat_codes, flat_groups = codes.reshape(-1, codes.shape[-1]) - 1, groups.reshape(-1, codes.shape[-1])
    total, never = 0.0, 0.0
    for group in range(1, int(groups.max()) + 1):
        inside = flat_groups == group
        first, last = flat_codes[inside].min(), flat_codes[inside].max() + 1
        member = np.zeros((len(flat_codes), last - first), bool)
        member[np.nonzero(inside)[0], flat_codes[inside] - first] = True
        here = (slice(int(first), int(last)),)
        total += _of_kind(xp, member, shape, xp.get(finite, here))
        never += _of_kind(xp, member, shape, xp.get(impossible, here))
    return xp.where(never > 0.5, -xp.inf, total)


def _of_kind(xp: Namespace, member: np.ndarray, shape: tuple[int, ...], terms: Any) -> Any:
    """The sums of the terms of one kind of which each is the sum of its `member`, (values, terms)."""
    edges = np.diff(np.pad(member, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    if (edges == 1).sum(axis=1).max() > RUNS:
        member, terms = xp.convert((member.astype(float), terms))
        return xp.reshape(xp.matmul(member, terms), shape)
    before = xp.cumsum(xp.concatenate([*xp.convert((np.zeros(1), terms))]), axis=0)
    total: Any = 0.0
    for low, high in _runs(edges):
        there = (low >= 0).reshape(shape)
        ends = [_picked(xp, before, np.where(low >= 0, e, -1).reshape(shape)) for e in (high, low)]
        there, difference = xp.convert((there, ends[0] - ends[1]))
        total = total + xp.where(there, difference, 0.0)
    return total


def _runs(edges: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Where the first stretches of every row begin and end, then the second ones; -1 where a row has no more."""
    number = np.cumsum(edges == 1, axis=1)
    for k in range(1, int(number.max(initial=0)) + 1):
        starts = (edges == 1) & (number == k)
        ends = (edges == -1) & (number == k)
        low = np.where(starts.any(axis=1), starts.argmax(axis=1), -1)
        yield low, np.where(low >= 0, ends.argmax(axis=1), -1)


def _picked(xp: Namespace, x: Any, at: np.ndarray) -> Any:
    """The entries of x at indices of any shape; anything where they are -1.

    Where indices are those of one axis here and those of another there, entries are taken for each axis and spread.
    """
    if at.ndim > 1:
        parts = list(_by_axis(at))
        if parts:
            total = None
            for axis, index, where in parts:
                shape = tuple(-1 if a == axis else 1 for a in range(at.ndim))
                where, one = xp.convert((where, xp.reshape(xp.get(x, (index,)), shape)))
                total = xp.broadcast_to(one, at.shape) if total is None else xp.where(where, one, total)
            return total
    return xp.reshape(xp.get(x, (np.maximum(at, 0).reshape(-1),)), at.shape)


def _by_axis(at: np.ndarray) -> list[tuple[int, np.ndarray, np.ndarray]]:
    """Axes, an index for every place on each, and where it is the one wanted; none where that takes too many."""
    open_ = at >= 0
    found: list[tuple[int, np.ndarray, np.ndarray]] = []
    while open_.any() and len(found) < PARTS:
        options = []
        for axis in range(at.ndim):
            lines = np.moveaxis(np.where(open_, at, -1), axis, 0).reshape(at.shape[axis], -1)
            index = np.array([_most_common(line[line >= 0]) for line in lines])
            hit = at == index.reshape(tuple(-1 if a == axis else 1 for a in range(at.ndim)))
            options.append((int((hit & open_).sum()), axis, index, hit))
        _, axis, index, hit = max(options, key=lambda o: o[0])
        found.append((axis, index, hit))
        open_ = open_ & ~hit
    return [] if open_.any() else found


def _most_common(line: np.ndarray) -> int:
    return int(np.bincount(line).argmax()) if len(line) else 0
