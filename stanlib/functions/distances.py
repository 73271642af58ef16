"""Distances between vectors. Source: Stan Functions Reference, "Distances and squared distances"."""
from __future__ import annotations

from ..arrays.base import Array, Namespace
from ..checks import same_shape
from ..domains import FINITE
from ..registry import stan_function

_PAIR = "(vector|row_vector) x, (vector|row_vector) y"


def root(xp: Namespace, square: Array) -> Array:
    """The square root of a squared distance, with the derivative 0 at 0."""
    zero = square == 0
    return xp.where(zero, 0.0, xp.sqrt(xp.where(zero, 1.0, square)))


def _squared(xp: Namespace, name: str, x: Array, y: Array) -> Array:
    same_shape(xp, name, x, y)
    gap = x - y
    return xp.sum(gap * gap)


@stan_function(f"real distance({_PAIR})", examples=[([1.0, 2.0], [0.5, -1.0]), ([1.0], [1.0])])
def distance(xp: Namespace, x: Array, y: Array) -> Array:
    return root(xp, _squared(xp, "distance", x, y))


@stan_function(f"real squared_distance({_PAIR})", examples=[([1.0, 2.0], [0.5, -1.0])])
def squared_distance(xp: Namespace, x: Array, y: Array) -> Array:
    return _squared(xp, "squared_distance", x, y)


@stan_function(
    "real squared_distance(real x, real y)", domains={"x": FINITE, "y": FINITE},
    elementwise=True, examples=[(1.0, -0.5)],
)  # fmt: skip
def squared_difference(xp: Namespace, x: Array, y: Array) -> Array:
    return xp.square(x - y)
