"""When an integral has converged."""
from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..arrays.base import Real
from ..dataclass import dataclass
from .arithmetic import Arithmetic


@dataclass(frozen=True)
class Tolerance:
    """The error may be `relative` of the integral of the magnitude, or `absolute`.

    `most_intervals` limits how many pieces the interval is cut into where it is cut at all.
    """

    relative: float
    absolute: float = 0.0
    most_intervals: int = 2**15

    def at_precision(self, epsilon: float) -> "Tolerance":
        """The same tolerances, but not tighter than the floating type allows."""
        return replace(self, relative=max(self.relative, 100 * epsilon))

    def met(self, xp: Arithmetic, error: Real, norm: Real) -> Any:
        return error <= xp.maximum(self.relative * norm, self.absolute)
