"""The Gumbel distribution. Source: Stan Functions Reference, "Gumbel distribution"."""
from __future__ import annotations

from ..distribution import Native, stan_distribution
from ..domains import FINITE, NOT_NAN, POSITIVE
from ._terms import log1mexp_neg


@stan_distribution(
    "real gumbel_lpdf(reals y | reals mu, reals beta)",
    rng=["real_or_array gumbel_rng(reals mu, reals beta)"],
    support="real",
    domains={"mu": FINITE, "beta": POSITIVE},
    logged=("beta",),
    variate=dict.fromkeys(("lpdf", "cdf", "lcdf", "lccdf"), NOT_NAN),
    native=Native("Gumbel", ("mu", "beta")),
    examples=[(0.3, -0.2, 1.7), (30.0, 1.0, 0.5)],
)
class gumbel:
    """Gumbel (of maxima) with location mu and scale beta."""

    def lpdf(xp, y, mu, beta):
        z = (y - mu) / beta
        return -z - xp.exp(-z) - xp.log(beta)

    def cdf(xp, y, mu, beta):
        return xp.exp(-xp.exp((mu - y) / beta))

    def lcdf(xp, y, mu, beta):
        return -xp.exp((mu - y) / beta)

    def lccdf(xp, y, mu, beta):
        z = (mu - y) / beta
        return log1mexp_neg(xp, xp.exp(z), z)

    def rng(xp, random, mu, beta):
        return mu - beta * xp.log(random.exponential(xp.broadcast_shape(mu, beta)))
