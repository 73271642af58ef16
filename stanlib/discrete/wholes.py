"""Wholes: components of which every element stands with every other, as one element each.

A table over all of them is needed for the first one that is summed out anyway. All terms of a component are then terms
of that one: such as those of the items of a test, of which each asks for some of the skills that somebody may have.
"""
from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from .compounds import FORMS, Compounds, Table, states_of, together
from .sweeps import Neighbours, Scopes, Standing, components

LEAST = 3  # elements of a component that is worth it
MOST = 256  # states
SEVERAL = 8  # components, of which those of one factor are worth it too: it is one sum for each, not several


def wholes(
    neighbours: Neighbours, kinds: Sequence[int], scopes: Scopes, standing: Standing, tables: Sequence[Table],
    limit: int,
) -> list[Compounds]:  # fmt: skip
    """Compounds in place of components that are complete, of a step by the number of states; these stand alone."""
    found = list(_complete(neighbours, kinds))
    if len(found) < SEVERAL:
        found = [members for members in found if max(len(standing[e]) for e in members) > 1]
    states = states_of(found, kinds, scopes, standing, tables)
    by_kind: dict[int, list[list[tuple[int, ...]]]] = {}
    for members in found:
        by_kind.setdefault(len(states[tuple(kinds[e] for e in members)]), []).append([members])
    out: list[Compounds] = []
    first = len(kinds)
    for kind, of_kind in sorted(by_kind.items()):
        out.append(together(kind, first, of_kind, kinds, states, scopes, standing))
        first += out[-1].count
    forms, entries = sum(len(c.single) for c in out), sum(c.count * c.kind for c in out)
    return out if forms <= FORMS and entries <= limit and 0 not in by_kind else []


def _complete(neighbours: Neighbours, kinds: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """The elements of every component in which all are neighbours, if those have few states."""
    for component in components(neighbours):
        others = len(component) - 1
        if not LEAST <= len(component) <= math.log2(MOST):
            continue
        complete = all(len(neighbours[e]) == others for e in component)
        if complete and math.prod(kinds[e] for e in component) <= MOST:
            yield tuple(sorted(component))
