"""What Stan asks of the declaration of a parameter: sizes that its type has, and a domain that is not empty."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from .. import constraints as records
from ..arrays import namespace
from ..checks import check_bounds
from ..errors import StanDomainError, StanIndexError
from ..rejection import refuse
from .values import text


def check_domain(name: str, shape: Sequence[int], kind: str | None, arguments: Mapping[str, object]) -> None:
    """The type must have values of these sizes, and the bounds must leave some: what has no components has no bounds.

    A bound that is no number, a lower one that is infinity and an upper one that is minus infinity leave none.

    Args:
        shape: of the constrained value.
        kind: the name of a constrained type, None for plain ones.
        arguments: lower, upper, offset, multiplier.

    Raises:
        StanIndexError: for sizes that the type has not, and bounds that are containers of another size.
        StanDomainError: for a domain that is empty, a multiplier that is not positive, and an offset that is not
            finite, where that does not depend on other parameters.
    """
    sizes = tuple(int(n) for n in shape)
    _check_sizes(name, sizes, kind)
    check_bounds(name, sizes, arguments)
    if 0 in sizes or not arguments:
        return
    if "lower" in arguments and "upper" in arguments:
        lower, upper = namespace(arguments.values()).convert((arguments["lower"], arguments["upper"]))
        error = f"{name}: the lower bound {text(lower)} must be less than the upper bound {text(upper)}!"
        refuse(_array(lower < upper) == 0, partial(StanDomainError, error))
        return
    for argument, bound in arguments.items():
        value, (called, what, holds) = _array(bound), _DEMANDS[argument]
        error = f"{name}: the {called} is {text(value)}, but must be {what}!"
        refuse(holds(value) == 0, partial(StanDomainError, error))


_DEMANDS: dict[str, tuple[str, str, Any]] = {
    "lower": ("lower bound", "less than infinity", lambda x: x < np.inf),
    "upper": ("upper bound", "greater than minus infinity", lambda x: x > -np.inf),
    "offset": ("offset", "finite", lambda x: (x > -np.inf) & (x < np.inf)),
    "multiplier": ("multiplier", "positive finite", lambda x: (x > 0) & (x < np.inf)),
}


def _check_sizes(name: str, sizes: tuple[int, ...], kind: str | None) -> None:
    """Stan has no values of a negative size, nor of fewer components than the type needs."""
    if min(sizes, default=0) < 0:
        raise StanIndexError(f"{name}: a size is negative: {sizes}")
    if kind is None:
        return
    record = records.get(kind)
    own = sizes[len(sizes) - record.event_dims :]
    for n, least in zip(own, record.least_sizes):
        if n < least:
            raise StanIndexError(f"{name}: {kind} of size {_product(own)}, but the size must be at least {least}")
    if record.is_tall and own[0] < own[1]:
        raise StanIndexError(f"{name}: {kind} of size {_product(own)}, but it must not have more columns than rows")


def _product(sizes: Sequence[int]) -> str:
    return " x ".join(map(str, sizes))


def _array(x: object) -> Any:
    return namespace((x,)).asarray(x)
