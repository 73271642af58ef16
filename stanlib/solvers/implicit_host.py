"""Steps of the Radau IIA method in Python, on NumPy arrays and PyTorch tensors."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..arrays.base import Array
from ..arrays.implicit import differentiable
from . import implicit
from .calculus_host import Lift, jacobian, plain, records, without_gradient
from .control import Control, implicit_growth
from .march_host import allowed, first_step


class Radau:
    """The method for 0 = residual(t, y, y').

    `derivative` is y' at the beginning; `slope(t, y)` gives y' if the equations are explicit. What a step remembers
    carries no record: the last iteration of every step has it all.
    """

    def __init__(
        self, lift: Lift, residual: Callable[..., Array], control: Control, y: Array, derivative: Array,
        arguments: tuple[Any, ...], slope: Any = None,
    ):  # fmt: skip
        self.xp, self.lift, self.residual, self.arguments, self.slope = lift.xp, lift, residual, arguments, slope
        inner = implicit.tolerances(control.relative, control.absolute)
        self.newton_control, self.control = control, Control(*inner, control.most_steps)
        self.derivative = plain(derivative)
        self.stages, self.size = np.tile(self.derivative, (3, 1)), 1.0
        self.first_size = first_step(allowed(self.control, y), y, self.derivative)

    def attempt(self, t: float, h: float, y: Array) -> tuple[Array, float, Any]:
        """The state, (n), after a step of size h, its worst error relative to what is allowed, and what to remember."""
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
        new = y + h * (self.lift(implicit.A[2]) @ self.lift(stages))
        return new, float(np.max(np.abs(error) / allowed(self.control, y, new))), (found, h)

    def accept(self, memory: Any) -> None:
        self.stages, self.size = memory
        self.derivative = self.stages[2]

    def growth(self, worst: float) -> float:
        return float(implicit_growth(np, worst, implicit.POWER))

    def jacobians(self, t: float, y: Array, dy: Array) -> tuple[Array, Array]:
        """The derivatives of the residual in y and in y', as NumPy arrays."""
        lift = self.lift
        if self.slope is not None:
            return -plain(jacobian(self.xp, lambda y: self.slope(t, y), lift(y))), np.eye(len(y))
        in_y = jacobian(self.xp, lambda y: self.residual(t, y, lift(dy)), lift(y))
        in_dy = jacobian(self.xp, lambda dy: self.residual(t, lift(y), dy), lift(dy))
        return plain(in_y), plain(in_dy)

    def residuals(self, t: float, h: float, y: Array, stages: Array) -> list[Array]:
        """The residual at the three stages."""
        states = [y + h * (self.lift(row) @ stages) for row in implicit.A]
        return [self.residual(t + c * h, state, k) for c, state, k in zip(implicit.C, states, stages)]

    def newton(self, t: float, h: float, y: Array, inverse: object) -> Array:
        """Newton's iteration with the matrix of the beginning; NaN where it doesn't converge."""
        limits = allowed(self.newton_control, y) / h
        powers = (1 + implicit.C * h / self.size)[:, None] ** np.arange(3)
        stages: Array = implicit.extrapolation(powers) @ self.stages
        for _ in range(implicit.NEWTON_STEPS):
            lacking = np.concatenate([plain(r) for r in self.residuals(t, h, self.lift(y), self.lift(stages))])
            change = (inverse @ lacking).reshape(stages.shape)
            stages = stages - change
            if np.max(np.abs(change) / limits) <= 1:
                return stages
        return np.full(stages.shape, np.nan)

    def corrected(self, t: float, h: float, y: Array, start: Array, found: Array) -> Array:
        """The stages after more iterations with their own matrix, recorded, which have their derivatives."""
        pairs = [self.jacobians(t + c * h, start + h * a @ found, k) for a, c, k in zip(implicit.A, implicit.C, found)]
        inverse = self.lift(_inverse(_matrix(h, *zip(*pairs))))

        def iterated(stages: Array) -> Array:
            lacking = self.xp.concatenate(self.residuals(t, h, y, stages))
            return stages - (inverse @ lacking).reshape(stages.shape)

        return differentiable(iterated, self.lift(found))


def _matrix(h: float, in_y: Sequence[Array], in_dy: Sequence[Array]) -> Array:
    """The derivative of the residuals in the stages, from those of F at each stage."""
    rows = [
        np.concatenate([h * implicit.A[i, j] * in_y[i] + (i == j) * in_dy[i] for j in range(3)], axis=1)
        for i in range(3)
    ]
    return np.concatenate(rows)


def _inverse(matrix: Array) -> Array:
    """The inverse, NaN if there is none: then the step is rejected."""
    try:
        return np.linalg.inv(matrix)
    except np.linalg.LinAlgError:
        return np.full_like(matrix, np.nan)
