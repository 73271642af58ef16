"""What the sites of a guide say of its density: whether they have one of the program's parameters."""
from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from typing import NamedTuple

from stanlib.errors import StanError


class Site(NamedTuple):
    """A sample site of a guide.

    Attributes:
        name: its own.
        size: how many unconstrained numbers it draws.
        is_point: whether its law is all in one point, with a density that is told, as a flow's is.
        is_observed: whether it draws nothing, but adds to the density.
    """

    name: str
    size: int
    is_point: bool
    is_observed: bool


def size_of(shape: Iterable[int]) -> int:
    """How many numbers a shape holds."""
    return math.prod(map(int, shape))


def require_drawn(drawn: Iterable[Site], parameters: Collection[str]) -> None:
    """Raise StanError for parameters of the program that a guide draws no value of."""
    missing = [n for n in parameters if n not in {s.name for s in drawn}]
    if missing:
        raise StanError(f"the guide samples no {', '.join(missing)}: a guide draws every parameter of the program")


def has_density(sites: Collection[Site], parameters: Collection[str]) -> bool:
    """Whether the densities of a guide's sites make up one of the parameters.

    They do where each parameter has a law of its own, and there are no other sites. Sites beside them, which the model
    has not, leave their own noise in the density; but where all that they draw is moved into the parameters, which then
    are points with the density of that, as Pyro's and NumPyro's automatic guides have it, it is one all the same.
    """
    own = [s for s in sites if s.name in parameters]
    beside = [s for s in sites if s.name not in parameters]
    if any(s.is_observed for s in sites):
        return False
    points = sum(s.size for s in own if s.is_point)
    return points == sum(s.size for s in beside)
