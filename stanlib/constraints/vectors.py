"""Ordered and unit vectors.

Source: Stan Reference Manual, "Ordered vector", "Positive ordered vector", "Unit vector".
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..arrays.base import Array, Namespace
from ..closeness import is_one
from . import Constraint, add, faults

if TYPE_CHECKING:
    from ..random.base import Random


def _same(shape: tuple[int, ...]) -> tuple[int, ...]:
    return shape


def _increasing(xp: Namespace, y: Array) -> Array:
    return xp.all(y[..., 1:] > y[..., :-1], axis=-1)


def _ordered(xp: Namespace, x: Array) -> tuple[Any, Any]:
    steps = xp.concatenate([x[..., :1], xp.exp(x[..., 1:])], axis=-1)
    return xp.cumsum(steps, axis=-1), xp.sum(x[..., 1:], axis=-1)


def _ordered_inverse(xp: Namespace, y: Array) -> Array:
    return xp.concatenate([y[..., :1], xp.log(y[..., 1:] - y[..., :-1])], axis=-1)


ORDERED = add(
    Constraint(
        "ordered", "an ordered vector", 1, 1, _ordered, _ordered_inverse, _increasing, _same,
        base="vector", sizes=(1,),
        reasons=faults.increasing,
    )
)


def _positive_ordered(xp: Namespace, x: Array) -> tuple[Array, Array]:
    return xp.cumsum(xp.exp(x), axis=-1), xp.sum(x, axis=-1)


def _positive_ordered_inverse(xp: Namespace, y: Array) -> Array:
    return xp.log(xp.concatenate([y[..., :1], y[..., 1:] - y[..., :-1]], axis=-1))


def _positive_increasing(xp: Namespace, y: Array) -> Array:
    return _increasing(xp, y) & xp.all(y[..., :1] >= 0, axis=-1)


POSITIVE_ORDERED = add(
    Constraint(
        "positive_ordered", "a positive ordered vector", 1, 1, _positive_ordered, _positive_ordered_inverse,
        _positive_increasing, _same,
        base="vector", sizes=(1,), interval=(0.0, None), within="ordered",
        reasons=faults.positive_increasing,
    )
)  # fmt: skip


def _unit_vector(xp: Namespace, x: Array) -> tuple[Array, Array]:
    """The direction of x; a standard normal law of x makes the direction uniform."""
    square = xp.sum(x * x, axis=-1)
    return x / xp.sqrt(square)[..., None], -0.5 * square


def _any_direction(xp: Namespace, random: Random, shape: tuple[int, ...]) -> Array:
    return _unit_vector(xp, random.normal(shape))[0]


UNIT_VECTOR = add(
    Constraint(
        "unit_vector", "a unit vector", 1, 1, _unit_vector, lambda xp, y: y,
        lambda xp, y: is_one(xp, xp.sum(y * y, axis=-1)), _same,
        base="vector", sizes=(1,), least_sizes=(2,), interval=(-1.0, 1.0),
        reasons=faults.length, uniform=_any_direction, start=1.0,  # zeros have no direction
    )
)  # fmt: skip
