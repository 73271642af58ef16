"""The observations of a density: sizes that must fit, the shape of all of them, and terms that must be numbers."""
from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from functools import partial

from .arrays import is_of_data, namespace
from .arrays.base import Array, Namespace
from .errors import StanDomainError, StanIndexError
from .rejection import is_explaining, refuse

_adding = ContextVar("_adding", default=False)  # whether what a density gives is an increment of the target


def adding(function: Callable[..., object]) -> Callable[..., object]:
    """The density as a program calls it in an increment, which rejects the draw if it is NaN."""

    def added(*arguments: object) -> object:
        token = _adding.set(True)
        try:
            return function(*arguments)
        finally:
            _adding.reset(token)

    return added


def numbers(function: str, values: Array) -> Array:
    """What a density or distribution function gives; NaN says that an argument is none, or outside of its domain."""
    if not is_of_data((values,)) and (is_explaining() or not _adding.get()):
        refuse(namespace((values,)).isnan(values), partial(StanDomainError, f"{function}: an argument is out of range"))
    return values


def check_sizes(
    xp: Namespace, name: str, arguments: Sequence[object], event_dims: int, dims: Sequence[int] = ()
) -> None:
    """Containers that are vectorised over must be of one size; Stan does not broadcast containers of size 1.

    `dims` tells how many trailing axes belong to one observation of each argument. Arrays of more axes broadcast: no
    program passes them, but a loop that became array code.

    Raises:
        StanIndexError: naming both sizes.
    """
    if event_dims:
        return  # the multivariate densities check the shapes of theirs
    if all([type(a) is float for a in arguments[1:]]):  # as of most priors
        return
    shapes = [xp.shape(a) for a in arguments]
    if not any(dims) and all([s == shapes[0] for s in shapes]):
        return
    leading = [s[: max(0, len(s) - d)] for s, d in zip(shapes, dims)] if any(dims) else shapes
    if sum(map(bool, leading)) < 2:
        return
    check_one_size(name, leading)


def check_one_size(name: str, shapes: Sequence[Sequence[int]]) -> None:
    """The vectors among arguments of these shapes are of one size; those of more dimensions broadcast.

    Raises:
        StanIndexError: naming both sizes.
    """
    sizes = {s[0] for s in shapes if len(s) == 1}
    if len(sizes) > 1 and max(map(len, shapes)) == 1:
        shown = " and ".join(map(str, sorted(sizes)))
        raise StanIndexError(f"{name}: the sizes of vectorised arguments differ: {shown}")


def common_shape(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The shape to which arrays of these shapes broadcast."""
    shapes = [s for s in shapes if s]
    if len(shapes) < 2:
        return tuple(shapes[0]) if shapes else ()
    columns = itertools.zip_longest(*(reversed(s) for s in shapes), fillvalue=1)
    return tuple(next((n for n in sizes if n != 1), 1) for sizes in columns)[::-1]


# What the distribution functions of continuous distributions are at -infinity and infinity.
ENDS = {"cdf": (0.0, 1.0), "lcdf": (-math.inf, 0.0), "lccdf": (0.0, -math.inf)}


def with_ends(method: Callable[..., Array], below: float, above: float) -> Callable[..., Array]:
    """The method with constants for infinite outcomes, where its formula would have NaN gradients."""

    @functools.wraps(method)
    def terms(xp: Namespace, y: Array, *arguments: object) -> Array:
        infinite = xp.isinf(y)
        if xp.is_concrete(infinite) and not xp.any(infinite):
            return method(xp, y, *arguments)
        inside = method(xp, xp.where(infinite, 0.5, y), *arguments)
        return xp.where(infinite, xp.where(y > 0, above, below), inside)

    return terms
