"""Tallies whose members nothing else couples, summed out by convolutions: sums of two, of four, of eight, ...

The members of many tallies are summed out side by side. Fewer than the others have are filled up by ones that are 0.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..arrays.base import Array, Namespace, Real
from ..dataclass import dataclass
from .chained import Choose, Reduce
from .problem import Problem
from .tallies import Tally

OfElements = Callable[[np.ndarray], Any]


@dataclass(frozen=True)
class SummedTallies:
    """Tallies of one axis that were summed out, alike in the numbers of their members.

    `members`, (tallies, n), are -1 where there are fewer; `steps` is how far from the least of a member its values are,
    (tallies, n, K), and `levels` are the terms of sums of 1, 2, 4, ... members, (tallies, n / 2**i, values).
    `positions` is which of the last sums each value on the axis of a tally is, -1 where none is.
    """

    how: str
    targets: np.ndarray
    members: np.ndarray
    steps: np.ndarray
    levels: tuple[Any, ...]
    positions: np.ndarray
    single: Any


def batches(tallies: Sequence[Tally], kinds: np.ndarray) -> list[list[Tally]]:
    """Tallies that are summed out side by side."""
    groups: dict[Any, list[Tally]] = {}
    for t in tallies:
        axes = {int(kinds[m]) for m in t.members}
        count = 1 << (len(t.members) - 1).bit_length()
        groups.setdefault((t.how, int(kinds[t.element]), tuple(sorted(axes)), count), []).append(t)
    return list(groups.values())


def summed(
    xp: Namespace, problem: Problem, of_elements: OfElements, reduce: Reduce, sum_only: bool
) -> Iterator[tuple[list[SummedTallies], np.ndarray, Any]]:
    """What is needed to draw members, if they are drawn, and the elements and the terms of tallies, batch by batch."""
    counted = problem.variables[problem.declared :]
    least = {v.first + i: v.least for v in counted for i in range(v.lower.size)}
    for batch in batches(problem.tallies, problem.kinds):
        if sum_only:
            yield [], *log_terms(xp, batch, problem.kinds, least, of_elements, reduce)
        else:
            found, terms = sum_out(xp, batch, problem.kinds, least, of_elements, reduce)
            yield [found], found.targets, terms


def sum_out(
    xp: Namespace, tallies: Sequence[Tally], kinds: np.ndarray, least: Mapping[int, int], of_elements: OfElements,
    reduce: Reduce,
) -> tuple[SummedTallies, Any]:  # fmt: skip
    """What is needed to draw members, and the terms of the tallies, (tallies, K).

    Args:
        least: the first value on the axis of each.
        of_elements: the terms of elements of one kind, (n, K).
    """
    how = tallies[0].how
    most = max(len(t.members) for t in tallies)
    widest = max(int(kinds[m]) for t in tallies for m in t.members)
    members, steps, first = _described(tallies, 1 << (most - 1).bit_length(), widest)
    single = _of_members(xp, members, steps.shape[2], kinds, of_elements)
    levels = [_leaves(xp, single, steps, reduce)]
    while xp.shape(levels[-1])[1] > 1:
        half = xp.shape(levels[-1])[1] // 2
        a, b = levels[-1][:, :half], levels[-1][:, half:]
        levels.append(_convolved(xp, a, b, reduce) if how == "sum" else _extreme(xp, a, b, reduce))
    root = levels[-1][:, 0]
    lows = np.array([least[t.element] for t in tallies])
    values = lows[:, None] + np.arange(int(kinds[tallies[0].element]))
    at = values - first[:, None] if how != "min" else first[:, None] - values
    at = np.where((at >= 0) & (at < xp.shape(root)[1]), at, -1)
    targets = np.array([t.element for t in tallies])
    return SummedTallies(how, targets, members, steps, tuple(levels), at, single), _picked(xp, root, at)


def _described(tallies: Sequence[Tally], count: int, widest: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """So many members and their steps, see SummedTallies, and the value of every tally where all its steps are 0."""
    how = tallies[0].how
    members = np.full((len(tallies), count), -1)
    steps = np.full((len(tallies), count, widest), -1)
    first = np.array([t.start for t in tallies])
    for row, t in enumerate(tallies):
        members[row, : len(t.members)] = t.members
        for column, own in enumerate(t.amounts):
            amounts = np.array(own)
            if how == "sum":
                first[row] += amounts.min()
                amounts = amounts - amounts.min()
            steps[row, column, : len(own)] = np.maximum(amounts if how != "min" else -amounts, 0)
    return members, steps, first


def log_terms(
    xp: Namespace, tallies: Sequence[Tally], kinds: np.ndarray, least: Mapping[int, int], of_elements: OfElements,
    reduce: Reduce,
) -> tuple[np.ndarray, Any]:  # fmt: skip
    """The elements of the tallies and their terms, where nothing is drawn afterwards."""
    widest = max(int(kinds[m]) for t in tallies for m in t.members)
    members, steps, first = _described(tallies, max(len(t.members) for t in tallies), widest)
    is_either = tallies[0].how != "sum" and steps.shape[2] == 2 and (steps[members >= 0] == [0, 1]).all()
    at = first - np.array([least[t.element] for t in tallies])
    if not is_either or int(kinds[tallies[0].element]) != 2 or (at != (tallies[0].how == "min")).any():
        found, terms = sum_out(xp, tallies, kinds, least, of_elements, reduce)
        return found.targets, terms
    none, one = _whether_one(xp, _of_members(xp, members, 2, kinds, of_elements))
    pair = [none, one] if tallies[0].how == "max" else [one, none]
    return np.array([t.element for t in tallies]), xp.stack(pair, axis=-1)


def _whether_one(xp: Namespace, single: Any) -> tuple[Any, Any]:
    """The terms of no member having its second value, and of one or more that have it: exact where those are rare."""
    zero, one = single[..., 0], single[..., 1]
    both = (zero > -xp.inf) & (one > -xp.inf)
    odds = xp.where(both, one, 0.0) - xp.where(both, zero, 0.0)
    rest = xp.where(both, xp.log_expit(-odds), xp.where(zero > -xp.inf, 0.0, -xp.inf))
    none, share = xp.sum(zero, axis=1), xp.sum(rest, axis=1)
    inner = (share < 0.0) & (share > -xp.inf)
    others = xp.where(inner, xp.log1mexp(xp.where(inner, share, -1.0)), xp.where(share < 0.0, 0.0, -xp.inf))
    either = xp.where(both, xp.where(both, zero, 0.0) - rest, xp.where(zero > -xp.inf, zero, one))
    return none, xp.sum(either, axis=1) + others


def _of_members(xp: Namespace, members: np.ndarray, widest: int, kinds: np.ndarray, of_elements: OfElements) -> Array:
    """The terms of members, (tallies, n, K); 0 for the first value of those that are none, -inf for all others."""
    none = np.where(np.arange(widest) == 0, 0.0, -np.inf)[None]
    parts, place = [none], np.zeros(members.shape, int)
    size = 1
    for kind in sorted({int(kinds[m]) for m in members[members >= 0]}):
        here = (members >= 0) & (kinds[members] == kind)
        terms = of_elements(members[here])
        if kind < widest:
            terms = xp.concatenate([*xp.convert((terms, np.full((int(here.sum()), widest - kind), -np.inf)))], axis=1)
        place[here] = size + np.arange(here.sum())
        parts.append(terms)
        size += int(here.sum())
    if len(parts) == 2 and (members >= 0).all():
        return xp.reshape(parts[1], (*members.shape, widest))
    all_ = xp.concatenate([*xp.convert(tuple(parts))])
    return xp.reshape(xp.rearranged(all_, place.reshape(-1)), (*members.shape, widest))


def _leaves(xp: Namespace, single: Array, steps: np.ndarray, reduce: Reduce) -> Array:
    """The terms of members by how far each is from its least, (tallies, n, values)."""
    kind, most = steps.shape[2], int(steps.max(initial=0))
    given = np.where(steps[:, :, :1] < 0, np.arange(kind), steps)  # of what is no member the first value is 0 too
    if most == kind - 1 and (given == np.arange(kind)).all():
        return single
    columns = []
    for s in range(most + 1):
        here, terms = xp.convert((given == s, single))
        columns.append(reduce(xp, xp.where(here, terms, -xp.inf), 2))
    return xp.stack(columns, axis=-1)


def _convolved(xp: Namespace, a: Any, b: Any, reduce: Reduce) -> Any:
    """The terms of sums: of what is a[i] and b[s - i] together, over i."""
    return reduce(xp, a[..., None] + _shifted(xp, b), 2)


def _shifted(xp: Namespace, b: Array) -> Array:
    """b[..., s - i] in row i and column s, -inf beyond both ends: rows of one long line, each one shorter than b."""
    *outer, size = xp.shape(b)
    padded = xp.concatenate([*xp.convert((b, np.full((*outer, size), -np.inf)))], axis=-1)
    line = xp.reshape(xp.broadcast_to(padded[..., None, :], (*outer, size, 2 * size)), (*outer, 2 * size * size))
    return xp.reshape(line[..., : size * (2 * size - 1)], (*outer, size, 2 * size - 1))


def _extreme(xp: Namespace, a: Any, b: Any, reduce: Reduce) -> Array:
    """The terms of the larger one of two."""
    out = []
    for s in range(xp.shape(a)[-1]):
        parts = [a[..., s : s + 1] + b[..., : s + 1], a[..., :s] + b[..., s : s + 1]]
        out.append(reduce(xp, xp.concatenate(parts, axis=-1), 2))
    return xp.stack(out, axis=-1)


def _picked(xp: Namespace, root: Any, at: np.ndarray) -> Any:
    """The entries of each row at some positions, -inf for -1."""
    count, size = xp.shape(root)
    there, rows = at >= 0, at[0]
    if (at == rows).all() and there[0].any() and (np.diff(rows[there[0]]) == 1).all():
        first, last = np.flatnonzero(there[0])[[0, -1]]
        ends = (np.full((count, n), -np.inf) for n in (int(first), int(len(rows) - 1 - last)))
        inner = root[:, int(rows[first]) : int(rows[last]) + 1]
        before, after = ends
        return xp.concatenate([*xp.convert((before, inner, after))], axis=1) if there[0].sum() < len(rows) else inner
    found = xp.get(root, (np.arange(count)[:, None], np.maximum(at, 0)))
    there, found = xp.convert((there, found))
    return xp.where(there, found, -xp.inf)


def drawn(xp: Namespace, s: SummedTallies, values: Real, choose: Choose, uniform: Callable[..., Any]) -> Array:
    """The positions of all elements with those of the members, given those of the tallies."""
    count, n = s.members.shape
    chosen = xp.get(s.positions, (np.arange(count), xp.get(values, (s.targets,))))
    sums = xp.reshape(chosen, (count, 1))
    for level in reversed(s.levels[:-1]):
        half = xp.shape(level)[1] // 2
        a, b, sums = xp.convert((level[:, :half], level[:, half:], sums))
        left, right = (_parts_of_sum if s.how == "sum" else _parts_of_extreme)(xp, a, b, sums, choose, uniform)
        sums = xp.concatenate([left, right], axis=1)
    steps, sums, single = xp.convert((np.where(s.steps[:, :, :1] < 0, 0, s.steps), sums, s.single))
    logs = xp.where(steps == sums[..., None], single, -xp.inf)
    found = choose(xp, logs, uniform((count, n)))
    there = s.members >= 0
    flat = xp.get(xp.reshape(found, (there.size,)), (np.flatnonzero(there),))
    return xp.at_set(values, s.members[there], flat)


def _parts_of_sum(
    xp: Namespace, a: Array, b: Array, sums: Any, choose: Choose, uniform: Callable[..., object]
) -> tuple[Any, Any]:  # fmt: skip
    """Two that add up to given sums, (tallies, n)."""
    count, n, size = xp.shape(a)
    other = sums[..., None] - xp.convert((np.arange(size), sums))[0]
    inside = (other >= 0) & (other < size)
    at = xp.where(inside, other, 0)
    terms = xp.get(b, (np.arange(count)[:, None, None], np.arange(n)[None, :, None], at))
    left = choose(xp, a + xp.where(inside, terms, -xp.inf), uniform((count, n)))
    return left, sums - left


def _parts_of_extreme(
    xp: Namespace, a: Any, b: Any, sums: Any, choose: Choose, uniform: Callable[..., Any]
) -> tuple[Any, Any]:  # fmt: skip
    """Two of which given numbers, (tallies, n), are the larger ones."""
    count, n, size = xp.shape(a)
    larger = np.maximum(np.arange(size)[:, None], np.arange(size)).reshape(-1)
    joint = xp.reshape(a[..., :, None] + b[..., None, :], (count, n, size * size))
    larger, sums = xp.convert((larger, sums))
    both = choose(xp, xp.where(larger == sums[..., None], joint, -xp.inf), uniform((count, n)))
    return both // size, both % size
