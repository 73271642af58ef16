"""What leaves a loop: sums over its iterations, and the value that a variable has after the last one."""
from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ..arrays import namespace
from ..arrays.base import Namespace
from .frames import Axis, Frame, current, entered
from .values import Lanes, combine, full, move_front, refined


def add_to(total: object, value: object, loop: Lanes) -> Any:
    """`total += value` in every iteration of a loop that surrounds the current code; masked lanes add nothing."""
    around = loop.axes[0].around
    added = summed(value, around.axes)
    with entered(around):
        return added if isinstance(total, (int, float)) and total == 0 else total + added


def summed(value: object, base: tuple[Axis, ...]) -> Any:
    """The sum over the axes of the current frame that are not of `base`, and don't stand for one of it."""
    frame = current()
    data = masked(full(value, frame), frame)
    xp = namespace((data,))
    lost = tuple(b for b in base if b not in frame.axes)
    gone = [i for i, a in enumerate(frame.axes) if a not in base and not any(b in a.maps for b in lost)]
    data = xp.sum(data, axis=tuple(gone)) if gone else data
    axes = [a for i, a in enumerate(frame.axes) if i not in gone]
    for axis in [a for a in axes if a not in base]:
        data, axes = _segments(data, axes, axis, tuple(b for b in lost if b in axis.maps), xp)
    return refined(Lanes(data, tuple(axes)), Frame(base)) if axes else data


def masked(data: Any, frame: Frame, nothing: float = 0.0) -> Any:
    """The array of all lanes with 0, of reals what stands for nothing, where the mask of the frame leaves them out."""
    if frame.mask is None:
        return data
    mask = full(frame.mask, Frame(frame.axes))
    xp = namespace((data, mask))
    mask = mask.reshape(tuple(mask.shape) + (1,) * (len(data.shape) - len(mask.shape)))
    return xp.where(mask, data, nothing if not xp.is_integer(data) else 0)


def _segments(
    data: Any, axes: list[Axis], axis: Axis, into: tuple[Axis, ...], xp: Namespace
) -> tuple[object, list[Axis]]:
    """The sums over the lanes of an axis that belong to one lane of the axes `into`."""
    position = axes.index(axis)
    data = move_front(data, [position])
    shape = tuple(a.size for a in into)
    segment = np.ravel_multi_index(tuple(axis.maps[a] for a in into), shape)
    count = int(np.prod(shape))
    summed = xp.segment_sum(data, segment, count)
    rest = [a for a in axes if a is not axis]
    return xp.reshape(summed, shape + tuple(summed.shape[1:])), [*into, *rest]


def running_sum(first: object, value: object, loop: Lanes) -> Lanes:
    """`first` plus the sum of `value` over all iterations of a loop up to each."""
    frame, axis = current(), loop.axes[0]
    axes = tuple(a for a in frame.axes if a is axis or type(value) is Lanes and a in value.axes)
    data = full(value, Frame(axes))
    sums = namespace((data,)).cumsum(data, axes.index(axis))
    return combine(operator.add, first, Lanes(sums, axes, frame.mask))


def unbroken(value: object, loop: Lanes) -> Lanes:
    """The values of iterations up to the first one that is negative, and NaN behind it."""
    assert type(value) is Lanes
    x, axis = value.data, loop.axes[0]
    position = value.axes.index(axis)
    xp = namespace((x,))
    place = np.arange(axis.size, dtype=np.int32)  # the least of ints is found many at a time
    place = place.reshape((-1,) + (1,) * (len(x.shape) - position - 1))
    first = xp.min(xp.where(x < 0, place, np.asarray(axis.size, np.int32)), axis=position, keepdims=True)
    place, first = xp.convert((place, first))
    return value.like(xp.where(place > first, xp.nan, x))


def last(value: Any, loop: Lanes) -> Any:
    """The value of a variable after a loop: that of the last iteration."""
    axis = loop.axes[0]
    if type(value) is not Lanes or axis not in value.axes:
        return value
    position = value.axes.index(axis)
    data = value.data[(slice(None),) * position + (-1,)]
    axes = tuple(a for a in value.axes if a is not axis)
    return Lanes(data, axes, value.mask) if axes else data
