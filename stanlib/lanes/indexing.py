"""Reading at indices that differ between lanes: slices where they are contiguous, else one gather."""
from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from .. import indexing
from ..arrays import namespace
from ..arrays.progressions import counted, progression
from ..errors import StanTracingError
from ..indexing import Span
from ..rejection import refuse
from .calls import refuse_in_lanes
from .frames import Axis, Frame, current, entered
from .handing import taker
from .values import Lanes, agreed, align, is_lanes, known, known_shape, move_front, operand, permuted, refined


def involves_lanes(x: object, indices: Sequence[object]) -> bool:
    """Whether a selection differs between lanes."""
    parts = [v for i in indices for v in ((i.lower, i.upper) if isinstance(i, Span) else (i,))]
    return is_lanes((*x, *parts) if isinstance(x, tuple) else (x, *parts))


@taker
def at(x: Any, *indices: Any) -> Any:
    """`x[i, j, ...]` in every lane.

    Raises:
        StanIndexError: for indices out of range, as far as they are known.
    """
    if isinstance(x, tuple):
        return tuple(at(item, *indices) for item in x)
    frame = current()
    if frame.mask is not None:
        return operand(_at_masked(x, indices, frame), frame)
    if len(indices) == 1 and frame.axes and type(x) is not Lanes and type(indices[0]) is Lanes:
        only: Lanes = indices[0]
        if only.axes == frame.axes and len(only.axes) == len(np.shape(only.data)) == 1 and known(only) is not None:
            return Lanes(_along(x, only.data, 0), frame.axes)  # the most frequent case: x[n] in one loop over n
    x = operand(x, frame)
    x, singles = _plain_first(x, [in_frame(i, frame) for i in indices], frame)
    if any(type(i) is Lanes and i.rank for i in singles):
        return _multi(x, singles, frame)
    return _select(x, singles, frame)


def _at_masked(x: object, indices: Sequence[object], frame: Frame) -> object:
    """A selection under a condition on parameters: an index may be out of range in lanes that the mask leaves out."""
    with entered(Frame(frame.axes)):
        return any_at(x, moved_inside(x, indices, frame))


def any_at(x: object, indices: Sequence[object]) -> Any:
    """A selection that may or may not differ between lanes."""
    return at(x, *indices) if involves_lanes(x, indices) else indexing.at(x, *indices)


def moved_inside(x: Any, indices: Sequence[Any], frame: Frame) -> list[Any]:
    """Indices moved into the range, the draw rejected if one was outside in a lane that the mask lets through."""
    out = []
    for i, n in zip(indices, x.event if type(x) is Lanes else known_shape(x)):
        if isinstance(i, Span):
            i = _inner_window(i, n)
        if type(i) is Lanes and n:
            _refuse_outside(operand(i, Frame(frame.axes)), n, frame)
            i = i.like(clipped(i.data, n))
        elif not isinstance(i, Span) and type(i) is not Lanes and n:
            with entered(frame):
                refuse(_is_outside(i, n), partial(indexing.out_of_range, i, n))
            i = clipped(i, n)
        out.append(i)
    return out


def _inner_window(span: Span, size: int) -> Any:
    """A range inside of the container as it is, any other one as the indices that it stands for."""
    window = window_of(span)
    if not isinstance(window, Span):
        return window
    low, high = window.lower or 1, size if window.upper is None else window.upper
    known = isinstance(low, (int, np.integer)) and isinstance(high, (int, np.integer))
    return np.arange(low, high + 1) if known and low <= high and not 1 <= low <= high <= size else window


def _refuse_outside(index: Lanes, size: int, frame: Frame) -> None:
    bad = _is_outside(index.data, size)
    refuse_in_lanes(bad, lambda: indexing.out_of_range(index.data, size), index.axes, index.rank, frame)


def _is_outside(index: Any, size: int) -> object:
    return (index < 1) | (index > size)


def may_stray(index: object, size: int) -> bool:
    """Whether an index is out of range in a lane, or not known to be in it."""
    numbers = known(index)
    return numbers is None or bool(((numbers < 1) | (numbers > size)).any())


def clipped(index: Any, size: int) -> Any:
    xp = namespace((index,))
    return xp.minimum(xp.maximum(index, 1), size)


