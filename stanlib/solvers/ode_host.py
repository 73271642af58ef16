"""Initial value problems in Python, on NumPy arrays and PyTorch tensors.

PyTorch records the accepted steps, so that going back through them gives derivatives of the numerical solution.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays import namespace
from ..arrays.base import Array
from . import explicit, times
from .calculus_host import Lift, plain, precision, records
from .control import STANS_OWN, Control
from .explicit_host import Explicit
from .implicit_host import Radau
from .march_host import march


def solve(
    f: Callable[..., Any], y0: Any, t0: Any, ts: Any, arguments: tuple[Any, ...], method: str, control: Control,
    adjoint: int = 0,
) -> Any:  # fmt: skip
    """The states of y' = f(t, y, *arguments) at the times ts, one per row.

    `adjoint` changes nothing here: PyTorch goes back over the steps anyway.
    """
    xp = namespace((y0, t0, ts, arguments))
    lift = Lift(xp, y0, t0, ts, arguments)
    y0, t0, ts, arguments = lift(y0), lift(t0), lift(ts), lift.reals(arguments)

    def slope(t: float, y: Array) -> Array:
        return lift(f(lift(t), y, *arguments))

    start, ends = float(plain(t0)), plain(ts)
    if records(xp, t0):
        y0 = times.started_at(slope, t0.detach(), t0 - t0.detach(), y0)
    states = xp.stack(_states(lift, slope, method, control, start, ends, y0, arguments))
    if records(xp, ts):
        known = ts.detach()
        states = xp.stack([times.moved(slope, t, d, y) for t, d, y in zip(known, ts - known, states)])
    return states


def _states(
    lift: Lift, slope: object, method: str, control: Control, t0: float, ts: Array, y0: Array,
    arguments: tuple[Any, ...]
) -> list[Any]:
    xp = lift.xp
    if records(xp, y0, arguments) and not (method in STANS_OWN and control.is_loose(np)):
        control = control.tightened()
    control = control.at_precision(precision(y0))
    return march(xp, _stepper(lift, slope, method, control, t0, y0, arguments), control, t0, ts, y0, method == "rk45")


def _stepper(
    lift: Lift, slope: Any, method: str, control: Control, t0: float, y0: Array, arguments: tuple[Any, ...]
) -> Explicit | Radau:
    if method != "bdf":
        return Explicit(explicit.TABLEAUS[method], slope, control, t0, y0, method in STANS_OWN)
    return Radau(lift, lambda t, y, dy: dy - slope(t, y), control, y0, slope(t0, y0), arguments, slope)


def solve_dae(
    f: Callable[..., Any], y0: Array, dy0: Array, t0: Array, ts: Array, arguments: tuple[Any, ...], control: Control
) -> Array:
    """The states of 0 = f(t, y, y', *arguments) at the times ts, one per row."""
    xp = namespace((y0, dy0, arguments))
    lift = Lift(xp, y0, dy0, arguments)
    y0, arguments = lift(y0), lift.reals(arguments)
    if records(xp, y0, arguments):
        control = control.tightened()
    control = control.at_precision(precision(y0))

    def residual(t: Array, y: Array, dy: Array) -> Array:
        return lift(f(lift(t), y, dy, *arguments))

    stepper = Radau(lift, residual, control, y0, dy0, arguments)
    return xp.stack(march(xp, stepper, control, float(plain(t0)), plain(ts), y0, False))
