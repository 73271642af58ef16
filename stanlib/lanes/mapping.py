"""A function of one lane's values, run for all lanes: at once where an array library can, else one after the other."""
from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

import numpy as np

from ..arrays import is_of_data, namespace
from ..arrays.base import Array
from ..errors import StanUnknownError
from ..lifted import lifting
from ..rejection import Error, any_of, collected, is_explaining, rejected
from .agreeing import Scattered, agreeing, in_groups
from .frames import Axis
from .values import Lanes

Function = Callable[..., Any]  # of one lane's values
Values = Sequence[Any]
Wanted = Any  # the lanes that are asked for, a value of lanes; None for all

FEW = 16  # lanes that run one after the other sooner than in groups

Found = Sequence[tuple[Any, Error]]  # conditions for rejection, one truth value per lane


def mapped(
    function: Callable[..., object], values: Sequence[object], axes: tuple[Axis, ...], mask: object
) -> tuple[Any, Found]:
    """The results, their arrays leading with `axes`, and what Stan throws for.

    Args:
        function: of one lane's values.
        values: of all lanes, or values that all of them share.
        axes: those that values have; without any the function is called once.
        mask: the lanes that are asked for, a value of lanes; None for all. What others give does not matter.
    """
    wanted = _wanted(mask, axes)
    if not axes:  # there are values of lanes that no loop around has any more
        return _once(function, values, wanted)
    return _BATCHED[library_of(values)](function, values, axes, wanted)


def _wanted(mask: Any, axes: tuple[Axis, ...]) -> Any:
    """In which lanes over some axes there is one that a mask lets through: a value of lanes; None without a mask."""
    if mask is None:
        return None
    others = tuple(i for i, a in enumerate(mask.axes) if a not in axes)
    data = namespace((mask.data,)).any(mask.data, others) if others else mask.data
    return Lanes(data, tuple(a for a in mask.axes if a in axes))


def _once(function: Callable[..., object], values: Sequence[object], wanted: object) -> tuple[Any, Found]:
    """function of what all lanes share."""
    with _where(wanted), collected(of_lanes=True) if wanted is not None else nullcontext() as found:
        out = function(*(v.data if type(v) is Lanes else v for v in values))
    return out, [] if found is None else found.found


def _where(wanted: Any) -> AbstractContextManager[None]:
    """What runs in there is asked for where a condition holds; None if everywhere."""
    return nullcontext() if wanted is None else lifting((wanted.data if type(wanted) is Lanes else wanted, True))


def _vmap(
    function: Function, values: Values, axes: tuple[Axis, ...], wanted: Wanted
) -> tuple[Any, Found]:
    """By JAX's `vmap`; where a function asks for values that this hides, one lane after the other."""
    import jax

    varying = [i for i, v in enumerate(values) if type(v) is Lanes]
    given = [values[i] for i in varying] + ([] if wanted is None else [wanted])

    def of_lanes(*arrays: object) -> Any:
        here = None if wanted is None else arrays[-1]
        with _where(here), collected(of_lanes=wanted is not None) as found:
            return function(*_filled(values, varying, arrays)), found.take()

    for axis in reversed(axes):
        of_lanes = jax.vmap(of_lanes, in_axes=[0 if axis in v.axes else None for v in given])
    # NumPy's arrays are no constants that JAX's functions with derivatives of their own take inside of a vmap
    try:
        out, flag = of_lanes(*(jax.numpy.asarray(v.data) for v in given))
    except (
        jax.errors.ConcretizationTypeError, jax.errors.TracerArrayConversionError,
        jax.errors.TracerIntegerConversionError, jax.errors.NonConcreteBooleanIndexError, StanUnknownError,
    ):  # fmt: skip
        return _loop(function, values, axes, wanted)  # what comes from data is known again
    return out, [] if flag is None else [(flag, rejected)]


def _vmap_torch(
    function: Function, values: Values, axes: tuple[Axis, ...], wanted: Wanted
) -> tuple[object, Found]:
    """By torch's own `vmap`; where a function asks for values that this hides, in groups, or one after the other."""
    code = getattr(function, "__code__", function)
    if code in _HIDDEN or code in _DECIDING and math.prod(a.size for a in axes) <= FEW:
        return _loop(function, values, axes, wanted)
    try:
        out, found = (_in_groups if code in _DECIDING else _at_once)(function, values, axes, wanted)
    except (RuntimeError, TypeError, NotImplementedError, Scattered):
        (_HIDDEN if code in _DECIDING else _DECIDING).add(code)
        return _vmap_torch(function, values, axes, wanted)
    if is_explaining() and any(_is_met(bad, axes, wanted) for bad, _ in found):
        return _loop(function, values, axes, wanted)  # whose error tells the values
    return out, found


