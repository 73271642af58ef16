"""Why a value does not satisfy a constraint: which component, which sum, for error messages.

It works on values that are known, and looks at the first event that breaks the constraint.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ..arrays import numpy as xp
from . import TOLERANCE, Constraint

Array = np.ndarray


def of_kind(record: Constraint, value: Any) -> str:
    """What is wrong with a value of a constrained type: "its components sum to 1.1"; nothing if that is not known."""
    array = np.asarray(value, float)
    if array.ndim < record.event_dims:
        return ""
    sizes = array.shape[-2:] if record.name == "cholesky_factor_cov" else ()
    inside = np.asarray(record.check(xp, array, *sizes))
    if inside.all():
        return ""
    at = () if inside.ndim == 0 else tuple(int(i) for i in np.argwhere(~inside)[0])
    found = next(_reasons(record.name, array[at]), "")
    return f"{_index(at)}: {found}" if at and found else found


def of_bounds(name: str, value: Any, bounds: Mapping[str, Any]) -> str:
    """The first component of a value outside its bounds: "y[3] is -1.0, but must be greater than or equal to 0"."""
    array = np.asarray(value)
    for side, sign, holds in (("lower", "greater", np.greater_equal), ("upper", "less", np.less_equal)):
        if side not in bounds:
            continue
        bound = np.broadcast_to(np.asarray(bounds[side]), array.shape)
        outside = np.argwhere(~holds(array, bound))
        if len(outside):
            at = tuple(outside[0])
            return f"{name}{_index(at)} is {array[at]}, but must be {sign} than or equal to {bound[at]}"
    return ""


def _index(at: tuple[int, ...]) -> str:
    return f"[{','.join(str(i + 1) for i in at)}]" if at else ""


def _reasons(kind: str, y: Array) -> Iterator[str]:
    missing = np.argwhere(np.isnan(y))
    if len(missing):
        yield f"component {_index(tuple(missing[0]))} is nan"
    yield from _CHECKS.get(kind, lambda y: iter(()))(y)


def _negative(y: Array) -> Iterator[str]:
    below = np.argwhere(y < 0)
    if len(below):
        yield f"component {_index(tuple(below[0]))} is {y[tuple(below[0])]}"


def _simplex(y: Array) -> Iterator[str]:
    yield from _negative(y)
    yield f"its components sum to {y.sum()}"


def _increasing(y: Array) -> Iterator[str]:
    for i in np.flatnonzero(~(y[1:] > y[:-1])):
        yield f"component [{i + 2}] is {y[i + 1]}, not greater than {y[i]} in front of it"


def _positive_increasing(y: Array) -> Iterator[str]:
    yield from _negative(y)
    yield from _increasing(y)


def _lines(y: Array, what: str) -> Iterator[str]:
    """The rows or columns of a matrix that are no simplexes."""
    for i, line in enumerate(y, 1):
        if abs(line.sum() - 1) > TOLERANCE:
            yield f"{what} {i} sums to {line.sum()}"


def _stochastic(what: str) -> Callable[[Array], Iterator[str]]:
    def reasons(y: Array) -> Iterator[str]:
        yield from _negative(y)
        yield from _lines(y if what == "row" else y.T, what)

    return reasons


def _zero_sums(y: Array) -> Iterator[str]:
    for what, sums in (("row", y.sum(axis=1)), ("column", y.sum(axis=0))):
        for i in np.flatnonzero(np.abs(sums) > TOLERANCE):
            yield f"{what} {i + 1} sums to {sums[i]}"


def _covariance(y: Array) -> Iterator[str]:
    for i, j in np.argwhere(np.abs(y - y.T) > TOLERANCE):
        yield f"it is not symmetric: [{i + 1},{j + 1}] is {y[i, j]}, but [{j + 1},{i + 1}] is {y[j, i]}"
    if np.all(np.isfinite(y)):
        yield f"it is not positive definite: its smallest eigenvalue is {np.linalg.eigvalsh(y)[0]:.6g}"


def _correlation(y: Array) -> Iterator[str]:
    for i in np.flatnonzero(np.abs(np.diagonal(y) - 1) > TOLERANCE):
        yield f"[{i + 1},{i + 1}] is {y[i, i]}, not 1"
    yield from _covariance(y)


def _factor(y: Array) -> Iterator[str]:
    for i, j in np.argwhere(np.triu(y, 1) != 0):
        yield f"[{i + 1},{j + 1}], above the diagonal, is {y[i, j]}"
    for i in np.flatnonzero(~(np.diagonal(y) > 0)):
        yield f"[{i + 1},{i + 1}], on the diagonal, is {y[i, i]}"


def _correlation_factor(y: Array) -> Iterator[str]:
    yield from _factor(y)
    for i, length in enumerate((y * y).sum(axis=1), 1):
        if abs(length - 1) > TOLERANCE:
            yield f"the squares of row {i} sum to {length}"


_CHECKS: dict[str, Callable[[Array], Iterator[str]]] = {
    "simplex": _simplex, "ordered": _increasing, "positive_ordered": _positive_increasing,
    "unit_vector": lambda y: iter([f"the squares of its components sum to {(y * y).sum()}"]),
    "sum_to_zero_vector": lambda y: iter([f"its components sum to {y.sum()}"]), "sum_to_zero_matrix": _zero_sums,
    "row_stochastic_matrix": _stochastic("row"), "column_stochastic_matrix": _stochastic("column"),
    "cov_matrix": _covariance, "corr_matrix": _correlation, "cholesky_factor_cov": _factor,
    "cholesky_factor_corr": _correlation_factor,
}  # fmt: skip
