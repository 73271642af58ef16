"""Stan's indexing: 1-based, several indices at once, multi-indices and ranges, on both sides of an assignment.

Indices that are known are checked against the shape and raise StanIndexError; an index that depends on parameters and
is out of range rejects the draw. Source: Stan Reference Manual, "Indexing" and "Multi-indexing".
"""
from __future__ import annotations

from typing import Any

import numpy as np

from .arrays import differs_between_lanes, is_of_data, namespace
from .arrays.base import Namespace
from .dataclass import dataclass
from .errors import StanIndexError, StanUnknownError
from .lanes import frames
from .lanes.handing import hand_over
from .rejection import refuse, whole

_INTS = frozenset({int, np.int64})
_NUMBERS = _INTS | {float, np.float64}


@dataclass(frozen=True, slots=True)
class Span:
    """The index `lower:upper` of Stan, both ends included; None is the container's own end."""

    lower: Any = None
    upper: Any = None


def at(x: object, *indices: object) -> Any:
    """`x[i, j, ...]` in Stan: ints drop their axis, integer arrays and Spans keep it."""
    if type(x) is np.ndarray and (place := _place(x.shape, indices)) is not None:
        return x[place]
    given = (x, *_values(indices))
    if differs_between_lanes(given):
        return hand_over("at", x, *indices)
    if isinstance(x, tuple):  # an array of tuples is a tuple of arrays
        return tuple(at(item, *indices) for item in x)
    xp = namespace(given)
    shape = xp.shape(x)
    if len(indices) > len(shape):
        raise StanIndexError(f"{len(indices)} indices for a container of {len(shape)} dimensions")
    converted = [_convert(xp, i, n) for i, n in zip(indices, shape)]
    if all([type(i) is int for i in converted]):  # a list: faster than a generator
        return xp.get(x, tuple(converted))
    return _picked(xp, x, converted)


def _place(shape: tuple[int, ...], indices: tuple[Any, ...]) -> tuple[int, ...] | None:
    """NumPy's index of the part that ints inside of the range choose, None for other indices.

    Loops that run in Python read and write numbers of data by the thousand: this is a third of the time of looking at
    what all may be.
    """
    if len(indices) > len(shape):
        return None
    place = []
    for i, n in zip(indices, shape):
        if type(i) not in _INTS or not 1 <= i <= n:
            return None
        place.append(i - 1)
    return tuple(place)


def _picked(xp: Namespace, x: object, converted: list[Any]) -> object:
    """The part of x that NumPy's indices select, each along its own axis."""
    if len(converted) == 1 or sum(_is_array(xp, i) for i in converted) <= 1 and not _is_separated(xp, converted):
        return xp.get(x, tuple(converted))
    axis = 0
    for i in converted:
        x = xp.get(x, (slice(None),) * axis + (i,))
        axis += xp.ndim(i) if not isinstance(i, slice) else 1
    return x


def assign(x: Any, value: Any, *indices: Any, over: Any = None, reached: Any = None) -> Any:
    """x with `x[i, j, ...]` replaced by value; x itself is not changed.

    In a loop whose iterations run as lanes, `over` is the index of the outermost one that shares x. Where `reached` is
    given, indices may be out of range in lanes in which it is 0: those write nothing.
    """
    if over is not None or differs_between_lanes((x, value, *_values(indices))) or _is_masked():
        return hand_over("assign", x, value, *indices, over=over, reached=reached)
    if isinstance(x, tuple):
        return tuple(assign(item, v, *indices) for item, v in zip(x, value))
    xp = namespace((x, value, *_values(indices)))
    return xp.at_set(x, _target(xp, x, value, indices), value)


def assign_in_place(x: Any, value: Any, *indices: object, over: object = None, reached: object = None) -> None:
    """`x[i, j, ...] = value` for an array or tensor (or tuple of such) that nothing else refers to."""
    if type(x) is np.ndarray and type(value) in _NUMBERS and over is None and reached is None:
        place = _place(x.shape, indices)
        if place is not None and len(place) == x.ndim:
            x[place] = value
            return
    if over is not None or differs_between_lanes((x, value, *_values(indices))):
        hand_over("assign", x, value, *indices, over=over, in_place=True, reached=reached)
        return
    if isinstance(x, tuple):
        for item, v in zip(x, value):
            assign_in_place(item, v, *indices)
        return
    xp = namespace((x,))
    write(x, _target(xp, x, value, indices), value)


def write(x: Any, index: Any, value: Any) -> None:
    """x[index] = value, also of a value that is a part of x itself, and of tensors: functions make some of data."""
    if not isinstance(x, np.ndarray):
        x.copy_(namespace((x,)).at_set(x, index, value))
        return
    x[index] = np.array(value) if np.may_share_memory(x, value) else value


def _is_masked() -> bool:
    return frames.current().mask is not None


