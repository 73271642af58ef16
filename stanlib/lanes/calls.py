"""Library functions, densities and functions of the program on values that differ between lanes."""
from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import namespace
from ..arrays.base import Array
from ..rejection import Error, collected, refuse
from .frames import Axis, Frame, current, entered, outside
from .handing import taker
from .mapping import library_of, mapped
from .moving import moved
from .values import Lanes, agreed, align, combine, full, operand

if TYPE_CHECKING:
    from ..distribution import Distribution
    from ..registry import Function


@taker
def call(function: Function, arguments: Sequence[object]) -> Any:
    """A library function of arguments some of which differ between lanes."""
    frame = current()
    if function.random:
        return _draw(function, arguments, frame)
    values = [operand(a, frame) for a in arguments]
    for i in function.shape_arguments:
        values[i] = agreed(values[i])
    if function.shape_only:
        return function(*map(_one_lane, values))
    if has_terms(function):
        terms = _checked_terms(function, values, frame)
        return _reduced(terms, function.reduction) if terms.rank else terms
    if function.is_componentwise and all(rank_of(v) == 0 for v in values):
        return _componentwise(function, values, frame)
    out = _moved(function, values, frame) if function.moves else None
    return each(function, *values) if out is None else out


def _moved(function: Callable[..., object], values: Sequence[object], frame: Frame) -> Any:
    """What a function that moves components makes of data; None where lanes are computed one by one, or by `vmap`."""
    union = {a for v in values if type(v) is Lanes for a in v.axes}
    axes = tuple(a for a in frame.axes if a in union)
    if not axes or library_of(values) != "numpy":
        return None
    with outside():
        out = moved(function, values, axes)
    return None if out is None else _wrapped(out, axes, frame)


def _reduced(terms: Lanes, reduction: str) -> Lanes:
    """The sum or the product of the terms of every lane."""
    xp, lanes = namespace((terms.data,)), tuple(terms.data.shape)[: len(terms.axes)]
    rows = xp.reshape(terms.data, (*lanes, math.prod(terms.event)))
    return terms.like(getattr(xp, reduction)(rows, axis=-1))


def rank_of(value: Any) -> int:
    """The number of dimensions of a value in one lane."""
    if type(value) is Lanes:
        return value.rank
    return 0 if isinstance(value, (int, float, complex)) else len(np.shape(value))


def _one_lane(value: object) -> object:
    return np.empty(value.event) if type(value) is Lanes else value


def _componentwise(function: Callable[..., Any], values: Sequence[Any], frame: Frame) -> Lanes:
    arrays, axes = align(values, frame)
    shape = tuple(a.size for a in axes)
    xp = namespace(arrays)
    wide = [xp.broadcast_to(a, shape) if len(np.shape(a)) and tuple(a.shape) != shape else a for a in arrays]
    with rejecting(axes, 0, frame):
        out = function(*wide)
    return Lanes(out if tuple(np.shape(out)) == shape else xp.broadcast_to(xp.asarray(out), shape), axes, frame.mask)


# --- densities -------------------------------------------------------------------------------------------------------


def lane_terms(function: Any, y: Any, *arguments: Any) -> Any:
    """A distribution function of the library or of the program: a term for every lane and observation."""
    frame = current()
    values = [operand(a, frame) for a in (y, *arguments)]
    return density_terms(function, values, frame) if has_terms(function) else each(function, *values)


def combine_events(function: Callable[[list[Any]], object], items: Sequence[object]) -> Any:
    """A container made of items that differ between lanes."""
    def made(*values: object) -> Any:
        return function(list(values))

    frame = current()
    out = _moved(made, [operand(i, frame) for i in items], frame)
    return each(made, *items) if out is None else out


def has_terms(function: Function) -> bool:
    """Whether a function reduces the terms of a law of numbers: its density, or a distribution function."""
    return bool(function.reduction) and is_elementwise(function.distribution)


def is_elementwise(law: Distribution) -> bool:
    """Whether a law is one of numbers whose parameters are numbers."""
    return law.event_dims == 0 and not law.argument_dims and all(law.vectorized)


def _checked_terms(function: Function, values: Sequence[object], frame: Frame) -> Lanes:
    """The terms of a call whose value may be anything's operand: whatever Stan throws for rejects the draw."""
    law, method = function.distribution, function.method
    arrays, axes = align(values, frame)
    with rejecting(axes, max(map(rank_of, values)), frame):
        terms = law.checked_terms(method, arrays)
    return _of_lanes(terms, axes, frame)


def density_terms(function: Function, values: Sequence[object], frame: Frame) -> Lanes:
    """One term for every lane and observation of a density, -inf where the draw is rejected."""
    arrays, axes = align(values, frame)
    return _of_lanes(log_terms(function.distribution, function.method, arrays), axes, frame)


