"""Steps of explicit Runge-Kutta methods in Python, on NumPy arrays and PyTorch tensors."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays.base import Array
from . import explicit
from .calculus_host import plain
from .control import FIRST_STEP, Control, explicit_growth
from .march_host import Step, first_step


class Explicit:
    """The method of a tableau for y' = slope(t, y); PyTorch records what is computed."""

    def __init__(
        self, tableau: explicit.Tableau, slope: Callable[[float, Array], Array], control: Control, t: float, y: Array,
        stans_own: bool
    ):
        self.tableau, self.slope, self.control = tableau, slope, control
        self.slopes: list[Array] = [slope(t, y)]
        self.first_size = FIRST_STEP if stans_own else first_step(self._allowed(0.0, y), y, plain(self.slopes[-1]))

    def _allowed(self, h: float, y: Array) -> Array:
        size = np.abs(plain(y)) + h * np.abs(plain(self.slopes[-1]))
        allowed: Array = self.control.absolute + self.control.relative * size
        return allowed

    def attempt(self, t: float, h: float, y: Array) -> tuple[Array, float, Any]:
        new, error, slopes = explicit.step(self.tableau, self.slope, t, h, y, self.slopes[-1])
        return new, float(np.max(np.abs(plain(error)) / self._allowed(h, y))), slopes

    def accept(self, memory: Any) -> None:
        self.slopes = memory

    def growth(self, worst: float) -> float:
        return float(explicit_growth(np, worst, self.tableau.power))

    def inside(self, where: float, step: Step) -> Array:
        form = (step.memory[-1], *explicit.shape(step.memory))
        return explicit.inside(where, step.size, step.before, step.after, form)
