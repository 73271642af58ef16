"""Indexing by values that differ between lanes: slices where the indices are contiguous, else one gather or scatter."""
from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from .. import indexing
from ..arrays import namespace
from ..arrays.progressions import progression
from ..errors import StanIndexError
from ..indexing import Span
from ..rejection import refuse
from .calls import refuse_in_lanes
from .frames import Axis, Frame, current, entered
from .handing import taker
from .reductions import masked, summed
from .values import (
    Lanes,
    agreed,
    align,
    full,
    is_lanes,
    known,
    move_front,
    operand,
    permuted,
    refined,
)


def involves_lanes(x: Any, indices: Sequence[Any]) -> bool:
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
    x = operand(x, frame)
    x, singles = _plain_first(x, [_seen(i, frame) for i in indices], frame)
    if any(type(i) is Lanes and i.rank for i in singles):
        return _multi(x, singles, frame)
    return _select(x, singles, frame)


def _at_masked(x: Any, indices: Sequence[Any], frame: Frame) -> Any:
    """A selection under a condition on parameters: an index may be out of range in lanes that the mask leaves out."""
    with entered(Frame(frame.axes)):
        return _any_at(x, _inside(x, indices, frame))


def _any_at(x: Any, indices: Sequence[Any]) -> Any:
    """A selection that may or may not differ between lanes."""
    return at(x, *indices) if involves_lanes(x, indices) else indexing.at(x, *indices)


def _inside(x: Any, indices: Sequence[Any], frame: Frame) -> list[Any]:
    """Indices moved into the range, the draw rejected if one was outside in a lane that the mask lets through."""
    out = []
    for i, n in zip(indices, x.event if type(x) is Lanes else np.shape(x)):
        if isinstance(i, Span):
            i = _inner_window(i, n)
        if type(i) is Lanes and n:
            _refuse_outside(operand(i, Frame(frame.axes)), n, frame)
            i = i.like(_clipped(i.data, n))
        elif not isinstance(i, Span) and type(i) is not Lanes and n:
            with entered(frame):
                refuse(_is_outside(i, n), partial(indexing.out_of_range, i, n))
            i = _clipped(i, n)
        out.append(i)
    return out


def _inner_window(span: Span, size: int) -> Any:
    """A range inside of the container as it is, any other one as the indices that it stands for."""
    window = _window(span)
    if not isinstance(window, Span):
        return window
    low, high = window.lower or 1, size if window.upper is None else window.upper
    known = isinstance(low, (int, np.integer)) and isinstance(high, (int, np.integer))
    return np.arange(low, high + 1) if known and low <= high and not 1 <= low <= high <= size else window


def _refuse_outside(index: Lanes, size: int, frame: Frame) -> None:
    bad = _is_outside(index.data, size)
    refuse_in_lanes(bad, lambda: indexing.out_of_range(index.data, size), index.axes, index.rank, frame)


def _is_outside(index: Any, size: int) -> Any:
    return (index < 1) | (index > size)


def _clipped(index: Any, size: int) -> Any:
    xp = namespace((index,))
    return xp.minimum(xp.maximum(index, 1), size)


def _seen(index: Any, frame: Frame) -> Any:
    """An index in the current frame; one that all lanes share as a plain one."""
    if isinstance(index, Span):
        return Span(_seen(index.lower, frame), _seen(index.upper, frame))
    return operand(index, Frame(frame.axes)) if type(index) is Lanes else index


def _plain_first(x: Any, indices: Sequence[Any], frame: Frame) -> tuple[Any, list[Any]]:
    """x after the ranges and integer arrays that all lanes share, and the single indices left; None for kept axes."""
    left: list[Any] = []
    for position, i in enumerate(indices):
        if isinstance(i, Span):
            i = _window(i)
        if isinstance(i, Span) or type(i) is not Lanes and len(np.shape(i)):
            x = _keep(x, i, position)
            left.append(None)
        else:
            left.append(i)
    while left and left[-1] is None:
        left.pop()
    return x, left


def _window(span: Span) -> Any:
    """A range whose bounds differ between lanes, as an index array per lane: all of one length."""
    span = Span(agreed(span.lower), agreed(span.upper))
    if type(span.lower) is not Lanes and type(span.upper) is not Lanes:
        return span
    if span.lower is None or span.upper is None:
        raise StanIndexError("an open range must not begin or end at different places in a vectorised loop")
    (low, high), axes = align((span.lower, span.upper), current())
    low, high = np.broadcast_arrays(low, high)
    length = high - low + 1
    if not (length == length.flat[0]).all():
        raise StanIndexError("the length of a range differs between the iterations of a vectorised loop")
    return Lanes(low[..., None] + np.arange(max(int(length.flat[0]), 0)), axes)


