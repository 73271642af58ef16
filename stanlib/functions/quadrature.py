"""Integrals over one variable. Source: Stan Functions Reference, "1D Integrator".

The engines are in stanlib/solvers: double exponential quadrature, for which poles at the ends of the range do no harm,
and Gauss and Kronrod's rules on intervals that are cut in two. Both with Stan's tolerances.
"""
from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..arrays.base import Array, Namespace, Real
from ..domains import NONNEGATIVE, POSITIVE, Domain, outside
from ..registry import stan_function, variadic_function
from ..rejection import refuse
from ..solvers import solve
from ..solvers.tolerance import Tolerance
from ..types import INT, REAL
from ..variadic import Variadic, data, values

RELATIVE = 2.0**-26  # the root of the precision of doubles
MOST_CUTS = 15
_CALL = Variadic(REAL, values(REAL, REAL), values(REAL, REAL), REAL)
_CALL_TOL = replace(_CALL, control=(*_CALL.control, *data(REAL, REAL, INT)))

NOT_NAN = Domain("not nan", lambda xp, x: ~xp.isnan(x))

_INTEGRAND = "function(real, real, array[] real, data array[] real, data array[] int => real) integrand"
_PROBLEM = f"{_INTEGRAND}, real a, real b, array[] real theta, data array[] real x_r, data array[] int x_i"


def _integrate(
    xp: Namespace, name: str, method: Any, f: Callable[..., Any], a: Array, b: Array, arguments: Any, tolerance: Any
) -> Real:
    """The integral, a number, of f(x, xc, *arguments) from a to b; 0 where the limits are known to be equal."""
    POSITIVE.check(xp, name, "relative_tolerance", tolerance.relative)
    NONNEGATIVE.check(xp, name, "absolute_tolerance", tolerance.absolute)
    below = Domain("less than or equal to the upper limit", lambda xp, x, end: x <= end, bounds=(b,))
    checks = ((0, "lower limit", NOT_NAN), (1, "upper limit", NOT_NAN), (0, "lower limit", below))
    for _, bad, _, error in outside(xp, name, (a, b), checks):
        refuse(bad, error)
        a, b = _ordered(xp, bad, a, b)
    if xp.is_concrete(a) and xp.is_concrete(b) and a == b:
        return 0.0
    integral: Array = solve(xp, name, "quadrature", "integrate", f, a, b, arguments, tolerance, method)
    return integral


def _ordered(xp: Namespace, bad: Array, a: Array, b: Array) -> tuple[Any, Any]:
    """Limits in order where they are `bad`. One that is known stays as it is: whether it is infinite decides much."""
    if xp.is_concrete(a):
        return a, xp.where(bad, a + 1.0 if math.isfinite(a) else 0.0, b)
    if xp.is_concrete(b):
        return xp.where(bad, b - 1.0 if math.isfinite(b) else 0.0, a), b
    return xp.where(bad, 0.0, a), xp.where(bad, 1.0, b)


@stan_function(
    f"real integrate_1d({_PROBLEM})", f"real integrate_1d({_PROBLEM}, data real relative_tolerance)", raw=True,
    first_order=True, passes=(3, 6),
)
def integrate_1d(
    xp: Namespace, f: Callable[..., object], a: Array, b: Array, theta: Array, x_r: object, x_i: object,
    relative_tolerance: Any = RELATIVE,
) -> Real:  # fmt: skip
    tolerance = Tolerance(float(relative_tolerance))
    return _integrate(xp, "integrate_1d", "double_exponential", f, a, b, (theta, x_r, x_i), tolerance)


def _register(method: str) -> None:
    """Register the integrator of a method with Stan's default tolerances, and its `_tol` form, which is given them."""
    name = f"integrate_1d_{method}"

    def default(xp: Namespace, f: Callable[..., object], a: Array, b: Array, *arguments: object) -> Real:
        return _integrate(xp, name, method, f, a, b, arguments, Tolerance(RELATIVE, 0.0, 2**MOST_CUTS))

    def with_tolerances(
        xp: Namespace, f: Callable[..., object], a: Array, b: Array, relative_tolerance: Any, absolute_tolerance: Any,
        depth: Array, *arguments: object,
    ) -> Real:  # fmt: skip
        NONNEGATIVE.check(xp, f"{name}_tol", "max_depth", depth)
        tolerance = Tolerance(float(relative_tolerance), float(absolute_tolerance), 2 ** min(int(depth), MOST_CUTS))
        return _integrate(xp, f"{name}_tol", method, f, a, b, arguments, tolerance)

    variadic_function(name, _CALL)(default)
    variadic_function(f"{name}_tol", _CALL_TOL)(with_tolerances)


for _method in ("double_exponential", "gauss_kronrod"):
    _register(_method)
