"""Wholes: components of few elements as one element each, where any of them needs as large a table as all together.

So it is where every element stands with every other, and where some are what others make of them: what data leave
possible is then little. All terms of a component are terms of that one element: such as those of the items of a test,
of which each asks for some of the skills that somebody may have.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from .compounds import FORMS, Compounds, Table, states_of, together
from .sweeps import Neighbours, Scopes, Standing, components

LEAST = 3  # elements of a component that is worth it
MOST = 256  # states
NEARLY = 2  # entries of a table for each one of a smaller one, for which it is worth it
SEVERAL = 8  # components, of which those of one factor are worth it too: it is one sum for each, not several


def wholes(
    neighbours: Neighbours, kinds: Sequence[int], scopes: Scopes, standing: Standing, tables: Sequence[Table],
    limit: int,
) -> list[Compounds]:  # fmt: skip
    """Compounds in place of such components, of a step by the number of states; these stand alone."""
    found = list(_small(neighbours, kinds))
    states = states_of(found, kinds, scopes, standing, tables)
    count: Callable[[Sequence[int]], int] = lambda members: len(states[tuple(kinds[e] for e in members)])
    found = [members for members in found if _is_worth(count(members), members, neighbours, kinds)]
    if len(found) < SEVERAL:
        found = [members for members in found if max(len(standing[e]) for e in members) > 1]
    by_kind: dict[int, list[list[tuple[int, ...]]]] = {}
    for members in found:
        by_kind.setdefault(count(members), []).append([members])
    out: list[Compounds] = []
    first = len(kinds)
    for kind, of_kind in sorted(by_kind.items()):
        out.append(together(kind, first, of_kind, kinds, states, scopes, standing))
        first += out[-1].count
    forms, entries = sum(len(c.single) for c in out), sum(c.count * c.kind for c in out)
    return out if forms <= FORMS and entries <= limit and 0 not in by_kind else []


def _is_worth(states: int, component: Sequence[int], neighbours: Neighbours, kinds: Sequence[int]) -> bool:
    """Whether a table over all states of a component has about as many entries as that of one of its elements."""
    least = min(math.prod((kinds[n] for n in neighbours[e]), start=kinds[e]) for e in component)
    size = math.prod(kinds[e] for e in component)
    return least == size or states < size and states <= NEARLY * least


def _small(neighbours: Neighbours, kinds: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """The elements of every component of few, if those have few states."""
    for component in components(neighbours):
        if LEAST <= len(component) <= math.log2(MOST) and math.prod(kinds[e] for e in component) <= MOST:
            yield tuple(sorted(component))
