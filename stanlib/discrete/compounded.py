"""The terms of compounds, from those of their members, and the values of members from those of compounds."""
from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..arrays import namespace
from ..arrays.base import Array, Namespace, Real
from .compounds import Compounds, Group, Terms
from .problem import ALIKE, Factor, Rows, permuted, sum_of
from .rows import rows

NUMPY = namespace(())


def single(xp: Namespace, kind: int, g: Group, of_elements: Callable[[np.ndarray], Any]) -> Any:
    """The sums of the terms of single members of a group, (count, kind); -inf for states that there are none of.

    Args:
        of_elements: the terms of elements of one kind, (n, K).
    """
    total: Any = np.zeros((len(g.states), len(g.compounds)))
    for members, values in zip(g.members.T, g.states.T):
        one = xp.swapaxes(of_elements(members), 0, 1)
        if len(values) != xp.shape(one)[0] or (np.diff(values) != 1).any():
            one = xp.concatenate([xp.get(one, (slice(v, v + 1),)) for v in values.tolist()])
        total = sum_of(xp, total, one)
    if len(g.states) < kind:
        none = np.full((kind - len(g.states), len(g.compounds)), -np.inf)
        total = xp.concatenate([*xp.convert((total, none))])
    return xp.swapaxes(total, 0, 1)


def of_single(xp: Namespace, terms: Sequence[Terms], tables: Sequence[Rows]) -> Iterator[Factor]:
    """The terms that are of one compound each, as factors over those; what places share of all slots as one factor."""
    shared: list[Factor] = []
    for t in terms:
        at = tables[t.slot].at(t.rows)
        used, codes = np.unique(at, return_inverse=True)
        if len(used) > ALIKE * len(at):
            yield Factor("", t.compounds, _of_states(xp, t, rows(xp, tables[t.slot].table, at)))
        else:
            table = _of_states(xp, t, rows(xp, tables[t.slot].table, used))
            shared.append(Factor("", t.compounds, table, codes.reshape(-1)))
    if shared:
        yield together(xp, shared)


def together(xp: Namespace, factors: Sequence[Factor]) -> Factor:
    """Factors with numbers of their rows, of tables of one form, as one."""
    sizes = [int(xp.shape(f.table)[0]) for f in factors]
    before = np.cumsum(sizes) - sizes
    codes = np.concatenate([f.codes + first for f, first in zip(factors, before) if f.codes is not None])
    table = factors[0].table if len(factors) == 1 else xp.concatenate([*xp.convert(tuple(f.table for f in factors))])
    return Factor(factors[0].label, np.concatenate([f.elements for f in factors]), table, codes)


def _of_states(xp: Namespace, t: Terms, table: Array) -> Any:
    """Rows of a slot's table, by the states of one compound, (n, K)."""
    flat = xp.reshape(table, (xp.shape(table)[0], -1))
    if np.array_equal(t.entries, np.arange(xp.shape(flat)[1])):
        return flat
    return xp.get(flat, (slice(None), t.entries))


def of_links(xp: Namespace, t: Terms, tables: Sequence[Rows]) -> Rows:
    """Those of two, or of others around too, a row for each that the slot has."""
    given = tables[t.slot]
    used, codes = np.unique(given.at(t.rows), return_inverse=True)

    def of_states(xp: Namespace, table: Array) -> Any:
        table = permuted(xp, rows(xp, table, used), (0, *(axis + 1 for axis in t.order)))
        count, *outer = xp.shape(table)[: 1 + t.around.shape[1]]
        table = xp.reshape(table, (count * math.prod(outer), -1))
        found = xp.get(table, (slice(None), t.entries.reshape(-1)))
        return xp.reshape(found, (count, *outer, *t.entries.shape))

    probabilities = None if given.probabilities is None else of_states(xp, given.probabilities)
    stands = None if given.stands is None else of_states(NUMPY, given.stands)
    return Rows(of_states(xp, given.table), codes.reshape(-1), probabilities, stands)


def with_members(xp: Namespace, c: Compounds, values: Real) -> Any:
    """The positions of all elements, with those of members from those of their compounds."""
    for g in c.groups:
        values, states = xp.convert((values, g.states))
        found = xp.get(states, (xp.get(values, (g.compounds,)),))
        for j, members in enumerate(g.members.T):
            values = xp.at_set(values, members, xp.get(found, (slice(None), j)))
    return values
