"""Tallies: elements that are counted from others, as the number of infected animals in a herd, or whether there is one.

    value = start + sum of the amounts of its members

or `start` plus the largest of 0 and the amounts ("max"), or plus the smallest ("min"). The compiler makes an element of
what a program adds up in a loop. What depends on few members is tabulated for them; members that nothing else couples
are summed out by convolutions (see convolved.py); for others the sum is put together of parts of two, each an element.
"""
from __future__ import annotations

import math
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..arrays import namespace
from ..arrays.base import Array, Namespace, Real
from ..dataclass import dataclass
from .factors import ARGUMENTS, ascending, factors_of, places_first
from .problem import Factor, Problem, Variable

NUMPY = namespace(())
FEW = 4  # assignments to the members of a tally for which what reads it is tabulated,
COUPLED = 256  # and where they stand in other factors too,


@dataclass(frozen=True)
class Tally:
    """An element, what it is counted from, and how much each value of each member is."""

    element: int
    how: str
    start: int
    members: tuple[int, ...]
    amounts: tuple[tuple[int, ...], ...]

    def parts(self) -> frozenset[tuple[int, tuple[int, ...]]]:
        """The members with their amounts."""
        return frozenset(zip(self.members, self.amounts))


def together(how: str, a: Real, b: Real) -> Any:
    """Two amounts as one."""
    if how == "sum":
        return a + b
    return np.maximum(a, b) if how == "max" else np.minimum(a, b)


def bounds(
    how: str, start: int, numbers: object, variables: Sequence[Variable], starts: Sequence[object],
    tables: Sequence[object]
) -> tuple[Array | int, Array | int]:
    """The least and the greatest values of tallies, from the numbers of their elements and the tables of `read`."""
    numbers = np.asarray(numbers, int)
    size, first = numbers.size, int(numbers.min()) if numbers.size else 0
    first_, low, high = np.full(size, start), np.zeros(size, int), np.zeros(size, int)
    allowed = {v.first + i: row for v in variables for i, row in enumerate(v.allowed)}
    for targets, _, amounts in _by_place(starts):
        first_[targets - first] = amounts[:, 0]
    for targets, members, amounts in _by_place(tables):
        there = np.array([allowed[m] for m in members.tolist()]).reshape(amounts.shape) if len(members) else True
        for out, extreme in (
            (low, np.where(there, amounts, 10**9).min(axis=1, initial=10**9)),
            (high, np.where(there, amounts, -(10**9)).max(axis=1, initial=-(10**9))),
        ):
            if how == "sum":
                np.add.at(out, targets - first, extreme)
            else:
                (np.maximum if how == "max" else np.minimum).at(out, targets - first, extreme)
    found = (first_ + low).reshape(numbers.shape), (first_ + high).reshape(numbers.shape)
    return found if numbers.shape else (int(found[0]), int(found[1]))


def _by_place(tables: Sequence[Any]) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """The numbers of the tallies at the places of each table, their members there, if any, and the amounts."""
    for i in range(0, len(tables), ARGUMENTS):
        _, numbers, widths, table, codes, _, _ = tables[i : i + ARGUMENTS]
        numbers = np.asarray(numbers, int)
        numbers = numbers.reshape(math.prod(numbers.shape[:-1]), numbers.shape[-1])
        table, axes = np.asarray(table), len(np.asarray(widths))
        if np.ndim(codes):
            rows = np.moveaxis(table, -1, 0)[np.asarray(codes, int).reshape(-1) - 1]
        else:
            rows = places_first(NUMPY, table, axes, len(numbers))
            rows = np.broadcast_to(rows, (len(numbers), *rows.shape[1:]))
        there = (numbers != 0).all(axis=1)
        members = numbers[there].min(axis=1) - 1 if numbers.shape[1] > 1 else np.zeros(0, int)
        if there.any():
            yield numbers[there].max(axis=1), members, np.rint(rows[there].reshape(int(there.sum()), -1)).astype(int)


