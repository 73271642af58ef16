"""Differential-algebraic equations. Source: Stan Functions Reference, "Differential-Algebraic Equation (DAE) Solver".

0 = f(t, y, y', ...) of index 1, from consistent initial states and derivatives.
"""
from __future__ import annotations

import functools

from ..checks import same_size
from ..registry import variadic_function
from ..solvers import solve
from ..solvers.control import Control
from .ode import check_problem, check_times

DEFAULTS = (1e-10, 1e-10, 10**8)


@variadic_function("dae")
def dae(xp, residual, initial_state, initial_state_derivative, initial_time, times, *arguments):
    return _solve(
        xp, "dae", residual, initial_state, initial_state_derivative, initial_time, times, *DEFAULTS, arguments
    )


@variadic_function("dae_tol")
def dae_tol(
    xp, residual, initial_state, initial_state_derivative, initial_time, times, rel_tol, abs_tol, max_num_steps,
    *arguments,
):  # fmt: skip
    controls = (rel_tol, abs_tol, max_num_steps)
    return _solve(
        xp, "dae_tol", residual, initial_state, initial_state_derivative, initial_time, times, *controls, arguments
    )


def _solve(xp, name, f, y0, dy0, t0, ts, relative, absolute, most_steps, arguments):
    states = (("initial state", y0), ("initial state derivative", dy0))
    tolerances = (("relative_tolerance", relative), ("absolute_tolerance", absolute))
    most_steps = check_problem(xp, name, states, arguments, tolerances, most_steps)
    check_times(xp, name, t0, ts)
    size = xp.shape(y0)[0]
    same_size(name, "the initial state derivative", xp.shape(dy0)[0], "the initial state", size)

    @functools.wraps(f)
    def residual(t, y, dy, *arguments):
        out = f(t, y, dy, *arguments)
        same_size(name, "the residual", len(out), "the state", size)
        return out

    control = Control(relative, absolute, most_steps)
    return solve(xp, name, "ode", "solve_dae", residual, y0, dy0, t0, ts, arguments, control)
