"""The probability of leaving through the upper boundary before or after a time, of the Wiener first passage law.

Source: Stan Functions Reference, "Wiener First Passage Time Distribution". Together the two are not 1, but the
probability of ever leaving through that boundary. Below, everything is about the lower boundary, in units in which the
boundaries are at 0 and 1: m is the drift, u the time, w the start.
"""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..arrays.base import Array, Namespace, Real
from ..arrays.special.quadrature import normal_rule
from ..registry import stan_function
from ._terms import LOG_2, holds, inner, log0
from .wiener import CROSSOVER, DOMAINS, IMAGES, MODES, OF_BIAS, OF_TIME, log_mean

_FORMS = (
    "real {name}(real y, real alpha, real tau, real beta, real delta)",
    "real {name}(vector y, vector alpha, vector tau, vector beta, vector delta)",
    "real {name}(real y, real alpha, real tau, real beta, real delta, data real precision)",
    "real {name}(vector y, vector alpha, vector tau, vector beta, vector delta, data real precision)",
)
_FULL_FORMS = tuple(
    form.replace(f"{t} delta", f"{t} delta, {t} var_delta, {t} var_beta, {t} var_tau")
    for form in _FORMS
    for t in ("vector" if "vector y" in form else "real",)
)
OF_DRIFT = 40  # nodes for means over drifts
STRONG = 6.0  # the drift from which on the later images count for nothing


@stan_function(
    *(f.format(name="wiener_lcdf_unnorm") for f in _FORMS), domains=DOMAINS, examples=[(0.8, 1.5, 0.2, 0.4, 0.7)]
)
def wiener_lcdf_unnorm(
    xp: Namespace, y: Array, alpha: Array, tau: Array, beta: Array, delta: Array, precision: object = None
) -> Array:
    return xp.sum(_log_before(xp, y - tau, alpha, 1 - beta, -delta))


@stan_function(
    *(f.format(name="wiener_lccdf_unnorm") for f in _FORMS), domains=DOMAINS, examples=[(0.8, 1.5, 0.2, 0.4, 0.7)]
)
def wiener_lccdf_unnorm(
    xp: Namespace, y: Array, alpha: Array, tau: Array, beta: Array, delta: Array, precision: object = None
) -> Array:
    return xp.sum(_log_after(xp, y - tau, alpha, 1 - beta, -delta))


@stan_function(
    *(f.format(name="wiener_lcdf_unnorm") for f in _FULL_FORMS), domains=DOMAINS,
    examples=[(0.8, 1.5, 0.2, 0.4, 0.7, 0.3, 0.1, 0.2)],
)  # fmt: skip
def wiener_lcdf_unnorm_full(
    xp: Namespace, y: Array, alpha: Array, tau: Array, beta: Array, delta: Array, var_delta: Array, var_beta: Array,
    var_tau: Array, precision: object = None,
) -> Array:  # fmt: skip
    terms = _mean_over_start(xp, _log_before, y - tau, alpha, 1 - beta, -delta, var_delta, var_beta, var_tau)
    return xp.sum(terms)


@stan_function(
    *(f.format(name="wiener_lccdf_unnorm") for f in _FULL_FORMS), domains=DOMAINS,
    examples=[(0.8, 1.5, 0.2, 0.4, 0.7, 0.3, 0.1, 0.2)],
)  # fmt: skip
def wiener_lccdf_unnorm_full(
    xp: Namespace, y: Real, alpha: Array, tau: Array, beta: Array, delta: Array, var_delta: Array, var_beta: Array,
    var_tau: Array, precision: object = None,
) -> Array:  # fmt: skip
    terms = _mean_over_start(xp, _log_after, y - tau, alpha, 1 - beta, -delta, var_delta, var_beta, var_tau)
    return xp.sum(terms)


