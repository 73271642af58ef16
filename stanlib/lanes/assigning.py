"""Assignment at places that differ between lanes: slices where the indices are contiguous, else one scatter."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import indexing
from ..arrays import namespace
from ..arrays.base import Namespace
from ..arrays.progressions import progression
from ..errors import StanIndexError
from ..indexing import Span
from .control import when
from .frames import Axis, Frame, current, entered
from .handing import taker
from .indexing import (
    all_of_shape,
    any_at,
    as_axis,
    check_range,
    in_frame,
    may_stray,
    moved_inside,
    shape_selected,
    window_of,
)
from .reductions import masked, summed
from .values import Lanes, align, combine, full, known, known_shape, operand, permuted, same_rank


@taker
def assign(
    x: Any, value: Any, *indices: Any, over: Lanes | None = None, in_place: bool = False, reached: object = None
) -> Any:
    """x after `x[i, j, ...] = value` in every lane; `over` is the index of the outermost loop whose lanes share x.

    With `in_place`, x is a NumPy array that nothing else refers to, and is itself changed. Where `reached` is given,
    and indices may be out of range, lanes in which it is 0 write nothing; it is 1 where x keeps its part, too.
    """
    frame = current()
    around = frame if over is None else over.axes[0].around
    if reached is not None and any(may_stray(i, n) for i, n in zip(indices, _shape_of(x))):
        with when(reached) as some:
            return assign(x, value, *indices, over=over, in_place=in_place) if some else x
    if isinstance(x, tuple):
        return tuple(assign(item, v, *indices, over=over, in_place=in_place) for item, v in zip(x, value))
    x = operand(x, Frame(around.axes))
    indices = tuple(in_frame(i, frame) for i in indices)
    is_masked = frame.mask is not None and frame.mask is not around.mask
    straying = _straying(x, indices, around) if is_masked else None
    if frame.mask is not None:
        indices = tuple(moved_inside(x, indices, frame))
    value = operand(value, Frame(frame.axes))
    if straying is not None:
        return _with_room_behind(Target(x, value, indices, frame, around, in_place), straying)
    if is_masked:
        value = _masked_value(x, value, indices, frame, around)
    return Target(x, value, indices, frame, around, in_place).written()


def _shape_of(x: Any) -> tuple[int, ...]:
    """The shape of a container in one lane; of an array of tuples that of its first item."""
    while isinstance(x, tuple):
        x = x[0]
    return x.event if type(x) is Lanes else known_shape(x)


def _straying(x: Any, indices: tuple[Any, ...], around: Frame) -> int | None:
    """Which index may be out of range in lanes that share x, if a mask leaves them out; None if none is."""
    for position, (i, size) in enumerate(zip(indices, x.event if type(x) is Lanes else known_shape(x))):
        if type(i) is Lanes and size and not set(i.axes) <= set(around.axes) and may_stray(i, size):
            return position
    return None


def _with_room_behind(target: "Target", position: int) -> object:
    """The container after an assignment whose index at `position` may be out of range in lanes that a mask leaves out.

    Moved inside, their index is that of another lane, whose value must not be replaced by the old one: they write
    behind the container's end, where a place is added and taken away again.
    """
    x, frame = target.x, target.frame
    data, lead = (x.data, len(x.axes)) if type(x) is Lanes else (x, 0)
    size, xp = known_shape(data)[lead + position], namespace((data,))
    first = (slice(None),) * (lead + position) + (slice(0, 1),)
    wider = xp.concatenate([xp.asarray(data), xp.asarray(data)[first]], lead + position)
    with entered(Frame(frame.axes)):
        let_through = same_rank(Lanes(frame.mask.data, frame.mask.axes), target.indices[position])
        moved = combine(lambda m, i: namespace((m, i)).where(m, i, size + 1), *let_through)
    indices = (*target.indices[:position], moved, *target.indices[position + 1 :])
    out = Target(x.like(wider) if type(x) is Lanes else wider, target.value, indices, frame, target.around).written()
    lead = len(out.axes) if type(out) is Lanes else 0
    inner = (slice(None),) * (lead + position) + (slice(0, size),)
    if target.in_place:
        indexing.write(x, (), out[inner])
        return x
    return out.like(out.data[inner]) if type(out) is Lanes else out[inner]


def _masked_value(x: object, value: object, indices: tuple[object, ...], frame: Frame, around: Frame) -> object:
    """The new value in the lanes that a mask lets through, the old one elsewhere."""
    from .control import merge

    with entered(Frame(frame.axes)):
        old = any_at(x, indices)
        return merge(Lanes(frame.mask.data, frame.mask.axes), value, old)


class Target:
    """The part of a container that an assignment in a loop writes."""

    def __init__(
        self, x: Any, value: Any, indices: tuple[Any, ...], frame: Frame, around: Frame, in_place: bool = False
    ):
        self.in_place = in_place
        self.x, self.value, self.frame, self.around = x, value, frame, around
        self.indices = [window_of(i) if isinstance(i, Span) else i for i in indices]
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
        shape = tuple(n for i, size in zip(self.indices, own) for n in shape_selected(i, size))
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

    def _by_slices(self, x: Any) -> object:
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

    def _replaced(self, x: Any, block: tuple[Any, ...], order: list[Axis | None]) -> object:
        """x with the value, broadcast, in place of a block; `order` has the axis of lanes along each slice, if any."""
        kept = [a for a in order if a is not None]
        value = self._arranged(kept, order)
        xp = namespace((x, value))
        covered = all(isinstance(s, slice) and s.indices(n) == (0, n, 1) for s, n in zip(block, x.shape))
        shape = tuple(_length(s, n) for s, n in zip(block, x.shape) if isinstance(s, slice))
        value = xp.broadcast_to(xp.asarray(value), shape + tuple(x.shape[len(block) :]))
        if covered and not self.in_place and xp.is_integer(value) == xp.is_integer(x):
            return np.array(value) if isinstance(value, np.ndarray) else value  # it may be a view
        return self._set(xp, x, block, value)

    def _set(self, xp: Namespace, x: Any, index: tuple[Any, ...], value: Any) -> object:
        if not self.in_place:
            return xp.at_set(x, index, value)
        indexing.write(x, index, value)
        return x

    def _arranged(self, kept: list[Axis], order: list[Axis | None]) -> object:
        """The value with its axes where the indices have them."""
        if type(self.value) is not Lanes:
            return _beside(self.value, order)
        value = _spread_over(self.value, [a for a in self.frame.axes if a in kept])
        axes = [a for a in self.frame.axes if a in kept]
        events = iter(range(len(axes), len(value.shape)))
        positions = [axes.index(a) if a is not None else next(events) for a in order]
        return permuted(value, (*positions, *events))

    def _by_scatter(self, x: object) -> object:
        """The container with the parts of all lanes written by index arrays."""
        indices, frame, value = self._singles(x)
        with entered(frame):
            return self._scattered(x, indices, value)

    def _scattered(self, x: Any, indices: Sequence[Any], given: Any) -> object:
        """x with `given`, broadcast, at the places that index arrays over the lanes of the current frame name."""
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
        return self._set(xp, x, tuple(all_of_shape(arrays, shape)), value)

    def _singles(self, x: Any) -> tuple[list[Any], Frame, Any]:
        """The indices with ranges and arrays as axes of their own, the frame with these, and the value over them."""
        frame, singles, new = self.frame, [], []
        for i, size in zip(self.indices, x.shape[len(self.axes) :]):
            if isinstance(i, Span):
                i = np.arange(size)[_plain_index(i, size)] + 1
            if type(i) is not Lanes and len(np.shape(i)):
                i = Lanes(i, ())
            if type(i) is Lanes and i.rank:
                i, frame = as_axis(i, frame)
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


def _shaped(index: Any, axes: tuple[Axis, ...], frame: Frame) -> object:
    if type(index) is not Lanes:
        return index
    shape = tuple(a.size if a in index.axes else 1 for a in axes)
    return index.data.reshape(shape)


def _beside(value: Any, order: list[Axis | None]) -> object:
    """A value that all lanes share, with a dimension of size 1 for each of their axes."""
    own = iter(np.shape(value))
    if not np.shape(value):
        return value
    shape = [next(own) if a is None else 1 for a in order]
    return namespace((value,)).reshape(value, (*shape, *own))


def _spread_over(value: Lanes, axes: list[Axis]) -> Any:
    return full(value, Frame(tuple(axes)))


def _plain_index(index: object, size: int) -> Any:
    """A shared index as NumPy has it."""
    return indexing._convert(namespace((index,) if not isinstance(index, Span) else ()), index, size)


def _length(s: slice, n: int) -> int:
    return len(range(*s.indices(n)))


def add_at(x: object, value: object, *indices: object, loop: Lanes, over: Lanes | None = None) -> Any:
    """x after `x[i, j, ...] += value` in every iteration of `loop`, also where several write to one place.

    `over` is the outermost loop whose lanes share x, if that is one around `loop`.
    """
    frame, around = current(), loop.axes[0].around
    seen = [in_frame(i, frame) for i in indices]
    if frame.mask is not None:
        seen = moved_inside(x, seen, frame)
    if all(type(i) is not Lanes or set(i.axes) <= set(around.axes) for i in seen):
        added = summed(value, around.axes)
        with entered(around):
            return indexing.assign(x, any_at(x, seen) + added, *seen, over=over)
    home = around if over is None else over.axes[0].around
    return _scattered(x, value, seen, frame, home)


def _raveled(arrays: Sequence[object], sizes: Sequence[int]) -> object:
    """The 0-based indices of several dimensions, one after the other, as those of a single one."""
    flat: Any = 0
    for i, size in zip(namespace(arrays).convert(arrays), sizes):  # some are known
        flat = flat * size + i.reshape(-1)
    return flat


def _scattered(x: object, value: object, indices: Sequence[object], frame: Frame, home: Frame) -> object:
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
