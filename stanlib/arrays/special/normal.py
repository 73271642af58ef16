"""The normal distribution function, its logarithm, inverses and Owen's T, accurate in the tails."""
from __future__ import annotations

import math

from ..base import Array, Namespace
from ..implicit import differentiable
from .gamma import LOG_2, horner, log1mexp
from .quadrature import on_unit_interval

SQRT_HALF = math.sqrt(0.5)
HALF_LOG_2_PI = 0.5 * math.log(2 * math.pi)
# (1 + 2 x) erfcx(x) as a polynomial in t = (x - 3) / (x + 3): the interpolant at 48 Chebyshev points, computed in 60
# digits and cut off at degree 24. The relative error is below 6e-16 for every x >= 0.
_ERFCX = (
    1.2530080582697296, -0.13562110612457717, -0.0475622943534492, 0.1296451587027594, -0.11927366341538638,
    0.0683080273440099, -0.02377051491717134, 0.0025293918156939696, 0.0018886903449991718, -0.0007798322696543306,
    -0.00010515971958448065, 0.0001250993424583729, 4.949196649968345e-06, -2.0100542268525612e-05,
    -7.308281468783614e-07, 3.472370944977168e-06, 3.5576086684080595e-07, -6.166011460398726e-07,
    -1.4047654315428462e-07, 1.0183620603842736e-07, 4.1064013667940355e-08, -1.3312919661038687e-08,
    -8.217595058711455e-09, 9.862533510345587e-10, 8.393734858690877e-10,
)  # fmt: skip
_OWEN_CUTOFF = 9.0  # exp(-z^2 / 2) is below the relative precision of a double from here
_HUGE = 1e18


def _erfcx_of_nonnegative(x: Array) -> Array:
    return horner(_ERFCX, 1 - 6 / (x + 3)) / (1 + 2 * x)


def erfcx(xp: Namespace, x: Array) -> Array:
    """exp(x^2) erfc(x)."""
    x = xp.real(x)
    negative = x < 0
    below = xp.where(negative, x, 0.0)
    return xp.where(
        negative, 2 * xp.exp(below * below) - _erfcx_of_nonnegative(-below),
        _erfcx_of_nonnegative(xp.where(negative, 0.0, x)),
    )  # fmt: skip


def ndtr(xp: Namespace, x: Array) -> Array:
    """The standard normal distribution function."""
    return 0.5 * xp.erfc(-SQRT_HALF * xp.real(x))


def log_ndtr(xp: Namespace, x: Array) -> Array:
    """Its logarithm, which does not underflow."""
    x = xp.real(x)
    left = x < -1
    z = xp.where(left, x, -1.0)
    tail = xp.log(_erfcx_of_nonnegative(-SQRT_HALF * z)) - 0.5 * z * z - LOG_2
    return xp.where(left, tail, xp.log1p(-0.5 * xp.erfc(SQRT_HALF * xp.where(left, 0.0, x))))


def ndtri_exp(xp: Namespace, log_p: Array) -> Array:
    """The standard normal quantile of exp(log_p), also where exp(log_p) underflows or rounds to 1."""
    log_p = xp.real(log_p)
    inside = (log_p < 0) & (log_p > -xp.inf)
    ends = xp.where(log_p == 0, xp.inf, xp.where(log_p == -xp.inf, -xp.inf, xp.nan))
    log_p = xp.where(inside, log_p, -1.0)
    upper = log_p > -LOG_2
    tail = xp.where(upper, log1mexp(xp, xp.where(upper, log_p, -1.0)), log_p)
    x = _lower_quantile(xp, tail)
    return xp.where(inside, xp.where(upper, -x, x), ends)


def _lower_quantile(xp: Namespace, log_p: Array) -> Array:
    """Newton's method for log_ndtr(x) = log_p, from the quantile or, far out, from the tail's leading term.

    The start is taken as a constant; the steps that end the search have the derivatives.
    """
    known = xp.stop_gradient(log_p)
    far = known < -600.0
    square = xp.where(far, -2 * known - 2 * HALF_LOG_2_PI, 1e3)
    x = xp.where(far, -xp.sqrt(square - xp.log(square)), xp.ndtri(xp.exp(xp.where(far, -1.0, known))))
    return differentiable(lambda x: x - (log_ndtr(xp, x) - log_p) * _mills_ratio(xp, x), x)


def _mills_ratio(xp: Namespace, x: Array) -> Array:
    """ndtr(x) over the normal density, for x <= 0."""
    return math.sqrt(math.pi / 2) * _erfcx_of_nonnegative(-SQRT_HALF * xp.minimum(x, 0.0))


def owens_t(xp: Namespace, h: Array, a: Array) -> Array:
    """Owen's T function: the integral of exp(-h^2 (1 + t^2) / 2) / (2 pi (1 + t^2)) over t from 0 to a.

    Beyond |a| = 1 it is reflected to T(a h, 1 / a) (D. B. Owen, Ann. Math. Stat. 27, 1956, equation 2.3).
    """
    h, a = xp.real(h), xp.real(a)
    size, slope = _bounded_size(xp, h), _bounded_size(xp, a)
    wide = slope > 1
    steep = xp.where(wide, slope, 1.0)
    b = xp.where(wide, 1 / steep, slope)
    k = xp.where(wide, _bounded_size(xp, size * steep), size)
    direct = _owens_t_integral(xp, k, b)
    q, r = ndtr(xp, -size), ndtr(xp, -k)
    value = xp.where(wide, 0.5 * (q + r) - q * r - direct, direct)
    return xp.where(a < 0, -value, value)


def _bounded_size(xp: Namespace, x: Array) -> Array:
    """The absolute value, with a finite number for infinity: its square is finite and exp(-x^2) is 0."""
    size = xp.where(x < 0, -x, x)
    return xp.where(size > _HUGE, _HUGE, size)


def _owens_t_integral(xp: Namespace, h: Array, a: Array) -> Array:
    """T(h, a) for h >= 0 and 0 <= a <= 1."""
    cut = h * a > _OWEN_CUTOFF
    end = xp.where(cut, xp.stop_gradient(_OWEN_CUTOFF / xp.where(cut, h, 1.0)), a)
    nodes, weights = on_unit_interval(xp, end + h)
    t = end * nodes
    inner = xp.sum(weights * xp.exp(-0.5 * (h * t) ** 2) / (1 + t * t), axis=0)
    return end * xp.exp(-0.5 * h * h) * inner / (2 * math.pi)
