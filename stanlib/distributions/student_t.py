"""Student's t distribution. Source: Stan Functions Reference, "Student-t distribution"."""
from __future__ import annotations

from ..arrays.base import Array, Namespace
from ..distribution import Native, stan_distribution
from ..domains import FINITE, NOT_NAN, POSITIVE_FINITE
from ..random.base import Random
from ._rising import log_rising
from ._terms import LOG_2, LOG_PI, standardized


def _log_peak(xp: Namespace, nu: Array) -> Array:
    """The log density at the mode, for scale 1."""
    return log_rising(xp, 0.5 * nu, 0.5) - 0.5 * (xp.log(nu) + LOG_PI)


@stan_distribution(
    "real student_t_lpdf(reals y | reals nu, reals mu, reals sigma)",
    rng=["real_or_array student_t_rng(reals nu, reals mu, reals sigma)"],
    support="real",
    domains={"nu": POSITIVE_FINITE, "mu": FINITE, "sigma": POSITIVE_FINITE},
    logged=("nu", "sigma"),
    variate=dict.fromkeys(("lpdf", "cdf", "lcdf", "lccdf"), NOT_NAN),
    symmetric_about="mu",
    native=Native("StudentT", ("nu", "mu", "sigma")),
    examples=[(0.3, 4.0, -0.2, 1.7), (-30.0, 0.7, 1.0, 0.5)],
)
class student_t:
    """Student's t with nu degrees of freedom, location mu and scale sigma."""

    @staticmethod
    def lpdf(xp: Namespace, y: Array, nu: Array, mu: Array, sigma: Array) -> Array:
        z = standardized(xp, y, mu, sigma)
        return _log_peak(xp, nu) - xp.log(sigma) - (0.5 * nu + 0.5) * xp.log1p(xp.square(z) / nu)

    @staticmethod
    def cdf(xp: Namespace, y: Array, nu: Array, mu: Array, sigma: Array) -> Array:
        return xp.exp(_log_tail(xp, (mu - y) / sigma, nu))

    @staticmethod
    def lcdf(xp: Namespace, y: Array, nu: Array, mu: Array, sigma: Array) -> Array:
        return _log_tail(xp, (mu - y) / sigma, nu)

    @staticmethod
    def lccdf(xp: Namespace, y: Array, nu: Array, mu: Array, sigma: Array) -> Array:
        return _log_tail(xp, (y - mu) / sigma, nu)

    @staticmethod
    def rng(xp: Namespace, random: Random, nu: Array, mu: Array, sigma: Array) -> Array:
        shape = xp.broadcast_shape(nu, mu, sigma)
        return mu + sigma * random.normal(shape) * xp.sqrt(0.5 * nu / random.gamma(0.5 * nu, shape))


def _log_tail(xp: Namespace, t: Array, nu: Array) -> Array:
    """log P(T > t) by DLMF 8.17: P(|T| > u) is the incomplete beta function at nu / (nu + u^2).

    Next to t = 0 it is linear, as its derivative there is that of a square root.
    """
    linear, infinite = xp.abs(t) < 1e-12, xp.isinf(t)
    u = xp.where(linear | infinite, 1.0, xp.abs(t))
    r = nu / u / u
    both = xp.log_betainc_inside(0.5 * nu, 0.5 + 0 * nu, r / (1 + r), 1 / (1 + r))
    beyond, before = both - LOG_2, xp.log1p(-0.5 * xp.exp(both))
    middle = xp.log1p(-2 * xp.where(linear, t, 0.0) * xp.exp(_log_peak(xp, nu))) - LOG_2
    ends = xp.where(t > 0, -xp.inf, 0.0)
    return xp.where(linear, middle, xp.where(infinite, ends, xp.where(t > 0, beyond, before)))