def _selected(index: Any, size: int) -> tuple[int, ...]:
    """The shape of what an index selects of an axis in each lane: that of one number is empty."""
    if not isinstance(index, Span):
        return tuple(index.event if type(index) is Lanes else np.shape(index))
    lower = 1 if index.lower is None else index.lower
    upper = size if index.upper is None else index.upper
    return (max(int(upper) - int(lower) + 1, 0),)


def _keep(x: Any, index: Any, position: int) -> Any:
    """x[:, ..., index] with the axis kept, in every lane."""
    whole = (Span(),) * position
    if type(x) is not Lanes:
        return indexing.at(x, *whole, index)
    lanes = (Span(),) * len(x.axes)
    return Lanes(indexing.at(x.data, *lanes, *whole, index), x.axes, x.mask)


def _multi(x: Any, indices: Sequence[Any], frame: Frame) -> Any:
    """Integer arrays per lane among the indices: each as one more axis, which is the value's own afterwards."""
    inner, single = frame, list[Any]()
    places: list[tuple[Axis, int]] = []
    for i in indices:
        if type(i) is Lanes and i.rank:
            i, inner = _as_axis(i, inner)
            places.append((i.axes[-1], sum(s is None for s in single) + len(places)))
        single.append(i)
    with entered(inner):
        out: Any = _select(x, single, inner)
    for axis, place in places:
        out = _axis_as_event(out, axis, place)
    return out


def _as_axis(index: Lanes, frame: Frame) -> tuple[Lanes, Frame]:
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


# --- reading ---------------------------------------------------------------------------------------------------------


def _select(x: Any, indices: Sequence[Any], frame: Frame) -> Any:
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


def _ints_first(x: Any, indices: list[Any]) -> tuple[Any, list[Any]]:
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
        if index_.size and (index_.min() < 1 or index_.max() > size):
            raise indexing.out_of_range(index_, size)
        return index
    if size == 0:
        raise indexing.out_of_range(index, size)
    refuse((index < 1) | (index > size), lambda: indexing.out_of_range(index, size))
    return _clipped(index, size)


def _joint(x: Any, indices: Sequence[Any], frame: Frame) -> Lanes:
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
    return _broadcast(out, shape), axes


def _broadcast(arrays: list[Any], shape: tuple[int, ...]) -> list[Any]:
    return [namespace((a,)).broadcast_to(namespace((a,)).asarray(a), shape) for a in arrays]


# --- writing ---------------------------------------------------------------------------------------------------------


@taker
def assign(x: Any, value: Any, *indices: Any, over: Lanes | None = None, in_place: bool = False) -> Any:
    """x after `x[i, j, ...] = value` in every lane; `over` is the index of the outermost loop whose lanes share x.

    With `in_place`, x is a NumPy array that nothing else refers to, and is itself changed.
    """
    frame = current()
    around = frame if over is None else over.axes[0].around
    if isinstance(x, tuple):
        return tuple(assign(item, v, *indices, over=over, in_place=in_place) for item, v in zip(x, value))
    x = operand(x, Frame(around.axes))
    indices = tuple(_seen(i, frame) for i in indices)
    if frame.mask is not None:
        indices = tuple(_inside(x, indices, frame))
    value = operand(value, Frame(frame.axes))
    if frame.mask is not None and frame.mask is not around.mask:
        value = _masked_value(x, value, indices, frame, around)
    return Target(x, value, indices, frame, around, in_place).written()


def _masked_value(x: Any, value: Any, indices: tuple[Any, ...], frame: Frame, around: Frame) -> Any:
    """The new value in the lanes that a mask lets through, the old one elsewhere."""
    from .control import merge

    with entered(Frame(frame.axes)):
        old = _any_at(x, indices)
        return merge(Lanes(frame.mask.data, frame.mask.axes), value, old)


