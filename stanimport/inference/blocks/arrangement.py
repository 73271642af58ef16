"""The order of rows: where sums don't depend on it, about that of the groups that rows look up.

So memory is read in turn. Rows of one group don't follow each other: each would wait for the sum that the one before
adds to. Some rows in the order of their groups are read in the order of a table's columns, which they fill row by row.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from .flat import is_literal
from .plan import Plan, Sweep
from .steps import Added, Each, Total

_DENSE = 4  # values that there may be for each index, for counting them to be of use
FEW = 2**14  # numbers that stay in the cache, in whatever order they are looked up
_HEIGHT, _LEAST_WIDTH = 64, 64  # of the table by which rows of one group are parted


def orders(plan: Plan) -> dict[Any, np.ndarray]:
    """The order of the rows of data by class, for those classes that gain by another one."""
    out = {}
    groups = {plan.group_of(r) for part in plan.order if isinstance(part, Sweep) for r in part.roots}
    for group in groups:
        indices = _looked_up(plan, group) if _is_free(plan, group) else None
        if indices is not None and np.any(indices[1:] < indices[:-1]):
            out[group] = _parted(_order_of(indices), indices)
    return out


def sources(plan: Plan, group: object) -> dict[Any, int]:
    """What a class takes by rows of values that have none, and along which axis."""
    return {v: axis for i in _equations(plan, group) for v, axis in plan.read_rows(i)
            if not is_literal(v) and v not in plan.axes}  # fmt: skip


def _equations(plan: Plan, group: object) -> list[int]:
    def touches(i: int) -> bool:
        e = plan.flat.equations[i]
        near = [v for v in (*e.invars, *e.outvars) if not is_literal(v) and v in plan.axes]
        return any(plan.offsets[v][0] is group for v in near)

    return [i for i in plan.steps if touches(i)]


def _is_free(plan: Plan, group: object) -> bool:
    """Whether only data have rows here, and all that leaves them are totals."""
    roots = [r for part in plan.order if isinstance(part, Sweep) for r in part.roots if plan.group_of(r) is group]
    if any(r.kind not in ("total", "added") for r in roots):
        return False
    if not all(isinstance(plan.steps[i], (Each, Total, Added)) for i in _equations(plan, group)):
        return False
    found = sources(plan, group)
    return len({v.aval.shape[axis] for v, axis in found.items()}) == 1 and all(v in plan.flat.constants for v in found)


def _looked_up(plan: Plan, group: object) -> np.ndarray | None:
    """The indices of data by which rows look up the largest array."""
    best: tuple[int, np.ndarray] | None = None
    for i in _equations(plan, group):
        e = plan.flat.equations[i]
        if e.primitive.name != "gather" or plan.steps[i].axes[0] is not None:
            continue
        size, indices = e.invars[0].aval.size, _data_of(plan, e.invars[1])
        if indices is not None and size > FEW and (best is None or size > best[0]):
            best = size, indices
    return best[1] if best else None


def _data_of(plan: Plan, v: object) -> np.ndarray | None:
    """The data, one number for each row, that a value is a copy of in another shape or type."""
    while v in plan.flat.makers:
        e = plan.flat.equations[plan.flat.makers[v][0]]
        if e.primitive.name not in ("broadcast_in_dim", "reshape", "convert_element_type") or len(e.invars) != 1:
            return None
        (v,) = e.invars
    data = None if is_literal(v) else plan.flat.constants.get(v)
    return data if data is not None and data.ndim == 1 else None


def _order_of(indices: np.ndarray) -> np.ndarray:
    """The places of indices in the order of their values, equal ones as they stand."""
    low, high = int(indices.min()), int(indices.max())
    if len(indices) > 2**31 - 1 or high - low > _DENSE * len(indices):
        return np.argsort(indices, kind="stable")
    from scipy.sparse import csr_array  # which counts to turn rows into columns

    ones, starts = np.ones(len(indices), np.int8), np.arange(len(indices) + 1, dtype=np.int32)
    by_row = csr_array((ones, indices - low if low else indices, starts), (len(indices), high - low + 1))
    order: np.ndarray = by_row.tocsc().indices
    return order


def _parted(order: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """The order, in which about as many rows as a table has stand by its columns: neighbours are of other groups."""
    groups = int(np.max(indices)) - int(np.min(indices)) + 1
    width = max(_LEAST_WIDTH, 2 * -(-len(order) // groups))
    size = _HEIGHT * width
    for start in range(0, len(order) - size + 1, size):
        table = order[start : start + size]
        table[:] = table.reshape(_HEIGHT, width).T.ravel()
    return order
