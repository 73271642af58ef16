"""The discrete variables of a program and the factors over them, as the calls of translated code give them.

An *element* is one int of a discrete parameter; elements count from 0 over all variables together. A *factor* is a
term of the log density that depends on some elements: a table of its values for all of theirs, of shape
(rows, K1, ..., Km), where a table of a single row is shared by all places at which the term stands.
"""
from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..arrays import namespace
from ..arrays.base import Array, Namespace
from ..dataclass import dataclass
from ..distributions._terms import log0
from ..errors import StanIndexError, StanUnsupportedError

ARGUMENTS = 6  # that describe a factor
# Entries that a table may have; what would need a larger one is refused.
LIMIT = 10**7


def limit() -> int:
    """The limit in force: STANIMPORT_TABLE_LIMIT, or the usual one."""
    return int(os.environ.get("STANIMPORT_TABLE_LIMIT", LIMIT))


@dataclass(frozen=True)
class Variable:
    """A discrete parameter: its name, its shape, the bounds of every element, and the number of its first element.

    Elements that are `gone` stand in no factor, and have but the first value.
    """

    name: str
    shape: tuple[int, ...]
    lower: np.ndarray
    upper: np.ndarray
    first: int
    gone: np.ndarray | None = None

    @property
    def least(self) -> int:
        """The value that stands first on the axes of tables."""
        return int(self.lower.min()) if self.lower.size else 0

    @property
    def values(self) -> int:
        """The length of the axes of tables."""
        return int(self.upper.max()) - self.least + 1 if self.upper.size else 1

    @property
    def allowed(self) -> np.ndarray:
        """Which values every element may have, (elements, values)."""
        at = self.least + np.arange(self.values)
        inside = (at >= self.lower.reshape(-1, 1)) & (at <= self.upper.reshape(-1, 1))
        return inside if self.gone is None else np.where(self.gone.reshape(-1, 1), at == self.least, inside)

    def element(self, number: int) -> str:
        """The name of one element: z[3,1]."""
        if not self.shape:
            return self.name
        return f"{self.name}[{','.join(str(i + 1) for i in np.unravel_index(number - self.first, self.shape))}]"


@dataclass(frozen=True)
class Factor:
    """A term at `len(elements)` places, each with `elements.shape[1]` different elements in ascending order.

    With `codes`, the number of the row at every place, the table has a row for those that are alike. `logs_of` is a
    table, and the probabilities that it holds the logarithms of: they tell nothing of another table.
    """

    label: str
    elements: np.ndarray
    table: Any
    codes: np.ndarray | None = None
    logs_of: tuple[Any, Any] | None = None

    @property
    def probabilities(self) -> Any:
        """What the table holds the logarithms of, if that is known."""
        return self.logs_of[1] if self.logs_of is not None and self.logs_of[0] is self.table else None

    def changed(self, xp: Namespace, entries: Callable[[Any], Any], **others: Any) -> "Factor":
        """The factor with other entries of its table, and of the probabilities, and what else is given."""
        found = self.probabilities
        if found is None:
            return replace(self, table=entries(self.table), **others)
        return replace(self, **others).by(xp, entries(found))

    def by(self, xp: Namespace, probabilities: Any) -> "Factor":
        """The factor with the table of the logarithms of probabilities."""
        logs = log0(xp, probabilities)
        return replace(self, table=logs, logs_of=(logs, probabilities))


@dataclass(frozen=True)
class Problem:
    """All discrete variables and the factors over them; `kinds` is the length of every element's axis.

    The last `counted` variables are counted from those of the program. `tallies` are summed out with their members,
    which stand in factors with no others.
    """

    xp: Namespace
    variables: tuple[Variable, ...]
    kinds: np.ndarray
    factors: tuple[Factor, ...]
    counted: int = 0
    tallies: tuple[Any, ...] = ()

    @property
    def declared(self) -> int:
        """How many variables are the program's."""
        return len(self.variables) - self.counted

    @property
    def own(self) -> tuple[Variable, ...]:
        """The program's variables."""
        return self.variables[: self.declared]

    def values(self, positions: Any) -> Any:
        """The values of the elements of the program's variables, from their positions on the axes of tables."""
        least = np.concatenate([np.full(v.lower.size, v.least, int) for v in self.own])
        positions, least = self.xp.convert((positions[: len(least)], least))
        return positions + least

    def name(self, element: int) -> str:
        """What an element is called in the program."""
        for v in reversed(self.variables):
            if element >= v.first:
                return v.element(element)
        raise IndexError(element)


def joined(variables: Sequence[Variable], values: Mapping[str, Any]) -> Array:
    """The values of all variables, by name, as one array over their elements."""
    xp = namespace(tuple(values.values()))
    return xp.concatenate(xp.convert(tuple(xp.reshape(values[v.name], (-1,)) for v in variables)))


