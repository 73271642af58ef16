"""Ordinary differential equations. Source: Stan Functions Reference, "Ordinary Differential Equation (ODE) Solvers".

y' = f(t, y, ...) is solved from the initial state at t0 for the states at increasing times. The engines are in
stanlib/solvers: Dormand and Prince's method of order 5 for rk45, Cash and Karp's for ckrk, Hairer's DOP853 in place of
the Adams method, Radau IIA in place of the BDF methods; all with Stan's tolerances.
"""
from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..arrays.base import Array, Namespace
from ..checks import known, same_size
from ..domains import FINITE, POSITIVE, POSITIVE_FINITE, Domain, outside
from ..errors import StanIndexError
from ..registry import stan_function, variadic_function
from ..rejection import refuse
from ..solvers import solve
from ..solvers.control import Control
from ..types import INT, REAL, VECTOR, array
from ..variadic import Variadic, data, values

DEFAULTS = {"rk45": (1e-6, 1e-6, 10**6), "ckrk": (1e-6, 1e-6, 10**6), "bdf": (1e-10, 1e-10, 10**8)}
DEFAULTS["adams"] = DEFAULTS["bdf"]
MOST_STEPS = 2**31 - 1
LONGEST_STRETCH = 100  # steps between two checkpoints of the adjoint method

_CONTROL = values(VECTOR, REAL, array(REAL, 1))
_CALL = Variadic(array(VECTOR, 1), _CONTROL, values(REAL, VECTOR), VECTOR)
_CALL_TOL = replace(_CALL, control=(*_CONTROL, *data(REAL, REAL, INT)))
_ADJOINT = data(REAL, VECTOR, REAL, VECTOR, REAL, REAL, INT, INT, INT, INT, INT)

SORTED = Domain("sorted", lambda xp, x: xp.all(x[1:] >= x[:-1]))


def check_times(xp: Namespace, name: str, t0: Array, ts: Array) -> tuple[Any, Any]:
    """Initial time and times of output, which must be finite and increase; others where the draw is rejected."""
    count = xp.shape(ts)[0]
    if not count:
        raise StanIndexError(f"{name}: there must be times of output")
    first = ts[0]
    value = known(xp, first)
    of = "less than the first time" + ("" if value is None else f", {value}")
    later = Domain(of, lambda xp, x, end: x < end, bounds=(first,))
    checks = [(0, "initial time", FINITE), (1, "times", FINITE), (1, "times", SORTED), (0, "initial time", later)]
    for _, bad, _, error in outside(xp, name, (t0, ts), checks):
        refuse(bad, error)
        wrong = xp.any(bad)
        t0, ts = xp.where(wrong, 0.0, t0), xp.where(wrong, xp.asarray([1.0 + i for i in range(count)]), ts)
    return t0, ts


def check_problem(
    xp: Namespace, name: str, states: Any, arguments: tuple[Any, ...], tolerances: Any, most_steps: Any
) -> int:
    """Initial states and further arguments must be finite where they are known, and the controls positive."""
    for argument, x in states:
        if not xp.shape(x)[0]:
            raise StanIndexError(f"{name}: the {argument} has size 0, but must have a non-zero size")
    for argument, x in (*states, *(("ode parameters and data", a) for a in arguments if not isinstance(a, tuple))):
        if xp.is_concrete(x):
            FINITE.check(xp, name, argument, x)
    for argument, x in tolerances:
        POSITIVE_FINITE.check(xp, name, argument, x)
    POSITIVE.check(xp, name, "max_num_steps", most_steps)
    return min(int(most_steps), MOST_STEPS)


def _checked(f: Callable[..., Any], name: str, size: Any) -> Any:
    """f, whose result must be of the size of the state."""

    @functools.wraps(f)
    def slope(t: Array, y: Array, *arguments: Array) -> Array:
        out: Array = f(t, y, *arguments)
        same_size(name, "the derivative", len(out), "the state", size)
        return out

    return slope


def _solve(
    xp: Namespace, name: str, method: str, f: Callable[..., object], y0: Array, t0: Any, ts: Array, relative: object,
    absolute: object, most_steps: object, arguments: tuple[object, ...], adjoint: object = 0,
) -> Array:  # fmt: skip
    tolerances = (("relative_tolerance", relative), ("absolute_tolerance", absolute))
    most_steps = check_problem(xp, name, (("initial state", y0),), arguments, tolerances, most_steps)
    t0, ts = check_times(xp, name, t0, ts)
    f = _checked(f, name, xp.shape(y0)[0])
    control = Control(relative, absolute, most_steps)
    states: Array = solve(xp, name, "ode", "solve", f, y0, t0, ts, arguments, method, control, adjoint)
    return states


