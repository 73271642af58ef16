"""The Dirichlet distribution. Source: Stan Functions Reference, "Dirichlet distribution"."""
from __future__ import annotations

from ..arrays.base import Array, Namespace, Real
from ..checks import filled
from ..distribution import Native, stan_distribution
from ..domains import POSITIVE, SIMPLEX
from ..random.base import Random
from ._multivariate import check_vectors
from ._terms import inner


@stan_distribution(
    "real dirichlet_lpdf(vectors theta | vectors alpha)",
    rng=["vector dirichlet_rng(vector alpha)"],
    support="simplex",
    domains={"alpha": POSITIVE},
    variate={"lpdf": SIMPLEX},
    event_dims=1,
    argument_dims={"alpha": 1},
    native=Native("Dirichlet", ("alpha",)),
    examples=[([0.2, 0.5, 0.3], [1.0, 2.5, 0.5]), ([[0.2, 0.5, 0.3], [0.1, 0.1, 0.8]], [1.0, 2.5, 0.5])],
)
class dirichlet:
    """Dirichlet with concentrations alpha."""

    @staticmethod
    def lpdf(xp: Namespace, theta: Real, alpha: Real) -> Real:
        check_vectors(xp, "dirichlet", xp.shape(alpha)[-1], "the size of alpha", theta=theta, alpha=alpha)
        if 0 not in xp.shape(theta)[:-1]:
            filled(xp, "dirichlet", "theta", theta)
        normalizer = xp.lgamma(xp.sum(alpha, axis=-1)) - xp.sum(xp.lgamma(alpha), axis=-1)
        used = (theta != 0) | (alpha != 1)  # a uniform component has no gradient where it underflows
        return normalizer + xp.sum((alpha - 1) * xp.log(inner(xp, used, theta, 1.0)), axis=-1)

    @staticmethod
    def rng(xp: Namespace, random: Random, alpha: Array) -> Array:
        return xp.exp(log_draw(xp, random, alpha))


def log_draw(xp: Namespace, random: Random, alpha: Array) -> Array:
    """The logarithms of Dirichlet draws, one for each row of alpha, which small concentrations can't underflow.

    A gamma variate of shape alpha is one of shape alpha + 1 times a power 1 / alpha of a uniform one.
    """
    shape = xp.shape(alpha)
    log_gamma = xp.log(random.gamma(alpha + 1.0, shape)) + xp.log1p(-random.uniform(shape)) / alpha
    return log_gamma - xp.logsumexp(log_gamma, axis=-1, keepdims=True)
