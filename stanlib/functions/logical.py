"""Comparisons and logical operators, which give 0 or 1.

The Python operators of the records compute the same as truth values, which do for conditions but don't add up.
Source: Stan Functions Reference, "Logical functions"; Stan Reference Manual, "Conditional operator".
"""
from __future__ import annotations

from typing import Any

from ..arrays.base import Array, Namespace
from ..registry import stan_function
from .constants import as_int

_NUMBERS = [f"int {{name}}({a} x, {b} y)" for a in ("int", "real") for b in ("int", "real")]
_COMPLEX = [f"int {{name}}(complex x, {b} y)" for b in ("complex", "real")]


def _named(name: str, texts: Any) -> list[Any]:
    return [t.format(name=name) for t in texts]


@stan_function(
    *_named("logical_eq", _NUMBERS + _COMPLEX), operator="==",
    elementwise=True, examples=[(1, 2), (0.5, 0.5)],
)  # fmt: skip
def logical_eq(xp: Namespace, x: Array, y: Array) -> Array | int:
    return as_int(xp, x == y)


@stan_function(
    *_named("logical_neq", _NUMBERS + _COMPLEX), operator="!=",
    elementwise=True, examples=[(1, 2), (0.5, 0.5)],
)  # fmt: skip
def logical_neq(xp: Namespace, x: Array, y: Array) -> Array | int:
    return as_int(xp, x != y)


@stan_function(*_named("logical_lt", _NUMBERS), operator="<", elementwise=True, examples=[(1, 2), (0.5, 0.5)])
def logical_lt(xp: Namespace, x: Array, y: Array) -> Array | int:
    return as_int(xp, x < y)


@stan_function(*_named("logical_lte", _NUMBERS), operator="<=", elementwise=True, examples=[(1, 2), (0.5, 0.5)])
def logical_lte(xp: Namespace, x: Array, y: Array) -> Array | int:
    return as_int(xp, x <= y)


@stan_function(*_named("logical_gt", _NUMBERS), operator=">", elementwise=True, examples=[(1, 2), (0.5, 0.5)])
def logical_gt(xp: Namespace, x: Array, y: Array) -> Array | int:
    return as_int(xp, x > y)


@stan_function(*_named("logical_gte", _NUMBERS), operator=">=", elementwise=True, examples=[(1, 2), (0.5, 0.5)])
def logical_gte(xp: Namespace, x: Array, y: Array) -> Array | int:
    return as_int(xp, x >= y)


@stan_function("int logical_and(int x, int y)", elementwise=True, examples=[(1, 0), (2, 3)])
def logical_and(xp: Namespace, x: Array, y: Array) -> Array | int:
    return as_int(xp, (x != 0) & (y != 0))


@stan_function("int logical_or(int x, int y)", elementwise=True, examples=[(1, 0), (0, 0)])
def logical_or(xp: Namespace, x: Array, y: Array) -> Array | int:
    return as_int(xp, (x != 0) | (y != 0))


@stan_function("int logical_negation(int x)", elementwise=True, examples=[(0,), (3,)])
def logical_negation(xp: Namespace, x: Array) -> Array | int:
    return as_int(xp, x == 0)
