"""Loops, conditions and what leaves them: reductions, last values, merged branches."""
from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..arrays import namespace
from ..arrays.base import Array, Namespace
from ..arrays.progressions import MOST, count
from ..errors import StanError, StanTracingError
from ..outcome_places import are_asked, mix_up
from ..rejection import decided
from .frames import Axis, Frame, current, entered
from .values import Lanes, align, combine, full, known, operand, refined, same_rank

RUNS = 64  # groups of lanes alike, each of which is compiled by itself
WASTE = 3  # how many lanes may be masked to every one that is used, before a ragged loop is better off without masks


def lanes(
    lower: Any, upper: Any, most: int | None = None, dense: bool = False, leading: bool = False
) -> entered:  # fmt: skip
    """`for (n in lower:upper)`, its body run once for all iterations: `with lanes(lower, upper) as n`.

    Entered, it gives the values of the index, one for each lane; None if there is no iteration, so that the body is not
    to be run.

    Args:
        lower, upper: the bounds; they may differ between the lanes around, or (with `most`) be traced.
        most: a limit on the number of iterations. Those beyond the upper bound are masked.
        dense: whether masked iterations may stand in for those that one lane has and another lacks.
        leading: whether the axis comes before those around, for bounds that all lanes share.
    """
    frame = current()
    if type(lower) is Lanes or type(upper) is Lanes:
        return _ragged(operand(lower, frame), operand(upper, frame), frame, dense)
    if most is not None and (known(lower) is None or known(upper) is None):
        return _limited(lower, upper, most, frame)
    indices = count(int(lower), int(upper))
    if not indices.size:
        return entered(frame)
    axis = Axis(indices.size, frame)
    axes = (axis, *frame.axes) if leading else (*frame.axes, axis)
    return entered(Frame(axes, frame.mask), Lanes(indices, (axis,)))


def _limited(lower: Any, upper: Any, most: int, frame: Frame) -> entered:
    """As many lanes as there can be, those beyond a traced bound masked."""
    if most <= 0:
        return entered(frame)
    axis = Axis(most, frame)
    start = int(lower) if known(lower) is not None else lower
    index = Lanes(np.arange(most) + start, (axis,))
    return entered(_with_mask(Frame((*frame.axes, axis), frame.mask), index, lower, upper), index)


def _with_mask(frame: Frame, index: Lanes, lower: object, upper: object) -> Frame:
    """The frame without the lanes whose index is out of the bounds."""
    with entered(Frame(frame.axes)):
        mask = combine(lambda n, a, b: (n >= a) & (n <= b), index, lower, upper)
        if frame.mask is not None:
            mask = combine(lambda a, b: a & b, Lanes(frame.mask.data, frame.mask.axes), mask)
    return Frame(frame.axes, mask)


def _ragged(lower: object, upper: object, frame: Frame, dense: bool) -> entered:
    """A loop whose bounds differ between the lanes around: one axis for all its iterations in all of them."""
    (low, high), axes = align((lower, upper), frame)
    low, high = np.broadcast_arrays(low, high)
    counts = np.maximum(high - low + 1, 0)
    if (counts == counts.flat[0]).all() and (low == low.flat[0]).all():
        return lanes(int(low.flat[0]), int(high.flat[0]))
    if not counts.any():
        return entered(frame)
    first, last = int(low[counts > 0].min()), int(high[counts > 0].max())
    if dense and counts.sum() * WASTE >= counts.size * (last - first + 1):
        axis = Axis(last - first + 1, frame)
        index = Lanes(np.arange(first, last + 1), (axis,))
        return entered(_with_mask(Frame((*frame.axes, axis), frame.mask), index, lower, upper), index)
    repeated = np.repeat(np.arange(counts.size), counts.ravel())
    starts = np.cumsum(counts.ravel()) - counts.ravel()
    values = np.arange(repeated.size) - starts[repeated] + low.ravel()[repeated]
    axis = Axis(repeated.size, frame, dict(zip(axes, np.unravel_index(repeated, counts.shape))))
    return entered(Frame(frame.replaced(axes, (axis,)), frame.mask), Lanes(values, (axis,)))


def alike(*numbers: object) -> Iterator[None]:
    """The lanes in groups in which some numbers, or arrays of numbers, are the same: a loop over these groups.

    They may be given as functions. Where one raises, as an index is out of range in some lane, each lane is a group of
    its own, and the body tells whether that lane wants the number.
    """
    frame = current()
    try:
        given = [operand(n() if callable(n) else n, Frame(frame.axes)) for n in numbers]
    except StanError:
        axes, group = frame.axes, np.arange(math.prod(a.size for a in frame.axes))
    else:
        axes = tuple(a for a in frame.axes if any(type(v) is Lanes and a in v.axes for v in given))
        group = _groups(given, axes)
    if not axes:
        yield
        return
    if are_asked():
        group = _in_order(group, axes, frame)
    shape = tuple(a.size for a in axes)
    for g in range(int(group.max(initial=-1)) + 1):
        chosen = np.nonzero(group.reshape(shape) == g)
        if chosen[0].size == group.size:
            yield
            return
        axis = Axis(chosen[0].size, frame, dict(zip(axes, chosen)))
        with entered(Frame(frame.replaced(axes, (axis,)), frame.mask)):
            yield


