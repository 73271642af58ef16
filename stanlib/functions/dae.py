"""Differential-algebraic equations. Source: Stan Functions Reference, "Differential-Algebraic Equation (DAE) Solver".

0 = f(t, y, y', ...) of index 1, from consistent initial states and derivatives.
"""
from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..arrays.base import Array, Namespace
from ..checks import same_size
from ..registry import variadic_function
from ..solvers import solve
from ..solvers.control import Control
from ..types import INT, REAL, VECTOR, array
from ..variadic import Variadic, data, values
from .ode import check_problem, check_times

DEFAULTS = (1e-10, 1e-10, 10**8)

_CONTROL = (*values(VECTOR, VECTOR), *data(REAL, array(REAL, 1)))
_CALL = Variadic(array(VECTOR, 1), _CONTROL, values(REAL, VECTOR, VECTOR), VECTOR)


@variadic_function("dae", _CALL)
def dae(
    xp: Namespace, residual: Any, initial_state: Any, initial_state_derivative: Any, initial_time: Array, times: Array,
    *arguments: Array,
) -> Array:  # fmt: skip
    return _solve(
        xp, "dae", residual, initial_state, initial_state_derivative, initial_time, times, *DEFAULTS, arguments
    )


@variadic_function("dae_tol", replace(_CALL, control=(*_CONTROL, *data(REAL, REAL, INT))))
def dae_tol(
    xp: Namespace, residual: Any, initial_state: Any, initial_state_derivative: Array, initial_time: Array,
    times: Array, rel_tol: Array, abs_tol: Array, max_num_steps: Array, *arguments: Array,
) -> Array:  # fmt: skip
    controls = (rel_tol, abs_tol, max_num_steps)
    return _solve(
        xp, "dae_tol", residual, initial_state, initial_state_derivative, initial_time, times, *controls, arguments
    )


def _solve(
    xp: Namespace, name: str, f: Callable[..., Any], y0: Array, dy0: Array, t0: Array, ts: Array, relative: Any,
    absolute: Any, most_steps: Any, arguments: Any,
) -> Array:  # fmt: skip
    """The states, (times, n), of 0 = f(t, y, y', *arguments) at the times ts, from y0 and dy0, (n) each, at t0."""
    states = (("initial state", y0), ("initial state derivative", dy0))
    tolerances = (("relative_tolerance", relative), ("absolute_tolerance", absolute))
    most_steps = check_problem(xp, name, states, arguments, tolerances, most_steps)
    t0, ts = check_times(xp, name, t0, ts)
    size = xp.shape(y0)[0]
    same_size(name, "the initial state derivative", xp.shape(dy0)[0], "the initial state", size)

    @functools.wraps(f)
    def residual(t: Array, y: Array, dy: Array, *arguments: Array) -> Array:
        out: Array = f(t, y, dy, *arguments)
        same_size(name, "the residual", len(out), "the state", size)
        return out

    control = Control(relative, absolute, most_steps)
    found: Array = solve(xp, name, "ode", "solve_dae", residual, y0, dy0, t0, ts, arguments, control)
    return found