def _register(method: Any) -> None:
    """Register the solver of a method with Stan's default tolerances, and its `_tol` form, which is given them."""
    name = f"ode_{method}"

    def default(
        xp: Namespace, f: Callable[..., Any], initial_state: Any, initial_time: Any, times: Any, *arguments: Array
    ) -> Array:
        return _solve(xp, name, method, f, initial_state, initial_time, times, *DEFAULTS[method], arguments)

    def with_tolerances(
        xp: Namespace, f: Callable[..., Any], initial_state: Any, initial_time: Array, times: Array, rel_tol: Array,
        abs_tol: Array, max_num_steps: Array, *arguments: Array,
    ) -> Array:  # fmt: skip
        controls = (rel_tol, abs_tol, max_num_steps)
        return _solve(xp, f"{name}_tol", method, f, initial_state, initial_time, times, *controls, arguments)

    variadic_function(name, _CALL)(default)
    variadic_function(f"{name}_tol", _CALL_TOL)(with_tolerances)


for _method in DEFAULTS:
    _register(_method)


@variadic_function("ode_adjoint_tol_ctl", replace(_CALL, control=(*_CONTROL, *_ADJOINT)))
def ode_adjoint_tol_ctl(
    xp: Namespace, f: Callable[..., Any], initial_state: Any, initial_time: Any, times: Array, rel_tol_forward: Array,
    abs_tol_forward: Array, rel_tol_backward: Array, abs_tol_backward: Array, rel_tol_quadrature: Array,
    abs_tol_quadrature: Array, max_num_steps: Array, num_steps_between_checkpoints: Array,
    interpolation_polynomial: Array, solver_forward: Array, solver_backward: Array, *arguments: Array,
) -> Array:  # fmt: skip
    """Derivatives are those of the steps forward, so that the tolerances of the way back have nothing to control."""
    name = "ode_adjoint_tol_ctl"
    same_size(
        name, "abs_tol_forward", xp.shape(abs_tol_forward)[0], "the initial state", xp.shape(initial_state)[0]
    )
    for argument, x in (
        ("relative_tolerance_backward", rel_tol_backward), ("absolute_tolerance_backward", abs_tol_backward),
        ("relative_tolerance_quadrature", rel_tol_quadrature), ("absolute_tolerance_quadrature", abs_tol_quadrature),
        ("num_steps_between_checkpoints", num_steps_between_checkpoints),
    ):  # fmt: skip
        POSITIVE_FINITE.check(xp, name, argument, x)
    for argument, x in (
        ("interpolation_polynomial", interpolation_polynomial), ("solver_forward", solver_forward),
        ("solver_backward", solver_backward),
    ):  # fmt: skip
        Domain("1 or 2", lambda xp, x: (x == 1) | (x == 2)).check(xp, name, argument, x)
    method = "adams" if solver_forward == 1 else "bdf"
    controls = (rel_tol_forward, abs_tol_forward, max_num_steps)
    stretch = min(int(num_steps_between_checkpoints), LONGEST_STRETCH)
    return _solve(xp, name, method, f, initial_state, initial_time, times, *controls, arguments, stretch)


_SYSTEM = "function(real, array[] real, array[] real, data array[] real, data array[] int => array[] real) ode"
_PROBLEM = (
    f"{_SYSTEM}, array[] real initial_state, real initial_time, array[] real times, array[] real theta, "
    "data array[] real x_r, data array[] int x_i"
)
_CONTROLS = "data real rel_tol, data real abs_tol, data real max_num_steps"


def _register_old(name: str, method: Any, *texts: str) -> None:
    """Register a solver of y' = f(t, y, theta, x_r, x_i), with or without controls; `texts` are its arguments."""

    def integrate(
        xp: Namespace, f: Callable[..., Any], initial_state: Any, initial_time: Any, times: Array, theta: Array,
        x_r: Array, x_i: Array, *controls: Any,
    ) -> Array:  # fmt: skip
        arguments = (theta, x_r, x_i)
        relative, absolute, most_steps = controls or DEFAULTS[method]
        problem = (f, initial_state, initial_time, times, relative, absolute, most_steps)
        return _solve(xp, name, method, *problem, arguments)

    made = stan_function(
        *(f"array[,] real {name}({text})" for text in texts), symbol=name, raw=True, first_order=True,
        passes=(4, 7),
    )  # fmt: skip
    made(integrate)


_register_old("integrate_ode", "rk45", _PROBLEM)
for _method in ("rk45", "bdf", "adams"):
    _register_old(f"integrate_ode_{_method}", _method, _PROBLEM, f"{_PROBLEM}, {_CONTROLS}")
