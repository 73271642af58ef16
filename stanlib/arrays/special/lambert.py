"""Lambert's W function, the inverse of w exp(w): its branches through 0 and through minus infinity.

Source: R. M. Corless et al., "On the Lambert W function", Adv. Comput. Math. 5 (1996), equations 4.18 to 4.22.
"""
from __future__ import annotations

import math

from ..base import Array, Namespace
from .gamma import horner

_INVERSE_E = math.exp(-1)
_INVERSE_E_REST = -1.2428753672788363e-17  # 1 / e minus the double nearest to it
# W near -1 / e is the sum of these times p^k, where p = sqrt(2 (1 + e z)), or minus that for the lower branch.
_BRANCH = (
    -1, 1, -1 / 3, 11 / 72, -43 / 540, 769 / 17280, -221 / 8505, 680863 / 43545600, -1963 / 204120,
    226287557 / 37623398400, -5776369 / 1515591000, 169709463197 / 69528040243200, -1118511313 / 709296588000,
)  # fmt: skip
_NEAR = 0.1  # the series in p is exact to rounding below, and a good start of Newton's method up to 1
_CONSTANT_STEPS, _STEPS = 3, 2


def lambertw0(xp: Namespace, z: Array) -> Array:
    """The w >= -1 with w exp(w) = z, for z >= -1 / e."""
    z = xp.real(z)
    p, inside = _distance(xp, z)
    near = p < _NEAR
    value = xp.where(near, horner(_BRANCH, xp.where(near, p, 0.0)), _upper(xp, xp.where(near | (z == xp.inf), 1.0, z)))
    return xp.where(inside, xp.where(z == xp.inf, xp.inf, value), xp.nan)


def lambertwm1(xp: Namespace, z: Array) -> Array:
    """The w <= -1 with w exp(w) = z, for -1 / e <= z <= 0."""
    z = xp.real(z)
    p, inside = _distance(xp, z)
    near = p < _NEAR
    value = xp.where(near, horner(_BRANCH, xp.where(near, -p, 0.0)), _lower(xp, xp.where(near | (z >= 0), -0.1, z)))
    return xp.where(inside & (z < 0), value, xp.where(z == 0, -xp.inf, xp.nan))


def _distance(xp: Namespace, z: Array) -> tuple[Array, Array]:
    """sqrt(2 (1 + e z)), and whether z is not below -1 / e."""
    inside = z >= -_INVERSE_E
    # The sum is taken so that XLA, which contracts z + c + d to z + (c + d), keeps its order.
    square = 2 * math.e * (xp.where(inside & (z < xp.inf), z, 1.0) + _INVERSE_E) + 2 * math.e * _INVERSE_E_REST
    return xp.sqrt(xp.maximum(square, 0.0)), inside


def _upper(xp: Namespace, z: Array) -> Array:
    """Newton's method for w = z exp(-w), from the series, log(1 + z) or log(z), whichever is best."""
    known = xp.stop_gradient(z)
    p, _ = _distance(xp, known)
    log_z = xp.log(xp.maximum(known, math.e))
    log1p_z = xp.log1p(known)
    moderate = log1p_z * (1 - xp.log1p(log1p_z) / (2 + log1p_z))
    w = xp.where(known > math.e, log_z - xp.log(log_z) * (1 - 1 / log_z), moderate)
    w = xp.where(p < 1, horner(_BRANCH, xp.minimum(p, 1.0)), w)
    for _ in range(_CONSTANT_STEPS):
        w = w - (w - known * xp.exp(-w)) / (1 + w)
    for _ in range(_STEPS):
        w = w - (w - z * xp.exp(-w)) / (1 + w)
    return w


def _lower(xp: Namespace, z: Array) -> Array:
    """Newton's method for w + log(-w) = log(-z), from the series or the first terms for small z."""
    known = xp.stop_gradient(z)
    p, _ = _distance(xp, known)
    log_z = xp.log(-known)
    log_log = xp.log(-log_z)
    w = log_z - log_log + log_log / log_z + log_log * (log_log - 2) / (2 * log_z * log_z)
    w = xp.where(p < 1, horner(_BRANCH, -xp.minimum(p, 1.0)), w)
    for _ in range(_CONSTANT_STEPS):
        w = w - (w + xp.log(-w) - log_z) * w / (1 + w)
    for _ in range(_STEPS):
        w = w - (w + xp.log(-w) - xp.log(-z)) * w / (1 + w)
    return w