def _in_order(group: np.ndarray, axes: tuple[Axis, ...], frame: Frame) -> np.ndarray:
    """Groups that come one after the other as the lanes do, of which there are more, for who asks for an order."""
    runs = np.cumsum(np.diff(group, prepend=group[:1]) != 0)
    if runs.max(initial=0) == 0 or axes == frame.axes[: len(axes)] and runs[-1] < RUNS:
        return runs
    mix_up()
    return group


def _groups(numbers: Sequence[object], axes: tuple[Axis, ...]) -> np.ndarray:
    """Of each of the lanes over some axes, the group that it is in, (lanes,)."""
    count = math.prod(a.size for a in axes)
    keys = [np.reshape(full(v, Frame(axes)), (count, -1)) for v in numbers if type(v) is Lanes]
    return np.unique(np.concatenate(keys, axis=1), axis=0, return_inverse=True)[1] if keys else np.zeros(count, int)


# --- conditions ------------------------------------------------------------------------------------------------------


def when(condition: Any) -> entered:
    """The lanes in which a condition holds: `with when(c) as some`, which tells whether there are any."""
    frame = current()
    if type(condition) is not Lanes:
        return _when_all(condition, frame)
    condition = operand(condition, Frame(frame.axes))
    holds = known(condition)
    if holds is None:
        if namespace((condition.data,)).holds(condition.data == 0):
            decided(condition.data)
            return entered(frame, False)
        return entered(masked_by(condition, frame), True)
    chosen = np.nonzero(holds)
    if chosen[0].size in (0, holds.size):
        return entered(frame, chosen[0].size > 0)
    axis = Axis(chosen[0].size, frame, dict(zip(condition.axes, chosen)))
    return entered(Frame(frame.replaced(condition.axes, (axis,)), frame.mask), True)


def masked_by(condition: Lanes, frame: Frame) -> Frame:
    """The frame without the lanes in which a condition does not hold."""
    mask = combine(lambda c: c != 0, condition)
    if frame.mask is not None:
        mask = combine(lambda a, b: a & b, Lanes(frame.mask.data, frame.mask.axes), mask)
    return Frame(frame.axes, mask)


def _when_all(condition: object, frame: Frame) -> entered:
    """A condition that all lanes agree on."""
    if known(condition) is not None or namespace((condition,)).LIBRARY == "torch":
        return entered(frame, bool(condition if known(condition) is not None else decided(condition)))
    xp = namespace((condition,))
    mask = Lanes(xp.broadcast_to(xp.asarray(condition) != 0, frame.shape), frame.axes)
    return when(mask)


def unless(condition: object) -> entered:
    """The other lanes."""
    if type(condition) is Lanes:
        return when(combine(lambda c: c == 0, condition))
    return when(condition == 0 if not isinstance(condition, bool) else not condition)


def merge(condition: Any, then: Any, otherwise: Any) -> Any:
    """The value after a branch: `then` in the lanes in which the condition holds. None is a value never given."""
    if then is None or otherwise is None:
        return otherwise if then is None else then
    frame = current()
    if isinstance(then, tuple):
        return tuple(merge(condition, a, b) for a, b in zip(then, otherwise))
    holds = known(condition)
    if holds is not None and holds.all():
        return then
    if holds is not None and not holds.any():
        return otherwise
    if holds is not None and type(condition) is Lanes and any(_is_part(v, frame) for v in (then, otherwise)):
        return _joined(operand(condition, Frame(frame.axes)), then, otherwise, frame)
    values = [operand(v, Frame(frame.axes)) for v in (condition, then, otherwise)]
    _verify_one_shape(*(v.event if type(v) is Lanes else np.shape(v) for v in values[1:]))
    made = combine(_where, *same_rank(*values))
    return made if made.axes else made.data


def _verify_one_shape(a: Sequence[int], b: Sequence[int]) -> None:
    """Values of which each lane takes one or the other are of one shape; a number stands for any.

    Raises:
        StanTracingError: naming both.
    """
    if a and b and tuple(a) != tuple(b):
        shapes = f"{tuple(a)} and {tuple(b)}"
        raise StanTracingError(f"a condition chooses between values of shapes {shapes} in iterations that run at once")


def _is_part(value: object, frame: Frame) -> bool:
    """Whether a value was computed for some lanes of a frame alone."""
    return type(value) is Lanes and not all(a in frame.axes or any(a in b.maps for b in frame.axes) for a in value.axes)


