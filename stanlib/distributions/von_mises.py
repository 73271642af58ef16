"""The von Mises distribution. Source: Stan Functions Reference, "Von Mises distribution"."""
from __future__ import annotations

import math
from typing import Any

from ..arrays.base import Array, Namespace, Real
from ..arrays.special.quadrature import CUTOFF, on_unit_interval
from ..distribution import Native, stan_distribution
from ..domains import FINITE, NONNEGATIVE, NONNEGATIVE_FINITE, POSITIVE_FINITE, between, guard
from ..random.base import Random
from ._terms import LOG_2_PI, inner, within

TWO_PI = 2 * math.pi


@stan_distribution(
    "real von_mises_lpdf(reals y | reals mu, reals kappa)",
    rng=["real_or_array von_mises_rng(reals mu, reals kappa)"],
    support="real",
    domains={"mu": FINITE, "kappa": NONNEGATIVE},
    rng_domains={"kappa": NONNEGATIVE_FINITE},
    variate={"lpdf": FINITE} | dict.fromkeys(("cdf", "lcdf", "lccdf"), between(-math.pi, math.pi)),
    circular=True,
    native=Native("VonMises", ("mu", "kappa")),
    examples=[(0.3, -0.2, 1.7), (-3.0, 1.0, 0.5)],
)
class von_mises:
    """Von Mises around mu with concentration kappa."""

    @staticmethod
    def lpdf(xp: Namespace, y: Real, mu: Real, kappa: Real) -> Array:
        half = xp.sin(0.5 * (y - mu))
        return -2 * kappa * half * half - (_log_i0e(xp, kappa) + LOG_2_PI)

    @staticmethod
    def cdf(xp: Namespace, y: Array, mu: Array, kappa: Array) -> Array:
        return xp.exp(_log_between(xp, -math.pi - mu, y - mu, _concentrated(xp, "cdf", kappa)))

    @staticmethod
    def lcdf(xp: Namespace, y: Array, mu: Array, kappa: Array) -> Array:
        return _log_between(xp, -math.pi - mu, y - mu, _concentrated(xp, "lcdf", kappa))

    @staticmethod
    def lccdf(xp: Namespace, y: Array, mu: Array, kappa: Array) -> Array:
        return _log_between(xp, y - mu, math.pi - mu, _concentrated(xp, "lccdf", kappa))

    @staticmethod
    def rng(xp: Namespace, random: Random, mu: Array, kappa: Array) -> Array:
        angle = random.von_mises(kappa, xp.broadcast_shape(mu, kappa)) + mu
        return angle - TWO_PI * xp.floor((angle + math.pi) / TWO_PI)


def _concentrated(xp: Namespace, method: str, kappa: Array) -> Array:
    """A concentration that is not 0, for which Stan's density is uniform, and its distribution functions throw; for
    infinity these are no numbers."""
    (kappa,) = guard(xp, f"von_mises_{method}", (kappa,), [(0, "kappa", POSITIVE_FINITE)])
    return kappa


def _log_i0e(xp: Namespace, kappa: Any) -> Array:
    """The logarithm of exp(-kappa) I_0(kappa), whose derivative at 0 is that from the right."""
    positive = kappa > 0
    return within(xp, positive, xp.log(xp.i0e(inner(xp, positive, kappa, 1.0))), -kappa)


def _log_between(xp: Namespace, a: Array, b: Array, kappa: Array) -> Array:
    """The log probability of a <= angle <= b around the mode at 0, for angles that go on beyond one turn.

    The distribution function is a whole number plus or minus a tail: so two tails are added to or subtracted from 0 or
    1, in units of the larger one if it is 0.
    """
    whole_a, front_a, area_a = _tail(xp, a, kappa)
    whole_b, front_b, area_b = _tail(xp, b, kappa)
    only_tails = whole_a == whole_b
    scale = xp.where(only_tails, xp.stop_gradient(xp.maximum(front_a, front_b)), 0.0)
    tails = xp.exp(front_b - scale) * area_b - xp.exp(front_a - scale) * area_a
    p = xp.where(only_tails, tails, 1 + tails)
    possible = p > 0
    return xp.where(possible, scale + xp.log(xp.where(possible, p, 1.0)), -xp.inf)


def _tail(xp: Namespace, x: Array, kappa: Array) -> tuple[Array, Array, Array]:
    """The distribution function at x as a whole number plus a tail, which is exp(front) times a signed area."""
    turns = xp.floor((xp.stop_gradient(x) + math.pi) / TWO_PI)
    r = x - TWO_PI * turns
    left = r <= 0
    u = xp.where(left, -r, r)
    sine = xp.square(xp.sin(0.5 * u))
    height = sine + 0.5 * CUTOFF / xp.where(kappa > 0, kappa, 1.0)
    full = (height >= 1) | (kappa <= 0)
    end = xp.where(full, math.pi, 2 * xp.arcsin(xp.sqrt(xp.where(full, 0.5, height)))) - u
    end = xp.where(end < 0, 0.0, end)  # rounding, of large kappa
    nodes, weights = on_unit_interval(xp, end + kappa)
    s = end * nodes
    fall = 2 * xp.sin(u + 0.5 * s) * xp.sin(0.5 * s)  # cos(u) - cos(u + s)
    area = end * xp.sum(weights * xp.exp(-kappa * fall), axis=0)
    front = -2 * kappa * sine - _log_i0e(xp, kappa) - LOG_2_PI
    return turns + xp.where(left, 0.0, 1.0), front, xp.where(left, area, -area)
