"""Who says what the density of a program from the wild is: Stan, by stanli, else the program statement by statement."""
from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from stanlib.errors import StanError

from .random_programs.referee.containers import Unable
from .random_programs.referee.outcome import slope
from .random_programs.referee.walk import Walker, direction_of

POINTS = 2  # at which densities are compared
LACKS = "unsupported"  # what stanli says of what it can't run

Densities = list[tuple[float, Any, np.ndarray]]


def by_stan(text: str, data: dict[str, Any]) -> tuple[list[np.ndarray], Densities]:
    """Points, and at each of them value, gradient and the matrix 1, by stanli."""
    import stanli

    model = stanli.Model(stan_code=text, data=data)
    unit = np.eye(model.n_unconstrained)
    return _at_points(lambda p: (*model.log_prob_grad(p), unit), len(unit))


def statement_by_statement(text: str, data: dict[str, Any]) -> tuple[list[np.ndarray], Densities]:
    """Points, and at each of them value, slope and its direction, by what evaluates programs in NumPy."""
    walker = Walker(text, data)
    along = direction_of("wild", walker.size)

    def density(p: np.ndarray) -> tuple[float, float, np.ndarray]:
        found = walker.at(p)
        if found.rejected:
            raise Unable(found.rejected)
        return found.log_density, slope(walker.log_density, p, along), along

    return _at_points(density, walker.size)


def _at_points(
    density: Callable[[np.ndarray], tuple[float, Any, np.ndarray]], size: int
) -> tuple[list[np.ndarray], Densities]:
    """The first points, no more than two, of those tried where a density is finite."""
    found: list[tuple[np.ndarray, tuple[float, Any, np.ndarray]]] = []
    failure: Exception = Unable("not finite")
    for p in points_of(size):
        try:
            value = density(p)
        except (RuntimeError, Unable) as e:
            failure = e
            continue
        if math.isfinite(value[0]):
            found.append((p, value))
    if not found:
        raise failure
    return [p for p, _ in found[:POINTS]], [v for _, v in found[:POINTS]]


def is_finite(text: str) -> Callable[[dict[str, Any]], bool]:
    """What tells whether a program of this text has a density at some points, for data."""

    def finite(data: dict[str, Any]) -> bool:
        try:
            by_stan(text, data)
        except (RuntimeError, Unable) as e:
            return LACKS in str(e) and _walks(text, data)
        return True

    return finite


def _walks(text: str, data: dict[str, Any]) -> bool:
    try:
        statement_by_statement(text, data)
    except (Unable, StanError, RecursionError, ValueError):  # of sizes that differ
        return False
    return True


def points_of(size: int) -> Iterator[np.ndarray]:
    """Points around zero, then such at which parameters without bounds are positive."""
    random = np.random.default_rng(1)
    for low in (-0.7, -0.7, 0.1, 0.1):
        yield random.uniform(low, 0.7, size)
