"""Systems of algebraic equations. Source: Stan Functions Reference, "Algebraic Equation Solvers".

Newton's method with a line search, and Powell's hybrid method, with exact Jacobians where the library has them. Both
go on below Stan's tolerances, as far as rounding allows: `f_tol` only says which residual is not a root.
"""
from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..arrays.base import Array, Namespace, Real
from ..checks import nonempty, same_size
from ..domains import FINITE, NONNEGATIVE, POSITIVE
from ..registry import stan_function, variadic_function
from ..solvers import solve
from ..solvers.roots import Limits
from ..types import INT, REAL, VECTOR
from ..variadic import Variadic, data, values

RESIDUAL, MOST_STEPS, MOST_STEPS_OF_OLD = 1e-6, 200, 1000
_CALL = Variadic(VECTOR, values(VECTOR), values(VECTOR), VECTOR)
_CALL_TOL = replace(_CALL, control=(*_CALL.control, *data(REAL, REAL, INT)))
STEP = {"newton": 1e-3, "powell": 1e-10}


def _solve(
    xp: Namespace, name: str, method: Any, f: Callable[..., Any], guess: Any, arguments: Any, step_tolerance: Any,
    residual: Any, most_steps: Any,
) -> Array:  # fmt: skip
    """A root, (n), of the system f(y, *arguments) of n equations, sought from the guess, (n)."""
    nonempty(xp, name, guess)
    if xp.is_concrete(guess):
        FINITE.check(xp, name, "initial guess", guess)
    NONNEGATIVE.check(xp, name, "scaling_step" if method == "newton" else "relative_tolerance", step_tolerance)
    NONNEGATIVE.check(xp, name, "function_tolerance", residual)
    POSITIVE.check(xp, name, "max_num_steps", most_steps)
    size = xp.shape(guess)[0]

    @functools.wraps(f)
    def system(y: Array, *arguments: Array) -> Array:
        out: Array = f(y, *arguments)
        same_size(name, "the output of the algebraic system", len(out), "the vector of unknowns", size)
        return out

    limits = Limits(float(residual), int(most_steps))
    root: Array = solve(xp, name, "roots", "solve", system, guess, arguments, method, limits)
    return root


def _register(method: str) -> None:
    """Register the solver of a method with Stan's default controls, and its `_tol` form, which is given them."""
    name = f"solve_{method}"

    def default(xp: Namespace, f: Callable[..., object], guess: object, *arguments: object) -> Real:
        return _solve(xp, name, method, f, guess, arguments, STEP[method], RESIDUAL, MOST_STEPS)

    def with_tolerances(
        xp: Namespace, f: Callable[..., object], guess: object, step_tolerance: Array, residual: Array,
        most_steps: Array, *arguments: Array,
    ) -> Array:  # fmt: skip
        return _solve(xp, f"{name}_tol", method, f, guess, arguments, step_tolerance, residual, most_steps)

    variadic_function(name, _CALL)(default)
    variadic_function(f"{name}_tol", _CALL_TOL)(with_tolerances)


for _method in STEP:
    _register(_method)

_SYSTEM = "function(vector, vector, data array[] real, data array[] int => vector) algebra_system"
_PROBLEM = f"{_SYSTEM}, vector y_guess, vector theta, data array[] real x_r, data array[] int x_i"


def _register_old(name: str, method: str) -> None:
    """Register a solver of systems f(y, theta, x_r, x_i), whose three controls may be left out."""
    texts = (f"vector {name}({_PROBLEM})", f"vector {name}({_PROBLEM}, {{}})")
    tolerance = "scaling_step" if method == "newton" else "rel_tol"
    controls = f"data real {tolerance}, data real f_tol, data real max_steps"

    def solver(
        xp: Namespace, f: Callable[..., object], guess: object, theta: Real, x_r: Array, x_i: Array, *controls: object
    ) -> Array:
        controls = controls or (STEP[method], RESIDUAL, MOST_STEPS_OF_OLD)
        return _solve(xp, name, method, f, guess, (theta, x_r, x_i), *controls)

    made = stan_function(
        *(t.format(controls) for t in texts), symbol=name, raw=True, first_order=True, passes=(2, 5)
    )
    made(solver)


_register_old("algebra_solver", "powell")
_register_old("algebra_solver_newton", "newton")
