"""Initial value problems in Python, on NumPy arrays and PyTorch tensors.

PyTorch records the accepted steps, so that going back through them gives derivatives of the numerical solution.
"""
from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from ..arrays import namespace
from ..errors import StanDomainError
from . import explicit, implicit
from .calculus_host import Lift, jacobian, plain, precision, records, without_gradient
from .control import LARGEST_GROWTH, LEAST_GROWTH, SAFETY, Control


def scale(control: Control, *states: Any) -> Any:
    """The errors that are just allowed."""
    return control.absolute + control.relative * np.max([np.abs(plain(s)) for s in states], axis=0)


def solve(
    f: Callable[..., Any], y0: Any, t0: Any, ts: Any, arguments: tuple[Any, ...], method: str, control: Control,
    adjoint: int = 0,
) -> Any:  # fmt: skip
    """The states of y' = f(t, y, *arguments) at the times ts, one per row."""
    xp = namespace((y0, t0, ts, arguments))
    lift = Lift(xp, y0, t0, ts, arguments)
    y0, t0, ts = map(lift, (y0, t0, ts))

    def slope(t: Any, y: Any) -> Any:
        return lift(f(lift(t), y, *arguments))

    if records(xp, y0, t0, ts, arguments):
        control = control.tightened()
    start = float(plain(t0))
    if records(xp, t0):  # y(t0 + d) = y0 means y(t0) = y0 - d y'(t0), to first order
        y0 = y0 - (t0 - t0.detach()) * slope(start, y0)
    first = slope(start, y0)
    if method == "bdf":
        stepper: Any = Radau(lift, lambda t, y, dy: dy - slope(t, y), control, first, arguments, slope)
    else:
        stepper = Explicit(explicit.TABLEAUS[method], slope, control, first)
    states = march(xp, stepper, control, start, plain(ts), y0)
    if records(xp, ts):
        states = [y + (t - t.detach()) * slope(t.detach(), y) for y, t in zip(states, ts)]
    return xp.stack(states)


def solve_dae(
    f: Callable[..., Any], y0: Any, dy0: Any, t0: Any, ts: Any, arguments: tuple[Any, ...], control: Control
) -> Any:
    """The states of 0 = f(t, y, y', *arguments) at the times ts, one per row."""
    xp = namespace((y0, dy0, arguments))
    lift = Lift(xp, y0, dy0, arguments)
    if records(xp, y0, arguments):
        control = control.tightened()

    def residual(t: Any, y: Any, dy: Any) -> Any:
        return lift(f(lift(t), y, dy, *arguments))

    stepper = Radau(lift, residual, control, dy0, arguments)
    return xp.stack(march(xp, stepper, control, float(plain(t0)), plain(ts), lift(y0)))


class Explicit:
    """Steps of an explicit Runge-Kutta method."""

    def __init__(self, tableau: explicit.Tableau, slope: Any, control: Control, first: Any):
        self.tableau, self.slope, self.control = tableau, slope, control
        self.k, self.power = first, tableau.power

    @property
    def first(self) -> Any:
        return plain(self.k)

    def attempt(self, t: float, h: float, y: Any) -> tuple[Any, Any, Any]:
        return explicit.step(self.tableau, self.slope, t, h, y, self.k)

    def accept(self, memory: Any) -> None:
        self.k = memory


