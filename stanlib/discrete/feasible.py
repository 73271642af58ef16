"""Which values of tallies can go together, and with those of elements beside them: what else a term says has no part.

    z[t] ~ bernoulli(phi * z[t - 1] + (1 - ever[t]) * gamma);      // ever: whether one of z[1], ..., z[t - 1] is 1

has no meaning where z[t - 1] is 1 and ever is 0, which can't be. So is it with values that a tally has not at all, as 1
for what is counted by twos.
"""
from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..arrays.base import Namespace
from ..dataclass import dataclass
from .problem import Variable, variables_of
from .tallies import Tally, read, together

_Key = tuple[Any, ...]


def patterns(xp: Namespace, elements: object, arguments: Sequence[Any]) -> tuple[np.ndarray, np.ndarray]:
    """The number from 1 of the pattern of every place, and by pattern which values are possible: (K1, ..., patterns).

    Args:
        elements: the numbers of the elements of every place, (..., m), of which some are tallies.
        arguments: the variables and the tallies, as those of the sum.
    """
    count = int(arguments[0])
    variables = tuple(variables_of(arguments[1 : 1 + 4 * count]))
    size, rest = sum(v.lower.size for v in variables), arguments[1 + 4 * count :]
    counted, tallies, _ = read(xp, variables, rest, size)
    return _Places((*variables, *counted), tallies).patterns(np.asarray(elements, int))


@dataclass(frozen=True)
class _Axis:
    """An axis of a table: its length, which member it is, -1 if none; or the tally, with members by number."""

    size: int
    member: int = -1
    how: str = ""
    first: int = 0  # where a tally stands on its axis before anything is counted
    amounts: tuple[tuple[int, tuple[int, ...]], ...] = ()


class _Places:
    def __init__(self, variables: Sequence[Variable], tallies: Sequence[Tally]):
        self.of: Mapping[int, Tally] = {t.element: t for t in tallies}
        self.variable = [v for v in variables for _ in range(v.lower.size)]
        self.allowed: list[tuple[int, ...]] = [
            tuple(np.flatnonzero(row).tolist()) for v in variables for row in v.allowed
        ]

    def patterns(self, elements: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """See above."""
        rows = elements.reshape(math.prod(elements.shape[:-1]), elements.shape[-1])
        self.sizes = [self.variable[max(int(column.max(initial=1)), 1) - 1].values for column in rows.T]
        codes, numbers = np.ones(len(rows), int), dict[_Key, int]()
        for i, row in enumerate(rows.tolist()):
            if 0 not in row:
                codes[i] = numbers.setdefault(self._key(row), len(numbers) + 1)
        found = [_possible(axes, allowed) for axes, allowed in numbers]
        shape = elements.shape[:-1]
        return codes.reshape(shape), np.stack(found, axis=-1) if found else np.zeros((1,) * (rows.shape[1] + 1), int)

    def _key(self, row: Sequence[int]) -> _Key:
        """What the axes of a place are, and which values its members can have; one that is not read is any member."""
        label: dict[int, int] = {}
        axes = []
        for column, (e, size) in enumerate(zip((n - 1 for n in row), self.sizes)):
            tally = self.of.get(e)
            if e < 0:
                axes.append(_Axis(size, label.setdefault(-1 - column, len(label))))
                continue
            if tally is None:
                axes.append(_Axis(size, label.setdefault(e, len(label))))
                continue
            parts = tuple((label.setdefault(m, len(label)), a) for m, a in zip(tally.members, tally.amounts))
            axes.append(_Axis(size, -1, tally.how, tally.start - self.variable[e].least, parts))
        every = ((self.allowed[m] if m >= 0 else tuple(range(self.sizes[-1 - m]))) for m in label)
        return tuple(axes), tuple(every)


def _possible(axes: Sequence[_Axis], allowed: Sequence[tuple[int, ...]]) -> np.ndarray:
    """1 for the values of axes that go together, 0 for others."""
    out = np.zeros(tuple(a.size for a in axes), int)
    for at in _reached(axes, allowed):
        out[at] = 1
    return out


def _reached(axes: Sequence[_Axis], allowed: Sequence[tuple[int, ...]]) -> Iterator[tuple[int, ...]]:
    """The positions on all axes that some assignment to the members leads to."""
    tallies = [a for a in axes if a.member < 0]
    amounts = [dict(t.amounts) for t in tallies]
    own = sorted({a.member for a in axes if a.member >= 0})
    none = (0,) * len(tallies)

    def added(totals: tuple[int, ...], member: int, value: int) -> tuple[int, ...]:
        return tuple(
            int(together(t.how, total, a[member][value])) if member in a else total
            for t, total, a in zip(tallies, totals, amounts)
        )

    others = {none}
    for member in (m for m in range(len(allowed)) if m not in own):
        others = {added(totals, member, value) for totals in others for value in allowed[member]}
    for values in itertools.product(*(allowed[m] for m in own)):
        given = dict(zip(own, values))
        found = others
        for member, value in given.items():
            found = {added(totals, member, value) for totals in found}
        for totals in found:
            rest = iter(t.first + total for t, total in zip(tallies, totals))
            at = tuple(given[a.member] if a.member >= 0 else next(rest) for a in axes)
            if all(0 <= i < a.size for i, a in zip(at, axes)):
                yield at
