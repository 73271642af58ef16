"""Sums over iterations of what each of them can be, for all values of the elements that decide which.

Where those of one kind are next to each other, as the years before a change point, a sum over them is one of all before
or of all after, or the difference of two sums. For several elements such a sum mostly depends on the value of one at
each of its ends; so tables are put together of sums along single axes.
"""
from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..arrays.base import Array, Namespace, Real
from ..dataclass import dataclass
from .problem import sum_of
from .rows import rows

RUNS = 4  # stretches of one kind, above which differences of sums are not worth it
PARTS = 3  # indices of one element that make up those of several
REGIONS = 8  # parts of a table in which all indices are those of one element each


@dataclass(frozen=True)
class _Stretch:
    """Stretches of one kind, of which the sum is that of `sums[at]`, with signs, over one or two ends.

    `sums` have the shape (n + 1,), and `at` an index for all values, -1 where there is no stretch. `impossible` counts
    what is -inf, where the sums don't.
    """

    sums: Any
    ends: tuple[tuple[float, np.ndarray], ...]
    impossible: Any = None


@dataclass(frozen=True)
class _Choice:
    """Indices into the sums of a stretch that are by one axis for each of its ends, and where they are right.

    Without ends they are where there is no stretch.
    """

    ends: tuple[tuple[float, int, np.ndarray], ...]
    right: np.ndarray


_Region = tuple[np.ndarray, tuple[_Choice, ...]]


class _Terms:
    """All terms one behind the other, `all_`, and the parts that their array has along its first axis.

    A slice inside of a part is taken from that: derivatives are put together once then, not each within zeros.
    """

    def __init__(self, xp: Namespace, terms: Array):
        shape = xp.shape(terms)
        self.xp, self.size = xp, math.prod(shape)
        self.all_ = xp.reshape(terms, (self.size,))
        self.width = max(math.prod(shape[1:]), 1)
        parts = (tuple(terms) if isinstance(terms, np.ndarray) else xp.unstack(terms)) if len(shape) > 1 else ()
        self.parts = [xp.reshape(p, (self.width,)) for p in parts]

    def between(self, first: int, end: int) -> Array:
        """Those from first on, before `end`."""
        part, at = divmod(first, self.width)
        if not self.parts or end > (part + 1) * self.width:
            return self.xp.get(self.all_, (slice(first, end),))
        if at == 0 and end - first == self.width:
            return self.parts[part]
        return self.xp.get(self.parts[part], (slice(at, at + end - first),))


def sums(xp: Namespace, codes: Array, groups: Real, terms: Array, excluded: Real) -> Array:
    """The sum over iterations for all values.

    Args:
        codes: the number of the term, from 1, for all values, series and iterations, (K1, ..., Km, ..., iterations);
            no two of one sum are the same.
        groups: the number of its kind, from 1; terms of one kind have numbers in the order of their iterations.
        terms: an array of all terms, some of which may be -inf.
        excluded: 1 for values that other terms make impossible, (K1, ..., Km).

    Returns:
        An array (K1, ..., Km, ...), with anything that is no NaN where values are excluded.
    """
    codes, groups, ignored = np.asarray(codes), np.asarray(groups), np.asarray(excluded, bool)
    series = codes.shape[ignored.ndim : -1]
    if not codes.size:
        return np.zeros(codes.shape[:-1])
    shape = (*ignored.shape, math.prod(series)) if series else ignored.shape
    by_value = (ignored.size, *shape[ignored.ndim :], codes.shape[-1])
    given = _Terms(xp, terms)
    kinds = _kinds(codes.reshape(by_value) - 1, groups.reshape(by_value), given)
    if kinds is None:
        return xp.sum(xp.reshape(xp.get(given.all_, (codes.reshape(-1) - 1,)), codes.shape), axis=-1)
    total: Any = np.zeros(())
    found: list[_Stretch] = []
    for here, member in kinds:
        edges = np.diff(np.pad(member, ((0, 0), (1, 1))).astype(np.int8), axis=1)
        if (edges == 1).sum(axis=1).max() > RUNS:
            total = sum_of(xp, total, xp.reshape(_product(xp, member, here), shape))
        else:
            runs = ((low.reshape(ignored.shape), high.reshape(ignored.shape)) for low, high in _runs(edges))
            found += [_stretch(xp, here, *run, ignored) for run in runs if (~ignored & (run[0] >= 0)).any()]
    total = sum_of(xp, total, _of_stretches(xp, found, ignored, shape)) if found else total
    return xp.reshape(xp.broadcast_to(total, shape), codes.shape[:-1])


