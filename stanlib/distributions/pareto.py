"""The Pareto distribution. Source: Stan Functions Reference, "Pareto distribution"."""
from __future__ import annotations

from typing import Any

from .. import supports
from ..arrays.base import Array, Namespace, Real
from ..distribution import Native, stan_distribution
from ..domains import NONNEGATIVE, NOT_NAN, POSITIVE_FINITE
from ..random.base import Random
from ._terms import inner, log0, log1mexp_neg, within


@stan_distribution(
    "real pareto_lpdf(reals y | reals y_min, reals alpha)",
    rng=["real_or_array pareto_rng(reals y_min, reals alpha)"],
    support=lambda y_min, alpha: ("lower", y_min),
    domains={"y_min": POSITIVE_FINITE, "alpha": POSITIVE_FINITE},
    logged=("y_min", "alpha"),
    variate={"lpdf": NOT_NAN} | dict.fromkeys(("cdf", "lcdf", "lccdf"), NONNEGATIVE),
    regions={"y": supports.POSITIVE},
    native=Native("Pareto", ("y_min", "alpha")),
    examples=[(0.3, 0.2, 0.8), (30.0, 0.5, 2.0)],
)
class pareto:
    """Pareto with minimum y_min and shape alpha."""

    @staticmethod
    def lpdf(xp: Namespace, y: Any, y_min: Real, alpha: Any) -> Real:
        inside = y >= y_min
        log_y = xp.log(inner(xp, inside, y, 1.0))
        log_min = xp.log(inner(xp, inside, y_min, 1.0))
        return within(xp, inside, xp.log(alpha) - log_y + alpha * (log_min - log_y))

    @staticmethod
    def cdf(xp: Namespace, y: Array, y_min: Array, alpha: Array) -> Array:
        inside, t = _log_decline(xp, y, y_min, alpha)
        return within(xp, inside, -xp.expm1(-t), 0.0)

    @staticmethod
    def lcdf(xp: Namespace, y: Array, y_min: Array, alpha: Array) -> Array:
        inside, t = _log_decline(xp, y, y_min, alpha)
        return within(xp, inside, log1mexp_neg(xp, t, log0(xp, t)))

    @staticmethod
    def lccdf(xp: Namespace, y: Array, y_min: Array, alpha: Array) -> Array:
        inside, t = _log_decline(xp, y, y_min, alpha)
        return within(xp, inside, -t, 0.0)

    @staticmethod
    def rng(xp: Namespace, random: Random, y_min: Array, alpha: Array) -> Array:
        return y_min * xp.exp(random.exponential(xp.broadcast_shape(y_min, alpha)) / alpha)


def _log_decline(xp: Namespace, y: Real, y_min: Array, alpha: Array) -> Any:
    """Whether y is at least the minimum, and alpha log(y / y_min), which is exponential with rate 1."""
    inside = y >= y_min
    excess = inner(xp, inside, (y - y_min) / y_min, 1.0)
    return inside, alpha * xp.log1p(excess)
