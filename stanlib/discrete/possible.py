"""The values that data leave to discrete variables, found before any density.

A table that is made of data alone says which values are impossible: its entry is -inf. Where a factor over several
elements does, what is impossible for one tells of the others, until nothing more follows.
"""
from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..arrays.base import Array, Namespace
from .problem import Factor, Problem, Rows, permuted
from .rows import rows

ROUNDS = 200  # of what follows from what; to stop earlier leaves more values, no wrong ones
LARGE = 10**6  # entries of tables that are not looked at


class Possible:
    """Which values every element may have: `of[kind]`, (elements of that kind, kind), in the rows `at`.

    Elements that are `unknown` count as such whatever they may be.
    """

    unknown: Any = ()

    def __init__(self, problem: Problem):
        self.kinds = problem.kinds
        self.at = np.zeros(len(self.kinds), int)
        self.of: dict[int, np.ndarray] = {}
        for kind in sorted(set(self.kinds.tolist())):
            members = np.flatnonzero(self.kinds == kind)
            self.at[members] = np.arange(len(members))
            allowed = [v.allowed for v in problem.variables if v.lower.size and v.values == kind]
            self.of[kind] = np.concatenate(allowed)
        self._follow([f for f in problem.factors if _excludes(f)])

    @property
    def known(self) -> np.ndarray:
        """The position of every element that has but one possible value; -1 for the others."""
        out = np.full(len(self.kinds), -1)
        for kind, possible in self.of.items():
            out[self.kinds == kind] = np.where(possible.sum(axis=1) == 1, possible.argmax(axis=1), -1)
        out[np.asarray(self.unknown, int)] = -1
        return out

    @property
    def restricted(self) -> np.ndarray:
        """Which elements have a value that is impossible."""
        out = np.zeros(len(self.kinds), bool)
        for kind, possible in self.of.items():
            out[self.kinds == kind] = ~possible.all(axis=1)
        return out

    def _follow(self, factors: Sequence[Factor]) -> None:
        """Exclude values in rounds, at the places of elements that the last round changed, until none changes."""
        changed = np.ones(len(self.kinds), bool)
        for _ in range(ROUNDS):
            before, changed = changed, np.zeros(len(self.kinds), bool)
            for f in factors:
                places = np.flatnonzero(before[f.elements].any(axis=1))
                if len(places):
                    self._exclude(f, places, changed)
            if not changed.any():
                return

    def _exclude(self, f: Factor, places: np.ndarray, changed: np.ndarray) -> None:
        """What is impossible by a factor at some places, given what is possible for its elements."""
        table = np.asarray(f.table)
        feasible = (table if len(table) == 1 else table[places]) > -np.inf
        elements = f.elements[places]
        axes = range(1, feasible.ndim)
        for column in axes:
            possible = self._of_column(elements[:, column - 1])
            feasible = feasible & possible.reshape(len(places), *(-1 if a == column else 1 for a in axes))
        for column in axes:
            mine, left = elements[:, column - 1], feasible.any(axis=tuple(a for a in axes if a != column))
            kind, before = int(self.kinds[mine[0]]), self._of_column(mine)
            np.logical_and.at(self.of[kind], self.at[mine], left)
            changed[mine[(before & ~left).any(axis=1)]] = True

    def _of_column(self, elements: np.ndarray) -> np.ndarray:
        values: np.ndarray = self.of[int(self.kinds[elements[0]])][self.at[elements]]
        return values


def _excludes(f: Factor) -> bool:
    known = isinstance(f.table, np.ndarray) and f.elements.shape[1] > 0 and f.table.size <= LARGE
    return known and bool((f.table == -np.inf).any())


def left_possible(f: Factor) -> Rows | None:
    """Which entries of a factor's table data leave, if they exclude any."""
    return Rows(f.table > -np.inf, f.codes) if _excludes(f) else None


def conditioned(xp: Namespace, factors: Sequence[Factor], possible: Possible) -> Iterator[Factor]:
    """The factors without the elements that have but one possible value."""
    known = possible.known
    single = [_once(xp, f) for f in factors if f.elements.shape[1] == 1]
    for f in _together(xp, single) if (known >= 0).any() else single:
        yield from _of_single(xp, f, known[f.elements[:, 0]])
    for f in factors:
        values = known[f.elements]
        if f.elements.shape[1] > 1 and (values >= 0).any():
            yield from _of_several(xp, f, values)
        elif f.elements.shape[1] != 1:
            yield f


def _together(xp: Namespace, factors: Sequence[Factor]) -> Iterator[Factor]:
    """The factors, as one those of the same single elements that are not known: to take rows out of it costs."""
    groups: dict[Any, list[Factor]] = {}
    for i, f in enumerate(factors):
        apart = isinstance(f.table, np.ndarray) or xp.shape(f.table)[0] == 1 or f.codes is not None
        groups.setdefault(i if apart else f.elements.tobytes(), []).append(f)
    for first, *others in groups.values():
        yield replace(first, table=sum((f.table for f in others), first.table))


