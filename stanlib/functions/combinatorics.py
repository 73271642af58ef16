"""Binomial coefficients, rising and falling factorials.

Source: Stan Functions Reference, "Combinatorial functions".
"""
from __future__ import annotations

from functools import partial
from typing import Any

from ..arrays.base import Array, Namespace
from ..checks import elementwise, of_reals
from ..domains import NONNEGATIVE, NOT_NAN, everywhere, guard, or_nan
from ..errors import StanDomainError
from ..registry import stan_function
from ..rejection import refuse

AT_LEAST_MINUS_1 = or_nan("greater than or equal to -1", lambda xp, x: x >= -1)
LARGEST_INT = 2147483647
POSITIVE_OR_NAN = or_nan("positive", lambda xp, x: x > 0)


@stan_function("Z choose(I1 n, I2 k)", domains={"n": NONNEGATIVE, "k": NONNEGATIVE}, examples=[(10, 3), (4, 5)])
@elementwise
def choose(xp: Namespace, n: Any, k: Array) -> Array:
    """The number of ways to choose k of n."""
    inside = k <= n
    k = xp.where(inside, k, 0)
    count = xp.where(inside, xp.exp(_lchoose(xp, n, k)) + 0.5, 0.0)
    refuse((count < LARGEST_INT + 1.0) == 0, partial(_too_many, xp, count))
    return xp.integer(xp.floor(count))


def _too_many(xp: Namespace, count: Array) -> StanDomainError:
    known = xp.known(count)
    shown = "" if known is None else f" is {known.max():g}, but"
    return StanDomainError(f"choose: n choose k{shown} must be less than or equal to {LARGEST_INT}")


@stan_function("R lchoose(T1 n, T2 k)", examples=[(10, 3), (1e8, 2.5)])
@of_reals
def lchoose(xp: Namespace, n: Array, k: Array) -> Array:
    """The logarithm of the binomial coefficient of reals n and k."""
    checks = ((0, "n", AT_LEAST_MINUS_1), (1, "k", AT_LEAST_MINUS_1), (2, "n - k", AT_LEAST_MINUS_1))
    guard(xp, "lchoose", (n, k, n - k), checks)
    return _lchoose(xp, xp.where((n == -1) & (k == 0), 0.0, n), k)  # which is 0, as in Stan, and has no slope along n


@stan_function(
    "R binomial_coefficient_log(T1 n, T2 k)", examples=[(10, 3)], removed="2.33", successor="lchoose"
)  # fmt: skip
@of_reals
def binomial_coefficient_log(xp: Namespace, n: Array, k: Array) -> Array:
    out: Array = lchoose.body(xp, n, k)
    return out


def _lchoose(xp: Namespace, n: Array, k: Array) -> Array:
    n, k = xp.real(n), xp.real(k)
    return -xp.log1p(n) - xp.betaln(n - k + 1, k + 1)


@stan_function("R log_rising_factorial(T1 x, T2 n)", domains={"x": POSITIVE_OR_NAN}, examples=[(4.5, 3), (1e8, 2.5)])
@of_reals
def log_rising_factorial(xp: Namespace, x: Array, n: Array) -> Array:
    """lgamma(x + n) - lgamma(x)."""
    return _log_gamma_ratio(xp, x, n)


@stan_function("R log_falling_factorial(T1 x, T2 n)", domains={"x": POSITIVE_OR_NAN}, examples=[(9.5, 3), (1e8, 2.5)])
@of_reals
def log_falling_factorial(xp: Namespace, x: Array, n: Array) -> Array:
    """lgamma(x + 1) - lgamma(x - n + 1)."""
    return -_log_gamma_ratio(xp, x + 1, -n)


def _log_gamma_ratio(xp: Namespace, x: Array, n: Array) -> Array:
    """lgamma(x + n) - lgamma(x) by Stirling's formula (DLMF 5.11.1), which does not cancel for n much less than x.

    For an n near -x the difference cancels less than the formula's 1 + n / x does.
    """
    inside = (x > 0) & (x + n > 0.5 * x) & (x + n < xp.inf)
    a, d = xp.where(inside, x, 1.0), xp.where(inside, n, 1.0)
    b = a + d
    close = (a - 0.5) * xp.log1p(d / a) + d * (xp.log(b) - 1) + xp.stirling_error(b) - xp.stirling_error(a)
    outside = xp.where(inside, 1.5, x)
    return xp.where(inside, close, xp.lgamma(outside + xp.where(inside, 0.0, n)) - xp.lgamma(outside))


@stan_function("Z rising_factorial(I1 x, I2 n)", domains={"n": NONNEGATIVE}, examples=[(4, 3)])
@elementwise
def rising_factorial_of_int(xp: Namespace, x: Array, n: Array) -> Array:
    return xp.integer(_product(xp, x, n, 1))


_OF_FACTORIALS = {"x": everywhere(NOT_NAN), "n": NONNEGATIVE}  # of no factors they don't depend on x


@stan_function("R rising_factorial(X x, N n)", domains=_OF_FACTORIALS, examples=[(4.5, 3)])
@elementwise
def rising_factorial(xp: Namespace, x: Array, n: Array) -> Array:
    """x (x + 1) ... (x + n - 1)."""
    return _product(xp, x, n, 1)


@stan_function("Z falling_factorial(I1 x, I2 n)", domains={"n": NONNEGATIVE}, examples=[(4, 3)])
@elementwise
def falling_factorial_of_int(xp: Namespace, x: Array, n: Array) -> Array:
    return xp.integer(falling_factorial.body(xp, x, n))


@stan_function("R falling_factorial(X x, N n)", domains=_OF_FACTORIALS, examples=[(4.5, 3)])
@elementwise
def falling_factorial(xp: Namespace, x: Array, n: Array) -> Array:
    """x (x - 1) ... (x - n + 1); at 0 without factors it is 0, as in Stan."""
    return xp.where((x == 0) & (n == 0), 0.0, _product(xp, x, n, -1))


def _product(xp: Namespace, x: Array, n: Array, step: int) -> Array:
    """The product of n factors x, x + step, x + 2 step, ..., for an n that is known."""
    most = int(xp.max(n)) if 0 not in xp.shape(n) else 0
    count = xp.arange(most).reshape((most,) + (1,) * max(xp.ndim(n), xp.ndim(x)))
    x, n, count = xp.reals((x, n, count))
    factors = xp.where(count < n, x + step * count, 1.0)
    product = xp.prod(factors, axis=0)  # NaN where 0 is a factor and the others are too much
    return xp.where(xp.any(factors == 0, axis=0), xp.where(xp.isnan(product), 0.0, product), product)
