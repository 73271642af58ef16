"""Functions of data that put components into other places: of all iterations at once.

NumPy has no `vmap`. One call with the numbers of the components in their places tells where each comes from, which is
the same in every iteration.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from .frames import Axis
from .values import Lanes

_FIRST = 2  # numbers that a function would put in of its own are no numbers of components


def moved(function: Callable[..., object], values: Sequence[object], axes: tuple[Axis, ...]) -> np.ndarray | None:
    """What a function that moves components makes of the values of all lanes, along `axes`; None if it does more."""
    arrays = [_by_lane(v, axes) for v in values]
    if any(a.dtype.kind not in "iuf" for a, _ in arrays):
        return None
    sizes = [math.prod(event) for _, event in arrays]
    starts = np.cumsum([_FIRST, *sizes])[:-1]
    numbers = [(np.arange(n).reshape(event) + start).astype(a.dtype)[()]
               for (a, event), n, start in zip(arrays, sizes, starts)]  # fmt: skip
    made = function(*numbers)
    places = np.asarray(made) if not isinstance(made, tuple) else None
    if places is None or places.dtype.kind not in "iuf" or np.any((places < _FIRST) | (places >= _FIRST + sum(sizes))):
        return None
    return _placed([a for a, _ in arrays], places, tuple(a.size for a in axes))


def _by_lane(value: object, axes: tuple[Axis, ...]) -> tuple[np.ndarray, tuple[int, ...]]:
    """The components of every lane in a row, of one lane where all have the same; and their shape in a lane."""
    if type(value) is not Lanes:
        array = np.asarray(value)
        return array.reshape((1,) * len(axes) + (-1,)), array.shape
    event = tuple(value.event)
    lanes = tuple(a.size if a in value.axes else 1 for a in axes)
    return np.asarray(value.data).reshape(*lanes, math.prod(event)), event


def _placed(arrays: Sequence[np.ndarray], places: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The components at their places, for lanes of some shape."""
    flat = places.astype(np.int64).ravel() - _FIRST
    if len(arrays) == 1:
        out = np.take(np.broadcast_to(arrays[0], (*shape, arrays[0].shape[-1])), flat, axis=-1)
    else:
        out = np.empty((*shape, len(flat)), places.dtype)
        start = 0
        for a in arrays:
            own = (flat >= start) & (flat < start + a.shape[-1])
            out[..., own] = a[..., flat[own] - start]
            start += a.shape[-1]
    return out.astype(places.dtype, copy=False).reshape(*shape, *places.shape)
