"""Compounds: several elements as one, which make chains of components that are long and thin.

The elements at one distance from an end of a component stand with those at the next distance alone. What they can be
together, as data say, are the states of a compound: an animal that has not entered yet, one that is alive, one that is
gone, where an element says whether it is alive and another one whether it ever was. Other elements may stand around
all of them, such as whether there is an animal at all: compounds are then chains that stand with those.
"""
from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ..dataclass import dataclass
from .problem import Rows
from .sweeps import Neighbours, Scopes, Standing, components, levels

SHORT = 4  # places of a chain that is worth it
MOST = 12  # states
WORTH = 4  # entries of tables between compounds for each of those of factors
FORMS = 40  # of tables, beyond which components differ too much

Table = Rows | None  # which entries of a slot's table data leave possible; None if those are all


@dataclass(frozen=True)
class Group:
    """Compounds of the same states: their members, (n, m), and the positions of those in every state, (K, m)."""

    compounds: np.ndarray
    members: np.ndarray
    states: np.ndarray


@dataclass(frozen=True)
class Terms:
    """Rows of a slot, (n,), as terms of compounds, (n, 1 or 2), and of the elements `around` them, (n, q).

    With the axes of the slot's tables in an `order`, those around first, the `entries` are those of a row for all
    states of the compounds, numbered along the axes behind, (K,) or (K, K).
    """

    slot: int
    rows: np.ndarray
    around: np.ndarray
    compounds: np.ndarray
    order: tuple[int, ...]
    entries: np.ndarray

    @property
    def scopes(self) -> list[tuple[int, ...]]:
        """What each of the terms is of."""
        return [tuple(scope) for scope in np.concatenate([self.around, self.compounds], axis=1).tolist()]


@dataclass(frozen=True)
class Compounds:
    """Compounds of `kind` states, of which some may have fewer, `count` from the number `first` on.

    `single` are terms of one compound, `links` all others, each of which is a slot of its own.
    """

    kind: int
    first: int
    count: int
    groups: tuple[Group, ...]
    single: tuple[Terms, ...]
    links: tuple[Terms, ...]


_Level = tuple[int, ...]  # elements


def compounds(
    neighbours: Neighbours, kinds: Sequence[int], scopes: Scopes, standing: Standing, tables: Sequence[Table],
    limit: int,
) -> list[Compounds]:  # fmt: skip
    """Compounds in place of the elements of components that are worth it, of a step by the number of states.

    Elements that have no `neighbours` stand around the components of the others.
    """
    ends = list(_ends(neighbours))
    ways = []
    for start in (slice(None), slice(1), slice(-1, None)):
        found = list(_components_of_levels(ends, neighbours, kinds, start))
        states = states_of([lv for one in found for lv in one], kinds, scopes, standing, tables)
        ways.append(((-len(found), sum(_size(one, kinds, states) for one in found)), found, states))
    _, found, states = min(ways, key=lambda way: way[0])
    by_kind: dict[int, list[list[_Level]]] = {}
    for one in found:
        counts = [len(states[_form(lv, kinds)]) for lv in one]
        kind = max(counts)
        if 1 < kind <= MOST and min(counts) > 0 and _is_worth(one, kinds, states, scopes, standing):
            by_kind.setdefault(kind, []).append(one)
    out: list[Compounds] = []
    first = len(kinds)
    for kind, members in sorted(by_kind.items()):
        out.append(together(kind, first, members, kinds, states, scopes, standing))
        first += out[-1].count
    forms, most = sum(len(c.links) + len(c.single) for c in out), max((c.count * c.kind**2 for c in out), default=0)
    return out if forms <= FORMS and most <= limit else []


def _ends(neighbours: Neighbours) -> Iterator[list[int]]:
    """The elements of every component that are farthest from the first one, where they are far enough."""
    for component in components(neighbours):
        distance = levels(component[:1], neighbours)
        most = distance[component[-1]]
        if most >= SHORT - 1:
            yield [e for e in component if distance[e] == most]


def _components_of_levels(
    ends: Sequence[Sequence[int]], neighbours: Neighbours, kinds: Sequence[int], start: slice
) -> Iterator[list[_Level]]:
    """Components that are long and thin, as the elements at the same distance from some of those at an end."""
    for end in ends:
        by_level: dict[int, list[int]] = {}
        for e, level in levels(end[start], neighbours).items():
            by_level.setdefault(level, []).append(e)
        found = [tuple(sorted(members)) for members in reversed(by_level.values())]
        if len(found) >= SHORT and all(_is_thin(lv, kinds) for lv in found):
            yield found


def _is_thin(level: _Level, kinds: Sequence[int]) -> bool:
    return sum(math.log(kinds[e]) for e in level) <= 2 * math.log(MOST)


def _form(level: _Level, kinds: Sequence[int]) -> tuple[int, ...]:
    return tuple(kinds[e] for e in level)


_Form = tuple[int, ...]
_Excluding = frozenset[tuple[int, int, tuple[int, ...]]]


def states_of(
    all_: Sequence[_Level], kinds: Sequence[int], scopes: Scopes, standing: Standing, tables: Sequence[Table]
) -> Mapping[_Form, np.ndarray]:
    """The positions, (K, members), that go together at some level, by the lengths of axes of its elements."""
    told: dict[_Form, set[_Excluding]] = {}
    for level in all_:
        place = {e: i for i, e in enumerate(level)}
        excluding = {
            (s, int(given.at(np.array([r]))[0]), tuple(place.get(n, -1) for n in scopes[s][r]))
            for e in level for s, r in standing[e] if (given := tables[s]) is not None
        }  # fmt: skip
        told.setdefault(_form(level, kinds), set()).add(frozenset(excluding))
    out = {}
    for form, ways in told.items():
        possible = np.zeros(form, bool)
        for way in ways:
            possible |= _possible(form, way, tables)
        out[form] = np.argwhere(possible)
    return out


