"""Memory that XLA reads as it is: arrays that begin at a multiple of some bytes, and transposes that are shared."""
from __future__ import annotations

import math
import weakref
from collections.abc import Sequence

import numpy as np
from numpy.typing import DTypeLike

ALIGNMENT = 64  # bytes
_turned: dict[int, tuple[weakref.ref[np.ndarray], weakref.ref[np.ndarray]]] = {}


def room(shape: Sequence[int], kind: DTypeLike) -> np.ndarray:
    """An array that begins where XLA can read it."""
    return _placed(np.empty(_size(shape, kind) + ALIGNMENT, np.uint8), shape, kind)


def _size(shape: Sequence[int], kind: DTypeLike) -> int:
    return math.prod(shape) * np.dtype(kind).itemsize


def _placed(memory: np.ndarray, shape: Sequence[int], kind: DTypeLike) -> np.ndarray:
    start = -memory.ctypes.data % ALIGNMENT
    return memory[start : start + _size(shape, kind)].view(kind).reshape(shape)


def by_columns(data: np.ndarray) -> np.ndarray:
    """The transpose of a matrix in memory of its own: one for all that read data that can't be written to."""
    shape, key = data.shape[::-1], id(data)
    if (found := _turned.get(key)) is not None:
        source, memory = (reference() for reference in found)
        if source is data and memory is not None:  # the number may be that of an array that is gone
            return _placed(memory, shape, data.dtype)
    made = room(shape, data.dtype)
    made[...] = data.T
    if not data.flags.writeable and made.base is not None:
        _turned[key] = weakref.ref(data), weakref.ref(made.base, lambda _: _turned.pop(key, None))
    return made
