"""The Frechet distribution. Source: Stan Functions Reference, "Frechet distribution"."""
from __future__ import annotations

from typing import Any

from ..arrays.base import Array, Namespace
from ..distribution import stan_distribution
from ..domains import POSITIVE, POSITIVE_FINITE
from ..random.base import Random
from ._terms import inner, log1mexp_neg, within


@stan_distribution(
    "real frechet_lpdf(reals y | reals alpha, reals sigma)",
    rng=["real_or_array frechet_rng(reals alpha, reals sigma)"],
    support="positive",
    domains={"alpha": POSITIVE_FINITE, "sigma": POSITIVE_FINITE},
    logged=("alpha", "sigma"),
    variate=dict.fromkeys(("lpdf", "cdf", "lcdf", "lccdf"), POSITIVE),
    examples=[(0.3, 1.7, 0.8), (30.0, 0.5, 2.0)],
)
class frechet:
    """Frechet with shape alpha and scale sigma."""

    @staticmethod
    def lpdf(xp: Namespace, y: Any, alpha: Any, sigma: Any) -> Array:
        inside, log_y, log_t = _log_terms(xp, y, alpha, sigma)
        return within(xp, inside, xp.log(alpha) + log_t - log_y - xp.exp(log_t))

    @staticmethod
    def cdf(xp: Namespace, y: Array, alpha: Array, sigma: Array) -> Array:
        inside, _, log_t = _log_terms(xp, y, alpha, sigma)
        return within(xp, inside, xp.exp(-xp.exp(log_t)), 0.0)

    @staticmethod
    def lcdf(xp: Namespace, y: Array, alpha: Array, sigma: Array) -> Array:
        inside, _, log_t = _log_terms(xp, y, alpha, sigma)
        return within(xp, inside, -xp.exp(log_t))

    @staticmethod
    def lccdf(xp: Namespace, y: Array, alpha: Array, sigma: Array) -> Array:
        inside, _, log_t = _log_terms(xp, y, alpha, sigma)
        return within(xp, inside, log1mexp_neg(xp, xp.exp(log_t), log_t), 0.0)

    @staticmethod
    def rng(xp: Namespace, random: Random, alpha: Array, sigma: Array) -> Array:
        return sigma * xp.exp(-xp.log(random.exponential(xp.broadcast_shape(alpha, sigma))) / alpha)


def _log_terms(xp: Namespace, y: Any, alpha: Array, sigma: Array) -> Any:
    """Whether y is positive, its logarithm, and that of (sigma / y)^alpha."""
    inside = y > 0
    log_y = xp.log(inner(xp, inside, y, 1.0))
    return inside, log_y, alpha * (xp.log(sigma) - log_y)
