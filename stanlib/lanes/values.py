"""Values that differ between lanes, and how the axes of several are lined up."""
from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

import numpy as np

from ..arrays import namespace
from ..arrays.base import Array, Value
from .frames import Axis, Frame, current
from .handing import hand_over

Each = TypeVar("Each", bound=Array)


def known_shape(array: object) -> tuple[int, ...]:
    """The shape of an array, also where PyTorch records operations, and makes tensors of sizes."""
    given = cast("Value", array)
    shape = np.shape(given)
    return shape if type(shape) is tuple else namespace((given,)).shape(given)


class Lanes:
    """One value per lane: an array whose leading axes are `axes`, in the order of the frame, then the value's own.

    `mask` is the condition under which the value was computed.
    """

    LIBRARY = "lanes"
    __slots__ = ("data", "axes", "mask")
    __array_priority__ = 1000  # NumPy leaves operators to this class
    __array_ufunc__ = None

    def __init__(self, data: Any, axes: tuple[Axis, ...], mask: Any = None):
        self.data, self.axes, self.mask = data, axes, mask

    @property
    def rank(self) -> int:
        """The number of dimensions of the value in one lane."""
        return len(self.data.shape) - len(self.axes)

    @property
    def event(self) -> tuple[int, ...]:
        """The shape of the value in one lane."""
        return known_shape(self.data)[len(self.axes) :]

    def like(self, data: object) -> "Lanes":
        """Other values of the same lanes."""
        return Lanes(data, self.axes, self.mask)

    def within(self, axes: tuple[Axis, ...]) -> Any:
        """The array of the values over these axes alone."""
        return refined(self, Frame(axes)).data

    def __repr__(self) -> str:
        return f"Lanes({self.data!r}, {self.axes})"

    def __bool__(self) -> bool:
        raise TypeError("a condition that differs between lanes is no truth value")

    def __neg__(self) -> "Lanes":
        return combine(operator.neg, self)

    def __matmul__(self, other: object) -> "Lanes":
        return _product(self, other)

    def __rmatmul__(self, other: object) -> "Lanes":
        return _product(other, self)


def _forward(f: Callable[..., object]) -> Callable[..., Any]:
    return lambda a, b: combine(f, a, b)


def _backward(f: Callable[..., object]) -> Callable[..., Any]:
    return lambda a, b: combine(f, b, a)


for _name in ("add", "sub", "mul", "truediv", "pow", "floordiv", "mod", "and_", "or_"):
    _symbol, _f = _name.strip("_"), getattr(operator, _name)
    setattr(Lanes, f"__{_symbol}__", _forward(_f))
    setattr(Lanes, f"__r{_symbol}__", _backward(_f))
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(Lanes, f"__{_name}__", _forward(getattr(operator, _name)))
Lanes.__hash__ = object.__hash__  # type: ignore[method-assign]


def is_lanes(values: Sequence[object]) -> bool:
    """Whether any of some values differs between lanes."""
    return Lanes in map(type, values)


def known(value: object) -> np.ndarray | None:
    """The components of a value as a NumPy array, None where they are known only at run time."""
    data = value.data if type(value) is Lanes else value
    return np.asarray(data) if isinstance(data, (int, float, bool, complex, np.ndarray, np.generic)) else None


def _product(a: Any, b: Any) -> Lanes:
    """The matrix product in every lane."""
    if type(a) is Lanes and type(b) is not Lanes:
        a = operand(a)
        xp = namespace((a.data, b))
        return Lanes(xp.matmul(*xp.convert((a.data, b))), a.axes, a.mask)
    made: Lanes = hand_over("each", lambda x, y: namespace((x, y)).matmul(x, y), a, b)
    return made


# --- a value in the current frame ------------------------------------------------------------------------------------


def operand(value: object, frame: Frame | None = None) -> Any:
    """A value as the code of a frame sees it: only the lanes that are left, and guarded where a mask holds."""
    frame = current() if frame is None else frame
    if type(value) is Lanes:
        value = refined(value, frame)
    return value if frame.mask is None else _guarded(value, frame)


def refined(value: Lanes, frame: Frame) -> Lanes:
    """The value over the axes of a frame, in its order: what an axis there stands for is looked up."""
    data, axes = value.data, value.axes
    if axes == frame.axes:  # they are compared by identity
        return value
    if not all(a in frame.axes for a in axes):
        for axis in frame.axes:
            sources = tuple(a for a in axes if a in axis.maps and a not in frame.axes)
            if sources:
                data, axes = _spread(data, axes, sources, axis)
        if not all(a in frame.axes for a in axes):
            raise RuntimeError("a value of one loop is used in another")
    order = sorted(range(len(axes)), key=lambda i: frame.axes.index(axes[i]))
    if order != list(range(len(axes))):
        rest = range(len(axes), len(data.shape))
        data, axes = permuted(data, (*order, *rest)), tuple(axes[i] for i in order)
    return Lanes(data, axes, value.mask)