def _target(xp: Namespace, x: object, value: object, indices: tuple[object, ...]) -> object:
    """The NumPy index of the part of x that is assigned, whose shape must be the value's."""
    converted = [_convert(xp, i, n) for i, n in zip(indices, xp.shape(x))]
    shape = tuple(s for i, n in zip(converted, xp.shape(x)) for s in _selected(xp, i, n))
    shape += tuple(xp.shape(x)[len(indices) :])
    check_part(xp.shape(value), shape)
    if sum(_is_array(xp, i) for i in converted) <= 1 and not _is_separated(xp, converted):
        return tuple(converted)
    return _outer(xp, converted, xp.shape(x))


def check_part(given: tuple[int, ...], shape: tuple[int, ...]) -> None:
    """
    Raises:
        StanIndexError: for a value of another shape than the part that it is assigned to.
    """
    if tuple(given) != tuple(shape):
        raise StanIndexError(f"a value of shape {_shown(given)} is assigned to a part of shape {_shown(shape)}")


def _outer(xp: Namespace, converted: list[Any], shape: tuple[int, ...]) -> tuple[object, ...]:
    """Index arrays that select the outer product of the indices instead of pairing them."""
    kept = [not (np.ndim(i) == 0 and not isinstance(i, slice)) for i in converted]
    out, position = [], 0
    for i, n, keep in zip(converted, shape, kept):
        if not keep:
            out.append(i)
            continue
        values = np.arange(n)[i] if isinstance(i, slice) else i
        out.append(xp.reshape(values, (1,) * position + (-1,) + (1,) * (sum(kept) - position - 1)))
        position += 1
    return tuple(out)


def _values(indices: tuple[object, ...]) -> list[object]:
    return [v for i in indices for v in ((i.lower, i.upper) if isinstance(i, Span) else (i,))]


def _convert(xp: Namespace, index: Any, n: int) -> Any:
    """One index as NumPy would have it, inside of the range."""
    if type(index) is int and 1 <= index <= n:
        return index - 1
    if isinstance(index, Span):
        return _slice(xp, index, n)
    if not is_of_data((index,)):
        if 0 in xp.shape(index):
            return np.zeros(xp.shape(index), int)  # of no elements, which may be those of an empty container
        if n == 0:
            raise out_of_range(index, n)
        if xp.are_between(index, 1, n):
            return index - 1
        refuse((index < 1) | (index > n), lambda: out_of_range(index, n))
        return xp.minimum(xp.maximum(index, 1), n) - 1
    index = np.asarray(index)
    if index.size and (index.min() < 1 or index.max() > n):
        index = _refused(index, n)
    return int(index) - 1 if index.ndim == 0 else index - 1


def _refused(index: np.ndarray, n: int) -> np.ndarray:
    """Known indices out of the range, moved into it: where they matter to no lane that runs, or reject the draw.

    Raises:
        StanIndexError: elsewhere, and for an empty container.
    """
    if n == 0:
        raise out_of_range(index, n)
    refuse(True, lambda: out_of_range(index, n))
    inside: np.ndarray = np.clip(index, 1, n)
    return inside


def out_of_range(index: object, n: int) -> StanIndexError:
    """The error for an index, or the first of several, that is not between 1 and n."""
    known = namespace((index,)).known(index)
    if known is None:
        return StanIndexError(f"an index is out of range: the size is {n}")
    bad = known[(known < 1) | (known > n)] if known.ndim else known
    return StanIndexError(f"index {bad.flat[0]} is out of range: the size is {n}")


def _slice(xp: Namespace, span: Span, n: int) -> slice:
    lower = 1 if span.lower is None else _bound(xp, span.lower)
    upper = n if span.upper is None else _bound(xp, span.upper)
    if upper < lower:
        return slice(0, 0)
    if lower < 1 or upper > n:
        raise StanIndexError(f"the range {lower}:{upper} is out of range: the size is {n}")
    return slice(lower - 1, upper)


def _bound(xp: Namespace, value: object) -> int:
    if xp.LIBRARY == "jax" and not xp.is_concrete(value):
        raise StanUnknownError("the bounds of an index range must not depend on parameters: shapes would")
    return whole(value)


def _is_array(xp: Namespace, index: object) -> bool:
    return not isinstance(index, slice) and xp.ndim(index) > 0


def _is_separated(xp: Namespace, converted: list[Any]) -> bool:
    """Whether NumPy would pair the indices or move axes: an index array beside an int."""
    return any(_is_array(xp, i) for i in converted) and any(
        not isinstance(i, slice) and xp.ndim(i) == 0 for i in converted
    )


def _selected(xp: Namespace, index: object, n: int) -> tuple[int, ...]:
    if isinstance(index, slice):
        return (len(range(*index.indices(n))),)
    return tuple(xp.shape(index))


def _shown(shape: tuple[int, ...]) -> str:
    return "(" + ", ".join(map(str, shape)) + ")"