def read(
    xp: Namespace, variables: Sequence[Variable], arguments: Sequence[Any], first: int
) -> tuple[list[Variable], list[Tally], int]:
    """The variables of tallies, these, and how many arguments they are.

    The arguments are how many variables there are, and of each (name, how, start, numbers of elements, lower, upper,
    the number of tables of starts, that of amounts, the tables as those of factors).
    """
    made: list[Variable] = []
    found: list[Tally] = []
    at = 1
    for _ in range(int(arguments[0])):
        name, how, start, numbers, lower, upper, starts, tables = arguments[at : at + 8]
        at += 8
        shape = np.shape(numbers)
        low, high = (np.broadcast_to(np.asarray(b, int), shape) for b in (lower, upper))
        v = Variable(name, shape, low, high, first)
        ends = at + ARGUMENTS * int(starts), at + ARGUMENTS * (int(starts) + int(tables))
        found += _tallies(xp, how, int(start), [*variables, v], arguments[at : ends[0]], arguments[ends[0] : ends[1]])
        made.append(v)
        first, at = first + v.lower.size, ends[1]
    return made, found, at


def _tallies(
    xp: Namespace, how: str, first: int, variables: Sequence[Variable], starts: Sequence[Any], tables: Sequence[Any]
) -> Iterator[Tally]:
    """The tallies of the last variable."""
    *others, own = variables
    start = dict(zip(range(own.first, own.first + own.lower.size), [first] * own.lower.size))
    for targets, _, amounts in _by_place(starts):
        start.update(zip((targets - 1).tolist(), amounts[:, 0].tolist()))
    members: dict[int, dict[int, np.ndarray]] = {e: {} for e in start}
    alone = replace(own, lower=np.zeros_like(own.lower), upper=np.zeros_like(own.lower))
    for target, from_, amounts in _amounts(xp, others, alone, tables):
        if not from_:
            start[target] = together(how, start[target], int(amounts) + (0 if how == "sum" else first))
            continue
        (member,), here = from_, members[target]
        here[member] = together(how, here[member], amounts) if member in here else amounts
    for e, found in members.items():
        yield Tally(e, how, start[e], tuple(found), tuple(tuple(a.tolist()) for a in found.values()))


def _amounts(
    xp: Namespace, others: Sequence[Variable], marks: Variable, tables: Sequence[Any]
) -> Iterator[tuple[int, list[int], np.ndarray]]:
    """At every place of some tables the tally, the elements that it is counted from there, and their amounts."""
    kinds = np.ones(marks.first + marks.lower.size, int)  # tallies before it have no part in its tables
    for v in others:
        kinds[v.first : v.first + v.lower.size] = v.values
    for i in range(0, len(tables), ARGUMENTS):
        for f in factors_of(xp, (*others, marks), kinds, *tables[i : i + ARGUMENTS]):
            table = np.rint(np.asarray(f.table)).astype(int)
            if f.codes is not None:
                table = table[f.codes]
            table = np.broadcast_to(table, (len(f.elements), *table.shape[1:]))[..., 0]
            for (*from_, target), amounts in zip(f.elements.tolist(), table):
                yield target, from_, amounts


# --- tallies among factors -------------------------------------------------------------------------------------------


def applied(problem: Problem, tallies: Sequence[Tally]) -> Problem:
    """The problem with tallies that are left to convolutions, and factors in place of the others."""
    read_ = {e for f in problem.factors for e in np.unique(f.elements).tolist()}
    of = {t.element: t for t in tallies if t.element in read_}
    kept = _kept(problem, of)
    factors = list(_without(problem, {e: t for e, t in of.items() if e not in kept}))
    often = _often(len(problem.kinds), factors, [of[e] for e in kept])
    free = [of[e] for e in sorted(kept) if all(often[m] < 2 for m in of[e].members)]
    parts = _Parts(problem, [of[e] for e in sorted(kept - {t.element for t in free})])
    variables = tuple(_pinned(v, kept) if i >= problem.declared else v for i, v in enumerate(problem.variables))
    kinds = np.concatenate([problem.kinds, np.array([v.values for v in parts.variables], int)])
    return replace(
        problem, variables=(*variables, *parts.variables), kinds=kinds, factors=(*factors, *parts.factors()),
        counted=problem.counted + len(parts.variables), tallies=tuple(free),
    )  # fmt: skip


