"""Softmax and cumulative sums. Source: Stan Functions Reference, "Special matrix functions"."""
from __future__ import annotations

from ..arrays.base import Array, Namespace
from ..checks import nonempty
from ..registry import stan_function
from ..signatures import each

_VECTORS = ("vector", "row_vector", "array[] vector", "array[] row_vector")


def _largest(xp: Namespace, x: Array) -> Array:
    return xp.stop_gradient(xp.max(x, axis=-1, keepdims=True))


@stan_function(*each("{t} softmax({t} x)", _VECTORS), examples=[([1.0, -0.5, 700.0],)])
def softmax(xp: Namespace, x: Array) -> Array:
    if 0 in xp.shape(x):
        return x
    weight = xp.exp(x - _largest(xp, x))
    return weight / xp.sum(weight, axis=-1, keepdims=True)


@stan_function(*each("{t} log_softmax({t} x)", _VECTORS), examples=[([1.0, -0.5, 700.0],)])
def log_softmax(xp: Namespace, x: Array) -> Array:
    nonempty(xp, "log_softmax", x)
    largest = _largest(xp, x)
    x = x - xp.where(xp.isfinite(largest), largest, 0.0)
    return x - xp.log(xp.sum(xp.exp(x), axis=-1, keepdims=True))


@stan_function(
    *each(
        "{t} cumulative_sum({t} x)",
        ("vector", "row_vector", "complex_vector", "complex_row_vector", "array[] int", "array[] real",
         "array[] complex"),
    ),
    examples=[([1.0, -0.5, 2.0],)],
)  # fmt: skip
def cumulative_sum(xp: Namespace, x: Array) -> Array:
    return xp.cumsum(x)
