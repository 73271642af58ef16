"""Entries along an axis in another order, whose derivative takes entries too: XLA fuses that, and adds up nothing."""
from __future__ import annotations

import functools
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from .. import numpy as _np
from ..base import Array

FEW_LINES = 64  # that are worth an index for each of their entries


class Order:
    """Indices, each at most once, and -1 for nothing; as a key of what was traced with them."""

    def __init__(self, index: np.ndarray):
        self.index = np.asarray(index, int)
        self._key = self.index.tobytes()

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Order) and self._key == other._key

    def turned(self, size: int) -> tuple[int, int] | None:
        """The sides of a grid of so many entries that the order is the columns of; None if it is that of no grid."""
        if len(self.index) != size or size < 4 or self.index[0] != 0 or (columns := int(self.index[1])) < 2:
            return None
        sides = size // columns, columns
        grid = np.arange(sides[0] * sides[1]).reshape(sides)
        return sides if np.array_equal(grid.T.reshape(-1), self.index) else None

    def inverse(self, size: int) -> "Order":
        """Where each of so many entries has gone."""
        out = np.full(size, -1)
        there = self.index >= 0
        out[self.index[there]] = np.flatnonzero(there)
        return Order(out)


def rearranged(x: object, index: np.ndarray) -> Any:
    """The rows of x at indices that are known; zeros for -1."""
    if not isinstance(x, jax.Array):
        return _np.rearranged(x, index)
    inside, axis = index[index >= 0], x.ndim - 1
    x = jnp.moveaxis(x, 0, axis)  # which is next to each other in memory, where tables are made
    take = _taken if len(np.unique(inside)) < len(inside) else _rearranged.bind
    return jnp.moveaxis(take(x, order=Order(index), axis=axis), axis, 0)


def _taken(x: Array, *, order: Order, axis: int) -> jax.Array:
    """Entries along an axis in an order, zeros for nothing; a transposition where the order is that of a grid."""
    x, there = jnp.asarray(x), order.index >= 0
    if (sides := order.turned(x.shape[axis])) is not None:
        turned = jnp.swapaxes(x.reshape(*x.shape[:axis], *sides, *x.shape[axis + 1 :]), axis, axis + 1)
        return turned.reshape(x.shape)
    lines = math.prod(x.shape[:axis])
    if axis == x.ndim - 1 and 1 < lines <= FEW_LINES:
        found = _of_lines(x.reshape(lines, x.shape[axis]), np.maximum(order.index, 0))
        found = found.reshape(*x.shape[:axis], len(there))
    else:
        at = (*(slice(None),) * axis, np.maximum(order.index, 0))
        found = x.at[at].get(mode="promise_in_bounds", wrap_negative_indices=False)
    if there.all():
        return found
    return jnp.where(there.reshape(-1, *(1,) * (found.ndim - axis - 1)), found, jnp.zeros((), found.dtype))


def _of_lines(x: jax.Array, index: np.ndarray) -> jax.Array:
    """Entries of every line as one gather of single numbers, whose result XLA leaves line by line."""
    at = (np.arange(len(x))[:, None] * x.shape[1] + index).reshape(-1)
    return x.reshape(-1).at[at].get(mode="promise_in_bounds", wrap_negative_indices=False).reshape(len(x), len(index))


def _shape(x: Any, *, order: Order, axis: int) -> Any:
    return x.update(shape=(*x.shape[:axis], len(order.index), *x.shape[axis + 1 :]), weak_type=False)


def _back(of_found: Any, x: Any, *, order: Order, axis: int) -> object:
    return [_rearranged.bind(of_found, order=order.inverse(x.aval.shape[axis]), axis=axis)]


def _of_many(args: Any, dims: Any, *, order: Order, axis: int) -> object:
    (x,), (dim,) = args, dims
    return _rearranged.bind(jnp.moveaxis(x, dim, 0), order=order, axis=axis + 1), 0


_rearranged = Primitive("rearranged")
_rearranged.def_impl(functools.partial(jax.jit, static_argnames=("order", "axis"))(_taken))
_rearranged.def_abstract_eval(_shape)
ad.deflinear2(_rearranged, _back)
batching.primitive_batchers[_rearranged] = _of_many
mlir.register_lowering(_rearranged, mlir.lower_fun(_taken, multiple_results=False))
