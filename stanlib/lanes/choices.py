"""Lanes that a condition has chosen, back among those that it chose from."""
from __future__ import annotations

import math

import numpy as np

from ..absent import absent
from ..arrays import namespace
from ..arrays.base import Array
from .frames import Axis, Frame


def chosen_from(axis: Axis) -> tuple[Axis, ...]:
    """The axes among whose lanes those of an axis were chosen; none for a loop's own."""
    parents = tuple(a for a in axis.maps if not any(a in other.maps for other in axis.maps))
    if not parents or np.unique(_places(axis, parents)).size < axis.size:
        return ()  # a loop with other lanes in each of them
    return parents


def in_place(terms: Array, frame: Frame) -> Array:
    """Terms of all lanes of a frame, with what stands for no term where lanes were not chosen."""
    axes = list(frame.axes)
    while (at := next((i for i, a in enumerate(axes) if chosen_from(a)), None)) is not None:
        parents = chosen_from(axes[at])
        terms = _scattered(terms, at, axes[at], parents)
        axes[at : at + 1] = parents
    return terms


def _scattered(terms: Array, at: int, axis: Axis, parents: tuple[Axis, ...]) -> Array:
    """The terms with the axes that lanes were chosen from in the place of that of the choice."""
    shape = tuple(a.size for a in parents)
    index = np.full(math.prod(shape), -1)
    index[_places(axis, parents)] = np.arange(axis.size)
    xp = namespace((terms,))
    taken = terms[(slice(None),) * at + (np.maximum(index, 0),)]
    present = (index >= 0).reshape((-1,) + (1,) * (len(taken.shape) - at - 1))
    made = xp.where(present, taken, absent())
    return xp.reshape(made, (*taken.shape[:at], *shape, *taken.shape[at + 1 :]))


def _places(axis: Axis, parents: tuple[Axis, ...]) -> np.ndarray:
    """Where the lanes of a choice stand among all, laid out flat."""
    return np.asarray(np.ravel_multi_index(tuple(axis.maps[a] for a in parents), tuple(a.size for a in parents)))
