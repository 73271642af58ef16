"""Logarithms of sums and mixtures of exponentials.

Source: Stan Functions Reference, "Composed functions" and "Reductions".
"""
from __future__ import annotations

import math

from ..arrays.base import Array, Namespace, Real
from ..checks import of_reals, same_size
from ..domains import FINITE, NOT_NAN, PROBABILITY, everywhere
from ..registry import stan_function
from ..signatures import each

_LARGEST_EXPONENT = 80.0
_VECTORS = ("vector", "row_vector", "array[] real")


@stan_function("R log_sum_exp(T1 x, T2 y)", examples=[(1.0, 2.0), (-1000.0, -1000.1)], keeps_nan=True)
@of_reals
def log_sum_exp(xp: Namespace, x: Array, y: Array) -> Array:
    return xp.logaddexp(x, y)


@stan_function(
    *each("real log_sum_exp({t} x)", ("vector", "row_vector", "matrix", "array[] real")),
    examples=[([1.0, -0.5, 700.0],)], neutral=-math.inf, keeps_nan=True,
)
def log_sum_exp_of_all(xp: Namespace, x: Array) -> Real:
    return xp.logsumexp(x) if 0 not in xp.shape(x) else -xp.inf


@stan_function(
    "real log_mix(real theta, real lambda1, real lambda2)",
    domains={"theta": PROBABILITY, "lambda1": NOT_NAN, "lambda2": NOT_NAN},
    elementwise=True, examples=[(0.3, -1.0, 2.0), (0.0, -1.0, 2.0)], keeps_nan=True,
)
def log_mix(xp: Namespace, theta: Array, lambda1: Array, lambda2: Array) -> Array:
    """log(theta exp(lambda1) + (1 - theta) exp(lambda2))."""
    theta, lambda1, lambda2 = xp.reals((theta, lambda1, lambda2))
    return _log_mix(xp, _pairs(xp, theta, 1 - theta), _pairs(xp, lambda1, lambda2))


@stan_function(
    *each("real log_mix({t} theta, (vector|row_vector|array[] real) lambda)", _VECTORS),
    *each("real log_mix({t} theta, (array[] vector|array[] row_vector) lambda)", _VECTORS),
    domains={"theta": PROBABILITY, "lambda": everywhere(FINITE)},
    examples=[([0.3, 0.7], [-1.0, 2.0])], keeps_nan=True,
)
def log_mix_of_vectors(xp: Namespace, theta: Array, lambda_: Array) -> Array:
    """The log density of a mixture, summed over the vectors of an array."""
    same_size("log_mix", "theta", xp.shape(theta)[-1], "lambda", xp.shape(lambda_)[-1])
    return xp.sum(_log_mix(xp, theta, lambda_))


def _pairs(xp: Namespace, a: Array, b: Array) -> Array:
    """Two arrays that broadcast against each other, side by side along a new last axis."""
    shape = xp.broadcast_shape(a, b)
    return xp.stack([xp.broadcast_to(x, shape) for x in (a, b)], axis=-1)


def _log_mix(xp: Namespace, weights: Array, x: Array) -> Array:
    """The logarithm of the sum of weights exp(x) along the last axis, whose derivatives hold for weights of 0 too."""
    largest = xp.stop_gradient(xp.max(xp.where(weights > 0, x, -xp.inf), axis=-1, keepdims=True))
    base = xp.where(xp.isfinite(largest), largest, 0.0)
    above = x - base
    # where the weight is 0 the exponent may be large: 0 times infinity would be NaN, as it is of infinite numbers
    kept = (weights > 0) | (above == xp.inf)
    sums = xp.sum(weights * xp.exp(xp.where(kept, above, xp.minimum(above, _LARGEST_EXPONENT))), axis=-1)
    return xp.reshape(base, xp.shape(sums)) + xp.log(sums)
