"""The tables between the places of chains."""
from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..arrays.base import Array, Namespace
from ..dataclass import dataclass
from .chains import Chains, Link
from .problem import Rows, sum_of
from .rows import rows

DIFFERENT = 4  # tables that all chains share, among those of many steps


@dataclass(frozen=True)
class Moves:
    """The terms between the places of chains, as `between` has them; which of them is that of each step.

    `probabilities` are those that they are the logarithms of, if these are known.
    """

    table: Any
    which: np.ndarray | None = None
    probabilities: Any = None

    def by_step(self, xp: Namespace, table: Array, steps: int) -> Any:
        """A table of this kind, with an entry for each of so many steps if they are not all the same."""
        if self.which is not None:
            return xp.get(table, (self.which,))
        return xp.broadcast_to(table, (steps, *xp.shape(table)[1:])) if xp.ndim(table) == 4 else table

    def by_chain(self, xp: Namespace, steps: int, count: int) -> "Moves":
        """The same with tables of each chain, (1 or steps, chains, K, K)."""

        def spread(table: Array) -> Array:
            if xp.ndim(table) < 4:
                table = xp.reshape(self.by_step(xp, table, steps), (-1, 1, *xp.shape(table)[-2:]))
            return xp.broadcast_to(table, (xp.shape(table)[0], count, *xp.shape(table)[2:]))

        return Moves(spread(self.table), None, None if self.probabilities is None else spread(self.probabilities))


def between(xp: Namespace, tables: Sequence[Rows], c: Chains, kind: int, shared: bool) -> Moves:
    """The sum of all tables from one place of chains to the next.

    Args:
        tables: by the slots that the links name.
        c: chains of elements with so many values.
        kind: that number, K.
        shared: whether those that all chains, or all steps, share may stand once.

    Returns:
        An array (K, K) where it is the same everywhere, (n, K, K) with numbers, (length - 1,), where few are different,
        (length - 1, K, K) if it is shared, (1, chains, K, K) if it is the same all along each chain and may stand once,
        else one (length - 1, chains, K, K), 0 where there is no factor.
    """
    rows_ = [tables[link.slot].at(link.rows) for link in c.links]
    most = np.stack([at.max(axis=0) for at in rows_])
    same = all(((at == m) | ~c.linked).all() for at, m in zip(rows_, most))
    different, inverse = np.unique(most, axis=1, return_inverse=True)
    count, which = different.shape[1], inverse.reshape(-1)
    if not same or not shared and count > 1:
        steady = shared and all(((at == at.max(axis=1, keepdims=True)) | ~c.linked).all() for at in rows_)
        at = [at.max(axis=1)[None] for at in rows_] if steady else [_all_or_one(at, c.linked) for at in rows_]
        return Moves(_sum(xp, tables, c, at), None, _product(xp, tables, c, at))
    each = count > DIFFERENT or 1 < count > len(which) / DIFFERENT
    at = [row[:, None] for row in (most if each else different)]
    found = xp.reshape(_sum(xp, tables, c, at), (-1, kind, kind))
    product = _product(xp, tables, c, at)
    product = None if product is None else xp.reshape(product, (-1, kind, kind))
    if count == 1:
        return Moves(found[0], None, None if product is None else product[0])
    return Moves(found, None if each else which, product)


def _all_or_one(at: np.ndarray, linked: np.ndarray) -> np.ndarray:
    """Rows by step and chain; a single one where that is the same for all."""
    inside = at[linked]
    return inside[:1, None] if (inside == inside[0]).all() else at.T


def _sum(xp: Namespace, tables: Sequence[Rows], c: Chains, at: Sequence[np.ndarray]) -> Any:
    """The sum of the tables of all links at such rows, (steps, chains), of (steps, chains, K, K)."""
    found = (_placed(xp, tables[link.slot].table, link, own) for link, own in zip(c.links, at))
    return functools.reduce(lambda a, b: sum_of(xp, a, b), found)


def _product(xp: Namespace, tables: Sequence[Rows], c: Chains, at: Sequence[np.ndarray]) -> Any:
    """The product of their probabilities, 1 where there is no factor; None if these are not known of all of them."""
    given = [_probabilities(tables[link.slot]) for link in c.links]
    if any(g is None for g in given):
        return None
    found = []
    for link, table, own in zip(c.links, given, at):
        missing = (own < 0) & (c.linked.T if own.shape == c.linked.T.shape else True)
        one, none = xp.convert((_placed(xp, table, link, own), missing.astype(float)[..., None, None]))
        found.append(one + none if missing.any() else one)
    return functools.reduce(operator.mul, found)


def _probabilities(given: Rows) -> Any:
    """What a table holds the logarithms of, if that is known, as it always is of data."""
    return np.exp(given.table) if isinstance(given.table, np.ndarray) else given.probabilities


def _placed(xp: Namespace, table: Any, link: Link, own: np.ndarray) -> Array:
    return placed(xp, xp.swapaxes(table, 1, 2) if link.swapped else table, own)


def placed(xp: Namespace, table: Array, at: np.ndarray) -> Array:
    """The rows of a table at the places (length, chains) of chains, zeros for -1: (length, chains, ...).

    Those that are the same all along a chain are spread, which takes no index for every place.
    """
    rest = xp.shape(table)[1:]
    most = at.max(axis=0)
    if not ((at == most) | (at < 0)).all():
        return xp.reshape(rows(xp, table, at.reshape(-1)), (*at.shape, *rest))
    found = xp.broadcast_to(rows(xp, table, most)[None], (*at.shape, *rest))
    if (at >= 0).all():
        return found
    there, found = xp.convert(((at >= 0).reshape(*at.shape, *(1 for _ in rest)), found))
    return xp.where(there, found, 0.0)
