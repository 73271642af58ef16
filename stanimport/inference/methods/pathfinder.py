"""`pathfinder`: draws from normal approximations along optimization paths, resampled by importance."""
from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from ...errors import warn
from .. import options
from ..density import initial, remembered
from ..density.conditioned import posterior_of
from ..density.path_limits import Limits
from ..density.paths import Paths, run
from ..density.quantities import DrawProcessor
from ..fits.fit import Fit
from ..fits.labels import labelled
from ..precision import double_precision
from ..running.progress import Progress
from . import unheeded
from .importance import RELIABLE, ParetoWarning
from .optimization import ConvergenceWarning

if TYPE_CHECKING:
    from ..density.posterior import Posterior
    from ..programs import Program

__all__ = ["pathfinder"]
AT_TOP = ["pathfinder"]


@labelled
@options.suggesting
def pathfinder(
    module: object, data: object = None, *, seed: SupportsIndex | None = None, inits: object = None,
    num_paths: SupportsIndex = 4, draws: SupportsIndex = 1000, num_single_draws: SupportsIndex = 1000,
    num_elbo_draws: SupportsIndex = 25, max_lbfgs_iters: SupportsIndex = 1000, history_size: SupportsIndex = 5,
    init_alpha: float | None = None, tol_obj: float = 1e-12, tol_rel_obj: float = 1e4, tol_grad: float = 1e-8,
    tol_rel_grad: float = 1e7, tol_param: float = 1e-8, psis_resample: bool = True, show_progress: bool = False,
    networks: Mapping[str, object] | None = None,
) -> Fit:  # fmt: skip
    """Draw from an approximation of the posterior, in the time of a few optimizations.

    Args:
        module, data, seed, inits, networks: as for `sample`, a path taking the place of a chain.
        num_paths: how many optimizations.
        draws: how many draws to return.
        num_single_draws: draws of each path that they are chosen from.
        num_elbo_draws: draws that estimate how good the approximation at a point of the path is.
        max_lbfgs_iters, history_size: of L-BFGS.
        init_alpha: its first step, in units of the gradient; if None one of length 1, or a shorter gradient.
        tol_obj, tol_grad, tol_param: the change of the log density, the norm of its gradient, and the length of a step
            at which a path ends.
        tol_rel_obj, tol_rel_grad: relative changes at which it ends, in units of the machine epsilon.
        psis_resample: choose among the draws of all paths by Pareto-smoothed importance weights; else the draws are
            the first of each path, in turn.
        show_progress: show a bar that counts paths.

    Returns:
        The fit, with `log_p__` and `log_q__`, the log densities of posterior and approximation, the number of the path
        that a draw is of, `path__`, and in `info` the Pareto shape `pareto_k`. `fit.create_inits()` gives
        initial values for `sample`.

    Warns:
        ConvergenceWarning: for a path that is left out, since it can't start from its initial values, say.

    Raises:
        StanDataError, InitialValueError, OptionError: as for `sample`, if it is so of every path.
        MissingLibraryError: if BlackJAX is not installed.

    Source: Zhang, Carpenter, Gelman and Vehtari (2022), "Pathfinder: Parallel quasi-Newton variational inference",
    Journal of Machine Learning Research 23.

    Examples:
        >>> coin = stanimport.load("models/coin.stan")
        >>> data = {"flips": 8, "heads": [1, 1, 0, 1, 1, 0, 1, 1]}
        >>> approximation = stanimport.pathfinder(coin, data, seed=1)
        >>> round(float(approximation.stan_variable("bias").mean()), 1)
        0.7
    """
    counts = options.counts(num_paths=num_paths, draws=draws, num_single_draws=num_single_draws,
                            num_elbo_draws=num_elbo_draws, max_lbfgs_iters=max_lbfgs_iters,
                            history_size=history_size)  # fmt: skip
    tolerances = dict(tol_obj=tol_obj, tol_rel_obj=tol_rel_obj, tol_grad=tol_grad, tol_rel_grad=tol_rel_grad,
                      tol_param=tol_param)  # fmt: skip
    limits = _verified(counts, tolerances, init_alpha, psis_resample)
    posterior, chosen = posterior_of(module, data, seed, networks)
    options.require_parameters(posterior.program.name, posterior.size)
    numbers, found = _paths(posterior, inits, chosen, counts, limits, show_progress)
    at, shape = _chosen(posterior, found, counts["draws"], psis_resample, chosen)
    settings = {"seed": chosen, "psis_resample": psis_resample, "init_alpha": init_alpha, **counts, **tolerances}
    fit = _of_draws(posterior, found, at, numbers[at // counts["num_single_draws"]], settings, shape)
    remembered.keep(posterior)
    return fit


def _paths(
    posterior: Posterior, inits: object, seed: int, counts: Mapping[str, int], limits: Limits, show: bool
) -> tuple[np.ndarray, Paths]:
    """The numbers of the paths that came to something, and these. Raises errors of `_starts` and `_sound`."""
    numbers, starts = _starts(posterior, inits, counts["num_paths"], seed)
    with Progress(len(starts), show, "path") as progress:
        return _sound(counts["num_paths"], numbers, run(
            posterior, starts, seed, counts["num_single_draws"], counts["num_elbo_draws"], limits, progress.advance
        ))  # fmt: skip


def _starts(posterior: Posterior, inits: object, paths: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of the paths that can start, and their starting points.

    Raises:
        InitialValueError, StanDataError: if none can, what is wrong with the first.
    """
    found = initial.points_or_errors(posterior, inits, paths, seed)
    starts = {k: p for k, p in enumerate(found, 1) if isinstance(p, np.ndarray)}
    errors = {k: e for k, e in enumerate(found, 1) if isinstance(e, Exception)}
    if not starts:
        raise errors[1]
    for k, error in errors.items():
        _left_out(k, paths, str(error))
    return np.array(list(starts)), np.stack(list(starts.values()))


def _sound(paths: int, numbers: np.ndarray, found: Paths) -> tuple[np.ndarray, Paths]:
    """The paths of which any draw has a finite log density, and their numbers. Raises ValueError if there is none."""
    sound = np.isfinite(found.log_p).any(axis=1)
    if not sound.any():
        raise ValueError("every path failed: the log density is finite at none of its draws")
    for k in numbers[~sound]:
        _left_out(k, paths, "the log density is finite at none of its draws")
    return numbers[sound], Paths(*(a[sound] for a in found))


def _left_out(number: int, paths: int, reason: str) -> None:
    warn(f"path {number} of {paths} is left out: {reason}", ConvergenceWarning)


def _of_draws(
    posterior: Posterior, found: Paths, at: np.ndarray, paths: np.ndarray, settings: dict[str, Any], shape: float
) -> Fit:
    """The fit that has the draws at some places, of the paths of these numbers."""
    points, log_p, log_q = (a.reshape(-1, *a.shape[2:])[at][None] for a in found)
    variables = DrawProcessor(posterior, len(at))(points, settings["seed"])
    stats = {"lp__": log_p, "log_p__": log_p, "log_q__": log_q, "path__": paths[None]}
    return Fit(posterior.program, "pathfinder", variables, stats, posterior.inputs, settings, {"pareto_k": shape},
               posterior.module)  # fmt: skip


def _verified(
    counts: Mapping[str, int], tolerances: Mapping[str, float], init_alpha: float | None, resample: bool
) -> Limits:
    """The limits of a path. Raises OptionError for options that are wrong."""
    unheeded.of_paths(counts["draws"], counts["num_paths"] * counts["num_single_draws"], resample)
    options.at_least(0, **tolerances)
    if init_alpha is not None:
        options.between(0, math.inf, init_alpha=init_alpha)
    return Limits(counts["max_lbfgs_iters"], counts["history_size"], **tolerances, init_alpha=init_alpha)


def _chosen(posterior: Posterior, found: Paths, draws: int, resample: bool, seed: int) -> tuple[np.ndarray, float]:
    """Which of all paths' draws to return, and the Pareto shape of their weights."""
    ratios = np.where(np.isfinite(found.log_p), found.log_p - found.log_q, -np.inf).ravel()
    if not resample:
        order = np.arange(ratios.size).reshape(found.log_p.shape).T.ravel()
        return order[:draws], float("nan")
    weights, shape = _smoothed(posterior, ratios)
    if shape > RELIABLE:
        told = f"the Pareto shape of the importance weights is {float(shape):.2f}, above {RELIABLE}"
        warn(f"{told}: these draws are good as initial values, not as draws from the posterior",
             ParetoWarning)  # fmt: skip
    rng = np.random.default_rng([seed, 0x9F])
    probabilities = np.exp(weights - weights.max())
    return rng.choice(ratios.size, draws, p=probabilities / probabilities.sum()), float(shape)


def _smoothed(posterior: Posterior, ratios: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The logarithms of Pareto-smoothed importance weights, and the shape of the Pareto law."""

    def make(posterior: Posterior) -> Program:
        with double_precision():  # it makes constants while it is imported
            from blackjax.diagnostics import psis_weights

        return posterior.compiled(psis_weights, ratios)

    weights, shape = posterior.prepared(("smoothed", ratios.size), make)(ratios)
    return np.asarray(weights), np.asarray(shape)
