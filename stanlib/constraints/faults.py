"""What is wrong with a value of a constrained type, fault by fault: functions of NumPy and one value, for the records.

Values are vectors (n) or matrices (m, n) of known numbers.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from ..arrays import named
from ..arrays.base import Array
from ..closeness import asymmetric, is_one


def at_index(at: tuple[int, ...]) -> str:
    return f"[{','.join(str(i + 1) for i in at)}]" if at else ""


def negative(np: ModuleType, y: Array) -> Iterator[str]:
    below = np.argwhere(y < 0)
    if len(below):
        yield f"component {at_index(tuple(below[0]))} is {y[tuple(below[0])]}"


def simplex(np: ModuleType, y: Array) -> Iterator[str]:
    yield from negative(np, y)
    yield f"its components sum to {y.sum()}"


def increasing(np: ModuleType, y: Array) -> Iterator[str]:
    for i in np.flatnonzero(~(y[1:] > y[:-1])):
        yield f"component [{i + 2}] is {y[i + 1]}, not greater than {y[i]} in front of it"


def positive_increasing(np: ModuleType, y: Array) -> Iterator[str]:
    yield from negative(np, y)
    yield from increasing(np, y)


def _lines(y: Array, what: str) -> Iterator[str]:
    """The rows or columns of a matrix that are no simplexes."""
    for i, line in enumerate(y, 1):
        if not is_one(named("numpy"), line.sum()):
            yield f"{what} {i} sums to {line.sum()}"


def stochastic(what: str) -> Callable[[ModuleType, Any], Iterator[str]]:
    def reasons(np: ModuleType, y: Array) -> Iterator[str]:
        yield from negative(np, y)
        yield from _lines(y if what == "row" else y.T, what)
        if not y.size:
            yield "it has no components"

    return reasons


def _without_columns(y: Any) -> Iterator[str]:
    if not y.shape[1]:
        yield "it has no columns"


def covariance(np: ModuleType, y: Array) -> Iterator[str]:
    yield from _without_columns(y)
    for i, j in np.argwhere(asymmetric(named("numpy"), y)):
        yield f"it is not symmetric: [{i + 1},{j + 1}] is {y[i, j]}, but [{j + 1},{i + 1}] is {y[j, i]}"
    if len(y) and np.all(np.isfinite(y)):
        yield f"it is not positive definite: its smallest eigenvalue is {np.linalg.eigvalsh(y)[0]:.6g}"


def correlation(np: ModuleType, y: Array) -> Iterator[str]:
    for i in np.flatnonzero(~is_one(named("numpy"), np.diagonal(y))):
        yield f"[{i + 1},{i + 1}] is {y[i, i]}, not 1"
    yield from covariance(np, y)


def factor(np: ModuleType, y: Array) -> Iterator[str]:
    yield from _without_columns(y)
    if y.shape[0] < y.shape[1]:
        yield "it has more columns than rows"
    for i, j in np.argwhere(np.triu(y, 1) != 0):
        yield f"[{i + 1},{j + 1}], above the diagonal, is {y[i, j]}"
    for i in np.flatnonzero(~(np.diagonal(y) > 0)):
        yield f"[{i + 1},{i + 1}], on the diagonal, is {y[i, i]}"


def correlation_factor(np: ModuleType, y: Any) -> Iterator[str]:
    yield from factor(np, y)
    for i, length in enumerate((y * y).sum(axis=1), 1):
        if not is_one(named("numpy"), length):
            yield f"the squares of row {i} sum to {length}"


def length(np: ModuleType, y: Array) -> Iterator[str]:
    yield f"the squares of its components sum to {(y * y).sum()}"


def total(np: ModuleType, y: Array) -> Iterator[str]:
    if not y.size:
        yield "it has no components"
    yield f"its components sum to {y.sum()}"