_Key = tuple[str, frozenset[tuple[int, tuple[int, ...]]]]


def _shorter(t: Tally, known: Container[_Key]) -> _Key | None:
    """A tally of all members but one, if one is known."""
    parts = t.parts()
    return next((key for p in parts if (key := (t.how, parts - {p})) in known), None)


def _kept(problem: Problem, of: Mapping[int, Tally]) -> set[int]:
    """The tallies that stay elements: of many members, or of one more than another one that does."""
    often = _often(len(problem.kinds), problem.factors, list(of.values()))
    kept: set[int] = set()
    for line in _lines([t for t in of.values() if len(t.members) > 1]):
        coupled = any(often[m] > 1 for t in line for m in t.members)
        few = COUPLED if coupled and len(line) == 1 else FEW
        if max(_size(problem, t) for t in line) > few:
            kept |= {t.element for t in line}
    return kept


def _lines(tallies: Sequence[Tally]) -> list[list[Tally]]:
    """Tallies together of which each has one member more than another one."""
    lines: dict[_Key, list[Tally]] = {}
    for t in sorted(tallies, key=lambda t: len(t.members)):
        shorter = _shorter(t, lines)
        line = [] if shorter is None else lines[shorter]
        line.append(t)
        lines[t.how, t.parts()] = line
    return list({id(line): line for line in lines.values()}.values())


def _often(count: int, factors: Sequence[Factor], tallies: Sequence[Tally]) -> np.ndarray:
    """In how many factors with others, and tallies, every element stands."""
    often = np.zeros(count, int)
    for f in factors:
        if f.elements.shape[1] > 1:
            np.add.at(often, f.elements.reshape(-1), 1)
    for t in tallies:
        np.add.at(often, list(t.members), 1)
    return often


def _size(problem: Problem, t: Tally) -> int:
    return math.prod(int(problem.kinds[m]) for m in t.members)


def _pinned(v: Variable, kept: set[int]) -> Variable:
    """The variable of tallies with one value for each that no factor reads any more."""
    gone = np.array([v.first + i not in kept for i in range(v.lower.size)], bool).reshape(v.shape)
    return replace(v, gone=gone)


def _without(problem: Problem, of: Mapping[int, Tally]) -> Iterator[Factor]:
    """The factors with the members of tallies in place of them."""
    least = {v.first + i: v.least for v in problem.variables[problem.declared :] for i in range(v.lower.size)}
    left = list(problem.factors)
    while left:
        f = left.pop(0)
        counted = np.isin(f.elements, list(of)) if of else np.zeros(f.elements.shape, bool)
        if not counted.any():
            yield f
            continue
        column = int(np.flatnonzero(counted.any(axis=0))[0])
        others = np.flatnonzero(~counted[:, column])
        if len(others):
            left.append(_some(problem.xp, f, others))
        groups: dict[Any, list[int]] = {}
        for place in np.flatnonzero(counted[:, column]).tolist():
            t = of[int(f.elements[place, column])]
            kinds = tuple(int(problem.kinds[m]) for m in t.members)
            groups.setdefault((kinds, t.amounts, t.how, t.start - least[t.element]), []).append(place)
        for (kinds, amounts, how, start), places in groups.items():
            index = _positions(how, start, kinds, amounts)
            left += _counted(problem.xp, _some(problem.xp, f, np.array(places)), column, index, of)


def _some(xp: Namespace, f: Factor, places: np.ndarray) -> Factor:
    """A factor at some of its places."""
    if len(places) == len(f.elements):
        return f
    if f.codes is not None:
        return replace(f, elements=f.elements[places], codes=f.codes[places])
    table = f.table if xp.shape(f.table)[0] == 1 else xp.get(f.table, (places,))
    return replace(f, elements=f.elements[places], table=table)


