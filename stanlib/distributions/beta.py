"""The beta distribution. Source: Stan Functions Reference, "Beta distribution"."""
from __future__ import annotations

from typing import Any

from ..arrays.base import Array, Namespace, Real
from ..distribution import Native, stan_distribution
from ..domains import POSITIVE_FINITE, between
from ..random.base import Random
from ._rising import log_beta
from ._terms import holds, inner, next_to_end, within


@stan_distribution(
    "real beta_lpdf(reals y | reals alpha, reals beta)",
    rng=["real_or_array beta_rng(reals alpha, reals beta)"],
    support="unit",
    domains={"alpha": POSITIVE_FINITE, "beta": POSITIVE_FINITE},
    variate=dict.fromkeys(("lpdf", "cdf", "lcdf", "lccdf"), between(0, 1)),
    native=Native("Beta", ("alpha", "beta")),
    examples=[(0.3, 1.7, 0.8), (0.9, 0.5, 2.0)],
)
class beta:
    """Beta with prior counts alpha and beta."""

    @staticmethod
    def lpdf(xp: Namespace, y: Any, alpha: Any, beta: Any) -> Array:
        """The log density by component: at 0 and 1 its limit from inside, outside of [0, 1] -inf."""
        rest = -log_beta(xp, alpha, beta)
        inside = (y > 0) & (y < 1)
        if holds(xp, inside):
            out: Array = (alpha - 1) * xp.log(y) + (beta - 1) * xp.log1p(-y) + rest
            return out
        y1 = xp.where(inside, y, 0.5)
        power = xp.where(y == 0, alpha - 1, beta - 1)
        limit = xp.where(power > 0, -xp.inf, xp.where(power < 0, xp.inf, rest))
        edges = xp.where((y == 0) | (y == 1), limit, -xp.inf)
        return xp.where(inside, (alpha - 1) * xp.log(y1) + (beta - 1) * xp.log1p(-y1) + rest, edges)

    @staticmethod
    def cdf(xp: Namespace, y: Array, alpha: Array, beta: Array) -> Array:
        return xp.exp(_log_lower(xp, y, 1 - y, alpha, beta)) + next_to_end(xp, y, xp.where(alpha == 1, beta, 0.0))

    @staticmethod
    def lcdf(xp: Namespace, y: Array, alpha: Array, beta: Array) -> Array:
        return _log_lower(xp, y, 1 - y, alpha, beta)

    @staticmethod
    def lccdf(xp: Namespace, y: Array, alpha: Array, beta: Array) -> Array:
        return _log_lower(xp, 1 - y, y, beta, alpha)

    @staticmethod
    def rng(xp: Namespace, random: Random, alpha: Array, beta: Array) -> Array:
        return random.beta(alpha, beta, xp.broadcast_shape(alpha, beta))


def _log_lower(xp: Namespace, x: Any, y: Real, a: Real, b: Real) -> Array:
    """The log incomplete beta function at x = 1 - y, its limits outside of the unit interval."""
    inside = (x > 0) & (y > 0)
    log_p = xp.log_betainc_inside(xp.real(a), xp.real(b), inner(xp, inside, x, 0.5), inner(xp, inside, y, 0.5))
    certain = 0.0 - next_to_end(xp, y, xp.where(b == 1, a, 0.0))
    return within(xp, inside, log_p, xp.where(x > 0, certain, -xp.inf))
