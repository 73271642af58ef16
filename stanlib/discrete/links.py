"""The tables between the places of chains."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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
    found = xp.rearranged(table, at.T.reshape(-1))  # zeros where there is no link
    return xp.reshape(found, (places, count, kind, kind))
