"""The standard normal distribution. Source: Stan Functions Reference, "Standard normal distribution"."""
from __future__ import annotations

from ..distribution import Native, stan_distribution
from ..domains import NOT_NAN
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

    def lpdf(xp, y):
        return -0.5 * xp.square(y) - 0.5 * LOG_2_PI

    def cdf(xp, y):
        return xp.ndtr(y)

    def lcdf(xp, y):
        return xp.log_ndtr(y)

    def lccdf(xp, y):
        return xp.log_ndtr(-y)

    def rng(xp, random):
        return random.normal(())
