"""Quantiles of the beta and Student t distributions, by Newton's method on the logarithm of the smaller tail.

The logarithm of either tail of the beta distribution is a concave function of the log odds s = log(x / (1 - x)), so
that Newton's method converges from every start. It is run on constants; further steps have the derivatives in
the probability and the parameters.
"""
from __future__ import annotations

from ..base import Array, Namespace
from ..implicit import differentiable
from .gamma import LOG_2, betaln, logaddexp
from .incomplete_beta import log_beta_kernel

_STEPS = 14  # from the mean to a tail probability of 1e-300 takes 12
_FARTHEST = 700.0  # |s| beyond which x or 1 - x underflows


def betaincinv(xp: Namespace, a: Array, b: Array, p: Array) -> Array:
    """The x with I_x(a, b) = p."""
    a, b, p = xp.real(a), xp.real(b), xp.real(p)
    valid = (a > 0) & (b > 0) & (a < xp.inf) & (b < xp.inf)
    inside = valid & (p > 0) & (p < 1)
    ends = xp.where(valid & (p == 0), 0.0, xp.where(valid & (p == 1), 1.0, xp.nan))
    a, b, p = xp.where(inside, a, 1.0), xp.where(inside, b, 1.0), xp.where(inside, p, 0.5)
    s = _log_odds(xp, a, b, p)
    upper = s > 0  # the derivative of expit at s > 0 would cancel
    size = xp.expit(xp.where(upper, -s, s))
    return xp.where(inside, xp.where(upper, 1 - size, size), ends)


def _log_odds(xp: Namespace, a: Array, b: Array, p: Array) -> Array:
    upper = p > 0.5
    log_p = xp.where(upper, xp.log1p(-xp.where(upper, p, 0.5)), xp.log(xp.where(upper, 0.5, p)))
    a, b = xp.where(upper, b, a), xp.where(upper, a, b)
    s = _lower_log_odds(xp, a, b, log_p)
    return xp.where(upper, -s, s)


def _lower_log_odds(xp: Namespace, a: Array, b: Array, log_p: Array) -> Array:
    """The log odds s of the x with log I_x(a, b) = log_p."""
    known = [xp.stop_gradient(v) for v in (a, b, log_p)]
    start = xp.log(known[0]) - xp.log(known[1]) + 0 * known[2]
    s = xp.iterate(lambda s: _newton_step(xp, s, *known), start, _STEPS)
    return differentiable(lambda s: _newton_step(xp, s, a, b, log_p), xp.stop_gradient(s))


def _newton_step(xp: Namespace, s: Array, a: Array, b: Array, log_p: Array) -> Array:
    x, y = xp.expit(s), xp.expit(-s)
    log_tail = xp.log_betainc_inside(a, b, x, y)
    slope = xp.exp(log_beta_kernel(xp, a, b, x, y) - log_tail)
    step = (log_tail - log_p) / xp.stop_gradient(xp.maximum(slope, 1e-30))
    return xp.minimum(xp.maximum(s - step, -_FARTHEST), _FARTHEST)


def student_t_quantile(xp: Namespace, p: Array, nu: Array) -> Array:
    """The t with probability p to its left under the Student t distribution of nu degrees of freedom.

    With y = t^2 / (nu + t^2), min(p, 1 - p) is half the upper tail of a beta(1/2, nu/2) distribution at y.
    """
    p, nu = xp.real(p), xp.real(nu)
    inside = (p > 0) & (p < 1) & (nu > 0) & (nu < xp.inf)
    ends = xp.where(p == 0, -xp.inf, xp.where(p == 1, xp.inf, xp.nan))
    p, nu = xp.where(inside, p, 0.25), xp.where(inside, nu, 1.0)
    known_p, known_nu = xp.stop_gradient(p), xp.stop_gradient(nu)
    tail = xp.where(known_p < 0.5, known_p, 1 - known_p)
    s = _log_odds(xp, 0.5 * known_nu, 0.5 + 0 * known_nu, 2 * xp.where(tail == 0.5, 0.25, tail))
    size = xp.where(tail == 0.5, 0.0, xp.sqrt(known_nu) * xp.exp(-0.5 * s))
    found = differentiable(lambda t: _t_newton_step(xp, t, p, nu), xp.where(known_p < 0.5, -size, size))
    return xp.where(inside, found, ends)


def _t_newton_step(xp: Namespace, t: Array, p: Array, nu: Array) -> Array:
    """A step for the logarithm of the smaller tail, which gives the derivatives in p and nu."""
    zero = t == 0
    s = xp.log(nu) - 2 * xp.log(xp.abs(xp.where(zero, 1.0, t)))  # the log odds of x = nu / (nu + t^2)
    log_beta = xp.log_betainc_inside(0.5 * nu, 0.5 + 0 * nu, xp.expit(s), xp.expit(-s))
    log_power = xp.where(zero, 0.0, (0.5 * nu + 0.5) * logaddexp(xp, 0 * s, -s))
    log_density = -log_power - betaln(xp, 0.5 * nu, 0.5 + 0 * nu) - 0.5 * xp.log(nu)
    # at 0 itself, the tail grows by the density, to the second order
    near = xp.log(0.5 + xp.where(zero, t, 0.0) * xp.exp(log_density))
    log_tail = xp.where(zero, near, log_beta - LOG_2)
    upper = t > 0
    log_p = xp.where(upper, xp.log1p(-xp.where(upper, p, 0.5)), xp.log(xp.where(upper, 0.5, p)))
    step = (log_tail - log_p) * xp.stop_gradient(xp.exp(log_tail - log_density))
    return xp.where(upper, t + step, t - step)
