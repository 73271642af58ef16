"""Paths of L-BFGS from starting points, and draws from the best normal approximation along each; BlackJAX's."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import numpy as np

from stanlib.errors import MissingLibraryError

from ..precision import random_keys
from ..programs import Program

if TYPE_CHECKING:
    from ..density.posterior import Posterior


class Paths(NamedTuple):
    """Draws of all paths: (paths, draws, size), log densities of posterior and approximation, (paths, draws)."""

    points: np.ndarray
    log_p: np.ndarray
    log_q: np.ndarray


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
