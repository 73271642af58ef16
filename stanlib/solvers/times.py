"""Derivatives of a solution in its times: what moves with them is 0 in value, and goes by the midpoint rule.

Its error is of the third order in what moves, so that first and second derivatives are those of the solution.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..arrays.base import Array, Real

Slope = Callable[[Any, Any], Any]  # of a time and a state


def moved(slope: Slope, t: Array, change: Real, y: Array) -> Any:
    """The state at the time t + change of the solution through y at t; `change` is 0 and has derivatives."""
    return y + change * slope(t + change / 2, y + change / 2 * slope(t, y))


def started_at(slope: Slope, t: Array, change: Real, y: Array) -> Any:
    """The state at the time t of the solution through y at t + change."""
    return moved(slope, t + change, -change, y)