class Target:
    """The part of a container that an assignment in a loop writes."""

    def __init__(
        self, x: Any, value: Any, indices: tuple[Any, ...], frame: Frame, around: Frame, in_place: bool = False
    ):
        self.in_place = in_place
        self.x, self.value, self.frame, self.around = x, value, frame, around
        self.indices = [_window(i) if isinstance(i, Span) else i for i in indices]
        self._check_shape()
        varying = {a for v in (value, *self.indices) if type(v) is Lanes for a in v.axes}
        reached = varying | {b for a in (*varying, *frame.axes) for b in a.maps}  # a part of the lanes alone is written
        own = x.axes if type(x) is Lanes else ()
        self.axes = tuple(a for a in around.axes if a in reached or a in own)

    def written(self) -> Any:
        """The whole container, every lane of the loops around it with its own part."""
        x = full(self.x, Frame(self.axes))
        data = self._by_slices(x) if self._is_plain() else None
        if data is None:
            data = self._by_scatter(x)
        xp = namespace((x.data if type(x) is Lanes else x,))
        if xp.LIBRARY == "torch" and isinstance(data, np.ndarray):  # all of it was replaced by data
            data = xp.convert((data, x.data if type(x) is Lanes else x))[0]
        return Lanes(data, self.axes, self.around.mask) if self.axes else data

    def _check_shape(self) -> None:
        """The value must have the shape of the part that it is assigned to, in every lane."""
        own, given = (v.event if type(v) is Lanes else np.shape(v) for v in (self.x, self.value))
        shape = tuple(n for i, size in zip(self.indices, own) for n in _selected(i, size))
        indexing.check_part(given, shape + tuple(own)[len(self.indices) :])

    def _is_plain(self) -> bool:
        """Whether every index varies along one axis of its own that the container is not spread over."""
        used = [a for i in self.indices if type(i) is Lanes for a in i.axes]
        return (
            all(a in self.frame.axes for a in self.axes)
            and len(set(used)) == len(used)
            and not set(used) & set(self.axes)
            and set(used) | set(self.axes) >= {a for a in self._value_axes()}
            and all(known(i) is not None and len(i.axes) == 1 and not i.rank for i in self.indices if type(i) is Lanes)
        )

    def _value_axes(self) -> tuple[Axis, ...]:
        return self.value.axes if type(self.value) is Lanes else ()

    def _by_slices(self, x: Any) -> Any:
        """The container with a block replaced, or None if the indices are no slices."""
        block: list[Any] = [slice(None)] * len(self.axes)
        order: list[Axis | None] = list(self.axes)
        for i, size in zip(self.indices, x.shape[len(self.axes) :]):
            if type(i) is Lanes:
                check_range(i.data, size)
                chosen = progression(i.data, 1)
                if chosen is None or chosen.step != 1:
                    return None
                order.append(i.axes[0])
            else:
                chosen = _plain_index(i, size)
                if isinstance(chosen, slice):
                    order.append(None)
                elif not isinstance(chosen, int):
                    return None
            block.append(chosen)
        return self._replaced(x, tuple(block), order)

    def _replaced(self, x: Any, block: tuple[Any, ...], order: list[Axis | None]) -> Any:
        kept = [a for a in order if a is not None]
        value = self._arranged(kept, order)
        xp = namespace((x, value))
        covered = all(isinstance(s, slice) and s.indices(n) == (0, n, 1) for s, n in zip(block, x.shape))
        shape = tuple(_length(s, n) for s, n in zip(block, x.shape) if isinstance(s, slice))
        value = xp.broadcast_to(xp.asarray(value), shape + tuple(x.shape[len(block) :]))
        if covered and not self.in_place and xp.is_integer(value) == xp.is_integer(x):
            return np.array(value) if isinstance(value, np.ndarray) else value  # it may be a view
        return self._set(xp, x, block, value)

    def _set(self, xp: Any, x: Any, index: tuple[Any, ...], value: Any) -> Any:
        if not self.in_place:
            return xp.at_set(x, index, value)
        indexing.write(x, index, value)
        return x

    def _arranged(self, kept: list[Axis], order: list[Axis | None]) -> Any:
        """The value with its axes where the indices have them."""
        if type(self.value) is not Lanes:
            return _beside(self.value, order)
        value = _spread_over(self.value, [a for a in self.frame.axes if a in kept])
        axes = [a for a in self.frame.axes if a in kept]
        events = iter(range(len(axes), len(value.shape)))
        positions = [axes.index(a) if a is not None else next(events) for a in order]
        return permuted(value, (*positions, *events))

    def _by_scatter(self, x: Any) -> Any:
        """The container with the parts of all lanes written by index arrays."""
        indices, frame, value = self._singles(x)
        with entered(frame):
            return self._scattered(x, indices, value)

    def _scattered(self, x: Any, indices: Sequence[Any], given: Any) -> Any:
        frame = current()
        own = [Lanes(np.arange(a.size), (a,)) for a in self.axes]
        singles = [operand(i, Frame(frame.axes)) for i in own]
        for i, size in zip(indices, x.shape[len(self.axes) :]):
            array = check_range(i.data if type(i) is Lanes else np.asarray(i) if known(i) is not None else i, size)
            singles.append(i.like(array - 1) if type(i) is Lanes else array - 1)
        arrays, axes = align(singles, frame)
        needed = {a for a in axes} | set(given.axes if type(given) is Lanes else ())
        axes = tuple(a for a in frame.axes if a in needed)
        shape = tuple(a.size for a in axes)
        arrays = [_shaped(i, axes, frame) for i in singles]
        value = full(given, Frame(axes)) if type(given) is Lanes else given
        xp = namespace((x, value, *arrays))
        value = xp.broadcast_to(xp.asarray(value), shape + tuple(x.shape[len(singles) :]))
        return self._set(xp, x, tuple(_broadcast(arrays, shape)), value)

    def _singles(self, x: Any) -> tuple[list[Any], Frame, Any]:
        """The indices with ranges and arrays as axes of their own, the frame with these, and the value over them."""
        frame, singles, new = self.frame, [], []
        for i, size in zip(self.indices, x.shape[len(self.axes) :]):
            if isinstance(i, Span):
                i = np.arange(size)[_plain_index(i, size)] + 1
            if type(i) is not Lanes and len(np.shape(i)):
                i = Lanes(i, ())
            if type(i) is Lanes and i.rank:
                i, frame = _as_axis(i, frame)
                new.append(i.axes[-1])
            singles.append(i)
        if not new:
            return singles, frame, self.value
        value = self.value if type(self.value) is Lanes else Lanes(namespace((self.value,)).asarray(self.value), ())
        sizes = tuple(a.size for a in new)
        if value.event[: len(new)] != sizes:
            given, wanted = (" x ".join(map(str, s)) for s in (value.event[: len(new)], sizes))
            raise StanIndexError(f"a value of size {given} can't be assigned to a part of size {wanted}")
        return singles, frame, Lanes(value.data, (*value.axes, *new), value.mask)