def _mean_over_start(xp: Namespace, log_f: Any, t: Any, a: Any, w: Any, v: Any, sv: Any, sw: Any, st: Any) -> Array:
    """The log of the mean of exp(log_f) over a normal drift, and uniform starts and times.

    The mean over times is taken apart where time begins, as the probabilities have no further derivatives there.
    """
    before = t < st
    width = xp.where(before, xp.where(t > 0, t, 0.0), st)
    share = xp.where(before, width / xp.where(before, st, 1.0), 1.0)

    def at_time(t: Any) -> Array:
        mean = _mean_after_drift if log_f is _log_after else _mean_before_drift
        from_bias = lambda x: mean(xp, t, a, w + sw * (x - 0.5), v, sv, t + x)
        return log_mean(xp, from_bias, sw, (t, a, w, v, sv, sw), OF_BIAS)

    if holds(xp, st == 0):
        return at_time(t)
    after = log_mean(xp, lambda x: at_time(t - width * x), st, (t, a, w, v, sv, sw, st), OF_TIME)
    return xp.logaddexp(log0(xp, share) + after, log0(xp, 1 - share) + at_time(0.0 * t - 1.0))


def _mean_before_drift(xp: Namespace, t: Array, a: Array, w: Array, v: Array, sv: Array, like: Array) -> Array:
    """The log of the mean of P(before t) over a normal drift."""
    if holds(xp, sv == 0):
        return _log_before(xp, t, a, w, v)
    nodes, log_weights = _hermite(xp, (like, a, w, v, sv))
    return xp.logsumexp(_log_before(xp, t, a, w, v + sv * nodes) + log_weights, axis=0)


def _mean_after_drift(xp: Namespace, t: Array, a: Array, w: Array, v: Array, sv: Array, like: Array) -> Array:
    """The log of the mean of P(after t) over a normal drift, which is about exp(-v a w - v^2 t / 2) for drift v: the
    product with the drift's density is normal again, and the rest is smooth.
    """
    if holds(xp, sv == 0):
        return _log_after(xp, t, a, w, v)
    nodes, log_weights = _hermite(xp, (like, a, w, v, sv))
    time = xp.where(t > 0, t, 0.0)
    spread = 1 + sv * sv * time
    drift = (v - sv * sv * a * w) / spread + sv / xp.sqrt(spread) * nodes
    rest = _log_after(xp, t, a, w, drift) + drift * (a * w + 0.5 * time * drift)
    front = 0.5 * (xp.square(sv * a * w) - 2 * a * v * w - v * v * time) / spread - 0.5 * xp.log(spread)
    return front + xp.logsumexp(rest + log_weights, axis=0)


def _hermite(xp: Namespace, beside: Sequence[Real]) -> tuple[Array, Array]:
    """Nodes and the logarithms of weights for the mean over a standard normal law, along a new leading axis."""
    nodes, weights = normal_rule(OF_DRIFT)
    shape = (-1,) + (1,) * max(map(xp.ndim, beside))
    nodes, log_weights, *_ = xp.convert((nodes.reshape(shape), xp.log(weights).reshape(shape), *beside))
    return nodes, log_weights


def _log_before(xp: Namespace, t: Array, a: Array, w: Array, v: Array) -> Array:
    """The log probability of the lower boundary before time t."""
    inside, u, m = _standard(xp, t, a, v)
    early = u < CROSSOVER
    images = _log_images_before(xp, xp.where(early, u, 0.1), w, m)
    ever = _log_ever(xp, w, m)
    later = _log_modes(xp, xp.where(early, 1.0, u), w, m) - ever
    modes = ever + xp.log1mexp(xp.minimum(later, -1e-300))
    return xp.where(inside, xp.where(early, images, modes), xp.where(t > 0, ever, -xp.inf))


def _log_after(xp: Namespace, t: Array, a: Array, w: Array, v: Array) -> Array:
    """The log probability of the lower boundary after time t."""
    inside, u, m = _standard(xp, t, a, v)
    early, strong = u < CROSSOVER, xp.abs(m) > STRONG
    ever = _log_ever(xp, w, m)
    u0 = xp.where(early, u, 0.1)
    images = _log_images_after(xp, u0, w, xp.where(strong, m, 2 * STRONG))
    before = _log_images_before(xp, u0, w, xp.where(strong, 0.0, m)) - xp.where(strong, 0.0, ever)
    weak = ever + xp.log1mexp(xp.minimum(before, -1e-300))
    modes = _log_modes(xp, xp.where(early, 1.0, u), w, m)
    terms = xp.where(early, xp.where(strong, images, weak), modes)
    return xp.where(inside, terms, xp.where(t > 0, -xp.inf, ever))


