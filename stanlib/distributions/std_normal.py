"""The standard normal distribution. Source: Stan Functions Reference, "Standard normal distribution"."""
from __future__ import annotations

from ..arrays.base import Array, Namespace, Real
from ..distribution import Native, stan_distribution
from ..domains import NOT_NAN
from ..random.base import Random
from ._terms import LOG_2_PI


@stan_distribution(
    "real std_normal_lpdf(reals y)",
    rng=["real std_normal_rng()"],
    support="real",
    variate=dict.fromkeys(("lpdf", "cdf", "lcdf", "lccdf"), NOT_NAN),
    symmetric_about=0.0,
    native=Native("Normal", (lambda xp: 0.0, lambda xp: 1.0)),
    examples=[(0.3,), (-3.0,)],
)
class std_normal:
    """Normal with location 0 and scale 1."""

    @staticmethod
    def lpdf(xp: Namespace, y: Real) -> Array:
        return -0.5 * xp.square(y) - 0.5 * LOG_2_PI

    @staticmethod
    def cdf(xp: Namespace, y: Array) -> Array:
        return xp.ndtr(y)

    @staticmethod
    def lcdf(xp: Namespace, y: Array) -> Array:
        return xp.log_ndtr(y)

    @staticmethod
    def lccdf(xp: Namespace, y: Array) -> Array:
        return xp.log_ndtr(-y)

    @staticmethod
    def rng(xp: Namespace, random: Random) -> Array:
        return random.normal(())