def replaced(variables: Sequence[Variable], values: Array, given: Mapping[str, Any]) -> Array:
    """The values of all elements, with those that are given of some variables, by name."""
    ends = np.cumsum([v.lower.size for v in variables])
    parts = {v.name: given.get(v.name, values[end - v.lower.size : end]) for v, end in zip(variables, ends)}
    return joined(variables, parts) if given else values


def elements(before: Array, shape: Sequence[Array]) -> Array | int:
    """The numbers of a variable's elements, from 1, behind those of the variables before."""
    size = tuple(int(n) for n in shape)
    first = 1 + int(before)
    return first + np.arange(math.prod(size)).reshape(size) if size else first


def places(stands: Any) -> np.ndarray:
    """The numbers from 1 of the places of an array that hold 1; 0 where it holds 0."""
    there = np.asarray(stands)
    return np.where(there, np.cumsum(there).reshape(there.shape), 0)


def alike(keys: Sequence[Any]) -> np.ndarray:
    """Numbers from 1 for the places of arrays of one shape, the same where all of the arrays are."""
    which = np.zeros(np.size(keys[0]), int)
    for k in keys:  # the numbers of pairs are those of the columns of all arrays, in their order
        values, at = np.unique(np.asarray(k, int), return_inverse=True)
        _, which = np.unique(which * len(values) + at.reshape(-1), return_inverse=True)
    return which.reshape(np.shape(keys[0])) + 1


def count_rows(codes: Any) -> int:
    """How many different numbers such an array has."""
    return int(np.max(codes, initial=0))


def first(codes: Any, x: Any) -> np.ndarray:
    """What an array holds at the first place of every number."""
    return np.asarray(x).reshape(-1)[np.unique(np.asarray(codes), return_index=True)[1]]


def count(name: str, lower: Any, upper: Any, shape: Sequence[Any]) -> int:
    """The number of assignments of values in lower..upper, which may be those of each, to several elements.

    Raises:
        StanUnsupportedError: where there are too many.
    """
    widths = _widths(lower, upper, shape)
    if np.log(np.maximum(widths, 1)).sum() > math.log(limit()):
        several, most = np.sum(widths > 1), np.max(widths)
        raise StanUnsupportedError(
            f"a statement depends on {several} elements of {name} at once, which needs a table of "
            f"{'up to ' * bool((widths != most).any())}{most}^{several} entries; the limit is {limit()}"
        )
    return math.prod(widths.reshape(-1).tolist())


def _widths(lower: Any, upper: Any, shape: Sequence[Any]) -> np.ndarray:
    """How many values each element has."""
    difference = np.asarray(upper, int) - np.asarray(lower, int)
    widths: np.ndarray = np.maximum(np.broadcast_to(difference + 1, tuple(int(n) for n in shape)), 0)
    return widths


def assignments(name: str, lower: Any, upper: Any, shape: Sequence[Any]) -> np.ndarray:
    """All those assignments, (count, *shape); the last element changes first."""
    total, widths = count(name, lower, upper, shape), _widths(lower, upper, shape)
    places = np.unravel_index(np.arange(total), widths.reshape(-1)) if widths.size else ()
    found = np.stack(places, axis=1).reshape(total, *widths.shape) if places else np.zeros((total, *widths.shape), int)
    return np.asarray(np.asarray(lower, int) + found)


def variables_of(arguments: Sequence[Any]) -> Iterator[Variable]:
    """The variables, from (name, numbers of elements, lower, upper) of each; elements count from 0 over all.

    Raises:
        StanIndexError: for a variable that can have no value.
    """
    first = 0
    for i in range(0, len(arguments), 4):
        name, numbers, lower, upper = arguments[i : i + 4]
        shape = np.shape(numbers)
        low, high = (np.broadcast_to(np.asarray(b, int), shape) for b in (lower, upper))
        if (high < low).any():
            raise StanIndexError(f"{name} can have no value: its upper bound is below its lower bound")
        yield Variable(name, shape, low, high, first)
        first += low.size


def places_first(xp: Namespace, table: Any, axes: int, places: int) -> Any:
    """A table whose first axis, not its last ones, is that of the places; of length 1 if it is the same for all."""
    shape = xp.shape(table)
    table = xp.reshape(table, (*shape[:axes], 1 if len(shape) == axes else places))
    return permuted(xp, table, (axes, *range(axes)))


