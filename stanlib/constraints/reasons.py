"""Why a value does not satisfy a constraint: which component, which sum, for error messages.

It works on values that are known, and looks at the first event that breaks the constraint.
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from ..arrays import numpy as xp
from ..arrays.base import Real
from . import Constraint
from .faults import at_index

Array = np.ndarray


def of_kind(record: Constraint, value: object) -> str:
    """What is wrong with a value of a constrained type: "its components sum to 1.1"; nothing if that is not known."""
    array = np.asarray(value, float)
    if array.ndim < record.event_dims:
        return ""
    inside = np.asarray(record.check(xp, array, *record.sizes_of(array.shape)))
    if inside.all():
        return ""
    at = () if inside.ndim == 0 else tuple(int(i) for i in np.argwhere(~inside)[0])
    found = next(_reasons(record, array[at]), "")
    return f"{at_index(at)}: {found}" if at and found else found


def of_bounds(name: str, value: Real, bounds: Mapping[str, object]) -> str:
    """The first component of a value outside its bounds: "y[3] is -1.0, but must be greater than or equal to 0"."""
    array = np.asarray(value)
    for side, sign, holds in (("lower", "greater", np.greater_equal), ("upper", "less", np.less_equal)):
        if side not in bounds:
            continue
        bound = np.broadcast_to(np.asarray(bounds[side]), array.shape)
        outside = np.argwhere(~holds(array, bound))
        if len(outside):
            at = tuple(outside[0])
            return f"{name}{at_index(at)} is {array[at]}, but must be {sign} than or equal to {bound[at]}"
    return ""


def _reasons(record: Constraint, y: Array) -> Iterator[str]:
    missing = np.argwhere(np.isnan(y))
    if len(missing):
        yield f"component {at_index(tuple(missing[0]))} is nan"
    if record.reasons is not None:
        yield from record.reasons(np, y)
