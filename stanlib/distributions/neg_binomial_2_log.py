"""The negative binomial distribution by its log mean, and its generalised linear model.

Source: Stan Functions Reference, "Negative binomial distribution (log alternative parameterization)" and
"Negative-binomial-2-log generalized linear model".
"""
from __future__ import annotations

from ..arrays.base import Array, Namespace
from ..distribution import Native, stan_distribution
from ..domains import FINITE, NONNEGATIVE, POSITIVE_FINITE
from ..random.base import Random
from ._counts import poisson_counts
from ._rising import log_rising
from ._terms import inner, predictor, softplus, within


@stan_distribution(
    "real neg_binomial_2_log_lpmf(ints n | reals eta, reals phi)",
    rng=["int_or_array neg_binomial_2_log_rng(reals eta, reals phi)"],
    support="natural",
    domains={"eta": FINITE, "phi": POSITIVE_FINITE},
    logged=("phi",),
    variate={"lpmf": NONNEGATIVE},
    native=Native("NegativeBinomialLogits", ("phi", lambda xp, eta, phi: eta - xp.log(phi)), pyro=None),
    examples=[(3, 0.8, 1.4), (0, -40.0, 20.0)],
)
class neg_binomial_2_log:
    """Negative binomial with mean exp(eta) and precision phi."""

    @staticmethod
    def lpmf(xp: Namespace, n: Array, eta: Array, phi: Array) -> Array:
        inside = n >= 0
        n = inner(xp, inside, n, 0)
        odds = eta - xp.log(phi)
        weight = log_rising(xp, phi, n) - xp.lgamma(n + 1.0)
        return within(xp, inside, weight + n * odds - (n + phi) * softplus(xp, odds))

    @staticmethod
    def rng(xp: Namespace, random: Random, eta: Array, phi: Array) -> Array:
        rate = random.gamma(phi, xp.broadcast_shape(eta, phi)) * xp.exp(eta) / phi
        return poisson_counts(xp, random, "neg_binomial_2_log_rng", rate)


@stan_distribution(
    "real neg_binomial_2_log_glm_lpmf(array[] int n | (row_vector | matrix) x, (real | vector) alpha, vector beta, "
    "real phi)",
    "real neg_binomial_2_log_glm_lpmf(int n | matrix x, (real | vector) alpha, vector beta, real phi)",
    support="natural",
    domains={"alpha": FINITE, "beta": FINITE, "phi": POSITIVE_FINITE},
    logged=("phi",),
    variate={"lpmf": NONNEGATIVE},
    argument_dims={"x": 1, "beta": 1},
    examples=[([3, 0], [[1.0, 2.0], [0.5, -1.0]], 0.2, [0.4, -0.1], 1.7)],
)
class neg_binomial_2_log_glm:
    """Negative binomial with log mean alpha + x * beta and precision phi."""

    @staticmethod
    def lpmf(xp: Namespace, n: Array, x: Array, alpha: Array, beta: Array, phi: Array) -> Array:
        eta = predictor(xp, "neg_binomial_2_log_glm", x, alpha, beta)
        return neg_binomial_2_log.lpmf(xp, n, eta, phi)

    @staticmethod
    def draw(xp: Namespace, random: Random, x: Array, alpha: Array, beta: Array, phi: Array) -> Array:
        eta = predictor(xp, "neg_binomial_2_log_glm", x, alpha, beta)
        return neg_binomial_2_log.rng(xp, random, eta, phi)
