"""Sums along chains, from their beginnings to their ends, and draws the other way."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..arrays.base import Array, Namespace
from ..dataclass import dataclass
from .chains import Chains
from .links import Moves
from .shared import Shared

Reduce = Callable[..., Any]  # the sum of logarithms along an axis, or what stands for it
Choose = Callable[[Namespace, Any, Any], Any]  # positions, from logarithms of weights along the last axis and uniforms


@dataclass(frozen=True)
class Around:
    """The `terms` of what stands around chains, (cases, chains), in all cases; whether some are `impossible`.

    Chains are summed for all cases, one after the other, or some of them for others too, which are `shared`.
    """

    terms: Any
    impossible: bool
    shared: Shared | None = None

    def by_case(self, xp: Namespace, sums: Array) -> Any:
        """What every chain has in every case, (cases, chains), from what those have that are summed."""
        return xp.reshape(sums, xp.shape(self.terms)) if self.shared is None else self.shared.by_case(xp, sums)


@dataclass(frozen=True)
class SummedChains:
    """Chains that were summed out: for each place the sums over all before it, and the tables to the next place.

    `sums` has the shape (length, chains, K), `tables` (K, K) or (length - 1, chains, K, K).
    """

    chains: Chains
    sums: Any
    tables: Any


def along(
    xp: Namespace, reduce: Reduce, single: Array, tables: Array, linked: np.ndarray, keep: bool
) -> tuple[Any, Any]:  # fmt: skip
    """What is summed up at the ends of chains, (chains, K), and at every step where it is kept.

    Args:
        reduce: the sum of logarithms along the second axis, or what stands for it.
        single: the terms of elements, (length, chains, K).
        tables: those between one and the next, (K, K), or such by step, for each chain or all.
        linked: which steps there are, (length - 1, chains).
    """
    several, all_ = xp.ndim(tables) > 2, bool(linked.all())

    def step(before: Any, x: Any, *constant: Any) -> Any:
        single, *rest = x
        table = rest.pop(0) if several else constant[0]
        after = reduce(xp, before[:, :, None] + table) + single
        after = after if all_ else xp.where(rest[0][:, None], after, before)
        return after, after if keep else ()

    there = () if all_ else xp.convert((linked, tables))[:1]
    xs = (single[1:], *((tables,) if several else ()), *there)
    ends: tuple[Any, Any] = xp.scan(step, single[0], xs, *(() if several else (tables,)))
    return ends


def sums_alone(
    xp: Namespace, reduce: Reduce, single: Array, moves: Moves, linked: np.ndarray,
    often: np.ndarray | None, around: Around | None,
) -> Any:  # fmt: skip
    """The sum of what all chains come to, as often as each counts; those of each, (chains,), if that is not told.

    Args:
        single, linked: as `along` has them.
        often: a number for each chain, over all of its cases.
        around: the cases of chains, if there are any.
    """
    by_chain = xp.ndim(moves.table) == 4
    if often is None:
        moves = moves.by_chain(xp, *linked.shape)
    elif around is not None and by_chain:  # where nothing is saved by derivatives that know how much each case counts
        return over_cases(xp, reduce, sums_alone(xp, reduce, single, moves, linked, None, around), often, around)

    def plain(single: Array, table: Array, cases: Array | None = None) -> Any:
        last, _ = along(xp, reduce, single, moves.by_step(xp, table, len(linked)), linked, False)
        told = None if cases is None or around is None else replace(around, terms=cases)
        return over_cases(xp, reduce, reduce(xp, last), often, told)

    cases = () if around is None or often is None and not around.impossible else (around.terms,)
    single, table, *told = xp.convert((single, moves.table, *cases))
    by_case = None if around is None or around.shared is None else partial(around.by_case, xp)
    return xp.log_sum_of_chains(plain, single, table, linked, often, moves.which, moves.probabilities, by_case, *told)


def over_cases(
    xp: Namespace, reduce: Reduce, sums: Array, often: np.ndarray | None, around: Around | None
) -> Any:  # fmt: skip
    """The sum over all chains, and over the cases of each if there are any, as often as that counts if it is told."""
    if around is not None and often is not None:
        sums, cases = xp.convert((sums, around.terms))
        sums = reduce(xp, around.by_case(xp, sums) + cases, 0)
    return counted(xp, sums, often)


def counted(xp: Namespace, sums: Array, often: np.ndarray | None) -> Any:
    """Their sum, as often as each counts; each by itself where that is not told."""
    if often is None:
        return sums
    if (often == 1).all():
        return xp.sum(sums)
    often, sums = xp.convert((often, sums))
    return xp.sum(often * sums)


def with_chains(xp: Namespace, s: SummedChains, values: Any, choose: Choose, uniform: Callable[..., object]) -> Any:
    """The positions of all elements, with those of chains, that are chosen."""
    there = s.chains.elements >= 0
    found = xp.swapaxes(_along(xp, s, choose, uniform(s.chains.elements.T.shape)), 0, 1)
    chosen = xp.get(xp.reshape(found, (there.size,)), (np.flatnonzero(there),))
    return xp.at_set(values, s.chains.elements[there], chosen)


def _along(xp: Namespace, s: SummedChains, choose: Choose, u: Any) -> Any:
    """The positions of the elements of chains, (length, chains), from their ends to their beginnings."""
    many = xp.ndim(s.tables) == 4
    count = s.chains.elements.shape[0]
    every, tables, u, linked = xp.convert((s.sums, s.tables, u, s.chains.linked.T))  # some may be data
    arriving = xp.swapaxes(tables, -1, -2)  # by the value that comes after
    last = choose(xp, every[-1], u[-1])

    def step(after: Any, x: Any, *constant: Any) -> Any:
        sums, u, linked, *own = x
        from_here = xp.get(own[0], (np.arange(count), after)) if many else xp.get(constant[0], (after,))
        here = xp.where(linked, choose(xp, sums + from_here, u), after)
        return here, here

    xs = (every[:-1], u[:-1], linked)
    if many:
        rest = xp.scan(step, last, (*xs, arriving), reverse=True)[1]
    else:
        rest = xp.scan(step, last, xs, arriving, reverse=True)[1]
    return xp.concatenate([rest, last[None]])
