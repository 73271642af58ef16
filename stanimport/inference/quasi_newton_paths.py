"""`pathfinder`: draws from normal approximations along optimization paths, resampled by importance; BlackJAX's."""
from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import jax
import numpy as np

from stanlib.errors import MissingLibraryError

from . import initial, options
from .fit import Fit
from .importance import RELIABLE, ParetoWarning
from .labels import labelled
from .posterior import Posterior
from .precision import random_keys
from .programs import Program
from .quantities import DrawProcessor
from .sampling import posterior_of


class Paths(NamedTuple):
    """Draws of all paths: (paths, draws, size), log densities of posterior and approximation, (paths, draws)."""

    points: np.ndarray
    log_p: np.ndarray
    log_q: np.ndarray


@labelled
@options.suggesting
def pathfinder(
    module: Any, data: Any = None, *, seed: int | None = None, inits: Any = None, num_paths: int = 4,
    draws: int = 1000, num_single_draws: int = 1000, num_elbo_draws: int = 25, max_lbfgs_iters: int = 100,
    history_size: int = 6, tol_obj: float = 1e-5, tol_grad: float = 1e-8, psis_resample: bool = True,
    show_progress: bool = False,
) -> Fit:  # fmt: skip
    """Draw from an approximation of the posterior, in the time of a few optimizations.

    Args:
        module, data, seed, inits: as for `sample`, a path taking the place of a chain.
        num_paths: how many optimizations.
        draws: how many draws to return.
        num_single_draws: draws of each path that they are chosen from.
        num_elbo_draws: draws that estimate how good the approximation at a point of the path is.
        max_lbfgs_iters, history_size, tol_obj, tol_grad: of L-BFGS.
        psis_resample: choose among the draws of all paths by Pareto-smoothed importance weights; else the draws are
            the first of each path, in turn.

    Returns:
        The fit, with `log_p__` and `log_q__`, the log densities of posterior and approximation, and in `info` the
        Pareto shape `pareto_k`. `fit.create_inits()` gives initial values for `sample`.

    Raises:
        StanDataError, InitialValueError, OptionError: as for `sample`.
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
    counts = dict(num_paths=num_paths, draws=draws, num_single_draws=num_single_draws, num_elbo_draws=num_elbo_draws,
                  max_lbfgs_iters=max_lbfgs_iters, history_size=history_size)  # fmt: skip
    options.at_least(1, **counts)
    posterior, chosen = posterior_of(module, data, seed)
    options.require_parameters(posterior.program.name, posterior.size)
    processor = DrawProcessor(posterior, draws)
    starts = initial.starting_points(posterior, inits, num_paths, chosen)
    found = run(posterior, starts, chosen, num_single_draws, num_elbo_draws, max_lbfgs_iters, history_size,
                (tol_obj, tol_grad))  # fmt: skip
    at, shape = _chosen(found, draws, psis_resample, chosen)
    flat = [a.reshape(-1, *a.shape[2:])[at] for a in found]
    settings = {"seed": chosen, "psis_resample": psis_resample, **counts}
    stats = {"lp__": flat[1][None], "log_p__": flat[1][None], "log_q__": flat[2][None]}
    return Fit(posterior.program, "pathfinder", processor(flat[0][None], chosen), stats, posterior.inputs, settings,
               {"pareto_k": shape}, posterior.module)  # fmt: skip


def initial_points(posterior: Posterior, chains: int, seed: int) -> np.ndarray:
    """Starting points for chains, one draw of a path each."""
    starts = initial.starting_points(posterior, None, chains, seed)
    return run(posterior, starts, seed, num_draws=1).points[:, 0]


def run(
    posterior: Posterior, starts: np.ndarray, seed: int, num_draws: int = 1000, num_elbo_draws: int = 25,
    iterations: int = 100, history: int = 6, tolerances: tuple[float, float] = (1e-5, 1e-8),
) -> Paths:  # fmt: skip
    """Draws of one path from every start, one path after the other."""
    try:
        from blackjax.vi import pathfinder as library
    except ImportError:
        raise MissingLibraryError("Pathfinder needs BlackJAX: pip install 'stanimport[inference]'") from None

    def path(keys: Any, start: Any) -> tuple[Any, Any, Any]:
        state, _ = library.approximate(
            keys[0], posterior.log_density, start, num_elbo_draws, maxiter=iterations, maxcor=history, maxls=50,
            ftol=tolerances[0], gtol=tolerances[1],
        )  # fmt: skip
        points, log_q = library.sample(keys[1], state, num_draws)
        return points, jax.vmap(posterior.log_density)(points), log_q

    keys = random_keys(seed, 6, count=2 * len(starts)).reshape(-1, 2, 2)
    program = Program(path, keys[0], starts[0])

    made = [[np.asarray(a) for a in program(k, start)] for k, start in zip(keys, starts)]
    return Paths(*(np.stack(arrays) for arrays in zip(*made)))


def _chosen(found: Paths, draws: int, resample: bool, seed: int) -> tuple[np.ndarray, float]:
    """Which of all paths' draws to return, and the Pareto shape of their weights."""
    from blackjax.diagnostics import psis_weights

    ratios = np.where(np.isfinite(found.log_p), found.log_p - found.log_q, -np.inf).ravel()
    if not np.any(np.isfinite(ratios)):
        raise ValueError("every path failed: the log density is finite at none of its draws")
    if not resample:
        order = np.arange(ratios.size).reshape(found.log_p.shape).T.ravel()
        return np.resize(order, draws), float("nan")
    weights, shape = (np.asarray(v) for v in Program(psis_weights, ratios)(ratios))
    if shape > RELIABLE:
        told = f"the Pareto shape of the importance weights is {float(shape):.2f}, above {RELIABLE}"
        warnings.warn(f"{told}: these draws are good as initial values, not as draws from the posterior",
                      ParetoWarning, stacklevel=5)  # fmt: skip
    rng = np.random.default_rng([seed, 0x9F])
    probabilities = np.exp(weights - weights.max())
    return rng.choice(ratios.size, draws, p=probabilities / probabilities.sum()), float(shape)
