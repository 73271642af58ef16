"""How a program holds the data that it reads by rows: in few bytes, and where it can in the memory where they are.

XLA reads memory of the process as it is if it begins at a multiple of 64 bytes. NumPy's arrays seldom do, but one of
their first rows does: the rows before are held apart.
"""
from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from stanlib.arrays.memory import ALIGNMENT, room
from stanlib.dataclass import dataclass

_CHUNK = 2**16  # numbers that are looked at together
_TYPES = {"i": ("int8", "int16", "int32"), "u": ("uint8", "uint16", "uint32"), "f": ("int8", "int16", "float32")}


@dataclass(frozen=True)
class Held:
    """Data, the first few rows apart.

    Attributes:
        head, tail: rows before `first`, and from there on: in a type that holds them without loss.
        first: how many rows are held apart.
        axis: of the rows.
        dtype: of the data.
    """

    head: jax.Array
    tail: jax.Array
    first: int
    axis: int
    dtype: Any

    def rows(self, start: int, stop: int) -> jax.Array:
        """Rows from `start` to `stop`."""
        head = lax.slice_in_dim(self.head, min(start, self.first), min(stop, self.first), axis=self.axis)
        low, high = (max(i - self.first, 0) for i in (start, stop))
        tail = lax.slice_in_dim(self.tail, low, high, axis=self.axis)
        return self._read(lax.concatenate([head, tail], self.axis) if head.size else tail)

    def block(self, start: Any, count: int, is_apart: bool) -> jax.Array:
        """So many rows from `start` on, all of which are held apart or none."""
        held, at = (self.head, start) if is_apart else (self.tail, start - self.first)
        return self._read(lax.dynamic_slice_in_dim(held, at, count, self.axis))

    def _read(self, rows: Any) -> jax.Array:
        return lax.convert_element_type(rows, self.dtype)


def held(data: np.ndarray, axis: int, dtype: object, order: np.ndarray | None = None) -> Held:
    """Data that are to be read as of a type, or their rows in another order; shared if they need no less room."""
    kind, first = least_type(data), 0
    if order is not None:
        data = np.take(data.astype(kind, copy=False), order, axis, out=room(data.shape, kind), mode="clip")
    elif kind != data.dtype or (found := first_aligned(data, axis)) is None:
        data = _as(data, kind)
    else:
        first = found
    head, tail = np.split(data, [first], axis)
    with jax.ensure_compile_time_eval():
        return Held(jnp.array(head), jax.device_put(tail), first, axis, dtype)


def narrowed(data: np.ndarray) -> np.ndarray:
    """The same numbers in the smallest type that holds them."""
    return data.astype(least_type(data), copy=False)


def first_aligned(data: np.ndarray, axis: int) -> int | None:
    """The first row that begins where XLA can read it; None if there is none, or rows are not one after the other."""
    if not data.flags.c_contiguous:
        return None
    start, width = data.ctypes.data, data.strides[0]
    if axis:  # rows lie all over the array
        return None if start % ALIGNMENT else 0
    return next((k for k in range(min(ALIGNMENT, len(data))) if (start + k * width) % ALIGNMENT == 0), None)


def least_type(data: np.ndarray) -> np.dtype[Any]:
    """The smallest type that holds numbers exactly, the sign of zero among them."""
    for name in _TYPES.get(data.dtype.kind, ()):
        kind = np.dtype(name)
        if kind.itemsize < data.dtype.itemsize and _fits(data, kind):
            return kind
    return data.dtype


def _fits(data: np.ndarray, kind: np.dtype[Any]) -> bool:
    if data.dtype.kind != "f":
        bounds = np.iinfo(kind)
        return bool(data.min(initial=0) >= bounds.min and data.max(initial=0) <= bounds.max)
    flat = data.reshape(-1) if data.flags.c_contiguous else data.ravel("K")
    return all(_is_exact(flat[i : i + _CHUNK], kind) for i in range(0, len(flat), _CHUNK))


def _is_exact(some: np.ndarray, kind: np.dtype[Any]) -> bool:
    with np.errstate(invalid="ignore", over="ignore"):
        back = some.astype(kind).astype(some.dtype)
    return np.array_equal(back, some, equal_nan=True) and np.array_equal(np.signbit(back), np.signbit(some))


def _as(data: np.ndarray, kind: np.dtype[Any]) -> np.ndarray:
    """A copy that XLA can read as it is."""
    made = room(data.shape, kind)
    made[...] = data
    return made