def _of_lanes(terms: Any, axes: tuple[Axis, ...], frame: Frame) -> Lanes:
    """An array of terms, as there is one for all lanes."""
    shape = tuple(a.size for a in axes)
    missing = tuple(np.shape(terms))[: len(axes)] != shape or len(np.shape(terms)) < len(axes)
    if missing:
        rest = tuple(np.shape(terms))[len(axes) :] if len(np.shape(terms)) >= len(axes) else ()
        terms = namespace((terms,)).broadcast_to(terms, shape + rest)
    return Lanes(terms, axes, frame.mask)


def log_terms(law: Distribution, method: str, arrays: Sequence[Any]) -> Any:
    """The terms of a law's density or log distribution function for arrays that broadcast against each other."""
    xp = namespace(arrays)
    y, *parameters = arrays
    if method != law.density:
        return law.checked_terms(method, arrays)
    if current().mask is None:
        law.check_variate(xp, method, y, parameters)
    return law.log_prob(y, *parameters)


# --- rejections ------------------------------------------------------------------------------------------------------


@contextmanager
def rejecting(axes: tuple[Axis, ...], rank: int, frame: Frame) -> Iterator[None]:
    """Around a computation on arrays that lead with `axes`: the lanes that a mask leaves out reject no draws.

    `rank` is the greatest number of dimensions that the values have of their own.
    """
    if frame.mask is None:
        yield
        return
    with collected(of_lanes=True) as found:
        yield
    for bad, error in found.found:
        refuse_in_lanes(bad, error, axes, rank, frame)


def refuse_in_lanes(bad: Any, error: Error, axes: tuple[Axis, ...], rank: int, frame: Frame) -> None:
    """What Stan throws for in some lanes: a condition whose array leads with `axes`, unless all lanes share it.

    It has a dimension of size 1 for an axis of which what it asks knows nothing.
    """
    if frame.mask is None or not axes or len(np.shape(bad)) < len(axes) + rank:
        refuse(bad, error)
        return
    anywhere = _any_within(bad, len(axes))
    own = tuple(a for a, size in zip(axes, np.shape(anywhere), strict=True) if a.size == size)
    bad = namespace((bad,)).reshape(anywhere, tuple(a.size for a in own))
    with entered(Frame(frame.axes)):
        both = combine(lambda b, m: b & m, Lanes(bad, own), Lanes(frame.mask.data, frame.mask.axes))
        refuse(both.data, error)


def _any_within(bad: Array, lanes: int) -> Array:
    """Whether a condition holds anywhere in the value of each lane."""
    own = tuple(range(lanes, len(np.shape(bad))))
    return namespace((bad,)).any(bad, axis=own) if own else bad


# --- one lane at a time, for the code; all at once, for the machine -------------------------------------------------


@taker
def each(function: Callable[..., object], *arguments: object) -> Any:
    """function of every lane's values: by `vmap`, in NumPy one lane after the other."""
    frame = current()
    values = [agreed(a) if _is_count(a) else operand(a, frame) for a in arguments]
    union = {a for v in values if type(v) is Lanes for a in v.axes}
    axes = tuple(a for a in frame.axes if a in union)
    with outside():
        out, found = mapped(function, values, axes, frame.mask)
    for bad, error in found:
        refuse_in_lanes(bad, error, axes, 0, frame)
    return _wrapped(out, axes, frame) if axes else out


def _is_count(value: object) -> bool:
    """Whether a value is known and made of integers, which may decide a shape."""
    if type(value) is not Lanes:
        return False
    return isinstance(value.data, np.ndarray) and value.data.dtype.kind in "iu"


def each_random(random: Any, function: Callable[..., object], *arguments: object) -> Any:
    """function of every lane's values, each lane with random numbers of its own."""
    frame = current()
    if not frame.axes:
        return each(lambda *given: function(random, *given), *arguments)
    source = random.split()
    number = Lanes(np.arange(int(np.prod(frame.shape))).reshape(frame.shape), frame.axes)
    return each(lambda i, *given: function(source.at(i), *given), number, *arguments)


def _wrapped(out: object, axes: tuple[Axis, ...], frame: Frame) -> object:
    if isinstance(out, tuple):
        return tuple(_wrapped(o, axes, frame) for o in out)
    return None if out is None else Lanes(out, axes, frame.mask)


# --- random numbers --------------------------------------------------------------------------------------------------


def _draw(function: Function, arguments: Sequence[object], frame: Frame) -> Lanes:
    """Random numbers that are drawn anew for every lane of the frame."""
    random, *rest = arguments
    values = [operand(a, Frame(frame.axes)) for a in rest]
    if function.is_componentwise and all(rank_of(v) == 0 for v in values):
        arrays = [full(v, frame) for v in values]
        with rejecting(frame.axes, 0, frame), outside():
            return Lanes(function(random, *arrays), frame.axes, frame.mask)
    made: Lanes = each_random(random, function, *values)
    return made
