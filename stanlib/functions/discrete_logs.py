"""Logarithms where discrete parameters are summed out: what has the logarithm -inf is impossible, and changes nothing.

Each is the function of its name, but where that is -inf its derivatives are 0: infinite ones, times the probability 0
of such a value, would make NaN of the gradient of the whole sum. No program can name them.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..arrays.base import Array, Namespace
from ..checks import of_reals
from ..registry import stan_function
from .links import AT_MOST_1
from .powers import x_log_y

_Log = Callable[[Array], Array]


def _apart(xp: Namespace, at_end: Any, log: _Log, x: Array, instead: float) -> Array:
    """The logarithm of x, not computed where it is -inf."""
    return xp.where(at_end, -xp.inf, log(xp.where(at_end, instead, x)))


@stan_function("R discrete_log__(T x)", examples=[(0.5,), (0.0,)])
def discrete_log__(xp: Namespace, x: Array) -> Array:
    x = xp.real(x)
    return _apart(xp, x == 0, xp.log, x, 1.0)


@stan_function("R discrete_log2__(T x)", examples=[(0.5,), (0.0,)])
def discrete_log2__(xp: Namespace, x: Array) -> Array:
    x = xp.real(x)
    return _apart(xp, x == 0, xp.log2, x, 1.0)


@stan_function("R discrete_log10__(T x)", examples=[(0.5,), (0.0,)])
def discrete_log10__(xp: Namespace, x: Array) -> Array:
    x = xp.real(x)
    return _apart(xp, x == 0, xp.log10, x, 1.0)


@stan_function("R discrete_log1m__(T x)", domains={"x": AT_MOST_1}, examples=[(0.3,), (1.0,)])
def discrete_log1m__(xp: Namespace, x: Array) -> Array:
    x = xp.real(x)
    return _apart(xp, x == 1, lambda y: xp.log1p(-y), x, 0.0)


@stan_function("R discrete_log1m_exp__(T x)", examples=[(-0.1,), (0.0,)])
def discrete_log1m_exp__(xp: Namespace, x: Array) -> Array:
    x = xp.real(x)
    return _apart(xp, x == 0, xp.log1mexp, x, -1.0)


@stan_function("R discrete_log_diff_exp__(T1 x, T2 y)", examples=[(2.0, 1.5), (0.5, 0.5)])
@of_reals
def discrete_log_diff_exp__(xp: Namespace, x: Array, y: Array) -> Array:
    same = (x == y) & (x < xp.inf)
    above, below = xp.where(same, 0.0, x), xp.where(same, -1.0, y)
    return xp.where(same, -xp.inf, above + xp.log1mexp(below - above))


@stan_function("R discrete_lmultiply__(T1 x, T2 y)", examples=[(2.0, 0.5), (2.0, 0.0)])
@of_reals
def discrete_lmultiply__(xp: Namespace, x: Array, y: Array) -> Array:
    never = (y == 0) & (x > 0)
    times, of = xp.where(never, 0.0, x), xp.where(never, 1.0, y)
    return xp.where(never, -xp.inf, x_log_y(xp, times, of))