def in_frame(index: object, frame: Frame) -> Any:
    """An index in the current frame; one that all lanes share as a plain one."""
    if isinstance(index, Span):
        return Span(in_frame(index.lower, frame), in_frame(index.upper, frame))
    return operand(index, Frame(frame.axes)) if type(index) is Lanes else index


def _plain_first(x: object, indices: Sequence[Any], frame: Frame) -> tuple[Any, list[Any]]:
    """x after the ranges and integer arrays that all lanes share, and the single indices left; None for kept axes."""
    left: list[Any] = []
    for position, i in enumerate(indices):
        if isinstance(i, Span):
            i = window_of(i)
        if isinstance(i, Span) or type(i) is not Lanes and len(np.shape(i)):
            x = _keep(x, i, position)
            left.append(None)
        else:
            left.append(i)
    while left and left[-1] is None:
        left.pop()
    return x, left


def window_of(span: Span) -> Any:
    """A range whose bounds differ between lanes, as an index array per lane: all of one length."""
    span = Span(agreed(span.lower), agreed(span.upper))
    if type(span.lower) is not Lanes and type(span.upper) is not Lanes:
        return span
    if span.lower is None or span.upper is None:
        raise StanTracingError("an open range must not begin or end at different places in a vectorised loop")
    (low, high), axes = align((span.lower, span.upper), current())
    low, high = np.broadcast_arrays(low, high)
    length = high - low + 1
    if not (length == length.flat[0]).all():
        raise StanTracingError("the length of a range differs between the iterations of a vectorised loop")
    return Lanes(low[..., None] + np.arange(max(int(length.flat[0]), 0)), axes)


def shape_selected(index: Any, size: int) -> tuple[int, ...]:
    """The shape of what an index selects of an axis in each lane: that of one number is empty."""
    if not isinstance(index, Span):
        return tuple(index.event if type(index) is Lanes else np.shape(index))
    lower = 1 if index.lower is None else index.lower
    upper = size if index.upper is None else index.upper
    return (max(int(upper) - int(lower) + 1, 0),)


def _keep(x: object, index: object, position: int) -> Any:
    """x[:, ..., index] with the axis kept, in every lane."""
    whole = (Span(),) * position
    if type(x) is not Lanes:
        return indexing.at(x, *whole, index)
    lanes = (Span(),) * len(x.axes)
    return Lanes(indexing.at(x.data, *lanes, *whole, index), x.axes, x.mask)


def _multi(x: object, indices: Sequence[object], frame: Frame) -> object:
    """Integer arrays per lane among the indices: each as one more axis, which is the value's own afterwards."""
    inner, single = frame, list[Any]()
    places: list[tuple[Axis, int]] = []
    for i in indices:
        if type(i) is Lanes and i.rank:
            i, inner = as_axis(i, inner)
            places.append((i.axes[-1], sum(s is None for s in single) + len(places)))
        single.append(i)
    with entered(inner):
        out: Any = _select(x, single, inner)
    for axis, place in places:
        out = _axis_as_event(out, axis, place)
    return out


def as_axis(index: Lanes, frame: Frame) -> tuple[Lanes, Frame]:
    """An integer array per lane as a number per lane of one more axis, and the frame with that axis."""
    axis = Axis(index.event[0], frame)
    return Lanes(index.data, (*index.axes, axis)), Frame((*frame.axes, axis), frame.mask)


def _axis_as_event(value: Lanes, axis: Axis, place: int) -> Any:
    """The value with one of its axes as a dimension of its own."""
    at_, axes = value.axes.index(axis), tuple(a for a in value.axes if a is not axis)
    order = [i for i in range(len(value.data.shape)) if i != at_]
    order.insert(len(axes) + place, at_)
    data = permuted(value.data, order)
    return Lanes(data, axes, value.mask) if axes else data


def _select(x: object, indices: Sequence[object], frame: Frame) -> object:
    """Single indices, None for axes that are kept."""
    x, indices = _ints_first(x, list(indices))
    own = x.axes if type(x) is Lanes else ()
    groups = [i.axes for i in indices if type(i) is Lanes]
    used = [a for g in groups for a in g]
    if not groups:
        return x
    separate = len(set(used)) == len(used) and all(len(g) == 1 for g in groups) and not set(used) & set(own)
    if separate and all(known(i) is not None for i in indices if i is not None):
        return _outer(x, indices, frame)
    return _joint(x, indices, frame)