def _possible(form: _Form, excluding: _Excluding, tables: Sequence[Table]) -> np.ndarray:
    """Which positions go together, by factors: each a slot, a row of its table, and the places of its axes, or -1."""
    out = np.ones(form, bool)
    for slot, row, places in excluding:
        given = tables[slot]
        assert given is not None
        entries = given.table[row].any(axis=tuple(a for a, p in enumerate(places) if p < 0))
        inside = [p for p in places if p >= 0]
        shape = tuple(n if p in inside else 1 for p, n in enumerate(form))
        out &= entries.transpose(np.argsort(inside)).reshape(shape)
    return out


def _size(one: Sequence[_Level], kinds: Sequence[int], states: Mapping[_Form, np.ndarray]) -> int:
    """The entries of all tables between neighbouring compounds."""
    counts = [len(states[_form(lv, kinds)]) for lv in one]
    return sum(a * b for a, b in zip(counts, counts[1:]))


def _is_worth(
    one: Sequence[_Level], kinds: Sequence[int], states: Mapping[_Form, np.ndarray], scopes: Scopes, standing: Standing
) -> bool:  # fmt: skip
    """Whether those, for all values of the elements around, are not many more than the entries of factors."""
    inside = {e for lv in one for e in lv}
    factors = {f for e in inside for f in standing[e]}
    size = sum(math.prod(kinds[e] for e in scopes[s][r]) for s, r in factors)
    around = {e for s, r in factors for e in scopes[s][r]} - inside
    if around and max(map(len, one)) == 1:
        return False
    return math.prod((kinds[e] for e in around), start=_size(one, kinds, states)) <= WORTH * size


def together(
    kind: int, first: int, components: Sequence[Sequence[_Level]], kinds: Sequence[int],
    states: Mapping[_Form, np.ndarray], scopes: Scopes, standing: Standing,
) -> Compounds:  # fmt: skip
    """The step for some components, in which what stands at one place of all of them is close together."""
    all_ = [lv for one in components for lv in one]
    at = {e: (first + i, lv) for i, lv in enumerate(all_) for e in lv}
    by_form: dict[_Form, list[_Level]] = {}
    for level in (one[t] for t in range(max(map(len, components))) for one in components if t < len(one)):
        by_form.setdefault(_form(level, kinds), []).append(level)
    groups = tuple(
        Group(np.array([at[lv[0]][0] for lv in here]), np.array(here), states[form]) for form, here in by_form.items()
    )
    terms = list(_terms(kind, at, kinds, states, scopes, standing))
    single = tuple(t for t in terms if t.around.shape[1] == 0 and t.compounds.shape[1] == 1)
    links = tuple(t for t in terms if t.around.shape[1] > 0 or t.compounds.shape[1] == 2)
    return Compounds(kind, first, len(all_), groups, single, links)


def _terms(
    kind: int, at: Mapping[int, tuple[int, _Level]], kinds: Sequence[int], states: Mapping[_Form, np.ndarray],
    scopes: Scopes, standing: Standing,
) -> Iterator[Terms]:  # fmt: skip
    """The terms of all factors of members, each `at` a compound; those of one slot and of the same axes together."""
    found: dict[tuple[int, tuple[_Form, ...], tuple[_Axis, ...]], list[tuple[int, ...]]] = {}
    for s, r in {f: None for e in at for f in standing[e]}:
        scope = scopes[s][r]
        around, touched = [e for e in scope if e not in at], dict(sorted(at[e] for e in scope if e in at))
        number = {c: i for i, c in enumerate(touched)}
        axes = tuple((number[at[e][0]], at[e][1].index(e)) if e in at else AROUND for e in scope)
        forms = tuple(_form(lv, kinds) for lv in touched.values())
        found.setdefault((s, forms, axes), []).append((r, *around, *touched))
    for (s, forms, axes), places in found.items():
        order = tuple(np.argsort([a != AROUND for a in axes], kind="stable").tolist())
        outer, rows = axes.count(AROUND), np.array(places)
        entries = _entries(kind, [states[f] for f in forms], forms, [a for a in axes if a != AROUND])
        yield Terms(s, rows[:, 0], rows[:, 1 : 1 + outer], rows[:, 1 + outer :], order, entries)


_Axis = tuple[int, int]  # the number of a compound, and the place of a member
AROUND: _Axis = (-1, -1)  # of an element around


def _entries(
    kind: int, states: Sequence[np.ndarray], forms: Sequence[_Form], axes: Sequence[_Axis]
) -> np.ndarray:  # fmt: skip
    """The numbers of the entries of a row for the states of one or two compounds; a state that there is none of
    has those of the first."""
    index = np.zeros((kind,) * len(states), int)
    for compound, member in axes:
        values = np.zeros(kind, int)
        values[: len(states[compound])] = states[compound][:, member]
        values[len(states[compound]) :] = states[compound][:1, member]
        shape = tuple(kind if i == compound else 1 for i in range(len(states)))
        index = index * forms[compound][member] + values.reshape(shape)
    return index