class Radau:
    """Steps of the Radau IIA method. What it remembers carries no record: the last iteration of a step has it all."""

    power = implicit.POWER

    def __init__(
        self, lift: Lift, residual: Any, control: Control, first: Any, arguments: tuple[Any, ...], slope: Any = None
    ):
        self.xp, self.lift, self.residual, self.arguments, self.slope = lift.xp, lift, residual, arguments, slope
        inner = implicit.tolerances(control.relative, control.absolute)
        self.newton_control, self.control = control, Control(*inner, control.most_steps)
        self.first = plain(first)
        self.derivative, self.stages, self.size = self.first, np.tile(self.first, (3, 1)), 1.0

    def attempt(self, t: float, h: float, y: Any) -> tuple[Any, Any, Any]:
        xp, start = self.xp, plain(y)
        in_y, in_dy = self.jacobians(t, start, self.derivative)
        inverse = _inverse(_matrix(h, [in_y] * 3, [in_dy] * 3))
        with without_gradient(xp):
            found = self.newton(t, h, start, inverse)
        drive = in_dy @ (self.derivative + implicit.ERROR @ found)
        error = implicit.GAMMA * h * _inverse(in_dy + h * implicit.GAMMA * in_y) @ drive
        stages = found
        if records(xp, y, self.arguments) and np.isfinite(found).all():
            stages = self.corrected(t, h, y, start, found)
        return y + h * (self.lift(implicit.A[2]) @ self.lift(stages)), error, (found, h)

    def accept(self, memory: Any) -> None:
        self.stages, self.size = memory
        self.derivative = self.stages[2]

    def jacobians(self, t: float, y: Any, dy: Any) -> tuple[Any, Any]:
        """The derivatives of the residual in y and in y', as NumPy arrays."""
        lift = self.lift
        if self.slope is not None:
            return -plain(jacobian(self.xp, lambda y: self.slope(t, y), lift(y))), np.eye(len(y))
        in_y = jacobian(self.xp, lambda y: self.residual(t, y, lift(dy)), lift(y))
        in_dy = jacobian(self.xp, lambda dy: self.residual(t, lift(y), dy), lift(dy))
        return plain(in_y), plain(in_dy)

    def residuals(self, t: float, h: float, y: Any, stages: Any) -> list[Any]:
        """The residual at the three stages."""
        states = [y + h * (self.lift(row) @ stages) for row in implicit.A]
        return [self.residual(t + c * h, state, k) for c, state, k in zip(implicit.C, states, stages)]

    def newton(self, t: float, h: float, y: Any, inverse: Any) -> Any:
        """Newton's iteration with the matrix of the beginning; NaN where it doesn't converge."""
        allowed = scale(self.newton_control, y) / h
        powers = (1 + implicit.C * h / self.size)[:, None] ** np.arange(3)
        stages = implicit.extrapolation(powers) @ self.stages
        for _ in range(implicit.NEWTON_STEPS):
            lacking = np.concatenate([plain(r) for r in self.residuals(t, h, self.lift(y), self.lift(stages))])
            change = (inverse @ lacking).reshape(stages.shape)
            stages = stages - change
            if np.max(np.abs(change) / allowed) <= 1:
                return stages
        return np.full_like(stages, np.nan)

    def corrected(self, t: float, h: float, y: Any, start: Any, found: Any) -> Any:
        """The stages after one more iteration, recorded: with their own matrix its derivatives are theirs."""
        pairs = [self.jacobians(t + c * h, start + h * a @ found, k) for a, c, k in zip(implicit.A, implicit.C, found)]
        inverse = self.lift(_inverse(_matrix(h, *zip(*pairs))))
        fixed = self.lift(found)
        lacking = self.xp.concatenate(self.residuals(t, h, y, fixed))
        return fixed - (inverse @ lacking).reshape(fixed.shape)


def _matrix(h: float, in_y: Any, in_dy: Any) -> Any:
    """The derivative of the residuals in the stages, from those of F at each stage."""
    rows = [
        np.concatenate([h * implicit.A[i, j] * in_y[i] + (i == j) * in_dy[i] for j in range(3)], axis=1)
        for i in range(3)
    ]
    return np.concatenate(rows)


def _inverse(matrix: Any) -> Any:
    """The inverse, NaN if there is none: then the step is rejected."""
    try:
        return np.linalg.inv(matrix)
    except np.linalg.LinAlgError:
        return np.full_like(matrix, np.nan)


def first_step(control: Control, y: Any, slope: Any) -> float:
    """A cautious guess: the change is a hundredth of the state, where the tolerances make a difference."""
    allowed = scale(control, y)
    d0, d1 = np.max(np.abs(plain(y)) / allowed), np.max(np.abs(slope) / allowed)
    return float(0.01 * d0 / d1) if d0 > 1e-5 and d1 > 1e-5 else 1e-6


def march(xp: ModuleType, stepper: Any, control: Control, t: float, ts: Any, y: Any) -> list[Any]:
    """The states at every time of output; where it takes too many steps, or too small ones, NaN on PyTorch.

    Raises:
        StanDomainError: the same on NumPy.
    """
    states: list[Any] = []
    least = 10 * precision(xp, y)
    h = first_step(stepper.control, y, stepper.first)
    for end in map(float, ts):
        count = 0
        while t < end:
            if count >= control.most_steps or not h > least * abs(end):
                return _failed(xp, states, y, len(ts), end)
            t, h, y = _advance(stepper, t, h, y, end)
            count += 1
        states.append(y)
    return states


def _advance(stepper: Any, t: float, h: float, y: Any, end: float) -> tuple[float, float, Any]:
    """One step towards `end`, which changes h alone if it is rejected."""
    reaches = t + 1.01 * h >= end
    size = end - t if reaches else h
    new, error, memory = stepper.attempt(t, size, y)
    with np.errstate(all="ignore"):
        worst = np.max(np.abs(plain(error)) / scale(stepper.control, y, new))
    if not worst <= 1:
        growth = SAFETY * worst ** (-1 / stepper.power) if np.isfinite(worst) else 0.0
        return t, size * max(growth, LEAST_GROWTH), y
    stepper.accept(memory)
    growth = min(SAFETY * worst ** (-1 / stepper.power), LARGEST_GROWTH) if worst > 0 else LARGEST_GROWTH
    following = size * max(growth, LEAST_GROWTH)
    return (end, max(h, following), new) if reaches else (t + size, following, new)


def _failed(xp: ModuleType, states: list[Any], y: Any, count: int, end: float) -> list[Any]:
    if xp.LIBRARY == "numpy":
        raise StanDomainError(f"the solution does not get to time {end:g} in as many steps as are allowed")
    return states + [y + xp.nan] * (count - len(states))
