"""Sorting, ranks, reversal. Source: Stan Functions Reference, "Sorting functions", "Reversing functions"."""
from __future__ import annotations

from ..arrays.base import Array, Namespace
from ..checks import index
from ..domains import NOT_NAN, everywhere
from ..registry import stan_function
from ..signatures import each

_SORTABLE = ("vector", "row_vector", "array[] int", "array[] real")
_DOMAINS = {"v": everywhere(NOT_NAN)}  # which sorting leaves where nobody looks


@stan_function(*each("{t} sort_asc({t} v)", _SORTABLE), domains=_DOMAINS, examples=[([3.0, -1.0, 2.0],)])
def sort_asc(xp: Namespace, v: Array) -> Array:
    return xp.sort(v)


@stan_function(*each("{t} sort_desc({t} v)", _SORTABLE), domains=_DOMAINS, examples=[([3.0, -1.0, 2.0],)])
def sort_desc(xp: Namespace, v: Array) -> Array:
    return -xp.sort(-v)


@stan_function(*each("array[] int sort_indices_asc({t} v)", _SORTABLE), examples=[([3.0, -1.0, 2.0],)])
def sort_indices_asc(xp: Namespace, v: Array) -> Array:
    return xp.argsort(v) + 1


@stan_function(*each("array[] int sort_indices_desc({t} v)", _SORTABLE), examples=[([3.0, -1.0, 2.0],)])
def sort_indices_desc(xp: Namespace, v: Array) -> Array:
    return xp.argsort(-v) + 1


@stan_function(*each("int rank({t} v, int s)", _SORTABLE), examples=[([3.0, -1.0, 2.0], 1)])
def rank(xp: Namespace, v: Array, s: Array) -> Array:
    """How many components are less than component s."""
    s = index(xp, "rank", s, xp.shape(v)[0], "v")
    return xp.sum(xp.integer(v < xp.take(v, s - 1)))


@stan_function(
    "A reverse(A v)", *each("{t} reverse({t} v)", ("vector", "row_vector", "complex_vector", "complex_row_vector")),
    moves=True, examples=[([3.0, -1.0, 2.0],)],
)  # fmt: skip
def reverse(xp: Namespace, v: Array) -> Array:
    return xp.flip(v, axis=0)
