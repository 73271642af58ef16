"""The uniform distribution. Source: Stan Functions Reference, "Uniform distribution"."""
from __future__ import annotations

from ..arrays.base import Array, Namespace, Real
from ..distribution import Native, stan_distribution
from ..domains import FINITE, NOT_NAN
from ..random.base import Random
from ._terms import inner, log0, within


@stan_distribution(
    "real uniform_lpdf(reals y | reals alpha, reals beta)",
    rng=["real_or_array uniform_rng(reals alpha, reals beta)"],
    support=lambda alpha, beta: ("interval", alpha, beta),
    domains={"alpha": FINITE, "beta": FINITE},
    variate=dict.fromkeys(("lpdf", "cdf", "lcdf", "lccdf"), NOT_NAN),
    native=Native("Uniform", ("alpha", "beta")),
    examples=[(0.3, -0.2, 1.7), (30.0, 1.0, 0.5)],
)
class uniform:
    """Uniform between alpha and beta."""

    @staticmethod
    def lpdf(xp: Namespace, y: Real, alpha: Real, beta: Real) -> Array:
        inside = (y >= alpha) & (y <= beta)
        return xp.where(inside, -xp.log(inner(xp, inside, beta - alpha, 1.0)), -xp.inf)

    @staticmethod
    def cdf(xp: Namespace, y: Array, alpha: Array, beta: Array) -> Array:
        return _share(xp, y, alpha, beta)

    @staticmethod
    def lcdf(xp: Namespace, y: Array, alpha: Array, beta: Array) -> Array:
        return log0(xp, _share(xp, y, alpha, beta))

    @staticmethod
    def lccdf(xp: Namespace, y: Array, alpha: Array, beta: Array) -> Array:
        return log0(xp, _share(xp, -y, -beta, -alpha))

    @staticmethod
    def rng(xp: Namespace, random: Random, alpha: Array, beta: Array) -> Array:
        return alpha + (beta - alpha) * random.uniform(xp.broadcast_shape(alpha, beta))


def _share(xp: Namespace, y: Real, alpha: Array, beta: Array) -> Array:
    """The part of the interval below y, between 0 and 1."""
    inside = (y > alpha) & (y < beta)
    share = inner(xp, inside, (y - alpha) / (beta - alpha), 0.5)
    return within(xp, inside, share, xp.where(y >= beta, 1.0, 0.0))
