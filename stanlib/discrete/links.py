"""The tables between the places of chains."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..arrays.base import Namespace
from .chains import Chains
from .problem import Rows, rows, sum_of

DIFFERENT = 4  # tables that all chains share, among those of many steps


def between(
    xp: Namespace, tables: Sequence[Rows], c: Chains, kind: int, shared: bool
) -> tuple[Any, np.ndarray | None]:  # fmt: skip
    """The sum of all tables from one place of chains to the next, and which of them is that of each step.

    Args:
        tables: by the slots that the links name.
        c: chains of elements with so many values.
        kind: that number, K.
        shared: whether those that all chains share may stand once.

    Returns:
        An array (K, K) where it is the same everywhere, (n, K, K) with numbers, (length - 1,), where few are different,
        (length - 1, K, K) if it is shared, else one (length - 1, chains, K, K), 0 where there is no factor.
    """
    rows_ = [tables[link.slot].at(link.rows) for link in c.links]
    most = np.stack([at.max(axis=0) for at in rows_])
    same = all(((at == m) | ~c.linked).all() for at, m in zip(rows_, most))
    different, inverse = np.unique(most, axis=1, return_inverse=True)
    count, which = different.shape[1], inverse.reshape(-1)
    if not same or not shared and count > 1:
        return _sum(xp, tables, c, [_all_or_one(at, c.linked) for at in rows_]), None
    each = count > DIFFERENT or 1 < count > len(which) / DIFFERENT
    found = _sum(xp, tables, c, [at[:, None] for at in (most if each else different)])
    found = xp.reshape(found, (-1, kind, kind))
    return (found[0], None) if count == 1 else (found, None if each else which)


def _all_or_one(at: np.ndarray, linked: np.ndarray) -> np.ndarray:
    """Rows by step and chain; a single one where that is the same for all."""
    inside = at[linked]
    return inside[:1, None] if (inside == inside[0]).all() else at.T


def _sum(xp: Namespace, tables: Sequence[Rows], c: Chains, at: Sequence[np.ndarray]) -> Any:
    """The sum of the tables of all links at such rows, (steps, chains), of (steps, chains, K, K)."""
    total = None
    for link, own in zip(c.links, at):
        table = tables[link.slot].table
        one = placed(xp, xp.swapaxes(table, 1, 2) if link.swapped else table, own)
        total = one if total is None else sum_of(xp, total, one)
    return total


def placed(xp: Namespace, table: Any, at: np.ndarray) -> Any:
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
