"""Ranges whose length differs between lanes, or is known at run time alone, for functions with a neutral element."""
from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .. import indexing
from ..arrays import namespace
from ..errors import StanIndexError
from ..rejection import refuse
from .calls import refuse_in_lanes
from .frames import Frame, current
from .values import Lanes, agreed, combine, is_lanes, known, refined


def padded(x: Any, lower: object, upper: object, fill: float) -> Any:
    """`x[lower:upper]` of a vector, as long as the longest of all lanes: behind its own end each has `fill`.

    Where the bounds are not known before the program runs, that is as long as x.

    Raises:
        StanIndexError: for bounds out of range, as far as they are known.
    """
    lower, upper = agreed(lower), agreed(upper)
    if known(lower) is not None and known(upper) is not None and not is_lanes((lower, upper)):
        return indexing.at(x, indexing.Span(lower, upper))
    size = (x.event if type(x) is Lanes else np.shape(x))[0]
    count = _combined(lambda a, b: b - a + 1, lower, upper)
    counts = known(count)
    most = size if counts is None else max(int(counts.max(initial=0)), 0)
    _refuse(lower, upper, size)
    if not size or not most:
        return np.full(0, fill)
    position = np.arange(most)
    inside = _combined(lambda c: _before(position, c), count)
    index = _combined(partial(_places, position, size), lower, count)
    picked = indexing.at(x, index)
    return _combined(lambda i, v: namespace((i, v)).where(i, v, fill), inside, picked)


def widest(size: Any) -> int:
    """The largest of the sizes that an array has in all lanes.

    Raises:
        StanIndexError: for a negative one.
    """
    size = agreed(size)
    if type(size) is not Lanes:
        return int(size)
    data = refined(size, Frame(current().axes)).data
    sizes = np.asarray(namespace((data,)).known(data))  # some may have been drawn
    if sizes.min(initial=0) < 0:
        refuse(True, lambda: StanIndexError(f"a size is negative: {sizes.min()}"))
    return int(sizes.max(initial=0))


def _places(position: np.ndarray, size: int, lower: object, count: object) -> object:
    """The index of each component; where there is none, any."""
    xp = namespace((lower, count))
    place, first, last = xp.convert((position, xp.asarray(lower)[..., None], xp.asarray(count)[..., None]))
    index = xp.where(place < last, first + place, 1)
    return xp.minimum(xp.maximum(index, 1), size)


def _before(position: np.ndarray, count: object) -> object:
    """Which positions are those of components, of so many."""
    xp = namespace((count,))
    place, last = xp.convert((position, xp.asarray(count)[..., None]))
    return place < last


def _refuse(lower: object, upper: object, size: int) -> None:
    """What Stan throws for: a range that is not empty and reaches beyond the vector."""
    bad = _combined(lambda a, b: (b >= a) & ((a < 1) | (b > size)), lower, upper)

    def error() -> StanIndexError:
        pairs = (lower, upper), (upper, lower)
        ends = [_first_where(bad, _combined(lambda a, b: a + 0 * b, *pair)) for pair in pairs]
        unknown = None in ends or current().mask is not None
        named = "a range" if unknown else f"the range {ends[0]}:{ends[1]}"
        return StanIndexError(f"{named} is out of range: the size is {size}")

    if type(bad) is Lanes:
        refuse_in_lanes(bad.data, error, bad.axes, 0, current())
    else:
        refuse(bad, error)


def _first_where(bad: object, values: object) -> object:
    """The first of some values for which a condition holds, None if it is not known while tracing."""
    datas = [v.data if type(v) is Lanes else v for v in (bad, values)]
    holds, found = (namespace((d,)).known(d) for d in datas)
    return None if holds is None or found is None else found[holds].flat[0]


def _combined(f: Callable[..., object], *values: object) -> object:
    """f of values, in every lane where they differ."""
    if is_lanes(values):
        return combine(f, *values)
    xp = namespace(values)
    return f(*map(xp.asarray, values))
