"""The tables between the places of chains."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..arrays.base import Namespace
from .chains import Chains, Link
from .problem import Rows, rows, sum_of


def between(xp: Namespace, tables: Sequence[Rows], c: Chains, kind: int, shared: bool) -> Any:
    """The sum of all tables from one place of chains to the next.

    Args:
        tables: by the slots that the links name.
        c: chains of elements with so many values.
        kind: that number, K.
        shared: whether those that all chains share may stand once.

    Returns:
        An array (K, K) where it is the same everywhere, (length - 1, 1, K, K) if it is shared, else one
        (length - 1, chains, K, K), 0 where there is no factor.
    """
    total = None
    for link in c.links:
        one = _of_link(xp, tables[link.slot], link, c, kind, shared)
        total = one if total is None else sum_of(xp, total, one)
    return total


def _of_link(xp: Namespace, given: Rows, link: Link, c: Chains, kind: int, shared: bool) -> Any:
    """The tables of one link."""
    table = xp.swapaxes(given.table, 1, 2) if link.swapped else given.table
    missing, at = (link.rows < 0) & c.linked, given.at(link.rows)
    if (at[c.linked] == at[c.linked][0]).all():
        return xp.reshape(rows(xp, table, at[c.linked][:1]), (kind, kind))
    count, places = at.shape
    most = at.max(axis=0)
    if shared and ((at == most) | ~c.linked).all() and not missing.any():
        return xp.reshape(rows(xp, table, most), (places, 1, kind, kind))
    return placed(xp, table, at.T)


def placed(xp: Namespace, table: Any, at: np.ndarray) -> Any:
    """The rows of a table at the places (length, chains) of chains, zeros for -1: (length, chains, ...).

    Those that are the same all along a chain are spread, which takes no index for every place.
    """
    rest = xp.shape(table)[1:]
    most = at.max(axis=0)
    if not ((at == most) | (at < 0)).all():
        return xp.reshape(xp.rearranged(table, at.reshape(-1)), (*at.shape, *rest))
    found = xp.broadcast_to(rows(xp, table, most)[None], (*at.shape, *rest))
    if (at >= 0).all():
        return found
    there, found = xp.convert(((at >= 0).reshape(*at.shape, *(1 for _ in rest)), found))
    return xp.where(there, found, 0.0)