def _ints_first(x: object, indices: list[Any]) -> tuple[Any, list[Any]]:
    """x after the indices that all lanes share."""
    if all(i is None or type(i) is Lanes for i in indices):
        return x, indices
    shared = [Span() if i is None or type(i) is Lanes else i for i in indices]
    lanes = (Span(),) * len(x.axes) if type(x) is Lanes else ()
    out = indexing.at(x.data if type(x) is Lanes else x, *lanes, *shared)
    left = [i for i in indices if i is None or type(i) is Lanes]
    return (x.like(out) if type(x) is Lanes else out), left


def _outer(x: Any, indices: Sequence[Any], frame: Frame) -> Lanes:
    """Every index varies along an axis of its own: slices, or a gather along one dimension."""
    own = x.axes if type(x) is Lanes else ()
    data = x.data if type(x) is Lanes else x
    axes: list[Axis | None] = list(own)
    for i in indices:
        position = len(axes)
        if i is None:
            axes.append(None)
            continue
        data = _along(data, i.data, position)
        axes.append(i.axes[0])
    order = [k for k, a in enumerate(axes) if a is not None] + [k for k, a in enumerate(axes) if a is None]
    order += range(len(axes), len(data.shape))
    lanes = Lanes(permuted(data, order), tuple(a for a in axes if a is not None), frame.mask)
    return refined(lanes, Frame(frame.axes))


def _along(data: Any, index: np.ndarray, position: int) -> Any:
    """data[..., index, ...] of one dimension, 1-based."""
    check_range(index, data.shape[position])
    chosen = progression(index, 1)
    if chosen is None:
        from_zero = np.subtract(index, 1, dtype=np.int32, casting="unsafe")  # Stan's integers have 32 bits
        return namespace((data,)).get(data, (slice(None),) * position + (from_zero,))
    if chosen == slice(0, data.shape[position], 1):
        return data
    if chosen.step < 0:
        xp, lowest = namespace((data,)), slice(int(index.min()) - 1, int(index.max()), -chosen.step)
        return xp.flip(data[(slice(None),) * position + (lowest,)], position)
    return data[(slice(None),) * position + (chosen,)]


def check_range(index: Any, size: int) -> Any:
    """The 1-based indices of lanes, if they are in the range.

    Those that depend on parameters reject the draw where they are not, and are moved into it.

    Raises:
        StanIndexError: for those that are known.
    """
    if isinstance(index, (int, np.ndarray, np.generic)):
        index_ = np.asarray(index)
        if index_.size:
            low, high = counted(index_) or (index_.min(), index_.max())
            if low < 1 or high > size:
                raise indexing.out_of_range(index_, size)
        return index
    if 0 in index.shape:
        return np.ones(index.shape, int)  # of no elements, which may be those of an empty container
    if size == 0:
        raise indexing.out_of_range(index, size)
    refuse((index < 1) | (index > size), lambda: indexing.out_of_range(index, size))
    return clipped(index, size)


def _joint(x: object, indices: Sequence[object], frame: Frame) -> Lanes:
    """Any indices: one gather."""
    own = x.axes if type(x) is Lanes else ()
    data = x.data if type(x) is Lanes else x
    chosen = [k for k, i in enumerate(indices) if i is not None]
    arrays, axes = _index_arrays(indices, own, data, frame)
    data = move_front(data, [*range(len(own)), *(len(own) + k for k in chosen)])
    xp = namespace((data, *arrays))
    return Lanes(xp.get(data, tuple(arrays)), axes, frame.mask)


def _index_arrays(
    indices: Sequence[Any], own: tuple[Axis, ...], data: Any, frame: Frame
) -> tuple[list[Any], tuple[Axis, ...]]:
    """0-based index arrays for the axes of a value and its dimensions, and the axes that they span."""
    lanes = [Lanes(np.arange(a.size), (a,)) for a in own]
    given = [i for i in indices if i is not None]
    arrays, axes = align([*lanes, *given], frame)
    sizes = [data.shape[len(own) + k] for k, i in enumerate(indices) if i is not None]
    out = list(arrays[: len(own)])
    for array, size in zip(arrays[len(own) :], sizes):
        out.append(check_range(array, size) - 1)
    shape = tuple(a.size for a in axes)
    return all_of_shape(out, shape), axes


def all_of_shape(arrays: Sequence[object], shape: tuple[int, ...]) -> list[Any]:
    return [namespace((a,)).broadcast_to(namespace((a,)).asarray(a), shape) for a in arrays]
