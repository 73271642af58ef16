"""The LKJ distribution of covariance matrices with lognormal scales. Source: stanc's list of functions."""
from __future__ import annotations

from ..arrays.base import Array, Namespace, Real
from ..checks import same_size, square
from ..distribution import stan_distribution
from ..domains import FINITE, POSITIVE, POSITIVE_FINITE
from ._multivariate import COVARIANCE, log_det_spd
from .lkj_corr import log_volume
from .lognormal import lognormal


@stan_distribution(
    "real lkj_cov_lpdf(matrix y | vector mu, vector sigma, real eta)",
    support="cov_matrix",
    domains={"mu": FINITE, "sigma": POSITIVE_FINITE, "eta": POSITIVE},
    variate={"lpdf": COVARIANCE},
    event_dims=2,
    argument_dims={"mu": 1, "sigma": 1},
    examples=[([[2.0, 0.5], [0.5, 1.5]], [0.1, -0.2], [1.0, 0.5], 2.5)],
)
class lkj_cov:
    """Lognormal standard deviations beside a correlation matrix of the LKJ distribution, without a Jacobian."""

    @staticmethod
    def lpdf(xp: Namespace, y: Array, mu: Real, sigma: Real, eta: Real) -> Real:
        size = square(xp, "lkj_cov", y)
        for name, v in (("mu", mu), ("sigma", sigma)):
            same_size("lkj_cov", f"the size of {name}", xp.shape(v)[0], "the rows of y", size)
        variances = xp.diagonal(y)
        scales = xp.sum(lognormal.lpdf(xp, xp.sqrt(variances), mu, sigma))
        log_det = log_det_spd(xp, y) - xp.sum(xp.log(variances))
        return scales + (eta - 1) * log_det - log_volume(xp, size, eta)
