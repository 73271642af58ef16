"""How steps are controlled: what all steppers of initial value problems share.

The laws of growth take the library's `where` and `maximum` through `xp`. `worst` is the largest error of a step,
relative to the largest that is allowed.
"""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

from ..arrays import named
from ..arrays.base import Array, Real
from ..dataclass import dataclass
from .arithmetic import Arithmetic

TIGHTENING = 0.1  # derivatives of the steps themselves are less precise than the states, whose errors are controlled
LOOSE = 1e-6
STANS_OWN = ("rk45", "ckrk")  # the methods that are the same in Stan
FIRST_STEP = 0.1  # Stan's, of these methods


_derivatives: ContextVar[bool] = ContextVar("derivatives", default=False)


@contextmanager
def controlled_derivatives() -> Iterator[None]:
    """Where derivatives are asked for, their errors are controlled at loose tolerances too, as in Stan's samplers.

    The states are more precise for it, and the density is smooth far from the mode, where a tolerance means little.
    """
    before = _derivatives.set(True)
    try:
        yield
    finally:
        _derivatives.reset(before)


@dataclass(frozen=True)
class Control:
    """Tolerances of the error in one step, and how many steps may lie between two times of output."""

    relative: Any
    absolute: Any
    most_steps: int

    def at_precision(self, epsilon: float) -> "Control":
        """The same tolerances, but not tighter than the floating type allows."""
        relative = max(float(self.relative), 100 * epsilon)
        return replace(self, relative=relative, absolute=named("numpy").maximum(self.absolute, epsilon))

    def tightened(self) -> "Control":
        return replace(self, relative=TIGHTENING * self.relative, absolute=TIGHTENING * self.absolute)

    def is_loose(self, xp: Arithmetic) -> bool:
        """Whether the method's own errors can be seen in a log density.

        States are then those that Stan computes without derivatives, step by step, and the derivatives are those of
        these steps: a sampler needs a gradient that belongs to the density.
        """
        if _derivatives.get():
            return False
        return bool(self.relative > LOOSE or xp.any(self.absolute > LOOSE))


def explicit_growth(xp: Arithmetic, worst: Real, power: int) -> Array:
    """How the step changes after an explicit step whose error goes with the power `power` of it.

    These are the laws of Boost's controlled Runge-Kutta steppers, which Stan uses.
    """
    larger = xp.where(worst < 0.5, 0.9 * xp.maximum(worst, 5.0**-power) ** (-1 / power), 1.0)
    smaller = xp.maximum(0.9 * xp.maximum(worst, 1.0) ** (-1 / (power - 2)), 0.2)
    return xp.where(worst <= 1, larger, smaller)


def implicit_growth(xp: Arithmetic, worst: object, power: int) -> Array:
    return xp.minimum(xp.maximum(0.9 * xp.maximum(worst, 1e-30) ** (-1 / power), 0.2), 10.0)
