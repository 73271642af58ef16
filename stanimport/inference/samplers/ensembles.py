"""ChEES and MEADS, by BlackJAX: many chains as one vectorized program, which learn from each other in warm-up.

All chains make as many steps at the same time, as GPUs and other devices of many lanes do best. What is adapted, is
adapted from all chains together, so that few iterations of warm-up do, and each chain need only make few draws.

Source: Hoffman, Radul and Sountsov (2021), "An Adaptive-MCMC Scheme for Setting Trajectory Lengths in Hamiltonian Monte
Carlo", AISTATS, for ChEES; Hoffman and Sountsov (2022), "Tuning-Free Generalized Hamiltonian Monte Carlo", AISTATS, for
MEADS.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from ..density.posterior import Posterior
from ..options import OptionError
from ..precision import random_keys
from ..programs import Program
from ..running import interrupts
from .chains import STATS, Draws
from .other_samplers import blackjax_for
from .tracks import Settings

FEWEST, FOLDS = 8, 4  # chains at least; groups of chains in MEADS, each of which learns from another
_RATE, _FORGETTING = 0.025, 0.95  # of the optimizer of the trajectory's length, as in the paper on ChEES


def run_chees(posterior: Posterior, settings: Settings, points: np.ndarray, seed: int, metric: object) -> Draws:
    """HMC with trajectories of a length that all chains have learned, jittered, and a diagonal metric.

    Raises:
        MissingLibraryError: if BlackJAX is not installed.
        OptionError: for too few chains or iterations.
    """
    blackjax = blackjax_for("chees")
    import optax  # which BlackJAX needs itself

    _require_company(settings, "chees", len(points))

    def whole(key: jax.Array, points: Any) -> Any:
        keys = jax.random.split(key)
        adaptation = blackjax.chees_adaptation(
            posterior.log_density, len(points), target_acceptance_rate=settings.adapt_delta,
            max_leapfrog_steps=2**settings.max_treedepth, adaptation_info_fn=lambda *_: None,
            mass_matrix_estimation="diagonal" if settings.metric.adapts else None,
        )  # fmt: skip
        (states, learned), _ = adaptation.run(
            keys[0], points, settings.step_size, optax.adam(_RATE, b1=0.0, b2=_FORGETTING), settings.iter_warmup,
            max_sampling_steps=settings.iter_sampling,
        )  # fmt: skip
        size, inverse = learned["step_size"], learned["inverse_mass_matrix"]
        step = _hmc(blackjax.dynamic_hmc(posterior.log_density, **learned).step, size, inverse)
        return _sampled(step, settings, keys[1], states), size, inverse

    return _run(whole, settings, points, seed)


def _hmc(kernel: Any, size: Any, inverse: Any) -> Any:
    """A transition by a kernel of HMC, and what is recorded of it: the energy at the start where it is rejected."""

    def step(key: jax.Array, state: Any) -> tuple[Any, Any]:
        new, info = kernel(key, state)
        start = 0.5 * jnp.sum(inverse * info.momentum**2) - state.logdensity
        energy = jnp.where(info.is_accepted, info.energy, start)
        return new, _record(new, info, size, info.acceptance_rate) | {"energy__": energy}

    return step


def run_meads(posterior: Posterior, settings: Settings, points: np.ndarray, seed: int, metric: object) -> Draws:
    """Generalized HMC: one leapfrog step for a draw, most of the momentum kept, of which nothing is to be tuned.

    There is no `energy__`: as the momentum is kept, E-BFMI would say nothing.

    Raises:
        MissingLibraryError: if BlackJAX is not installed.
        OptionError: for too few iterations, or a number of chains that its groups can't have.
    """
    blackjax = blackjax_for("meads")
    _require_company(settings, "meads", len(points), FOLDS)

    def whole(key: jax.Array, points: Any) -> Any:
        keys = jax.random.split(key)
        adaptation = blackjax.meads_adaptation(
            posterior.log_density, len(points), FOLDS, adaptation_info_fn=lambda *_: None
        )  # fmt: skip
        (states, learned), _ = adaptation.run(keys[0], points, settings.iter_warmup)
        kernel = blackjax.ghmc(posterior.log_density, **learned).step

        def step(key: jax.Array, state: object) -> tuple[Any, Any]:
            new, info = kernel(key, state)
            return new, _record(new, info, learned["step_size"], info.is_accepted)

        return _sampled(step, settings, keys[1], states), learned["step_size"], learned["momentum_inverse_scale"] ** 2

    return _run(whole, settings, points, seed)


def _sampled(step: Callable[[Any, Any], Any], settings: Settings, key: jax.Array, states: Any) -> Any:
    """The records of every `thin`-th transition of all chains, (draws, chains)."""
    kept = len(range(0, settings.iter_sampling, settings.thin))
    chains = len(jax.tree.leaves(states)[0])

    def transition(states: Any, key: jax.Array) -> tuple[Any, Any]:
        made: tuple[Any, Any] = jax.vmap(step)(jax.random.split(key, chains), states)
        return made

    def drawn(states: object, key: jax.Array) -> tuple[Any, Any]:
        keys = jax.random.split(key, settings.thin)
        states, record = transition(states, keys[0])
        return lax.fori_loop(1, settings.thin, lambda i, s: transition(s, keys[i])[0], states), record

    return lax.scan(drawn, states, jax.random.split(key, kept))[1]


def _record(state: Any, info: Any, step_size: Array, acceptance: Any) -> dict[str, object]:
    return {
        "point": state.position, "lp__": state.logdensity, "accept_stat__": jnp.asarray(acceptance, float),
        "stepsize__": jnp.asarray(step_size), "n_leapfrog__": jnp.asarray(info.num_integration_steps),
        "divergent__": info.is_divergent,
    }  # fmt: skip


def _run(whole: Callable[[Any, Any], object], settings: Settings, points: np.ndarray, seed: int) -> Draws:
    """Run a program of all chains, from a key and their starting points to records, step size and metric."""
    key = random_keys(seed, 11, count=1)[0]
    program = Program(whole, key, points)
    with interrupts.immediate():
        records, size, inverse = jax.tree.map(np.asarray, program(key, points))
    records["treedepth__"] = np.floor(np.log2(records["n_leapfrog__"])).astype(np.int64) + 1
    stats = {n: np.swapaxes(records[n], 0, 1) for n in STATS if n in records}
    drawn, chains = np.swapaxes(records["point"], 0, 1), len(points)
    return Draws(drawn, stats, np.full(chains, size), np.tile(inverse, (chains, 1)))


def _require_company(settings: Settings, method: str, chains: int, folds: int = 1) -> None:
    """Raise OptionError for chains that can't learn together."""
    if chains < FEWEST or chains % folds:
        groups = f", a multiple of {folds}" if folds > 1 else ""
        raise OptionError(
            f"method={method!r} learns from many chains: at least {FEWEST}{groups}, and better 64 or more; "
            f"there are {chains}"
        )
    if settings.iter_warmup < 1 or settings.iter_sampling < 1:
        raise OptionError(f"method={method!r} needs iterations of warm-up and of sampling")