_Kind = tuple[Any, np.ndarray]


def _kinds(codes: np.ndarray, groups: np.ndarray, terms: _Terms) -> list[_Kind] | None:
    """Of every kind the terms by iteration, (iterations, ...), and which of them are in the sum for all values.

    None where series differ in which kind a term is of.
    """
    if codes.ndim == 2:
        return list(_of_one_series(codes, groups, terms))
    if (groups != groups[:, :1]).any():
        return None
    return list(_of_series(codes, groups[:, 0], terms))


def _of_one_series(codes: np.ndarray, groups: np.ndarray, terms: _Terms) -> Iterator[_Kind]:
    """From arrays (values, iterations)."""
    for group in range(1, int(groups.max()) + 1):
        value, iteration = np.nonzero(groups == group)
        inside = codes[value, iteration]
        first = int(inside.min())
        member = np.zeros((len(codes), int(inside.max()) + 1 - first), bool)
        member[value, inside - first] = True
        yield terms.between(first, first + member.shape[1]), member


def _of_series(codes: np.ndarray, groups: np.ndarray, terms: _Terms) -> Iterator[_Kind]:
    """From an array (values, series, iterations), and one of kinds (values, iterations)."""
    for group in range(1, int(groups.max()) + 1):
        member = groups == group
        there = np.flatnonzero(member.any(axis=0))
        first, last = int(there[0]), int(there[-1]) + 1
        member = member[:, first:last]
        at = np.where(member[:, None], codes[:, :, first:last], -1).max(axis=0)
        yield _taken(terms, at), member


def _taken(terms: _Terms, at: np.ndarray) -> Array:
    """The terms at (series, iterations), as (iterations, series): a block of them where they are one."""
    xp, (count, length) = terms.xp, at.shape
    line = int(at[1, 0] - at[0, 0]) if count > 1 else length
    first = int(at[0, 0]) // max(line, 1) * line
    shift = int(at[0, 0]) - first
    regular = at[0, 0] + line * np.arange(count)[:, None] + np.arange(length)
    if line < length or shift + length > line or first + line * count > terms.size or (at != regular).any():
        return xp.reshape(rows(xp, terms.all_, at.T.reshape(-1)), (length, count))
    block = xp.reshape(terms.between(first, first + line * count), (count, line))
    return xp.swapaxes(xp.get(block, (slice(None), slice(shift, shift + length))), 0, 1)


def _product(xp: Namespace, member: np.ndarray, terms: Array) -> Array:
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


def _stretch(xp: Namespace, terms: Any, low: np.ndarray, high: np.ndarray, ignored: np.ndarray) -> _Stretch:
    """The stretches from low to high, which are -1 where there is none, or it does not matter which.

    What is -inf makes all sums from the beginning, or to the end, what it should; a difference of two it makes NaN.
    """
    low, high = np.where(ignored, -1, low), np.where(ignored, -1, high)
    there, count = low >= 0, xp.shape(terms)[0]
    if (low[there] == 0).all():
        return _Stretch(_before(xp, terms), ((1.0, np.where(there | ignored, high, 0)),))
    if (high[there] == count).all():
        after = xp.flip(_before(xp, xp.flip(terms, axis=0)), axis=0)
        return _Stretch(after, ((1.0, np.where(there | ignored, low, count)),))
    never = terms == -xp.inf
    finite, impossible = (_before(xp, xp.where(never, *values)) for values in ((0.0, terms), (1.0, 0.0)))
    return _Stretch(finite, ((1.0, high), (-1.0, low)), impossible)


