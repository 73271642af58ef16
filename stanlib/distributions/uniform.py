"""The uniform distribution. Source: Stan Functions Reference, "Uniform distribution"."""
from __future__ import annotations

from typing import Any

from ..arrays.base import Array, Namespace, Real
from ..distribution import Native, stan_distribution
from ..domains import FINITE, NOT_NAN, above, both, guard
from ..random.base import Random
from ._terms import inner, log0, within


@stan_distribution(
    "real uniform_lpdf(reals y | reals alpha, reals beta)",
    rng=["real_or_array uniform_rng(reals alpha, reals beta)"],
    support=lambda alpha, beta: ("interval", alpha, beta),
    domains={"alpha": FINITE, "beta": FINITE},
    relations={"beta": lambda alpha, beta: above(alpha)},
    variate=dict.fromkeys(("lpdf", "cdf", "lcdf", "lccdf"), NOT_NAN),
    native=Native("Uniform", ("alpha", "beta")),
    examples=[(0.3, -0.2, 1.7), (30.0, 0.5, 1.0)],
)
class uniform:
    """Uniform between alpha and beta."""

    @staticmethod
    def lpdf(xp: Namespace, y: Real, alpha: Real, beta: Real) -> Array:
        inside = both(y >= alpha, y <= beta)
        return xp.where(inside, -xp.log(inner(xp, inside, _width(xp, "lpdf", alpha, beta), 1.0)), -xp.inf)

    @staticmethod
    def cdf(xp: Namespace, y: Array, alpha: Array, beta: Array) -> Array:
        return _share(xp, y - alpha, _width(xp, "cdf", alpha, beta))

    @staticmethod
    def lcdf(xp: Namespace, y: Array, alpha: Array, beta: Array) -> Array:
        return log0(xp, _share(xp, y - alpha, _width(xp, "lcdf", alpha, beta)))

    @staticmethod
    def lccdf(xp: Namespace, y: Array, alpha: Array, beta: Array) -> Array:
        return log0(xp, _share(xp, beta - y, _width(xp, "lccdf", alpha, beta)))

    @staticmethod
    def rng(xp: Namespace, random: Random, alpha: Array, beta: Array) -> Array:
        return alpha + _width(xp, "rng", alpha, beta) * random.uniform(xp.broadcast_shape(alpha, beta))


def _width(xp: Namespace, method: str, alpha: Any, beta: Any) -> Array:
    """The width of the interval; Stan throws for one that is empty."""
    (beta,) = guard(xp, f"uniform_{method}", (beta,), [(0, "beta", above(alpha))])
    width: Array = beta - alpha
    return width


def _share(xp: Namespace, below: Real, width: Array) -> Array:
    """The part of the interval that lies below a number, which is so far from its beginning, between 0 and 1."""
    inside = both(below >= 0, below <= width)
    share = inner(xp, inside, below / width, 0.5)
    return within(xp, inside, share, xp.where(below > width, 1.0, 0.0))
