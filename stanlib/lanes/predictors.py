"""Linear predictors on JAX: columns of data times coefficients as one product with a matrix."""
from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from ..arrays import namespace
from ..registry import by_symbol
from .calls import rank_of
from .values import Lanes, known, operand

MANY = 64  # observations from which on the product pays


def predictor(coefficients: Sequence[object], columns: Sequence[object], *rest: object) -> Any:
    """The sum of the coefficients times the columns, and the rest.

    Raises:
        StanError: if vectors differ in size.
    """
    columns = list(map(operand, columns))
    like = columns[0]
    if not _is_data(like, like) or known(like).size < MANY:  # type: ignore[union-attr]
        return _plain(coefficients, columns, rest)
    fitting, others = _split(list(zip(coefficients, columns)), lambda cx: _is_number(cx[0]) and _is_data(cx[1], like))
    numbers, added = _split(rest, _is_number)
    if len(fitting) + bool(numbers) < 2:
        return _plain(coefficients, columns, rest)
    chosen = [c for c, _ in fitting] + ([reduce(operator.add, numbers)] if numbers else [])
    product = _product(chosen, [x for _, x in fitting], like)
    return _plain([c for c, _ in others], [x for _, x in others], (product, *added))


def _split(items: Sequence[object], condition: Callable[[Any], bool]) -> tuple[list[Any], list[Any]]:
    """The items for which a condition holds, and the others."""
    found = list(map(condition, items))
    return [i for i, f in zip(items, found) if f], [i for i, f in zip(items, found) if not f]


def _is_data(column: Any, like: Any) -> bool:
    """Whether a column is known while tracing, and one number for the same lanes or components as another."""
    data = known(column)
    if type(column) is not type(like) or data is None or data.ndim == 0 or data.dtype.kind not in "iuf":
        return False
    if type(column) is Lanes:
        return column.rank == 0 and column.axes == like.axes and column.mask is like.mask
    return data.ndim == 1 and data.shape == np.shape(like)


def _is_number(value: Any) -> bool:
    """Whether a value is one real number that is known at run time alone."""
    if type(value) is Lanes or isinstance(value, (int, float, complex, np.ndarray, np.generic)):
        return False
    return bool(np.shape(value) == ())


def _product(coefficients: Sequence[Any], columns: Sequence[object], like: object) -> Any:
    """The columns, with ones for the coefficients that have none, times the coefficients."""
    arrays = [np.asarray(known(x), float) for x in columns]
    matrix = np.ones((len(coefficients), arrays[0].size))
    for row, array in zip(matrix, arrays):
        row[:] = array.ravel()
    xp = namespace(coefficients)
    made = xp.matmul(xp.stack(coefficients), matrix)
    return like.like(xp.reshape(made, arrays[0].shape)) if type(like) is Lanes else made


def _plain(coefficients: Sequence[Any], columns: Sequence[Any], rest: Sequence[Any]) -> Any:
    """The sum as the program has it, with the library's test that sizes are equal."""
    terms = [*rest, *(c * x for c, x in zip(coefficients, columns))]
    return reduce(_added, terms)


def _added(a: Any, b: Any) -> object:
    return by_symbol("add_elements")(a, b) if rank_of(a) and rank_of(b) else a + b