def _of_single(xp: Namespace, f: Factor, known: np.ndarray) -> Iterator[Factor]:
    """The sum of the terms of known elements, and the terms of the others."""
    others = np.flatnonzero(known < 0)
    if len(others) < len(known):
        total = at_known(xp, f.table, known) if f.codes is None else _at_codes(xp, f.table, f.codes, known)
        yield replace(f, elements=f.elements[:1, :0], table=xp.reshape(total, (1,)), codes=None)
    if f.codes is not None:
        if len(others):
            yield replace(f, elements=f.elements[others], codes=f.codes[others])
    elif len(others):
        table = f.table
        if 1 < xp.shape(table)[0] > len(others):  # along the axis on which places stand next to each other
            table = xp.swapaxes(xp.get(xp.swapaxes(table, 0, 1), (slice(None), others)), 0, 1)
        yield replace(f, elements=f.elements[others], table=table)


def _once(xp: Namespace, f: Factor) -> Factor:
    """The factor with the sums of the terms of every element, where all stand equally often and in one order."""
    elements, size = f.elements[:, 0], len(np.unique(f.elements))
    times, axes = len(elements) // size, xp.shape(f.table)[1:]
    if f.codes is not None or xp.shape(f.table)[0] == 1 or times == 1 or len(elements) % size:
        return f
    if (elements == np.repeat(elements[::times], times)).all():
        table, kept = xp.sum(xp.reshape(f.table, (size, times, *axes)), axis=1), slice(None, None, times)
    elif (elements == np.tile(elements[:size], times)).all():
        table, kept = xp.sum(xp.reshape(f.table, (times, size, *axes)), axis=0), slice(size)
    else:
        return f
    return replace(f, elements=f.elements[kept], table=table)


def _at_codes(xp: Namespace, table: Array, codes: np.ndarray, known: np.ndarray) -> Any:
    """The sum of the entries of a table, (rows, K), at the rows of places and their known positions."""
    often = np.zeros(xp.shape(table))
    np.add.at(often, (codes[known >= 0], known[known >= 0]), 1.0)
    there, often, table = xp.convert((often > 0, often, table))
    return xp.sum(xp.where(there, table, 0.0) * often)


def at_known(xp: Namespace, table: Any, known: np.ndarray) -> Any:
    """The sum of the entries at known positions, by masks, whose derivatives need no indices; -1 is where none is."""
    if xp.shape(table)[0] == 1:
        often = np.bincount(known[known >= 0], minlength=xp.shape(table)[1])
        often, row = xp.convert((often, table[0]))
        return xp.sum(xp.where(often > 0, row, 0.0) * often)
    different = np.unique(known[known >= 0])
    if len(different) == 1:
        table, chosen = xp.get(table, (slice(None), int(different[0]))), known >= 0
    else:
        chosen = known[:, None] == np.arange(xp.shape(table)[1])
    chosen, table = xp.convert((chosen, table))
    return xp.sum(xp.where(chosen, table, 0.0))


def _of_several(xp: Namespace, f: Factor, values: np.ndarray) -> Iterator[Factor]:
    """The factor where all of its elements are known, as one sum, and where some or none are."""
    patterns, which = np.unique(values >= 0, axis=0, return_inverse=True)
    for i, known in enumerate(patterns):
        places = np.flatnonzero(which.reshape(-1) == i)
        if known.all():
            sizes = xp.shape(f.table)[1:]
            at = np.full(len(values), -1)
            at[places] = np.ravel_multi_index(tuple(values[places].T), sizes)
            flat = xp.reshape(f.table, (xp.shape(f.table)[0], math.prod(sizes)))
            total = at_known(xp, flat, at) if f.codes is None else _at_codes(xp, flat, f.codes, at)
            yield replace(f, elements=f.elements[:1, :0], table=xp.reshape(total, (1,)), codes=None)
        elif f.codes is not None:
            told = np.column_stack([f.codes[places], values[places][:, known]])
            different, codes = np.unique(told, axis=0, return_inverse=True)
            found = f.changed(xp, partial(_at, places=different[:, 0], known=known, values=different[:, 1:]))
            codes = codes.reshape(-1) if xp.shape(found.table)[0] > 1 else np.zeros(len(places), int)
            yield replace(found, elements=f.elements[places][:, ~known], codes=codes)
        else:
            entries = partial(_at, places=places, known=known, values=values[places][:, known])
            yield f.changed(xp, entries, elements=f.elements[places][:, ~known])


def _at(xp: Namespace, table: Array, places: np.ndarray, known: np.ndarray, values: np.ndarray) -> Any:
    """Rows of the table at the positions `values`, (rows, axes that are known), of those of its axes."""
    if not known.any():
        return rows(xp, table, places)
    first = [0, *(np.flatnonzero(known) + 1), *(np.flatnonzero(~known) + 1)]
    table = permuted(xp, table, first)
    if (values == values[0]).all():
        return rows(xp, xp.get(table, (slice(None), *(int(v) for v in values[0]))), places)
    row = places if xp.shape(table)[0] > 1 else np.zeros(len(values), int)
    sizes = xp.shape(table)[: 1 + values.shape[1]]
    at = np.ravel_multi_index((row, *values.T), sizes)
    return rows(xp, xp.reshape(table, (math.prod(sizes), *xp.shape(table)[len(sizes) :])), at)