def factors_of(
    xp: Namespace, variables: Sequence[Variable], kinds: np.ndarray, label: str, numbers: Any, widths: Any, table: Any,
    codes: Any, probable: Any,
) -> Iterator[Factor]:  # fmt: skip
    """A term as factors whose elements are different and in ascending order at every place.

    The table may be `probable`: it holds probabilities, the logarithms of which are the term.
    """
    if not probable:
        yield from _of_term(xp, variables, kinds, label, numbers, widths, table, codes)
    elif isinstance(table, np.ndarray):
        yield from _of_term(xp, variables, kinds, label, numbers, widths, log0(namespace(()), table), codes)
    else:
        for f in _of_term(xp, variables, kinds, label, numbers, widths, table, codes):
            yield f.by(xp, f.table)


def _of_term(
    xp: Namespace, variables: Sequence[Variable], kinds: np.ndarray, label: str, numbers: Any, widths: Any, table: Any,
    codes: Any,
) -> Iterator[Factor]:  # fmt: skip
    """The same of a table of a term.

    The places come last in the table, behind the values, where they are long and next to each other in memory.
    `widths` are the numbers of elements on each axis of the table. Places where no term stands have 0 for the numbers
    of their elements; where the term does not read those of an axis they are -1, and it is constant along that axis.
    """
    numbers, widths = np.asarray(numbers, int), np.asarray(widths, int)
    numbers = numbers.reshape(-1, numbers.shape[-1])
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


def _of_rows(xp: Namespace, label: str, numbers: np.ndarray, table: Any, codes: np.ndarray) -> Iterator[Factor]:
    """A term with the rows of its table, (K1, ..., Km, rows), at the places."""
    width = numbers.shape[1]
    table = permuted(xp, table, (width, *range(width)))
    if isinstance(table, np.ndarray):  # which is looked at place by place
        yield from ascending(xp, label, numbers - 1, table[codes])
    else:
        yield from ascending(xp, label, numbers - 1, table, codes)


def _spelled_out(
    xp: Namespace, table: Any, variables: Sequence[Variable], kinds: np.ndarray, elements: np.ndarray, widths: Any
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
    xp: Namespace, label: str, elements: np.ndarray, table: Any, codes: np.ndarray | None = None
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


def _diagonals(xp: Namespace, table: Any, equal: np.ndarray) -> Any:
    """The table where neighbouring axes belong to one element: its diagonal."""
    for axis in reversed(np.flatnonzero(equal)):
        at = np.arange(xp.shape(table)[axis + 1])
        table = xp.get(table, (*(slice(None),) * (axis + 1), at, at))
    return table


def permuted(xp: Namespace, table: Any, order: Sequence[int]) -> Any:
    """The table with its axes in another order, as numpy.transpose."""
    now = list(range(len(order)))
    for to, axis in enumerate(order):
        at = now.index(axis)
        if at != to:
            table = xp.swapaxes(table, at, to)
            now[at], now[to] = now[to], now[at]
    return table


def aligned(xp: Namespace, table: Any, axes: Sequence[int], count: int) -> Any:
    """The table with `count` axes behind its rows, its own in the places `axes`, from 0, and others of length 1."""
    table = permuted(xp, table, (0, *(np.argsort(axes) + 1)))
    sizes = dict(zip(sorted(axes), xp.shape(table)[1:]))
    return xp.reshape(table, (xp.shape(table)[0], *(sizes.get(i, 1) for i in range(count))))


@dataclass(frozen=True)
class Rows:
    """The table of a factor, with the row that each of its places has, if that is not its own.

    It may be that of the logarithms of `probabilities`.
    """

    table: Any
    codes: np.ndarray | None = None
    probabilities: Any = None

    def at(self, places: np.ndarray) -> np.ndarray:
        """The rows of places, -1 where those are."""
        if self.codes is None:
            return places if np.shape(self.table)[0] > 1 else np.minimum(places, 0)
        return np.where(places < 0, -1, self.codes[places])

    def take(self, xp: Namespace, places: np.ndarray) -> Any:
        """The table of some places, with a single row if they share it."""
        at = self.at(places)
        if len(at) and (at == at[0]).all():
            at = at[:1]
        return rows(xp, self.table, at)


def sum_of(xp: Namespace, a: Any, b: Any) -> Any:
    """a + b, either of which may be an array of data."""
    a, b = xp.convert((a, b))
    return a + b


def rows(xp: Namespace, table: Any, index: np.ndarray) -> Any:
    """The rows of a table, zeros for -1; a shared one is that of all places. Evenly spaced rows are a slice."""
    size = xp.shape(table)[0]
    if size == 1 or len(index) == size and (index == np.arange(size)).all():
        return table
    steps = np.diff(index)
    if index[0] >= 0 and (len(index) == 1 or steps[0] > 0 and (steps == steps[0]).all()):
        step = int(steps[0]) if len(steps) else 1
        return xp.get(table, (slice(int(index[0]), int(index[-1]) + 1, step),))
    return xp.rearranged(table, index)