def _where(condition: Any, a: Any, b: Any) -> object:
    xp = namespace((condition, a, b))
    if xp.is_integer(a) and xp.is_integer(b):
        return xp.where(xp.asarray(condition) != 0, a, b)
    return xp.where(xp.asarray(condition) != 0, xp.real(a), xp.real(b))


def _joined(condition: Lanes, then: object, otherwise: object, frame: Frame) -> Lanes:
    """Values of the chosen lanes and of the others, each in its place again."""
    axes, holds = condition.axes, np.asarray(condition.data) != 0
    parts = [_lanes_of(v, axes, np.nonzero(h), frame) for v, h in ((then, holds), (otherwise, ~holds))]
    extra = tuple(a for a in frame.axes if a not in axes and any(a in p.axes for p in parts))
    xp = namespace([p.data for p in parts])
    arrays = [_wide(p, extra, xp) for p in parts]
    event = np.broadcast_shapes(*(tuple(a.shape)[1:] for a in arrays))
    arrays = [xp.broadcast_to(a, (a.shape[0], *event)) for a in arrays]
    first, second = xp.convert(arrays)
    data = xp.reshape(_placed(xp, first, second, holds.ravel()), holds.shape + event)
    return refined(Lanes(data, (*axes, *extra), frame.mask), frame)


def _placed(xp: Namespace, then: Array, otherwise: Array, holds: np.ndarray) -> Array:
    """Rows of two arrays, which those of the one are for and which those of the other.

    Where they take turns a few times only, slices of each go one behind the other: their derivatives are slices again.
    """
    edges = [0, *(np.flatnonzero(np.diff(holds)) + 1), holds.size]
    if len(edges) > MOST + 1:
        place = np.empty(holds.size, int)
        place[np.concatenate([np.flatnonzero(holds), np.flatnonzero(~holds)])] = np.arange(holds.size)
        return xp.get(xp.concatenate([then, otherwise], 0), (place,))
    pieces, taken = [], {True: 0, False: 0}
    for begin, end in zip(edges, edges[1:]):
        side = bool(holds[begin])
        rows, first = then if side else otherwise, taken[side]
        taken[side] = first + end - begin
        whole = taken[side] - first == rows.shape[0]
        pieces.append(rows if whole else xp.get(rows, (slice(first, taken[side]),)))
    return xp.concatenate(pieces, 0)


def _lanes_of(value: Any, axes: tuple[Axis, ...], chosen: tuple[np.ndarray, ...], frame: Frame) -> Lanes:
    """A value as it is in some lanes: as one axis for those, and any other axes that it has."""
    if type(value) is Lanes and not any(a in frame.axes for a in value.axes if a in axes) and value.axes:
        own = [a for a in value.axes if any(x in a.maps for x in axes)]
        if own:  # computed for these lanes alone
            return refined(value, Frame((own[0], *(a for a in frame.axes if a not in axes))))
    axis = Axis(chosen[0].size, frame, dict(zip(axes, chosen)))
    small = Frame((axis, *(a for a in frame.axes if a not in axes)))
    seen = operand(value, small)
    if type(seen) is Lanes and axis in seen.axes:
        return seen
    xp = namespace((seen.data if type(seen) is Lanes else seen,))
    data = seen.data if type(seen) is Lanes else xp.asarray(seen)
    other = seen.axes if type(seen) is Lanes else ()
    return Lanes(xp.broadcast_to(data, (axis.size, *xp.shape(data))), (axis, *other))


def _wide(part: Lanes, extra: tuple[Axis, ...], xp: Namespace) -> Any:
    """The array with a dimension for each of some axes behind the first."""
    shape = (part.data.shape[0], *(a.size if a in part.axes else 1 for a in extra), *part.event)
    return xp.reshape(part.data, shape)


def choose(condition: object, then: Callable[[], object], otherwise: Callable[[], object]) -> Any:
    """`condition ? then : otherwise` where the condition differs between lanes: each side only for its lanes."""
    a = b = None
    with when(condition) as some:
        if some:
            a = then()
    with unless(condition) as some:
        if some:
            b = otherwise()
    return merge(condition, a, b)


def logical_and(left: object, right: Callable[[], object]) -> Any:
    """`left && right`, 0 or 1: the right operand only where the left one holds."""
    if type(left) is not Lanes and known(left) is not None:
        return truth(right()) if left else 0
    return choose(left, lambda: truth(right()), lambda: 0)


def logical_or(left: object, right: Callable[[], object]) -> Any:
    """`left || right`, 0 or 1: the right operand only where the left one does not hold."""
    if type(left) is not Lanes and known(left) is not None:
        return 1 if left else truth(right())
    return choose(left, lambda: 1, lambda: truth(right()))


def truth(value: object) -> Any:
    """1 where an int is not zero, else 0; ints as operands of `&&` and `||` may be others."""
    if type(value) is Lanes:
        return combine(lambda v: namespace((v,)).integer(v != 0), value)
    return int(value != 0) if known(value) is not None else namespace((value,)).integer(value != 0)
