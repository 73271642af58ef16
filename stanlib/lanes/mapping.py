"""A function of one lane's values, run for all lanes: at once where an array library can, else one after the other."""
from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from ..arrays import is_of_data, namespace
from ..errors import StanUnknownError
from ..lifted import lifting
from ..rejection import Error, any_of, collected, rejected
from .frames import Axis
from .values import Lanes

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
    function: Callable[..., Any], values: Sequence[Any], axes: tuple[Axis, ...], wanted: Any
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
    function: Callable[..., Any], values: Sequence[Any], axes: tuple[Axis, ...], wanted: Any
) -> tuple[object, Found]:
    """By torch's own `vmap`; where a function asks for values that this hides, one lane after the other."""
    import torch

    from ..arrays.torch import as_tensor

    code = getattr(function, "__code__", function)
    if code in _HIDDEN:
        return _loop(function, values, axes, wanted)
    varying = [i for i, v in enumerate(values) if type(v) is Lanes]
    of_lanes = recording = _Recording(function, values, varying, wanted is not None)
    for axis in reversed(axes):
        of_lanes = torch.vmap(of_lanes, tuple(0 if axis in values[i].axes else None for i in varying))
    try:
        _, *made = of_lanes(*(as_tensor(values[i].data) for i in varying))
    except (RuntimeError, TypeError, NotImplementedError):
        _HIDDEN.add(code)
        return _loop(function, values, axes, wanted)
    errors = [error for _, error in recording.found]
    tensors = iter(made[len(errors) :])
    return _with_tensors(recording.returned, tensors, tuple(a.size for a in axes)), list(zip(made, errors))


class _Recording:
    """A function of the arrays that differ between lanes, as torch maps it: what it returns beside tensors is kept."""

    def __init__(self, function: Callable[..., Any], values: Sequence[Any], varying: Sequence[int], masked: bool):
        self.function, self.values, self.varying, self.masked = function, values, varying, masked
        self.returned: Any = None
        self.found: list[tuple[Any, Error]] = []

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        import torch

        with collected(of_lanes=self.masked) as inside:
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


_HIDDEN: set[Any] = set()  # functions that need to know the values of every lane


def _loop(
    function: Callable[..., object], values: Sequence[object], axes: tuple[Axis, ...], wanted: object
) -> tuple[Any, Found]:
    """One lane after the other: the results, stacked along `axes`, and conditions for rejection, each in its lane.

    Lanes that are known not to be wanted have the result of another one.
    """
    shape = tuple(a.size for a in axes)
    results, found = list[Any](), []
    lanes = [dict(zip(axes, lane)) for lane in itertools.product(*(range(n) for n in shape))]
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
