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
from functools import partial
from typing import Any

import numpy as np

from ..arrays import namespace
from ..arrays.base import Array, Namespace, Real
from ..dataclass import dataclass
from ..distributions._terms import log0
from ..errors import StanIndexError, StanUnsupportedError
from .rows import rows

# Entries that a table may have; what would need a larger one is refused.
LIMIT = 10**7
ALIKE = 0.5  # different rows among places, up to which those that are alike are worth numbers
FEW = 1000  # ints between the least and the greatest, which are counted rather than sorted


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
    table, and the probabilities that it holds the logarithms of; `stands_in` is a table, and in which of its entries
    the term stands, (rows or 1, K1, ..., Km): all others are 0. They tell nothing of another table.
    """

    label: str
    elements: np.ndarray
    table: Any
    codes: np.ndarray | None = None
    logs_of: tuple[Any, Any] | None = None
    stands_in: tuple[Any, np.ndarray] | None = None

    @property
    def probabilities(self) -> Any:
        """What the table holds the logarithms of, if that is known."""
        return self.logs_of[1] if self.logs_of is not None and self.logs_of[0] is self.table else None

    @property
    def stands(self) -> np.ndarray | None:
        """In which entries of the table the term stands, if that is known; all others are 0."""
        return self.stands_in[1] if self.stands_in is not None and self.stands_in[0] is self.table else None

    def changed(self, xp: Namespace, entries: Callable[[Namespace, Any], Any], **others: Any) -> "Factor":
        """The factor with other entries of its table, and of all that is known of them, and what else is given."""
        found, stands = self.probabilities, self.stands
        if found is not None:
            return replace(self, **others).by(xp, entries(xp, found))
        table = entries(xp, self.table)
        told = None if stands is None else (table, entries(namespace(()), stands))
        return replace(self, table=table, stands_in=told, **others)

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


def replaced(variables: Sequence[Variable], values: Array, given: Mapping[str, object]) -> Array:
    """The values of all elements, with those that are given of some variables, by name."""
    ends = np.cumsum([v.lower.size for v in variables])
    parts = {v.name: given.get(v.name, values[end - v.lower.size : end]) for v, end in zip(variables, ends)}
    return joined(variables, parts) if given else values


def elements(before: Array, shape: Sequence[Array]) -> Array | int:
    """The numbers of a variable's elements, from 1, behind those of the variables before."""
    size = tuple(int(n) for n in shape)
    first = 1 + int(before)
    return first + np.arange(math.prod(size)).reshape(size) if size else first


def positions(size: int) -> np.ndarray:
    """The numbers from 1 to so many."""
    return np.arange(1, size + 1)


def check_bounds(name: str, lower: object, upper: object, shape: Sequence[Any]) -> None:
    """
    Raises:
        StanIndexError: for bounds of other sizes than a variable's, and an element that can have no value.
        StanUnsupportedError: where there are more values than a table may have entries.
    """
    sizes = tuple(int(n) for n in shape)
    low, high = np.asarray(lower, int), np.asarray(upper, int)
    for bound, given in (("lower", low), ("upper", high)):
        if given.ndim and given.shape != sizes:
            raise StanIndexError(f"{name} has the sizes {list(sizes)}, its {bound} bound {list(given.shape)}")
    if not math.prod(sizes):
        return
    if np.any(high < low):
        raise StanIndexError(f"{name} can have no value: its upper bound is below its lower bound")
    values = int(high.max()) - int(low.min()) + 1
    if values > limit():
        raise StanUnsupportedError(
            f"{name} has {values} values between its bounds, which need a table of as many entries; "
            f"the limit is {limit()}"
        )


def filled(xp: Namespace, value: Real, shape: Sequence[Any]) -> Array:
    """An array of a shape full of one number.

    Raises:
        StanUnsupportedError: where it would not fit: for all values of several elements in all iterations of a loop.
    """
    sizes = tuple(int(n) for n in shape)
    if math.prod(sizes) > 10 * limit():  # of which there are several, of 8 bytes each
        raise StanUnsupportedError(
            f"a statement needs an array of {' x '.join(map(str, sizes))} entries for the values of the elements that "
            f"it reads, in all iterations; the limit is {10 * limit()}"
        )
    return xp.full(sizes, value)


def places(stands: object) -> np.ndarray:
    """The numbers from 1 of the places of an array that hold 1; 0 where it holds 0."""
    there = np.asarray(stands)
    return np.where(there, np.cumsum(there).reshape(there.shape), 0)


def alike(keys: Sequence[Any]) -> np.ndarray:
    """Numbers from 1 for the places of arrays of one shape, the same where all of the arrays are.

    Where all are different they are the places' own. Of arrays that are traced, data of a minibatch, nothing is known:
    then all are different.
    """
    if any(namespace((k,)).known(k) is None for k in keys):
        return 1 + np.arange(np.size(keys[0])).reshape(np.shape(keys[0]))
    which, count = np.zeros(np.size(keys[0]), int), 1
    for k in keys:  # the numbers of pairs are those of the columns of all arrays, in their order
        values, at = _numbered(np.asarray(k, int).reshape(-1))
        count, which = _numbered(which * values + at)
    which = np.arange(len(which)) if count == len(which) else which
    return which.reshape(np.shape(keys[0])) + 1


