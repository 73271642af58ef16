"""Loops whose iterations need the ones before: what is carried is explicit, all else comes and goes as arrays."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import indexing
from ..arrays import namespace
from ..errors import StanIndexError
from . import ragged
from .frames import Axis, Frame, current, entered
from .indexing import any_at, clipped, may_stray
from .values import Lanes, full, move_front, moved_behind, operand, refined

State = tuple[Any, ...]


def previous(x: Any, *indices: object) -> Any:
    """`x[...]` as it is before a loop: NaN where that lies outside, since no iteration reads it then."""
    try:
        return any_at(x, indices)
    except StanIndexError:
        return _nothing(x.event if type(x) is Lanes else np.shape(x), len(indices))


def at_any(x: Any, *indices: Any) -> Any:
    """`x[...]` as an iteration finds it: any other part where that lies outside, since the iteration uses none then."""
    shape = x.event if type(x) is Lanes else np.shape(x)
    if 0 in tuple(shape)[: len(indices)]:
        return _nothing(shape, len(indices))
    return any_at(x, [_inside(i, n) for i, n in zip(indices, shape)])


def _nothing(shape: Sequence[int], count: int) -> object:
    """No numbers, in the shape of what so many indices select."""
    return np.full(tuple(shape)[count:], np.nan)[()]


def _inside(index: Any, size: int) -> Any:
    """An index moved into the range, itself where it is known to be there."""
    if isinstance(index, indexing.Span) or not may_stray(index, size):
        return index
    return index.like(clipped(index.data, size)) if type(index) is Lanes else clipped(index, size)


def split_frame(loop: Lanes) -> tuple[Axis, Frame]:
    """The axis of a loop, and the frame of one iteration of it."""
    axis, frame = loop.axes[0], current()
    return axis, Frame(tuple(a for a in frame.axes if a is not axis), frame.mask)


def sliced(value: object, axis: Axis) -> Any:
    """The values of all iterations, their axis in front; None if the value is the same in all of them."""
    if type(value) is not Lanes or axis not in value.axes:
        return None
    return move_front(value.data, [value.axes.index(axis)])


def others(value: Lanes, axis: Axis) -> tuple[Axis, ...]:
    return tuple(a for a in value.axes if a is not axis)


def of_iteration(data: object, axes: tuple[Axis, ...]) -> object:
    """The value of one iteration from its array."""
    return Lanes(data, axes) if axes else data


def run_in_python(
    loop: Lanes, step: Callable[..., tuple[State, State]], carry: State, inputs: State, adds: bool = False,
    known: bool = False,
) -> Any:  # fmt: skip
    """The last carry and the outputs of all iterations, one iteration after the other; `adds` to the target or not."""
    if ragged.is_ragged(loop):
        return ragged.recur(run_in_python, loop, step, carry, inputs, adds)
    axis, frame = split_frame(loop)
    arrays = [sliced(i, axis) for i in inputs]
    collected = []
    indices = loop.data.reshape(-1)
    with entered(frame):
        for k in range(axis.size):
            now = [i if a is None else of_iteration(a[k], others(i, axis)) for i, a in zip(inputs, arrays)]
            carry, out = step(int(indices[k]), *carry, *now)
            collected.append(out)
    place = current().axes.index(axis)
    outputs = tuple(_stacked([c[i] for c in collected], axis, frame, place) for i in range(len(collected[0])))
    return carry, outputs


def _terms(values: Sequence[object], place: int) -> object:
    """What all iterations add to the target, in the order of the program: behind so many loops around, place by place.

    Iterations that add nothing are left out.
    """
    given = [v[0] if isinstance(v, tuple) else v for v in values if v is not None]
    if not given:
        return None
    xp = namespace(given)
    arrays = [xp.asarray(v) for v in xp.convert(given)]
    if len({tuple(a.shape) for a in arrays}) == 1:
        return (moved_behind(xp.stack(arrays), place),)
    return (xp.concatenate([xp.reshape(a, (-1,)) for a in arrays]),)


def _stacked(values: Sequence[object], axis: Axis, frame: Frame, place: int) -> object:
    """The outputs of all iterations along the axis of the loop; additions to the target stay complete ones."""
    if any(v is None or isinstance(v, tuple) for v in values):
        return _terms(values, place)
    values = [refined(v, frame) if type(v) is Lanes else v for v in values]
    union = {a for v in values if type(v) is Lanes for a in v.axes}
    axes = tuple(a for a in frame.axes if a in union)
    arrays = [full(operand(v), Frame(axes)) if axes else v for v in values]
    xp = namespace(arrays)
    return Lanes(xp.stack([xp.asarray(a) for a in xp.convert(arrays)]), (axis, *axes))
