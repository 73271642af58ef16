"""The Wiener first passage time distribution.

Source: Stan Functions Reference, "Wiener First Passage Time Distribution".

The density of reaching the upper boundary at time t, for a unit of diffusion, follows Navarro and Fuss (2009): with
u = t / alpha^2, a series in images of the boundaries for small u and one in eigenfunctions for large u. A normally
distributed drift only changes the exponential in front (Tuerlinckx 2004); a uniform bias or non-decision time is
integrated over by quadrature.
"""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .. import supports
from ..arrays.base import Array, Namespace, Real
from ..arrays.special.quadrature import unit_rule
from ..distribution import stan_distribution
from ..domains import FINITE, NONNEGATIVE, POSITIVE_FINITE, PROBABILITY, Domain, both, guard
from ._terms import LOG_2_PI, LOG_PI, holds, inner, log0, within

CROSSOVER = 0.3  # the u up to which images are used
IMAGES = (1, -1, 2, -2, 3, -3)  # enough of them at the crossover
MODES = range(2, 7)
OF_BIAS, OF_TIME = 16, 40  # nodes for the means over biases and times; densities rise steeply from time 0


DOMAINS = {
    "alpha": POSITIVE_FINITE, "tau": NONNEGATIVE, "beta": PROBABILITY, "delta": FINITE, "var_delta": NONNEGATIVE,
    "var_beta": PROBABILITY, "var_tau": NONNEGATIVE,
}  # fmt: skip


# What Stan throws for besides: it takes a time of 0 only with variances, and a bias of 0 or 1 only without.
_PLAIN = 0, "tau", POSITIVE_FINITE
_VARYING = 1, "beta", Domain("greater than 0 and less than 1", lambda xp, x: (x > 0) & (x < 1), safe=0.5)


def _after(alpha: Array, tau: Array, beta: Array, delta: Array, *variances: Array) -> Domain:
    """Only with the variances of the parameters Stan refuses an infinite time."""
    most = math.inf if variances else math.nan
    return Domain(
        f"greater than the non-decision time {{}}{' and finite' if variances else ''}",
        lambda xp, y, start: both(y > start, y != most), bounds=(tau,),
    )  # fmt: skip


@stan_distribution(
    "real wiener_lpdf(real y | real alpha, real tau, real beta, real delta, real var_delta, real var_beta, "
    "real var_tau, data real precision)",
    "real wiener_lpdf(vector y | vector alpha, vector tau, vector beta, vector delta, vector var_delta, "
    "vector var_beta, vector var_tau, data real precision)",
    "real wiener_lpdf(real y | real alpha, real tau, real beta, real delta, real var_delta, real var_beta, "
    "real var_tau)",
    "real wiener_lpdf(vector y | vector alpha, vector tau, vector beta, vector delta, vector var_delta, "
    "vector var_beta, vector var_tau)",
    "real wiener_lpdf(real y | real alpha, real tau, real beta, real delta, real var_delta, data real precision)",
    "real wiener_lpdf(vector y | vector alpha, vector tau, vector beta, vector delta, vector var_delta, "
    "data real precision)",
    "real wiener_lpdf(real y | real alpha, real tau, real beta, real delta, real var_delta)",
    "real wiener_lpdf(vector y | vector alpha, vector tau, vector beta, vector delta, vector var_delta)",
    "real wiener_lpdf(reals y | reals alpha, reals tau, reals beta, reals delta)",
    support=lambda alpha, tau, *others: ("lower", tau),
    regions={"y": supports.POSITIVE},
    domains=DOMAINS,
    variate={"lpdf": _after},
    examples=[(0.8, 1.5, 0.2, 0.4, 0.7), (1.8, 1.5, 0.2, 0.4, -0.7, 0.3, 0.1, 0.2)],
)  # fmt: skip
class wiener:
    """The time at which a diffusion with drift delta, that starts at beta alpha at time tau, leaves through alpha.

    var_delta is the standard deviation of the drift, var_beta and var_tau are the widths of uniform laws around beta
    and from tau on. The results are exact, so that the precision asked for has no effect.
    """

    @staticmethod
    def lpdf(
        xp: Namespace, y: Any, alpha: Any, tau: Any, beta: Any, delta: Any, var_delta: Any = None, var_beta: Any = None,
        var_tau: Any = None, precision: Any = None,
    ) -> Array:  # fmt: skip
        tau, beta = guard(xp, "wiener_lpdf", (tau, beta), [_PLAIN if var_delta is None else _VARYING])
        var_delta = 0.0 if var_delta is None else var_delta
        if var_tau is None:  # with five parameters the precision comes sixth, and has no effect
            return _log_density(xp, y - tau, alpha, 1 - beta, -delta, var_delta)
        return _log_mean_density(xp, y - tau, alpha, 1 - beta, -delta, var_delta, var_beta, var_tau)


