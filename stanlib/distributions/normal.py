"""The normal distribution and its generalised linear model with identity link.

Source: Stan Functions Reference, "Normal distribution" and "Normal-id generalized linear model".
"""
from __future__ import annotations

from ..arrays.base import Array, Namespace, Real
from ..distribution import Native, stan_distribution
from ..domains import FINITE, NOT_NAN, POSITIVE, POSITIVE_FINITE
from ..random.base import Random
from ._terms import LOG_2_PI, predictor, standardized


@stan_distribution(
    "real normal_lpdf(reals y | reals mu, reals sigma)",
    rng=["real_or_array normal_rng(reals mu, reals sigma)"],
    support="real",
    domains={"mu": FINITE, "sigma": POSITIVE},
    rng_domains={"sigma": POSITIVE_FINITE},
    logged=("sigma",),
    variate=dict.fromkeys(("lpdf", "cdf", "lcdf", "lccdf"), NOT_NAN),
    symmetric_about="mu",
    native=Native("Normal", ("mu", "sigma")),
    examples=[(0.3, -0.2, 1.7), (-3.0, 1.0, 0.5)],
)
class normal:
    """Normal with location mu and scale sigma."""

    @staticmethod
    def lpdf(xp: Namespace, y: Real, mu: Real, sigma: Real) -> Array:
        z = standardized(xp, y, mu, sigma)
        return -0.5 * xp.square(z) - (xp.log(sigma) + 0.5 * LOG_2_PI)

    @staticmethod
    def cdf(xp: Namespace, y: Array, mu: Array, sigma: Array) -> Array:
        return xp.ndtr((y - mu) / sigma)

    @staticmethod
    def lcdf(xp: Namespace, y: Array, mu: Array, sigma: Array) -> Array:
        return xp.log_ndtr((y - mu) / sigma)

    @staticmethod
    def lccdf(xp: Namespace, y: Array, mu: Array, sigma: Array) -> Array:
        return xp.log_ndtr((mu - y) / sigma)

    @staticmethod
    def rng(xp: Namespace, random: Random, mu: Array, sigma: Array) -> Array:
        return mu + sigma * random.normal(xp.broadcast_shape(mu, sigma))


@stan_distribution(
    "real normal_id_glm_lpdf(vector y | (row_vector | matrix) x, (real | vector) alpha, vector beta, "
    "(real | vector) sigma)",
    "real normal_id_glm_lpdf(real y | matrix x, (real | vector) alpha, vector beta, (real | vector) sigma)",
    support="real",
    domains={"alpha": FINITE, "beta": FINITE, "sigma": POSITIVE_FINITE},
    logged=("sigma",),
    variate={"lpdf": FINITE},
    argument_dims={"x": 1, "beta": 1},
    examples=[([0.3, 1.0], [[1.0, 2.0], [0.5, -1.0]], 0.2, [0.4, -0.1], 1.7)],
)
class normal_id_glm:
    """Normal around alpha + x * beta, with scale sigma."""

    @staticmethod
    def lpdf(xp: Namespace, y: Real, x: Real, alpha: Real, beta: Real, sigma: Real) -> Array:
        return normal.lpdf(xp, y, predictor(xp, "normal_id_glm", x, alpha, beta), sigma)

    @staticmethod
    def draw(xp: Namespace, random: Random, x: Array, alpha: Array, beta: Array, sigma: Array) -> Array:
        return normal.rng(xp, random, predictor(xp, "normal_id_glm", x, alpha, beta), sigma)
