"""The Gaussian dynamic linear model. Source: Stan Functions Reference, "Gaussian dynamic linear models"."""
from __future__ import annotations

from functools import partial
from typing import Any

from ..arrays.base import Array, Namespace
from ..checks import same_size, square
from ..distribution import stan_distribution
from ..domains import FINITE, Domain
from ._multivariate import SEMIDEFINITE, normal_terms


def _is_noise(xp: Namespace, v: Array) -> Array:
    return SEMIDEFINITE.test(xp, v) if xp.ndim(v) == 2 else (v >= 0) & xp.isfinite(v)


NOISE = Domain(
    "nonnegative, or symmetric and positive semidefinite", _is_noise, traced=False, region=SEMIDEFINITE.region
)


@stan_distribution(
    "real gaussian_dlm_obs_lpdf(matrix y | matrix F, matrix G, (matrix | vector) V, matrix W, vector m0, matrix C0)",
    support="real",
    domains={"F": FINITE, "G": FINITE, "V": NOISE, "W": SEMIDEFINITE, "m0": FINITE, "C0": SEMIDEFINITE},
    variate={"lpdf": FINITE},
    event_dims=2,
    argument_dims={"F": 2, "G": 2, "V": 2, "W": 2, "m0": 1, "C0": 2},
    event_shape=lambda F, *others: (F.shape[1], 1),  # the number of columns is not a parameter
    examples=[([[0.3, -0.4, 0.1]], [[1.0]], [[0.9]], [0.5], [[0.2]], [0.0], [[1.0]])],
)
class gaussian_dlm_obs:
    """Columns of y that observe F' times a state, with noise of covariance V (or variances, independent of each other).

    The state goes from one column to the next by G, with noise of covariance W; before the first one it has mean m0
    and covariance C0. The states are integrated out by the Kalman filter.
    """

    @staticmethod
    def lpdf(xp: Namespace, y: Array, F: Any, G: Any, V: Any, W: Any, m0: Any, C0: Any) -> Array:
        _check_sizes(xp, y, F, G, V, W, m0, C0)
        noise = V if xp.ndim(V) == 2 else xp.diag(V)
        steps = xp.transpose(y)
        mean, covariance, zero = xp.convert((m0, C0, 0.0 * xp.sum(m0)))
        start: tuple[Array, Array, Array] = mean, covariance, zero
        return xp.scan(partial(_filter, xp), start, steps, F, G, noise, W)[0][2]


def _filter(
    xp: Namespace, state: tuple[Array, Array, Array], y: Array, F: Array, G: Array, V: Array, W: Array
) -> tuple[tuple[Array, Array, Array], None]:
    """Mean, covariance and log density so far, after one more observation."""
    mean, covariance, total = state
    mean = xp.matmul(G, mean)
    covariance = xp.matmul(xp.matmul(G, covariance), xp.transpose(G)) + W
    seen = xp.matmul(xp.transpose(F), covariance)  # covariance of the observation with the state
    factor = xp.cholesky(xp.matmul(seen, F) + V)
    surprise = y - xp.matmul(xp.transpose(F), mean)
    white = xp.solve_triangular(factor, xp.concatenate([surprise[:, None], seen], axis=1))
    z, gain = white[:, 0], white[:, 1:]
    log_det = 2 * xp.sum(xp.log(xp.diagonal(factor)))
    term = normal_terms(xp.shape(y)[0], log_det, xp.sum(z * z))
    return (mean + xp.matmul(z, gain), covariance - xp.matmul(xp.transpose(gain), gain), total + term), None


def _check_sizes(xp: Namespace, y: Array, F: Array, G: Array, V: Array, W: Array, m0: Array, C0: Array) -> None:
    """For n rows of y and k of G, (k, k), the others must be F (k, n), V (n, n) or (n), W and C0 (k, k), m0 (k)."""
    name = "gaussian_dlm_obs"
    states = square(xp, name, G)
    rows = (("F", F), ("W", W), ("m0", m0), ("C0", C0))
    for what, a in rows:
        same_size(name, f"the rows of {what}", xp.shape(a)[0], "the rows of G", states)
    for what, a in (("W", W), ("C0", C0)):
        same_size(name, f"the columns of {what}", xp.shape(a)[1], "the rows of G", states)
    noise = xp.shape(V)
    for what, size in (("columns of F", xp.shape(F)[1]), ("rows of V", noise[0]), ("columns of V", noise[-1])):
        same_size(name, f"the {what}", size, "the rows of y", xp.shape(y)[0])