def _log_mean_density(xp: Namespace, t: Any, a: Any, w: Any, v: Any, sv: Any, sw: Array, st: Array) -> Array:
    """The log of the mean density over starts of width sw around w and over times less up to st."""
    inside = (t > 0) & (t < xp.inf)
    t = inner(xp, inside, t, 1.0)

    def at_time(x: Array) -> Array:
        earlier = t - xp.minimum(st, t) * x
        from_bias = lambda x: _log_density(xp, earlier, a, w + sw * (x - 0.5), v, sv)
        return log_mean(xp, from_bias, sw, (earlier, a, w, v, sv, sw), OF_BIAS)

    used = xp.where(st > t, t / xp.where(st > t, st, 1.0), 1.0)
    return within(xp, inside, log_mean(xp, at_time, st, (t, a, w, v, sv, sw, st), OF_TIME) + xp.log(used))


def log_mean(xp: Namespace, log_f: Callable[[Any], Array], width: Any, beside: tuple[Real, ...], count: int) -> Array:
    """The log of the mean of exp(log_f) over the unit interval; log_f is constant where the width is known to be 0.

    Points of the interval lie along a new leading axis, before those of all that log_f depends on: `beside`.
    """
    if holds(xp, width == 0):
        return log_f(0.5)
    nodes, weights = unit_rule(count)
    shape = (-1,) + (1,) * max(map(xp.ndim, beside))
    x, log_weights, *_ = xp.convert((nodes.reshape(shape), xp.log(weights).reshape(shape), *beside))
    return xp.logsumexp(log_f(x) + log_weights, axis=0)


def _log_density(xp: Namespace, t: Any, a: Array, w: Array, v: Array, sv: Array) -> Array:
    """The log density at the lower boundary, at time t from w a with drift v of standard deviation sv."""
    inside = (t > 0) & (t < xp.inf)
    t = inner(xp, inside, t, 1.0)
    u = t / (a * a)
    spread = 1 + sv * sv * t
    exponent = 0.5 * (xp.square(sv * a * w) - 2 * a * v * w - v * v * t) / spread
    return within(xp, inside, exponent - 0.5 * xp.log(spread) - 2 * xp.log(a) + _log_standard(xp, u, w))


def _log_standard(xp: Namespace, u: Array, w: Array) -> Array:
    """The log density at time u for no drift and boundaries at 0 and 1."""
    early = u < CROSSOVER
    return xp.where(early, _log_images(xp, xp.where(early, u, 0.1), w), _log_modes(xp, xp.where(early, 1.0, u), w))


def _log_images(xp: Namespace, u: Array, w: Array) -> Array:
    total = w
    for k in IMAGES:
        total = total + (w + 2 * k) * xp.exp(-2 * k * (k + w) / u)
    return log0(xp, total) - 0.5 * w * w / u - 1.5 * xp.log(u) - 0.5 * LOG_2_PI


def _log_modes(xp: Namespace, u: Array, w: Array) -> Array:
    total = xp.sin(math.pi * w)
    for k in MODES:
        total = total + k * xp.exp(-0.5 * math.pi**2 * (k * k - 1) * u) * xp.sin(k * math.pi * w)
    return log0(xp, total) - 0.5 * math.pi**2 * u + LOG_PI
