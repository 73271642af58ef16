"""`laplace_sample`: draws from the normal approximation at the mode, on the unconstrained scale."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np
import scipy.linalg

from stanlib.errors import StanDerivativeError

from ...errors import StanWarning, warn
from .. import options
from ..density import initial, remembered
from ..density.conditioned import posterior_of
from ..density.quantities import DrawProcessor
from ..fits.fit import Fit
from ..fits.labels import labelled
from ..fits.result import Result
from . import newton, optimization, unheeded

if TYPE_CHECKING:
    from ..density.posterior import Posterior
    from ..programs import Program

__all__ = ["laplace_sample"]
AT_TOP = ["laplace_sample"]
_RISES = 0.01  # at a seventh of a standard deviation from the mode; optimizers end below a thousandth of that
_LIMITS = {"iter": 2000, "tol_grad": 1e-8, "tol_rel_obj": 1e4, "history_size": 5}


@labelled
@options.suggesting
def laplace_sample(
    module: object, data: object = None, *, mode: object = None, draws: SupportsIndex = 1000, jacobian: bool = True,
    seed: SupportsIndex | None = None, inits: object = None, networks: Mapping[str, object] | None = None,
) -> Fit:  # fmt: skip
    """Draw from the normal distribution whose mean is the mode and whose precision is minus the Hessian there.

    Args:
        module, data, seed, inits, networks: as for `sample`.
        mode: where to expand: a fit by `optimize` with the same `jacobian`, its path, or a dict of all parameters;
            found if None.
        draws: how many.
        jacobian: whether the mode and the Hessian are those of the unconstrained parameters' density.

    Returns:
        The fit: independent draws. `log_p__` and `log_q__` are the log densities of posterior and approximation;
        `fit.info["mode"]` holds the mode, a point on the unconstrained scale.

    Raises:
        StanDataError, InitialValueError, OptionError: as for `sample`.
        ValueError: if the Hessian is not negative definite: what was found is no mode.

    Warns:
        StanWarning: if the log density still rises from the `mode` that was given, as from that of other data.

    Source: Stan Reference Manual, "Laplace sampling algorithm".

    Examples:
        >>> coin = stanimport.load("models/coin.stan")
        >>> data = {"flips": 8, "heads": [1, 1, 0, 1, 1, 0, 1, 1]}
        >>> approximation = stanimport.laplace_sample(coin, data, seed=1)
        >>> draws = sorted(approximation.stan_variable("bias"))
        >>> round(float(draws[len(draws) // 2]), 1)  # the median
        0.7
    """
    draws = options.whole("draws", draws, 1000)
    unheeded.of_laplace(mode, inits)
    posterior, chosen = posterior_of(module, data, seed, networks)
    processor = DrawProcessor(posterior, draws)
    hessian, densities = _hessian(posterior, jacobian), _densities(posterior, jacobian, draws)
    center = _mode(posterior, mode, inits, chosen, jacobian)
    factor = _factor(-np.asarray(hessian(center)))
    if mode is not None:
        _warn_of_slope(np.asarray(posterior.gradient(jacobian)(center)[1]), factor)
    points, log_q = _normal(center, factor, draws, chosen)
    log_p = np.asarray(densities(points))
    stats = {"lp__": log_p[None], "log_p__": log_p[None], "log_q__": log_q[None]}
    settings = {"seed": chosen, "draws": draws, "jacobian": jacobian}
    variables = processor(points[None], chosen)
    remembered.keep(posterior)
    return Fit(posterior.program, "laplace", variables, stats, posterior.inputs, settings, {"mode": center},
               posterior.module)  # fmt: skip


def _hessian(posterior: Posterior, jacobian: bool) -> Callable[[np.ndarray], Any]:
    """The second derivatives; as differences of gradients where a function of the program has first ones only."""

    def make(posterior: Posterior) -> Program:
        import jax  # only now: what was compiled before needs none

        return posterior.compiled(jax.hessian(partial(posterior.log_density, jacobian=jacobian)), posterior.blank)

    try:
        return posterior.prepared(("hessian", jacobian), make)
    except StanDerivativeError:
        return newton.curvature(posterior, jacobian)


def _densities(posterior: Posterior, jacobian: bool, draws: int) -> Callable[[np.ndarray], Any]:
    """The log densities at so many points."""

    def make(posterior: Posterior) -> Program:
        import jax

        density = partial(posterior.log_density, jacobian=jacobian)
        return posterior.compiled(jax.vmap(density), np.zeros((draws, posterior.size)))

    return posterior.prepared(("densities", jacobian, draws), make)


def _mode(posterior: Posterior, mode: object, inits: object, seed: int, jacobian: bool) -> np.ndarray:
    """The point to expand at: the one that was given, else the mode. Raises OptionError, ValueError."""
    if mode is not None:
        mode = initial.fit_of(mode, "mode")
        (values,) = initial.per_chain(mode, 1, seed, "mode")
        if not isinstance(values, Mapping):
            raise options.OptionError(f"mode must be a fit by optimize, its path, or a dict of values, not {mode!r}")
        initial.verify_all(posterior, values)
        point = initial.unconstrained(posterior, values)
        if isinstance(mode, Result):
            _verify_mode(posterior, mode, point, jacobian)
        return point
    start = initial.starting_points(posterior, inits, 1, seed)[0]
    found, _ = optimization.maximum(posterior, start, "lbfgs", jacobian, _LIMITS)
    if not found.success:
        raise ValueError(f"no mode was found: {found.message}")
    return np.asarray(found.x)


def _verify_mode(posterior: Posterior, mode: Result, point: np.ndarray, jacobian: bool) -> None:
    """Raise OptionError for a fit that is no mode of the density that is expanded."""
    if mode.method != "optimize":
        raise options.OptionError(f"mode must be a fit by optimize, not one by {mode.method}; inits take those")
    own = mode.settings.get("jacobian", jacobian)
    if own == jacobian:
        return
    with_it, without = (np.asarray(posterior.gradient(flag)(point)[1]) for flag in (True, False))
    if not np.allclose(with_it, without):  # for constrained parameters the modes differ
        told = f"mode was found with jacobian={own}, and is not that of jacobian={jacobian}"
        raise options.OptionError(f"{told}: optimize with jacobian={jacobian}")


def _factor(precision: np.ndarray) -> np.ndarray:
    """The Cholesky factor of a precision. Raises ValueError where it is none."""
    try:
        return np.asarray(np.linalg.cholesky(precision))
    except np.linalg.LinAlgError:
        raise ValueError("the Hessian is not negative definite at the mode: there is no normal approximation") from None


def _warn_of_slope(gradient: np.ndarray, factor: np.ndarray) -> None:
    """Warn where a step by the Hessian promises to gain: there the normal law would be about a point that is no mode.

    So it is with the mode that was found for other data.
    """
    promised = 0.5 * float(np.square(scipy.linalg.solve_triangular(factor, gradient, lower=True)).sum())
    if promised > _RISES:
        told = f"is not the mode of this posterior: the log density still rises by about {promised:.2g}"
        warn(f"the mode that was given {told}, and the draws are about another point than its mode", StanWarning)


def _normal(center: np.ndarray, factor: np.ndarray, draws: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draws from the normal law with this mean and Cholesky factor of the precision, and their log densities."""
    noise = np.random.default_rng([seed, 0x1A]).standard_normal((draws, len(center)))
    points = center + scipy.linalg.solve_triangular(factor, noise.T, lower=True, trans="T").T
    constant = np.log(np.diag(factor)).sum() - 0.5 * len(center) * np.log(2 * np.pi)
    return points, constant - 0.5 * np.square(noise).sum(axis=1)
