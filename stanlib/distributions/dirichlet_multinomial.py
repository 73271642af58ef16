"""The Dirichlet-multinomial distribution. Source: Stan Functions Reference, "Dirichlet-multinomial distribution"."""
from __future__ import annotations

from ..arrays.base import Array, Namespace
from ..checks import same_size
from ..distribution import stan_distribution
from ..domains import NONNEGATIVE, POSITIVE_FINITE
from ..random.base import Random
from ._rising import log_rising
from .dirichlet import log_draw
from .multinomial import count_draws, count_terms


@stan_distribution(
    "real dirichlet_multinomial_lpmf(array[] int y | vector alpha)",
    rng=["array[] int dirichlet_multinomial_rng(vector alpha, int N)"],
    support="natural",
    domains={"alpha": POSITIVE_FINITE, "N": NONNEGATIVE},
    variate={"lpmf": NONNEGATIVE},
    event_dims=1,
    argument_dims={"alpha": 1},
    examples=[([1, 0, 3], [1.0, 2.5, 0.5])],
)
class dirichlet_multinomial:
    """Multinomial counts whose probabilities are Dirichlet with concentrations alpha."""

    @staticmethod
    def lpmf(xp: Namespace, y: Array, alpha: Array) -> Array:
        same_size("dirichlet_multinomial", "the size of y", xp.shape(y)[-1], "the size of alpha", xp.shape(alpha)[-1])
        y, alpha = xp.reals((y, alpha))
        return count_terms(xp, y, log_rising(xp, alpha, y), log_rising(xp, xp.sum(alpha), xp.sum(y)))

    @staticmethod
    def rng(xp: Namespace, random: Random, alpha: Array, N: Array) -> Array:
        return count_draws(xp, random, xp.exp(log_draw(xp, random, alpha)), N)