def slices(numbers: object, gone: Sequence[int]) -> np.ndarray:
    """Numbers from 1 for the places of an array without the axes `gone`, the same where all is along those."""
    whole = np.asarray(numbers, int)
    kept = [axis for axis in range(whole.ndim) if axis not in gone]
    shape = tuple(whole.shape[axis] for axis in kept)
    parts = whole.transpose(*kept, *gone).reshape(math.prod(shape), -1)
    return alike(tuple(parts.T)).reshape(shape) if parts.size else np.ones(shape, int)


def _numbered(x: np.ndarray) -> tuple[int, np.ndarray]:
    """How many different ints there are, and the number of each, from 0, in their order; without sorting if few."""
    least = int(x.min(initial=0))
    if int(x.max(initial=0)) - least > FEW:
        values, at = np.unique(x, return_inverse=True)
        return len(values), at.reshape(-1)
    there = np.bincount(x - least) > 0
    return int(there.sum()), (np.cumsum(there) - 1)[x - least]


def count_rows(codes: Array) -> int:
    """How many different numbers such an array has."""
    return int(np.max(codes, initial=0))


def first(codes: object, x: object) -> np.ndarray:
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


def _widths(lower: object, upper: object, shape: Sequence[Any]) -> np.ndarray:
    """How many values each element has."""
    difference = np.asarray(upper, int) - np.asarray(lower, int)
    widths: np.ndarray = np.maximum(np.broadcast_to(difference + 1, tuple(int(n) for n in shape)), 0)
    return widths


def assignments(name: str, lower: object, upper: object, shape: Sequence[object]) -> np.ndarray:
    """All those assignments, (count, *shape); the last element changes first."""
    total, widths = count(name, lower, upper, shape), _widths(lower, upper, shape)
    places = np.unravel_index(np.arange(total), widths.reshape(-1)) if widths.size else ()
    found = np.stack(places, axis=1).reshape(total, *widths.shape) if places else np.zeros((total, *widths.shape), int)
    return np.asarray(np.asarray(lower, int) + found)


def variables_of(arguments: Sequence[Any]) -> Iterator[Variable]:
    """The variables, from (name, numbers of elements, lower, upper) of each; elements count from 0 over all."""
    first = 0
    for i in range(0, len(arguments), 4):
        name, numbers, lower, upper = arguments[i : i + 4]
        shape = np.shape(numbers)
        low, high = (np.broadcast_to(np.asarray(b, int), shape) for b in (lower, upper))
        yield Variable(name, shape, low, high, first)
        first += low.size


def permuted(xp: Namespace, table: Array, order: Sequence[int]) -> Any:
    """The table with its axes in another order, as numpy.transpose."""
    now = list(range(len(order)))
    for to, axis in enumerate(order):
        at = now.index(axis)
        if at != to:
            table = xp.swapaxes(table, at, to)
            now[at], now[to] = now[to], now[at]
    return table


def aligned(xp: Namespace, table: Array, axes: Sequence[int], count: int) -> Array:
    """The table with `count` axes behind its rows, its own in the places `axes`, from 0, and others of length 1."""
    table = permuted(xp, table, (0, *(np.argsort(axes) + 1)))
    sizes = dict(zip(sorted(axes), xp.shape(table)[1:]))
    return xp.reshape(table, (xp.shape(table)[0], *(sizes.get(i, 1) for i in range(count))))


@dataclass(frozen=True)
class Rows:
    """The table of a factor, with the row that each of its places has, if that is not its own.

    It may be that of the logarithms of `probabilities`. Where `stands`, (rows or 1, K1, ..., Km), is known, all other
    entries are 0.
    """

    table: Any
    codes: np.ndarray | None = None
    probabilities: Any = None
    stands: np.ndarray | None = None

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


def sum_of(xp: Namespace, a: Real, b: Real) -> Any:
    """a + b, either of which may be an array of data."""
    a, b = xp.convert((a, b))
    return a + b


def rows_alike(f: Factor) -> np.ndarray:
    """The row of a factor's table at every place, the first one of those that data tell to be the same."""
    if f.codes is not None:
        return f.codes
    if np.shape(f.table)[0] == 1:
        return np.zeros(len(f.elements), int)
    if not isinstance(f.table, np.ndarray):
        return np.arange(len(f.elements))
    _, first, which = np.unique(f.table, axis=0, return_index=True, return_inverse=True)
    return np.asarray(first[which.reshape(-1)])


def without_elements(xp: Namespace, which: np.ndarray, factors: Sequence[Factor]) -> Iterator[Factor]:
    """The factors at the places where none of the elements stands that are told, (elements,)."""
    for f in factors:
        kept = np.flatnonzero(~which[f.elements].any(axis=1))
        if len(kept) == len(f.elements):
            yield f
        elif len(kept) and f.codes is not None:
            yield replace(f, elements=f.elements[kept], codes=f.codes[kept])
        elif len(kept):
            yield f.changed(xp, partial(rows, index=kept), elements=f.elements[kept])