def _before(xp: Namespace, terms: Array) -> Array:
    """The sums of all terms before each, and of all."""
    none = np.zeros((1, *xp.shape(terms)[1:]))
    return xp.cumsum(xp.concatenate([*xp.convert((none, terms))]), axis=0)


# --- outcomes that all series share ----------------------------------------------------------------------------------


def outcomes(groups: Any, axis: int) -> np.ndarray:
    """Positions on an axis, (outcomes, iterations), of the first values with an outcome in an iteration.

    Where none has it they are those of the first values at all, which the term is defined for too.

    Args:
        groups: the numbers of outcomes, from 1, (K1, ..., Km, iterations).
    """
    groups = np.asarray(groups)
    shape = groups.shape[:-1]
    flat = groups.reshape(math.prod(shape), groups.shape[-1])
    found = [(flat == g).argmax(axis=0) for g in range(1, int(groups.max(initial=0)) + 1)]
    return np.asarray(np.unravel_index(np.array(found, int).reshape(len(found), groups.shape[-1]), shape)[axis])


def over_series(groups: object, numbered: bool, series: tuple[int, ...]) -> np.ndarray:
    """Such numbers for series between the values and the iterations; or those of all outcomes, series and iterations.
    """
    groups = np.asarray(groups)
    *shape, count = groups.shape
    all_: np.ndarray = np.broadcast_to(groups.reshape(*shape, *(1 for _ in series), count), (*shape, *series, count))
    if not numbered:
        return all_
    size = math.prod(series)
    return np.asarray(((all_ - 1) * size + np.arange(size).reshape(*series, 1)) * count + np.arange(1, count + 1))


# --- tables from sums along single axes ------------------------------------------------------------------------------


def _of_stretches(
    xp: Namespace, stretches: Sequence[_Stretch], ignored: np.ndarray, shape: tuple[int, ...]
) -> Any:  # fmt: skip
    """The sum of all stretches, for all values that are not ignored, and all series."""
    regions = _regions([list(_choices(s)) for s in stretches], ignored)
    if regions is None:
        if len(stretches) > 1:
            parts = [_of_stretches(xp, [s], ignored, shape) for s in stretches]
            return sum(parts[1:], parts[0])
        return _one_by_one(xp, stretches[0])
    total = _of_regions(xp, regions, [s.sums for s in stretches], shape)
    if all(s.impossible is None for s in stretches):
        return xp.broadcast_to(total, shape)
    never = _of_regions(xp, regions, [s.impossible for s in stretches], shape)
    return xp.broadcast_to(total, shape) + xp.where(never > 0.5, -xp.inf, 0.0)


def _one_by_one(xp: Namespace, s: _Stretch) -> Any:
    """The sums of a stretch, by an index for all values."""

    def at(x: object) -> Any:
        total: Any = np.zeros(())
        for sign, index in s.ends:
            series = xp.shape(x)[1:]
            one = xp.reshape(xp.get(x, (np.maximum(index, 0).reshape(-1),)), (*index.shape, *series))
            there, one = xp.convert(((index >= 0).reshape(*index.shape, *(1 for _ in series)), one))
            total = sum_of(xp, total, xp.where(there, sign * one, 0.0))
        return total

    return at(s.sums) if s.impossible is None else at(s.sums) + xp.where(at(s.impossible) > 0.5, -xp.inf, 0.0)


def _of_regions(xp: Namespace, regions: Sequence[_Region], of: Sequence[object], shape: tuple[int, ...]) -> Any:
    """The sum for all values, from that of each region; `of` are the sums that indices are into, None for nothing."""
    total: Any = None
    for here, choices in regions:
        one = _of_region(xp, of, choices, here.ndim, shape[here.ndim :])
        if total is None:
            total = one
            continue
        here, one, total = xp.convert((here.reshape(*here.shape, *(1 for _ in shape[here.ndim :])), one, total))
        total = xp.where(here, one, total)
    return total


