"""Link functions and their inverses, and logarithms of sums, differences and complements of exponentials.

Source: Stan Functions Reference, "Link functions", "Composed functions" and "Probability-related functions".
"""
from __future__ import annotations

from ..arrays.base import Array, Namespace
from ..checks import elementwise, of_reals
from ..domains import or_nan
from ..registry import stan_function

AT_LEAST_MINUS_1 = or_nan("greater than or equal to -1", lambda xp, x: x >= -1)
_LARGE = 80.0  # exp(-exp(80)) is 0
AT_MOST_1 = or_nan("less than or equal to 1", lambda xp, x: x <= 1)


@stan_function("R logit(T x)", examples=[(0.3,), (1e-300,)])
def logit(xp: Namespace, x: Array) -> Array:
    x = xp.real(x)
    return xp.log(x) - xp.log1p(-x)


@stan_function("R inv_logit(T x)", examples=[(0.3,), (-40.0,)])
def inv_logit(xp: Namespace, x: Array) -> Array:
    return xp.expit(xp.real(x))


@stan_function("R inv_cloglog(T x)", examples=[(0.3,), (-40.0,)])
def inv_cloglog(xp: Namespace, x: Array) -> Array:
    """1 - exp(-exp(x))."""
    x = xp.real(x)
    return -xp.expm1(-xp.exp(xp.where(x > _LARGE, _LARGE, x)))


@stan_function("R expm1(T x)", examples=[(1e-10,), (2.0,)])
def expm1(xp: Namespace, x: Array) -> Array:
    return xp.expm1(xp.real(x))


@stan_function("R log1p(T x)", domains={"x": AT_LEAST_MINUS_1}, examples=[(1e-17,), (2.0,)])
def log1p(xp: Namespace, x: Array) -> Array:
    return xp.log1p(xp.real(x))


@stan_function("R log1m(T x)", domains={"x": AT_MOST_1}, examples=[(0.3,), (1e-17,)])
def log1m(xp: Namespace, x: Array) -> Array:
    return xp.log1p(-xp.real(x))


@stan_function("R log1p_exp(T x)", examples=[(0.3,), (-40.0,), (800.0,)])
def log1p_exp(xp: Namespace, x: Array) -> Array:
    return softplus(xp, xp.real(x))


@stan_function("R log1m_exp(T x)", examples=[(-0.1,), (-3.0,)])
def log1m_exp(xp: Namespace, x: Array) -> Array:
    return xp.log1mexp(xp.real(x))


@stan_function("R log_inv_logit(T x)", examples=[(0.3,), (-800.0,)])
def log_inv_logit(xp: Namespace, x: Array) -> Array:
    return -softplus(xp, -xp.real(x))


@stan_function("R log1m_inv_logit(T x)", examples=[(0.3,), (800.0,)])
def log1m_inv_logit(xp: Namespace, x: Array) -> Array:
    return -softplus(xp, xp.real(x))


@stan_function("R log_diff_exp(T1 x, T2 y)", examples=[(2.0, 1.5), (-1000.0, -1000.1)])
@of_reals
def log_diff_exp(xp: Namespace, x: Array, y: Array) -> Array:
    """log(exp(x) - exp(y)) for x >= y; of the logs of two zeros that of zero."""
    zeros = (x == -xp.inf) & (y == -xp.inf)
    above, below = xp.where(zeros, 0.0, x), xp.where(zeros, -1.0, y)
    return xp.where(zeros, -xp.inf, above + xp.log1mexp(below - above))


@stan_function("R log_inv_logit_diff(T1 x, T2 y)", examples=[(2.0, 1.5), (-700.0, -701.0)])
@of_reals
def log_inv_logit_diff(xp: Namespace, x: Array, y: Array) -> Array:
    """log(inv_logit(x) - inv_logit(y)) for x >= y."""
    return xp.log1mexp(y - x) - softplus(xp, -x) - softplus(xp, y)


@stan_function("R Phi_approx(T x)", examples=[(0.3,), (-4.0,)])
def Phi_approx(xp: Namespace, x: Array) -> Array:
    """A logistic approximation of the standard normal distribution function."""
    x = xp.real(x)
    return xp.expit((0.07056 * x * x + 1.5976) * x)


@stan_function("R binary_log_loss(N y, X p)", examples=[(1, 0.3), (0, 0.3)])
@elementwise
def binary_log_loss(xp: Namespace, y: Array, p: Array) -> Array:
    """Minus the log probability of the outcome y when 1 has probability p."""
    happened = y != 0
    return -xp.where(happened, xp.log(xp.where(happened, p, 1.0)), xp.log1p(-xp.where(happened, 0.0, p)))


def softplus(xp: Namespace, x: Array) -> Array:
    """log(1 + exp(x)), with its derivative also at infinities."""
    high = x > 0
    return xp.where(high, x, 0.0) + xp.log1p(xp.exp(xp.where(high, -x, x)))