def _standard(xp: Namespace, t: Real, a: Array, v: Array) -> Any:
    """Whether the time is positive and finite, and time and drift in units of the boundaries."""
    inside = (t > 0) & (t < xp.inf)
    return inside, inner(xp, inside, t, 1.0) / (a * a), v * a


def _log_ever(xp: Namespace, w: Array, m: Array) -> Array:
    """log(exp(-m w) sinh(m (1 - w)) / sinh(m)), the probability of ever leaving through the lower boundary."""
    small = m * m < 1e-6
    size = xp.where(small, 1.0, xp.abs(m))
    far = xp.log1mexp(-2 * size * (1 - w)) - xp.log1mexp(-2 * size) - size * w
    near = xp.log1p(-w) + m * m * (xp.square(1 - w) - 1) / 6
    return xp.where(small, near, far) - m * w


def _log_modes(xp: Namespace, u: Array, w: Array, m: Array) -> Array:
    """log P(after u): the density's eigenfunctions, each integrated."""
    total = xp.sin(math.pi * w) / (m * m + math.pi**2)
    for k in MODES:
        decay = k * xp.exp(-0.5 * math.pi**2 * (k * k - 1) * u)
        total = total + decay * xp.sin(k * math.pi * w) / (m * m + (k * math.pi) ** 2)
    return log0(xp, total) + math.log(2 * math.pi) - m * w - 0.5 * (m * m + math.pi**2) * u


def _log_images_before(xp: Namespace, u: Array, w: Array, m: Array) -> Array:
    """log P(before u): the images' inverse Gaussian distribution functions."""
    size = xp.abs(m)
    top = xp.where(w < size * u, -w * size, _exponent(u, w, size))
    sign, b = _images(xp, w, u + m)
    passed, tail = _image(xp, u, b, size, top)
    terms = xp.where(passed, xp.exp(xp.where(passed, -b * size - top, 0.0)), 0.0) + tail
    return log0(xp, xp.sum(sign * terms, axis=0)) + top - m * w


def _log_images_after(xp: Namespace, u: Array, w: Array, m: Array) -> Array:
    """log P(after u), likewise: of each image what its distribution function lacks."""
    size = xp.abs(m)
    top = xp.where(w < size * u, _exponent(u, w, size), -w * size)
    sign, b = _images(xp, w, u + m)
    passed, tail = _image(xp, u, b, size, top)
    terms = xp.where(passed, 0.0, xp.exp(xp.where(passed, 0.0, -b * size - top))) - tail
    return log0(xp, xp.sum(sign * terms, axis=0)) + top - m * w


def _images(xp: Namespace, w: Array, like: Array) -> tuple[Any, Any]:
    """The signs and distances of the start and of its images, along a new leading axis."""
    k = xp.asarray([0.0, *IMAGES]).reshape((-1,) + (1,) * xp.ndim(w + like))
    sign, shift, _ = xp.convert((xp.where(k < 0, -1.0, 1.0), 2 * xp.abs(k), like))
    return sign, shift + sign * w


def _exponent(u: Array, b: Array, size: Array) -> Array:
    return -0.5 * (b * b / u + size * size * u)


def _image(xp: Namespace, u: Array, b: Array, size: Array, top: Array) -> Any:
    """Whether the drift has led past b before u, and the rest of the distribution function, over exp(top)."""
    passed = b < size * u
    scale = 1 / xp.sqrt(2 * u)
    near, far = xp.abs(b - size * u) * scale, (b + size * u) * scale
    side = xp.where(passed, -1.0, 1.0)
    return passed, xp.exp(_exponent(u, b, size) - top - LOG_2) * (xp.erfcx(far) + side * xp.erfcx(near))
