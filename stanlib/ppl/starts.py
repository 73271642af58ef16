"""Where a guide's parameters start, if their declarations say so."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..arrays import namespace
from ..constraints import AFFINE
from ..errors import StanDomainError
from .values import fit, satisfies, text, violation


def start_of(
    name: str, init: object, shape: Sequence[int], kind: str | None, arguments: Mapping[str, object],
    unconstrained: Callable[[object], object],
) -> Any:  # fmt: skip
    """The value at which a parameter starts: `init`, or what it returns if it is a function without arguments.

    Args:
        shape, kind, arguments: as the parameter is declared.
        unconstrained: what the backend makes of a value of the domain.

    Raises:
        StanIndexError: for a value of another size than the declared one.
        StanDomainError: for one outside of the domain, and for one on its edge, which no step would leave.
    """
    value = fit(init() if callable(init) else init, shape)
    if not _is_known((value, *arguments.values())):
        return value
    inside = None if kind == AFFINE else satisfies(value, kind, dict(arguments))
    if inside is not None and not np.all(_known(inside)):
        raise StanDomainError(str(violation(name, value, kind, arguments)))
    free = _known(unconstrained(value))
    if free is not None and not np.all(np.isfinite(free)):
        raise StanDomainError(f"{name} starts from {text(value)}, where its domain ends: it could not be learned")
    return value


def part_of(init: object, part: str) -> Callable[[], object] | None:
    """Where the real or the imaginary part, "real" or "imag", of a complex parameter starts; None if nobody says."""
    if init is None:
        return None

    def start() -> object:
        value = init() if callable(init) else init
        return getattr(namespace((value,)).asarray(value), part)

    return start


def _is_known(values: Sequence[object]) -> bool:
    return all(_known(v) is not None for v in values)


def _known(value: object) -> Any:
    return namespace((value,)).known(value)