def _spread(
    data: object, axes: tuple[Axis, ...], sources: tuple[Axis, ...], axis: Axis
) -> tuple[Any, tuple[Axis, ...]]:
    """`sources` of a value replaced by an axis that stands for them."""
    positions = [axes.index(s) for s in sources]
    data = move_front(data, positions)
    index = tuple(axis.maps[s] for s in sources)
    picked = namespace((data,)).get(data, index)
    return picked, (axis, *(a for a in axes if a not in sources))


def move_front(data: Any, positions: Sequence[int]) -> Any:
    """The array with some dimensions moved to the front."""
    rest = [i for i in range(len(data.shape)) if i not in positions]
    return permuted(data, (*positions, *rest))


def moved_behind(data: Each, count: int) -> Each:
    """The array with its first dimension behind so many of those that follow it, if there are as many."""
    dims = len(data.shape)
    if not 0 < count < dims:
        return data
    moved: Each = permuted(data, (*range(1, count + 1), 0, *range(count + 1, dims)))
    return moved


def permuted(data: Any, order: Sequence[int]) -> Any:
    """The array with its dimensions in another order."""
    if tuple(order) == tuple(range(len(order))):
        return data
    return data.permute(tuple(order)) if hasattr(data, "permute") else data.transpose(tuple(order))


def _guarded(value: object, frame: Frame) -> object:
    """No gradient flows to a value from lanes that a mask leaves out, where the code may not be meant for it."""
    if isinstance(value, tuple) or known(value) is not None or type(value) is Lanes and value.mask is frame.mask:
        return value
    xp = namespace((value.data if type(value) is Lanes else value,))
    data = value.data if type(value) is Lanes else value
    if not hasattr(data, "shape") or xp.is_integer(data):
        return value
    mask = refined(frame.mask, Frame(frame.axes))
    (m, v), axes = align((mask, value), frame)
    return Lanes(xp.where(m, v, xp.stop_gradient(v)), axes, frame.mask)


# --- several values --------------------------------------------------------------------------------------------------


def align(values: Sequence[Any], frame: Frame) -> tuple[list[Any], tuple[Axis, ...]]:
    """Arrays that broadcast against each other, and the axes that lead them: the values' own ones come last.

    A number stays one; the values' own dimensions are lined up from the right.
    """
    union = {a for v in values if type(v) is Lanes for a in v.axes}
    axes = tuple(a for a in frame.axes if a in union)
    rank = max((v.rank if type(v) is Lanes else len(np.shape(v)) for v in values), default=0)
    return [_placed(v, axes, rank) if type(v) is Lanes else v for v in values], axes


def _placed(value: Lanes, axes: tuple[Axis, ...], rank: int) -> Any:
    """The array of a value with dimensions of size 1 for the axes that it lacks."""
    leading = tuple(a.size if a in value.axes else 1 for a in axes)
    shape = leading + (1,) * (rank - value.rank) + value.event
    return value.data if shape == tuple(value.data.shape) else value.data.reshape(shape)


def combine(f: Callable[..., object], *values: object) -> Lanes:
    """f of every lane, for f that works elementwise."""
    frame = current()
    arrays, axes = align([operand(v, frame) for v in values], frame)
    xp = namespace(arrays)
    return Lanes(f(*(xp.convert(arrays) if xp.LIBRARY == "torch" else arrays)), axes, frame.mask)


def same_rank(condition: Any, *values: Any) -> list[Any]:
    """A condition with as many dimensions of its own as the values have, and the values."""
    rank = max(v.rank if type(v) is Lanes else len(np.shape(v)) for v in values)
    if rank and type(condition) is Lanes:
        condition = Lanes(condition.data.reshape(tuple(condition.data.shape) + (1,) * rank), condition.axes)
    return [condition, *values]


def agreed(value: Any) -> Any:
    """A number, or an array of integers, that is the same in all lanes, as a plain one."""
    if type(value) is not Lanes or not isinstance(value.data, np.ndarray) or not value.data.size:
        return value
    value = refined(value, Frame(current().axes))
    rows = value.data.reshape(-1, *value.event)
    if not (rows == rows[0]).all() or value.rank and rows.dtype.kind not in "iu":
        return value
    return rows[0] if value.rank else rows[0].item()


def full(value: object, frame: Frame) -> Any:
    """The value of every lane of a frame as one array, also where it is the same in many."""
    value = operand(value, Frame(frame.axes))
    xp = namespace((value.data if type(value) is Lanes else value,))
    if type(value) is not Lanes:
        return xp.broadcast_to(xp.asarray(value), frame.shape + tuple(xp.shape(value))) if frame.axes else value
    array = _placed(value, frame.axes, value.rank)
    shape = frame.shape + value.event
    return array if tuple(array.shape) == shape else xp.broadcast_to(array, shape)


def first(value: Any) -> Any:
    """The value of the first lane: what a message shows."""
    return value.data[(0,) * len(value.axes)] if type(value) is Lanes else value