def _of_region(
    xp: Namespace, of: Sequence[object], choices: Sequence[_Choice], dims: int, series: tuple[int, ...]
) -> Any:  # fmt: skip
    """The sum in one region: those by one axis first, so that derivatives are added up once for each axis."""
    lines: dict[int, Any] = {}
    for x, choice in zip(of, choices):
        for sign, axis, index in choice.ends if x is not None else ():
            line = rows(xp, x, index)
            lines[axis] = sum_of(xp, lines.get(axis, np.zeros(())), line if sign > 0 else -line)
    one: Any = np.zeros((1,) * (dims + len(series)))
    for axis, line in lines.items():
        one = sum_of(xp, one, xp.reshape(line, (*(-1 if a == axis else 1 for a in range(dims)), *series)))
    return one


def _regions(options: Sequence[Sequence[_Choice]], ignored: np.ndarray) -> list[_Region] | None:
    """Where which of the choices for all stretches are right, the largest first; None where those are too many."""
    if not all(options):
        return None
    found: list[_Region] = []
    left = ~ignored
    while left.any():
        if len(found) == REGIONS:
            return None
        here, chosen = left, []
        for choices in options:
            best = max(choices, key=lambda c: int((c.right & here).sum()))
            here = here & best.right
            chosen.append(best)
        if not here.any():
            return None
        found.append((here, tuple(chosen)))
        left = left & ~here
    return found


def _choices(s: _Stretch) -> Iterator[_Choice]:
    """Indices by one axis for each end, that are right somewhere; together they are everywhere, or there are none."""
    options = [_by_axis(at) for _, at in s.ends]
    if any(o is None for o in options):
        return
    there = s.ends[0][1] >= 0
    yield _Choice((), ~there)
    for chosen in itertools.product(*(o or [] for o in options)):
        right, shown = there, [_shown(axis, index, there.ndim) for axis, index in chosen]
        for (_, at), one in zip(s.ends, shown):
            right = right & (at == one)
        if len(shown) == 2:  # as good as none
            right = right | ~there & (shown[0] == shown[1])
        yield _Choice(tuple((sign, axis, index) for (sign, _), (axis, index) in zip(s.ends, chosen)), right)


def _shown(axis: int, index: np.ndarray, dims: int) -> np.ndarray:
    """An index by an axis as one that goes with all values."""
    return index.reshape(tuple(-1 if a == axis else 1 for a in range(dims)))


def _by_axis(at: np.ndarray) -> list[tuple[int, np.ndarray]] | None:
    """Indices of one axis each, one of which is right for all values; None where that takes too many."""
    left = at >= 0
    found: list[tuple[int, np.ndarray]] = []
    while left.any():
        if len(found) == PARTS:
            return None
        options = [(axis, _most_common(np.where(left, at, -1), axis)) for axis in range(at.ndim)]
        hits = [((at == _shown(axis, index, at.ndim)) & left) for axis, index in options]
        best = max(range(at.ndim), key=lambda i: int(hits[i].sum()))
        found.append(options[best])
        left = left & ~hits[best]
    return found


def _most_common(at: np.ndarray, axis: int) -> np.ndarray:
    """The most common index for every place on an axis, -1 not counted."""
    lines = np.moveaxis(at, axis, 0).reshape(at.shape[axis], -1)
    often = np.zeros((len(lines), int(at.max()) + 2), int)
    np.add.at(often, (np.arange(len(lines))[:, None], lines + 1), 1)
    known = often[:, 1:].any(axis=1)
    return _filled(np.where(known, often[:, 1:].argmax(axis=1), -1), int(at.max()))


def _filled(index: np.ndarray, most: int) -> np.ndarray:
    """Indices for places that have none: as if all were evenly spaced, which makes them a slice."""
    known = np.flatnonzero(index >= 0)
    if len(known) == len(index):
        return index
    step = (index[known[-1]] - index[known[0]]) / max(1, known[-1] - known[0])
    even = np.round(index[known[0]] + step * (np.arange(len(index)) - known[0])).astype(int)
    return np.where(index >= 0, index, np.clip(even, 0, most))
