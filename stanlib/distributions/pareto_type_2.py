"""The Pareto type 2 distribution. Source: Stan Functions Reference, "Pareto type 2 distribution"."""
from __future__ import annotations

from typing import Any

from ..arrays.base import Array, Namespace, Real, Value
from ..distribution import stan_distribution
from ..domains import FINITE, POSITIVE_FINITE, Domain, at_least, both
from ..random.base import Random
from ._terms import inner, log0, log1mexp_neg, within


@stan_distribution(
    "real pareto_type_2_lpdf(reals y | reals mu, reals lambda, reals alpha)",
    rng=["real_or_array pareto_type_2_rng(reals mu, reals lambda, reals alpha)"],
    support=lambda mu, lam, alpha: ("lower", mu),
    domains={"mu": FINITE, "lambda": POSITIVE_FINITE, "alpha": POSITIVE_FINITE},
    logged=("lambda", "alpha"),
    variate={"lpdf": lambda mu, lam, alpha: at_least(mu)}
    | dict.fromkeys(("cdf", "lcdf", "lccdf"), lambda mu, lam, alpha: _nonnegative_from(mu)),
    examples=[(0.3, 0.2, 0.8, 1.5), (30.0, -1.5, 2.0, 0.3)],
)
class pareto_type_2:
    """Pareto type 2 (Lomax) from mu on, with scale lambda and shape alpha."""

    @staticmethod
    def lpdf(xp: Namespace, y: Any, mu: Real, lam: Any, alpha: Value) -> Array:
        inside = y >= mu
        excess = inner(xp, inside, y - mu, 0.0) / lam
        return within(xp, inside, xp.log(alpha) - xp.log(lam) - (alpha + 1) * xp.log1p(excess))

    @staticmethod
    def cdf(xp: Namespace, y: Array, mu: Array, lam: Array, alpha: Array) -> Array:
        inside, t = _log_decline(xp, y, mu, lam, alpha)
        return within(xp, inside, -xp.expm1(-t), 0.0)

    @staticmethod
    def lcdf(xp: Namespace, y: Array, mu: Array, lam: Array, alpha: Array) -> Array:
        inside, t = _log_decline(xp, y, mu, lam, alpha)
        return within(xp, inside, log1mexp_neg(xp, t, log0(xp, t)))

    @staticmethod
    def lccdf(xp: Namespace, y: Array, mu: Array, lam: Array, alpha: Array) -> Array:
        inside, t = _log_decline(xp, y, mu, lam, alpha)
        return within(xp, inside, -t, 0.0)

    @staticmethod
    def rng(xp: Namespace, random: Random, mu: Array, lam: Array, alpha: Array) -> Array:
        shape = xp.broadcast_shape(mu, lam, alpha)
        return mu + lam * xp.expm1(random.exponential(shape) / alpha)


def _nonnegative_from(mu: object) -> Domain:
    """What Stan takes for distribution functions, unlike the density."""
    return Domain(
        "nonnegative, and greater than or equal to {}", lambda xp, y, least: both(y >= least, y >= 0), bounds=(mu,)
    )


def _log_decline(xp: Namespace, y: Real, mu: Array, lam: Array, alpha: Array) -> Any:
    """Whether y is at least mu, and alpha log(1 + (y - mu) / lambda), which is exponential with rate 1."""
    inside = y >= mu
    return inside, alpha * xp.log1p(inner(xp, inside, y - mu, 1.0) / lam)
