"""Minima at kinks, as densities with sharp peaks have them: BFGS with a line search by the weak Wolfe conditions.

Where a minimum is at kinks, gradients don't vanish there: line searches that ask for small ones find no step and stop
far from it. One that asks for a slope that has risen keeps the estimate of the curvature positive, and takes the kinks
for strong curvature, along which steps become short.

Source: Lewis and Overton (2013), "Nonsmooth optimization via quasi-Newton methods", Mathematical Programming 141.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.optimize import OptimizeResult

if TYPE_CHECKING:
    from .newton import Objective

DECREASE, SLOPE = 1e-4, 0.9  # of a step: the share of the decrease that is promised, and of the slope that may be left
HALVINGS = 60
MOST = 2000  # parameters, of which there is a matrix
LAST = 10  # steps, of which the gains tell whether a search came to rest
REST = 1e-4  # what those gain where it did, relatively; without a minimum it is some percent
ENOUGH = 1e-9  # what as many steps as there are parameters gain where nothing is left to gain, relatively


class Step(NamedTuple):
    """A step that was taken: the point, the value and the gradient there."""

    point: np.ndarray
    value: float
    gradient: np.ndarray


def are_level(value: float, other: float) -> bool:
    """Whether the larger of two values is next to the other one."""
    return value - other <= ENOUGH * max(1.0, abs(other))


def _came_to_rest(values: list[float]) -> bool:
    """Whether each of the last steps gained little, by the values after them: a search that breaks off gained much."""
    gains = -np.diff(values[-LAST - 1 :])
    return len(values) > LAST and bool(np.max(gains) <= REST * max(1.0, abs(values[-1])))


def minimum(
    objective: Objective, start: np.ndarray, most: int, note: Callable[[OptimizeResult], None]
) -> OptimizeResult:
    """Where a function is smallest, near a start at which it is finite.

    Args:
        objective: the value, infinite where there is none, and the gradient.
        most: how many steps to take at most.
        note: is told `x` and `fun` after each step.

    Returns:
        SciPy's result: a success where the steps gain next to nothing any more.
    """
    here, inverse = Step(start, *objective(start)), np.eye(len(start))
    values = [here.value]
    patience = max(LAST, len(start))
    for count in range(most):
        there = _searched(objective, here, -inverse @ here.gradient)
        if there is None:
            return _result(here, count, _came_to_rest(values), "no step gains anything")
        inverse = _renewed(inverse, there.point - here.point, there.gradient - here.gradient, count == 0)
        here = there
        values.append(here.value)
        note(OptimizeResult(x=here.point, fun=here.value))
        if count >= patience and are_level(values[-1 - patience], here.value):
            return _result(here, count + 1, True, "at kinks: the last steps gained next to nothing")
    return _result(here, most, False, "too many iterations")


def _searched(objective: Objective, here: Step, direction: np.ndarray) -> Step | None:
    """A step with less than the value and a slope that has risen; None if there is none."""
    slope, size, below, above = float(here.gradient @ direction), 1.0, 0.0, np.inf
    for _ in range(HALVINGS if slope < 0 else 0):
        there = Step(here.point + size * direction, *objective(here.point + size * direction))
        if not there.value <= here.value + DECREASE * size * slope:
            above = size
        elif there.gradient @ direction < SLOPE * slope:
            below = size
        else:
            return there
        size = (below + above) / 2 if np.isfinite(above) else 2 * size
    return None


def _renewed(inverse: np.ndarray, step: np.ndarray, change: np.ndarray, is_first: bool) -> np.ndarray:
    """The estimate of the inverse Hessian with what a step tells of it, which is positive definite again."""
    rise = float(step @ change)
    if is_first:
        inverse = inverse * (rise / float(change @ change))
    left = np.eye(len(step)) - np.outer(step, change) / rise
    made: np.ndarray = left @ inverse @ left.T + np.outer(step, step) / rise
    return made


def _result(at: Step, count: int, success: bool, message: str) -> OptimizeResult:
    return OptimizeResult(x=at.point, fun=at.value, jac=at.gradient, nit=count, success=success, message=message)
