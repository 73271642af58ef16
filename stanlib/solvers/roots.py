"""Iterations for systems of nonlinear equations: what the engines on all libraries share.

Both go on until the steps are lost in rounding; how large the residual may be in the end is the caller's to say.
Sources: J. E. Dennis and R. B. Schnabel, Numerical Methods for Unconstrained Optimization and Nonlinear Equations
(1983), sections 6.3 and 6.4; M. J. D. Powell, A hybrid method for nonlinear equations (1970).
"""
from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..arrays.base import Array, Real
from ..closeness import DOUBLE
from ..dataclass import dataclass
from .arithmetic import Arithmetic

LAMBDAS = tuple(0.5**i for i in range(20))  # the shares of a Newton step that a line search tries
DECREASE = 1e-4  # of the share of the decrease that a linear system would show
FIRST_RADIUS = 100.0  # times the size of the guess; MINPACK's
ROUNDING = 4.0  # steps below so many units in the last place are lost


@dataclass(frozen=True)
class Limits:
    """How large the residual may be, and how many steps may be taken."""

    residual: float
    most_steps: int

    def at_precision(self, epsilon: float) -> "Limits":
        """The same in double precision; in single precision no residual below what rounding leaves around 1."""
        return self if epsilon < DOUBLE else replace(self, residual=max(self.residual, 100 * epsilon))


def norm(xp: Arithmetic, x: Array) -> Any:
    return xp.sqrt(xp.sum(x * x))


def dogleg(xp: Arithmetic, jacobian: Any, newton: Array, residual: Any, radius: Any) -> Any:
    """Powell's step: Newton's if it is short enough, else along the gradient, bent towards Newton's."""
    newton = xp.where(xp.all(xp.isfinite(newton)), newton, 0.0)
    gradient = jacobian.T @ residual
    bend = jacobian @ gradient
    tiny = xp.finfo(gradient.dtype).tiny
    steepest = -gradient * (xp.sum(gradient * gradient) / xp.maximum(xp.sum(bend * bend), tiny))
    usable = xp.any(newton != 0)
    beyond = xp.where(usable, newton, steepest)
    inside = norm(xp, steepest) < radius
    cut = steepest * xp.minimum(1.0, radius / xp.maximum(norm(xp, steepest), tiny))
    rest = beyond - cut
    a, b, c = xp.sum(rest * rest), xp.sum(cut * rest), xp.sum(cut * cut) - radius**2
    share = (-b + xp.sqrt(xp.maximum(b * b - a * c, 0.0))) / xp.maximum(a, tiny)
    bent = cut + xp.where(inside, xp.clip(share, 0.0, 1.0), 0.0) * rest
    return xp.where(usable & (norm(xp, newton) <= radius), newton, bent)


def next_radius(xp: Arithmetic, radius: Real, step: Any, ratio: Real) -> Any:
    """The trust region after a step whose decrease was `ratio` of the one that the linear model predicts."""
    length = norm(xp, step)
    return xp.where(ratio < 0.25, 0.25 * length, xp.where(ratio > 0.75, xp.maximum(radius, 2 * length), radius))


def lost(xp: Arithmetic, step: object, y: Array) -> Any:
    """Whether a step changes nothing but the last digits."""
    return xp.all(xp.abs(step) <= ROUNDING * xp.finfo(y.dtype).eps * xp.abs(y))