def _shaped(index: Any, axes: tuple[Axis, ...], frame: Frame) -> Any:
    if type(index) is not Lanes:
        return index
    shape = tuple(a.size if a in index.axes else 1 for a in axes)
    return index.data.reshape(shape)


def _beside(value: Any, order: list[Axis | None]) -> Any:
    """A value that all lanes share, with a dimension of size 1 for each of their axes."""
    own = iter(np.shape(value))
    if not np.shape(value):
        return value
    shape = [next(own) if a is None else 1 for a in order]
    return namespace((value,)).reshape(value, (*shape, *own))


def _spread_over(value: Lanes, axes: list[Axis]) -> Any:
    return full(value, Frame(tuple(axes)))


def _plain_index(index: Any, size: int) -> Any:
    """A shared index as NumPy has it."""
    return indexing._convert(namespace((index,) if not isinstance(index, Span) else ()), index, size)


def _length(s: slice, n: int) -> int:
    return len(range(*s.indices(n)))


def add_at(x: Any, value: Any, *indices: Any, loop: Lanes, over: Lanes | None = None) -> Any:
    """x after `x[i, j, ...] += value` in every iteration of `loop`, also where several write to one place.

    `over` is the outermost loop whose lanes share x, if that is one around `loop`.
    """
    frame, around = current(), loop.axes[0].around
    seen = [_seen(i, frame) for i in indices]
    if all(type(i) is not Lanes or set(i.axes) <= set(around.axes) for i in seen):
        added = summed(value, around.axes)
        with entered(around):
            return indexing.assign(x, _any_at(x, seen) + added, *seen, over=over)
    home = around if over is None else over.axes[0].around
    return _scattered(x, value, seen, frame, home)


def _raveled(arrays: Sequence[Any], sizes: Sequence[int]) -> Any:
    """The 0-based indices of several dimensions, one after the other, as those of a single one."""
    flat: Any = 0
    for i, size in zip(arrays, sizes):
        flat = flat * size + i.reshape(-1)
    return flat


def _scattered(x: Any, value: Any, indices: Sequence[Any], frame: Frame, home: Frame) -> Any:
    """x after additions at any indices: sums by segments."""
    data, old = masked(full(value, frame), frame), full(x, Frame(home.axes))
    own = [Lanes(np.arange(1, a.size + 1), (a,)) for a in home.axes]
    arrays = [full(operand(i, Frame(frame.axes)), frame) for i in (*own, *indices)]
    sizes = tuple(old.shape[: len(arrays)])
    flat = _raveled([check_range(i, size) - 1 for i, size in zip(arrays, sizes)], sizes)
    xp, rest = namespace((old, data, flat)), tuple(old.shape[len(arrays) :])
    sums = xp.segment_sum(xp.reshape(data, (-1, *rest)), flat, int(np.prod(sizes)))
    old, sums = xp.convert((old, sums))
    out = old + xp.reshape(sums, tuple(old.shape))
    return Lanes(out, home.axes, home.mask) if home.axes else out
