"""Sweeps: components of the graph of factors that are long and thin, summed out from one end to the other.

So are chains of higher order, and several chains that share observations. What an element stands with when its turn
comes repeats along the way, and one loop does all repetitions, of many components side by side.
"""
from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ..dataclass import dataclass

LONG = 12  # elements of a component that is worth it
PERIOD = 8  # steps that may repeat together
TIMES = 4  # repetitions that are worth a loop
DIFFERENT = 40  # steps of all sweeps that are no repetitions

Neighbours = Mapping[int, set[int]]
Standing = Mapping[int, Mapping[tuple[int, int], None]]
Scopes = Sequence[Sequence[tuple[int, ...]]]


@dataclass(frozen=True)
class Used:
    """The rows of a slot, (times, components); `axes` are those of the joint table that theirs become."""

    slot: int
    rows: np.ndarray
    axes: tuple[int, ...]


@dataclass(frozen=True)
class Step:
    """One element of each component, (times, components), and its neighbours, (times, components, q).

    The first axis of the joint table is that of the element, the others are those of its neighbours; `carried` are the
    axes that those of the table which the step before leaves become, None where there is none.
    """

    elements: np.ndarray
    neighbours: np.ndarray
    carried: tuple[int, ...] | None
    uses: tuple[Used, ...]


@dataclass(frozen=True)
class Sweep:
    """Components alike, one step after the other: blocks of steps that repeat as often as their elements say."""

    blocks: tuple[tuple[Step, ...], ...]
    largest: int

    @property
    def steps(self) -> Iterator[Step]:
        """Those of all blocks."""
        for block in self.blocks:
            yield from block


_Key = tuple[int, tuple[int, ...], tuple[int, ...] | None, tuple[tuple[int, tuple[int, ...]], ...]]


@dataclass(frozen=True)
class _Turn:
    """The turn of one element: what tells it from others, its neighbours, and the rows of the factors it stands in."""

    key: _Key
    element: int
    neighbours: tuple[int, ...]
    rows: tuple[int, ...]


def sweeps(neighbours: Neighbours, kinds: Sequence[int], scopes: Scopes, standing: Standing, limit: int) -> list[Sweep]:
    """The sweeps over the components that are long and thin; none if they are of too many forms."""
    groups: dict[tuple[_Key, ...], list[list[_Turn]]] = {}
    for component in components(neighbours):
        order = _order(component, neighbours, kinds, limit) if len(component) >= LONG else None
        if order is not None:
            turns = list(_turns(order, kinds, scopes, standing))
            groups.setdefault(tuple(t.key for t in turns), []).append(turns)
    found = [_together(keys, members) for keys, members in groups.items()]
    if sum(len(b) for s in found for b in s.blocks) > DIFFERENT or any(s.largest > limit for s in found):
        return []
    return found


def components(neighbours: Neighbours) -> Iterator[list[int]]:
    """The elements of every component, the farthest from the first one last."""
    seen: set[int] = set()
    for start in sorted(neighbours):
        if start not in seen:
            found = list(levels([start], neighbours))
            seen.update(found)
            yield found


def levels(start: Sequence[int], neighbours: Neighbours) -> dict[int, int]:
    """How far the elements of a component are from some of them; the farthest comes last."""
    level, here = dict.fromkeys(start, 0), list(start)
    while here:
        after = sorted({n for e in here for n in neighbours[e] if n not in level})
        level.update(dict.fromkeys(after, level[here[0]] + 1))
        here = after
    return level


def _order(
    component: list[int], neighbours: Neighbours, kinds: Sequence[int], limit: int
) -> list[tuple[int, tuple[int, ...]]] | None:  # fmt: skip
    """The elements in their order, each with its neighbours when its turn comes; None if they become too many."""
    start = component[-1]
    level = levels([start], neighbours)
    around = {e: set(neighbours[e]) for e in component}

    def cost(e: int) -> int:
        return math.prod((kinds[n] for n in around[e]), start=kinds[e])

    out: list[tuple[int, tuple[int, ...]]] = []
    front = {start}
    while front:
        costs = {e: cost(e) for e in front}
        e = min(front, key=lambda e: (costs[e], level[e], e))
        if costs[e] > limit or len(front) > PERIOD:
            return None
        front = around.pop(e)
        for n in front:
            around[n] |= front
            around[n] -= {n, e}
        out.append((e, tuple(front)))
    return out


def _turns(
    order: Sequence[tuple[int, tuple[int, ...]]], kinds: Sequence[int], scopes: Scopes, standing: Standing
) -> Iterator[_Turn]:  # fmt: skip
    """The turns of a component's elements in their order, each with the factors that no turn before it has used up."""
    place = {e: i for i, (e, _) in enumerate(order)}
    used: set[tuple[int, int]] = set()
    before: tuple[int, ...] | None = None
    for e, front in order:
        around = tuple(sorted(front, key=place.__getitem__))
        axis = {n: i for i, n in enumerate((e, *around))}
        new = [(s, tuple(axis[n] for n in scopes[s][r]), r) for s, r in standing[e] if (s, r) not in used]
        used.update(standing[e])
        new.sort()
        carried = None if before is None else tuple(axis[n] for n in before)
        key = (kinds[e], tuple(kinds[n] for n in around), carried, tuple((s, axes) for s, axes, _ in new))
        yield _Turn(key, e, around, tuple(r for *_, r in new))
        before = around


def _together(keys: tuple[_Key, ...], members: list[list[_Turn]]) -> Sweep:
    """The sweep of components whose turns all have these keys; each member has the turns of one component."""
    blocks = []
    for first, period, times in _blocks(keys):
        steps = []
        for i in range(period):
            at = [first + i + period * t for t in range(times)]
            _, _, carried, uses = keys[first + i]
            rows = np.array([[m[a].rows for m in members] for a in at], int).reshape(times, len(members), len(uses))
            steps.append(Step(
                np.array([[m[a].element for m in members] for a in at]),
                np.array([[m[a].neighbours for m in members] for a in at], int).reshape(times, len(members), -1),
                carried, tuple(Used(s, rows[..., j], axes) for j, (s, axes) in enumerate(uses)),
            ))  # fmt: skip
        blocks.append(tuple(steps))
    largest = max(kind * math.prod(around) for kind, around, _, _ in keys)
    return Sweep(tuple(blocks), largest * len(members))


def _blocks(keys: Sequence[_Key]) -> Iterator[tuple[int, int, int]]:
    """Where blocks begin, their periods, and how often they repeat."""
    at = 0
    while at < len(keys):
        repeated = ((p, _repeated(keys, at, p)) for p in range(1, PERIOD + 1))
        period, times = max(((p, n) for p, n in repeated if n >= TIMES), key=math.prod, default=(1, 1))
        yield at, period, times
        at += period * times


def _repeated(keys: Sequence[_Key], at: int, period: int) -> int:
    """How often the steps from one on repeat."""
    times = 1
    while keys[at : at + period] == keys[at + period * times : at + period * (times + 1)]:
        times += 1
    return times