def _positions(how: str, start: int, kinds: Sequence[int], amounts: Sequence[Sequence[int]]) -> np.ndarray:
    """The position of a tally for all values of its members."""
    total: Any = np.zeros((1,) * len(kinds), int)
    for axis, own in enumerate(amounts):
        total = together(how, total, np.array(own).reshape(tuple(-1 if a == axis else 1 for a in range(len(kinds)))))
    return np.asarray(start + total).reshape(kinds)


def _counted(
    xp: Namespace, f: Factor, column: int, index: np.ndarray, of: Mapping[int, Tally]
) -> Iterator[Factor]:
    """A factor with axes of the members in place of that of a tally, whose positions are those of an index."""
    shape, axis = xp.shape(f.table), column + 1
    size = shape[axis]
    inside = np.clip(index.reshape(-1), 0, size - 1)  # beyond its bounds are only values that no element has
    taken = xp.get(f.table, (*(slice(None),) * axis, inside))
    table = xp.reshape(taken, (*shape[:axis], *index.shape, *shape[axis + 1 :]))
    members = np.array([of[e].members for e in f.elements[:, column].tolist()], int).reshape(len(f.elements), -1)
    elements = np.concatenate([f.elements[:, :column], members, f.elements[:, column + 1 :]], axis=1)
    yield from ascending(xp, f.label, elements, table, f.codes)


class _Parts:
    """Tallies as factors between two parts and a third element that is their sum."""

    def __init__(self, problem: Problem, tallies: Sequence[Tally]):
        self.next = len(problem.kinds)
        self.variables: list[Variable] = []
        self.links: dict[Any, list[tuple[int, ...]]] = {}
        self.least = {v.first + i: v.least for v in problem.variables for i in range(v.lower.size)}
        self.kind = dict(enumerate(problem.kinds.tolist()))
        done: dict[_Key, Tally] = {}
        for t in sorted(tallies, key=lambda t: len(t.members)):
            self._put_together(t, done)
            done[t.how, t.parts()] = t

    def factors(self) -> Iterator[Factor]:
        """One factor for all places that are alike."""
        for (how, *amounts, shift, kind), places in self.links.items():
            kinds = tuple(len(a) for a in amounts)
            index = _positions(how, shift, kinds, amounts)
            table = np.where(index[..., None] == np.arange(kind), 0.0, -np.inf)[None]
            yield from ascending(NUMPY, "a sum of discrete parameters", np.array(places), table)

    def _put_together(self, t: Tally, done: Mapping[_Key, Tally]) -> None:
        """The links for one tally: from that of all members but one, or of parts of two."""
        parts = list(zip(t.members, t.amounts))
        shorter = _shorter(t, done)
        if shorter is not None:
            parts = [(done[shorter].element, self._amounts(done[shorter])), *(t.parts() - shorter[1])]
        while len(parts) > 2:
            pairs = [parts[i : i + 2] for i in range(0, len(parts), 2)]
            parts = [self._hidden(t.how, p) if len(p) == 2 else p[0] for p in pairs]
        self._link(t.how, parts, t.element, t.start - self.least[t.element])

    def _amounts(self, t: Tally) -> tuple[int, ...]:
        return tuple(self.least[t.element] + i - t.start for i in range(self.kind[t.element]))

    def _hidden(self, how: str, parts: Sequence[tuple[int, tuple[int, ...]]]) -> tuple[int, tuple[int, ...]]:
        """An element that is the sum of two parts, with its amounts."""
        (_, a), (_, b) = parts
        all_ = _positions(how, 0, (len(a), len(b)), (a, b))
        low, high = int(all_.min()), int(all_.max())
        number, self.next = self.next, self.next + 1
        self.variables.append(Variable("a sum", (), np.array(low), np.array(high), number))
        self.least[number], self.kind[number] = low, high - low + 1
        self._link(how, parts, number, -low)
        return number, tuple(range(low, high + 1))

    def _link(self, how: str, parts: Sequence[tuple[int, tuple[int, ...]]], element: int, shift: int) -> None:
        key = (how, *(a for _, a in parts), shift, self.kind[element])
        self.links.setdefault(key, []).append((*(e for e, _ in parts), element))
