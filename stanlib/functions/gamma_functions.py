"""The gamma function, its logarithm and derivatives, and the incomplete gamma functions.

Source: Stan Functions Reference, "Combinatorial functions" and "Probability-related functions".
"""
from __future__ import annotations

import math

from ..arrays.base import Array, Namespace
from ..checks import elementwise
from ..domains import NONNEGATIVE, or_nan
from ..registry import stan_function

NO_POLE = or_nan("neither 0 nor a negative integer", lambda xp, x: (x > 0) | (x != xp.floor(xp.real(x))))
POSITIVE_OR_NAN = or_nan("positive", lambda xp, x: x > 0)
NONNEGATIVE_OR_NAN = or_nan("nonnegative", lambda xp, x: x >= 0)


@stan_function("R tgamma(T x)", domains={"x": NO_POLE}, examples=[(4.5,), (-1.5,)])
def tgamma(xp: Namespace, x: Array) -> Array:
    """The gamma function."""
    x = xp.real(x)
    return gamma_sign(xp, x) * xp.exp(xp.lgamma(x))


def gamma_sign(xp: Namespace, x: Array) -> Array:
    """The sign of the gamma function: it alternates between the poles."""
    odd = xp.fmod(xp.floor(x), 2.0) != 0
    return xp.where((x < 0) & odd, -1.0, 1.0)


@stan_function("R lgamma(T x)", examples=[(4.5,), (-1.5,)])
def lgamma(xp: Namespace, x: Array) -> Array:
    return xp.lgamma(xp.real(x))


@stan_function("R digamma(T x)", examples=[(4.5,), (-1.5,)])
def digamma(xp: Namespace, x: Array) -> Array:
    return xp.digamma(xp.real(x))


@stan_function("R trigamma(T x)", examples=[(4.5,), (-1.5,)])
def trigamma(xp: Namespace, x: Array) -> Array:
    return xp.trigamma(xp.real(x))


@stan_function("R lmgamma(N n, X x)", domains={"n": NONNEGATIVE}, examples=[(3, 4.5)])
@elementwise
def lmgamma(xp: Namespace, n: Array, x: Array) -> Array:
    """The logarithm of the multivariate gamma function of dimension n."""
    largest = int(xp.max(n)) if 0 not in xp.shape(n) else 0
    shift = xp.arange(largest).reshape((largest,) + (1,) * max(xp.ndim(n), xp.ndim(x)))
    n, x, shift = xp.reals((n, x, shift))
    used = shift < n
    terms = xp.where(used, xp.lgamma(xp.where(used, x - 0.5 * shift, 1.0)), 0.0)
    return 0.25 * math.log(math.pi) * n * (n - 1) + xp.sum(terms, axis=0)


@stan_function(
    "R gamma_p(X1 a, X2 z)", domains={"a": POSITIVE_OR_NAN, "z": NONNEGATIVE_OR_NAN}, examples=[(2.5, 3.0)]
)  # fmt: skip
@elementwise
def gamma_p(xp: Namespace, a: Array, z: Array) -> Array:
    """The regularised lower incomplete gamma function."""
    return xp.gammainc(a, z)


@stan_function(
    "R gamma_q(X1 a, X2 z)", domains={"a": POSITIVE_OR_NAN, "z": NONNEGATIVE_OR_NAN}, examples=[(2.5, 3.0)]
)  # fmt: skip
@elementwise
def gamma_q(xp: Namespace, a: Array, z: Array) -> Array:
    """The regularised upper incomplete gamma function."""
    return xp.gammaincc(a, z)
