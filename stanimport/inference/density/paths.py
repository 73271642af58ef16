"""Draws from the best normal approximations along paths of L-BFGS: what Pathfinder, and initial values by it, ask for.

The paths themselves are `quasi_newton_paths.py`, whose program may have been compiled before, by another process too.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..precision import random_keys
from .path_limits import Limits

if TYPE_CHECKING:
    from ..programs import Program
    from .posterior import Posterior


class Paths(NamedTuple):
    """Draws of all paths: (paths, draws, size), log densities of posterior and approximation, (paths, draws)."""

    points: np.ndarray
    log_p: np.ndarray
    log_q: np.ndarray


def run(
    posterior: Posterior, starts: np.ndarray, seed: int, num_draws: int = 1000, num_elbo_draws: int = 25,
    limits: Limits | None = None, told: Callable[[int], None] = lambda count: None,
) -> Paths:  # fmt: skip
    """Draws of one path from every start, one path after the other; `told` hears of each."""
    ends = limits or Limits()

    def make(posterior: Posterior) -> Program:
        from .quasi_newton_paths import compiled  # only now: what was compiled before needs no JAX

        return compiled(posterior, num_draws, num_elbo_draws, ends)

    program = posterior.prepared(("path", num_draws, num_elbo_draws, *ends), make)
    keys = random_keys(seed, 6, count=2 * len(starts)).reshape(-1, 2, 2)
    made = []
    for k, start in zip(keys, starts):
        made.append([np.asarray(a) for a in program(k, start)])
        told(1)
    return Paths(*(np.stack(arrays) for arrays in zip(*made)))