def _is_met(bad: Array, axes: tuple[Axis, ...], wanted: Wanted) -> bool:
    """Whether a condition holds in a lane that is asked for."""
    if wanted is None:
        return bool(namespace((bad,)).any(bad))
    xp = namespace((bad,))
    bad, asked = xp.convert((bad, wanted.within(axes)))
    return bool(xp.any(bad & (asked != 0)))


def _at_once(
    function: Function, values: Values, axes: tuple[Axis, ...], wanted: Wanted
) -> tuple[object, Found]:
    """All lanes in one run."""
    import torch

    from ..arrays.torch import as_tensor

    varying = [i for i, v in enumerate(values) if type(v) is Lanes]
    of_lanes = recording = _Recording(function, values, varying, wanted is not None or is_explaining())
    for axis in reversed(axes):
        of_lanes = torch.vmap(of_lanes, tuple(0 if axis in values[i].axes else None for i in varying))
    _, *made = of_lanes(*(as_tensor(values[i].data) for i in varying))
    errors = [error for _, error in recording.found]
    tensors = iter(made[len(errors) :])
    return _with_tensors(recording.returned, tensors, tuple(a.size for a in axes)), list(zip(made, errors))


def _in_groups(function: Function, values: Values, axes: tuple[Axis, ...], wanted: Wanted) -> tuple[object, Found]:
    """The lanes whose conditions are the same in one run."""
    shape = tuple(a.size for a in axes)
    asked = np.array([number for number, lane in enumerate(_lanes(axes)) if not _is_unwanted(wanted, lane)], int)
    asked = asked if asked.size else np.arange(math.prod(shape))
    results, order = list[object](), np.zeros(math.prod(shape), int)
    found = list[tuple[Array, Error]]()
    done = 0
    for group, (recording, made) in in_groups(partial(_run, agreeing(function), values, axes, wanted), asked):
        found += [(_among(flag, group, shape), error) for flag, (_, error) in zip(made, recording.found)]
        results.append(_with_tensors(recording.returned, iter(made[len(recording.found) :]), (len(group),)))
        order[group] = range(done, done + len(group))  # lanes that nobody asks for have the first one's
        done += len(group)
    return _joined(results, order, shape), found


def _run(
    function: Function, values: Values, axes: tuple[Axis, ...], wanted: Wanted, lanes: np.ndarray
) -> tuple["_Recording", list[Array]]:
    """A run for the lanes of some numbers, and what it gave."""
    import torch

    from ..arrays.torch import as_tensor

    at = dict(zip(axes, np.unravel_index(lanes, tuple(a.size for a in axes))))
    varying = [i for i, v in enumerate(values) if type(v) is Lanes]
    recording = _Recording(function, values, varying, wanted is not None or is_explaining())
    given = [as_tensor(values[i].data)[tuple(at[a] for a in values[i].axes)] for i in varying]
    _, *made = torch.vmap(recording)(*given)
    return recording, made


def _among(flags: Array, lanes: np.ndarray, shape: tuple[int, ...]) -> Array:
    """A condition in some lanes as one of all lanes."""
    xp = namespace((flags,))
    numbers = np.zeros(math.prod(shape), int)
    numbers[lanes] = np.arange(1, len(lanes) + 1)
    return xp.reshape(xp.concatenate([flags[:1] & False, flags])[numbers], shape)


def _joined(results: Sequence[Any], order: np.ndarray, shape: tuple[int, ...]) -> object:
    """What groups of lanes returned, their arrays leading with all lanes."""
    if isinstance(results[0], tuple):
        return tuple(_joined([r[i] for r in results], order, shape) for i in range(len(results[0])))
    if results[0] is None:
        return None
    xp = namespace(results)
    joined = xp.concatenate(xp.convert([xp.asarray(r) for r in results]))[order]
    return xp.reshape(joined, shape + tuple(xp.shape(joined)[1:]))


