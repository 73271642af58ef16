"""The error function, the standard normal distribution function and its inverses, and Owen's T function.

Source: Stan Functions Reference, "Probability-related functions".
"""
from __future__ import annotations

import math

from ..arrays.base import Array, Namespace
from ..checks import elementwise
from ..domains import NOT_NAN, PROBABILITY, Domain, or_nan
from ..registry import stan_function

LOG_PROBABILITY = Domain("less than or equal to 0", lambda xp, x: x <= 0)
BETWEEN_0_AND_2 = or_nan("in the interval (0, 2)", lambda xp, x: (x > 0) & (x < 2))
SQRT_HALF = math.sqrt(0.5)


@stan_function("R erf(T x)", examples=[(0.3,), (-4.0,)])
def erf(xp: Namespace, x: Array) -> Array:
    return xp.erf(xp.real(x))


@stan_function("R erfc(T x)", examples=[(0.3,), (20.0,)])
def erfc(xp: Namespace, x: Array) -> Array:
    return xp.erfc(xp.real(x))


@stan_function("R inv_erfc(T x)", domains={"x": BETWEEN_0_AND_2}, examples=[(0.3,), (1e-300,)])
def inv_erfc(xp: Namespace, x: Array) -> Array:
    return -SQRT_HALF * xp.ndtri(0.5 * xp.real(x))


@stan_function("R Phi(T x)", domains={"x": NOT_NAN}, examples=[(0.3,), (-30.0,)])
def Phi(xp: Namespace, x: Array) -> Array:
    return xp.ndtr(xp.real(x))


@stan_function("R inv_Phi(T p)", domains={"p": PROBABILITY}, examples=[(0.3,), (1e-300,)])
def inv_Phi(xp: Namespace, p: Array) -> Array:
    return xp.ndtri(xp.real(p))


@stan_function("R std_normal_qf(T p)", domains={"p": PROBABILITY}, examples=[(0.3,), (1e-300,)])
def std_normal_qf(xp: Namespace, p: Array) -> Array:
    return xp.ndtri(xp.real(p))


@stan_function("R std_normal_log_qf(T log_p)", domains={"log_p": LOG_PROBABILITY}, examples=[(-0.3,), (-1e5,)])
def std_normal_log_qf(xp: Namespace, log_p: Array) -> Array:
    return xp.ndtri_exp(xp.real(log_p))


@stan_function("R owens_t(X1 h, X2 a)", examples=[(0.5, 2.0), (-8.0, 0.3)])
@elementwise
def owens_t(xp: Namespace, h: Array, a: Array) -> Array:
    return xp.owens_t(h, a)
