"""Chains of two states of which one is never left, as in capture histories: sums over the time of the change.

With A(t) the sum of all terms as long as a chain stays where it may leave, up to t, and B(t) that of all behind t where
it stays for good, the sum over all paths is that over the times t of exp(A(t - 1) + move(t) + B(t)).
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..arrays.base import Namespace
from .chains import Chains
from .links import placed
from .problem import Rows

SHORT = 16  # steps of chains that need no sums along them


def left_state(tables: Sequence[Rows], c: Chains) -> int | None:
    """The state, 0 or 1, that no link of chains leads back to, as tables of data say; None if there is no such."""
    for link in c.links:
        given = tables[link.slot]
        if not isinstance(given.table, np.ndarray) or given.table.shape[1:] != (2, 2):
            continue
        table = given.table.swapaxes(1, 2) if link.swapped else given.table
        at = given.at(link.rows)[c.linked]
        for state in (0, 1):
            if (at >= 0).all() and (table[at, 1 - state, state] == -np.inf).all():
                return state
    return None


def log_sums(xp: Namespace, tables: Sequence[Rows], c: Chains, single: Any, state: int) -> Any:
    """The logarithms of the sums over all paths, by chain.

    Args:
        tables: by the slots that the links name.
        c: chains of elements with two values.
        single: the terms of elements, (2, length, chains), zeros where there is none.
        state: the one that can be left.
    """
    last = 1 - state
    linked = c.linked.T
    staying, leaving, left = (moves(xp, tables, c, a, b) for a, b in ((state, state), (state, last), (last, last)))
    linked, staying, leaving, left, single = xp.convert((linked, staying, leaving, left, single))
    if len(linked) <= SHORT:
        leaving = xp.where(linked, leaving, -xp.inf)
        return _step_by_step(xp, staying, leaving, left, xp.unstack(single[state]), xp.unstack(single[last]))
    before = _sums(xp, staying + single[state][1:]) + single[state][0]
    behind = xp.flip(_sums(xp, xp.flip(left + single[last][1:], axis=0)), axis=0)
    none = xp.convert((np.zeros((1, len(c.elements))), single))[0]
    leaving = xp.where(linked, leaving + single[last][1:], -xp.inf)
    changed = xp.concatenate([single[state][:1], before[:-1]]) + leaving + xp.concatenate([behind[1:], none])
    ends = [(single[last][0] + behind[0])[None], changed, before[-1:]]
    return xp.log_of_sum(xp.concatenate(ends), 0)


def _step_by_step(xp: Namespace, staying: Any, leaving: Any, left: Any, before: Any, after: Any) -> Any:
    """The same of short chains: terms by step, of all chains at once.

    Args:
        staying, leaving, left: terms of moves, (length - 1, chains), with -inf where there is none to leave.
        before, after: the terms of elements in the one state and in the other, `length` arrays (chains,).
    """
    staying, leaving, left = map(xp.unstack, (staying, leaving, left))
    behind = [after[-1]]
    for move, own in zip(reversed(left), reversed(after[:-1])):
        behind.insert(0, own + move + behind[0])
    here, terms = before[0], [behind[0]]
    for t, (move, change) in enumerate(zip(staying, leaving), 1):
        terms.append(here + change + behind[t])
        here = here + move + before[t]
    return xp.log_of_terms((*terms, here))


def moves(xp: Namespace, tables: Sequence[Rows], c: Chains, a: int, b: int) -> Any:
    """The terms of moves from a to b, (length - 1, chains), 0 where there is no link."""
    total: Any = np.zeros(c.linked.T.shape)
    for link in c.links if total.size else ():
        given, at = tables[link.slot], tables[link.slot].at(link.rows).T
        one = xp.get(given.table, (slice(None), *((b, a) if link.swapped else (a, b))))
        one, total = xp.convert((placed(xp, one, at), total))
        total = total + one
    return total


def _sums(xp: Namespace, x: Any) -> Any:
    """The sums up to each place on the first axis: those over 2, 4, ... places, which XLA computes at once."""
    length, step = xp.shape(x)[0], 1
    while step < length:
        none, x = xp.convert((np.zeros((min(step, length), *xp.shape(x)[1:])), x))
        x = x + xp.concatenate([none, x[:-step]])
        step *= 2
    return x