class _Recording:
    """A function of the arrays that differ between lanes, as torch maps it: what it returns beside tensors is kept."""

    def __init__(self, function: Function, values: Values, varying: Sequence[int], lane_by_lane: bool):
        self.function, self.values, self.varying, self.lane_by_lane = function, values, varying, lane_by_lane
        self.returned: Any = None
        self.found: list[tuple[Any, Error]] = []

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        import torch

        with collected(of_lanes=self.lane_by_lane) as inside:
            self.returned = self.function(*_filled(self.values, self.varying, arrays))
        self.found = list(inside.found)
        flags = [torch.as_tensor(any_of(bad)) for bad, _ in self.found]
        return (torch.zeros(()), *flags, *_tensors_in(self.returned))  # torch asks for one tensor at least


def _filled(values: Sequence[object], at: Sequence[int], arrays: Sequence[object]) -> list[object]:
    """The values with arrays in some places."""
    filled = list(values)
    for i, array in zip(at, arrays):
        filled[i] = array
    return filled


def _tensors_in(value: object) -> Iterator[object]:
    """The tensors among the values that a function returns."""
    if isinstance(value, tuple):
        for item in value:
            yield from _tensors_in(item)
    elif namespace((value,)).LIBRARY == "torch":
        yield value


def _with_tensors(value: Any, tensors: Iterator[Any], shape: tuple[int, ...]) -> object:
    """What a function returned, with the tensors of all lanes for those of one; the rest is the same in all of them."""
    if isinstance(value, tuple):
        return tuple(_with_tensors(item, tensors, shape) for item in value)
    if value is None:
        return None
    if namespace((value,)).LIBRARY == "torch":
        return next(tensors)
    return np.broadcast_to(value, shape + np.shape(value))


_DECIDING: set[object] = set()  # functions that decide on the values of every lane
_HIDDEN: set[object] = set()  # those that need to know these in other ways


def _loop(
    function: Callable[..., object], values: Sequence[object], axes: tuple[Axis, ...], wanted: object
) -> tuple[Any, Found]:
    """One lane after the other: the results, stacked along `axes`, and conditions for rejection, each in its lane.

    Lanes that are known not to be wanted have the result of another one.
    """
    shape = tuple(a.size for a in axes)
    results, found = list[Any](), []
    lanes = _lanes(axes)
    left_out = [number for number, lane in enumerate(lanes) if _is_unwanted(wanted, lane)]
    for number, lane in enumerate(lanes):
        if number in left_out and len(left_out) < len(lanes):
            results.append(None)
            continue
        here = None if wanted is None else _lane(wanted, lane)
        with _where(here), collected(of_lanes=True) if wanted is not None else nullcontext() as rejections:
            results.append(function(*(_lane(v, lane) for v in values)))
        if rejections is not None:
            found += [(_in_lane(any_of(bad), number, shape), error) for bad, error in rejections.found]
    known = [r for number, r in enumerate(results) if number not in left_out] or results
    return _stacked([known[0] if r is None else r for r in results], shape), found


def _lanes(axes: tuple[Axis, ...]) -> list[dict[Axis, int]]:
    """The place of every lane on each axis."""
    return [dict(zip(axes, lane)) for lane in itertools.product(*(range(a.size) for a in axes))]


def _is_unwanted(wanted: object, lane: dict[Axis, int]) -> bool:
    """Whether it is known that a lane is not wanted."""
    if wanted is None:
        return False
    here = _lane(wanted, lane)
    return namespace((here,)).holds(here == 0)


def _in_lane(bad: Any, number: int, shape: tuple[int, ...]) -> object:
    """A condition of one lane as one of all lanes."""
    here = (np.arange(int(np.prod(shape))) == number).reshape(shape)
    xp = namespace((bad,))
    return here & bool(bad) if is_of_data((bad,)) else xp.where(here, bad, False)


def _lane(value: Any, lane: dict[Axis, int]) -> object:
    return value.data[tuple(lane[a] for a in value.axes)] if type(value) is Lanes else value


def _stacked(results: list[Any], shape: tuple[int, ...]) -> object:
    if isinstance(results[0], tuple):
        return tuple(_stacked([r[i] for r in results], shape) for i in range(len(results[0])))
    if results[0] is None:
        return None
    xp = namespace(results)
    stacked = xp.stack([xp.asarray(r) for r in xp.convert(results)])
    return xp.reshape(stacked, shape + tuple(xp.shape(stacked)[1:]))


def library_of(values: Sequence[object]) -> str:
    """The array library that computes with values, some of which differ between lanes."""
    return str(namespace([v.data if type(v) is Lanes else v for v in values]).LIBRARY)


_BATCHED = {"jax": _vmap, "torch": _vmap_torch, "numpy": _loop}
