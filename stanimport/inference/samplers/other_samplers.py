"""The samplers of other packages, behind `sample(method=...)`: BlackJAX's NUTS, and nutpie's."""
from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from stanlib.errors import MissingLibraryError

from ..density.posterior import Posterior
from ..precision import double_precision, random_keys
from ..programs import Program
from ..running import interrupts
from .chains import Draws, default_workers
from .tracks import Settings


def blackjax_for(method: str) -> Any:
    """BlackJAX. Raises MissingLibraryError, which names the method, if it is not installed."""
    try:
        with double_precision():  # it makes constants while it is imported
            import blackjax
    except ImportError:
        raise MissingLibraryError(f"method={method!r} needs BlackJAX: pip install blackjax") from None
    return blackjax


def run_blackjax(posterior: Posterior, settings: Settings, points: np.ndarray, seed: int, metric: object) -> Draws:
    """BlackJAX's NUTS after its window adaptation, a thread for each chain.

    Raises:
        MissingLibraryError: if BlackJAX is not installed.
    """
    blackjax = blackjax_for("blackjax")

    def chain(key: jax.Array, point: Array) -> tuple[Any, Any]:
        keys = jax.random.split(key)
        adaptation = blackjax.window_adaptation(
            blackjax.nuts, posterior.log_density, is_mass_matrix_diagonal=not settings.metric.dense,
            target_acceptance_rate=settings.adapt_delta, initial_step_size=settings.step_size,
            max_num_doublings=settings.max_treedepth,
        )  # fmt: skip
        (state, parameters), _ = adaptation.run(keys[0], point, num_steps=settings.iter_warmup)
        kernel = blackjax.nuts(posterior.log_density, **parameters)

        def step(state: object, key: jax.Array) -> tuple[Any, Any]:
            state, info = kernel.step(key, state)
            return state, _record(state, info, parameters["step_size"])

        _, records = jax.lax.scan(step, state, jax.random.split(keys[1], settings.iter_sampling))
        return records, (parameters["step_size"], parameters["inverse_mass_matrix"])

    keys = random_keys(seed, 10, count=len(points))
    program = Program(chain, keys[0], points[0])
    with interrupts.immediate(), ThreadPoolExecutor(1 if program.may_block else default_workers(len(points))) as pool:
        made = list(pool.map(lambda k, p: jax.tree.map(np.asarray, program(k, p)), keys, points))
    return _of_chains(made, settings.thin)


def _in_numbers(posterior: Posterior, point: np.ndarray) -> tuple[float, np.ndarray]:
    """The log density and its gradient as nutpie takes them."""
    value, gradient = posterior.value_and_grad(point)
    return float(value), np.asarray(gradient)


def _of_chains(made: Sequence[tuple[Any, Any]], thin: int) -> Draws:
    """The draws of all chains, from the records of each, its step size and its metric."""
    records = {n: np.stack([m[0][n] for m in made])[:, ::thin] for n in made[0][0]}
    step_size, inverse = (np.stack([m[1][i] for m in made]) for i in range(2))
    return Draws(records.pop("point"), records, step_size, inverse)


def _record(state: Any, info: Any, step_size: Array) -> dict[str, object]:
    return {
        "point": state.position, "lp__": state.logdensity, "accept_stat__": info.acceptance_rate,
        "stepsize__": jnp.asarray(step_size), "treedepth__": info.num_trajectory_expansions,
        "n_leapfrog__": info.num_integration_steps, "divergent__": info.is_divergent, "energy__": info.energy,
    }  # fmt: skip


# What the statistics of Stan's sampler are called in nutpie's traces.
_NUTPIES = {
    "lp__": "logp", "accept_stat__": "mean_tree_accept", "stepsize__": "step_size", "treedepth__": "depth",
    "n_leapfrog__": "n_steps", "divergent__": "diverging", "energy__": "energy",
}  # fmt: skip


def run_nutpie(posterior: Posterior, settings: Settings, points: np.ndarray, seed: int, metric: object) -> Draws:
    """nutpie's NUTS, chain after chain, so that each begins at its own initial values: the density is Python's anyway.

    Raises:
        MissingLibraryError: if nutpie is not installed.
    """
    try:
        import nutpie
        from nutpie.compiled_pyfunc import from_pyfunc
    except ImportError:
        raise MissingLibraryError("method='nutpie' needs nutpie: pip install nutpie") from None
    posterior.value_and_grad(points[0])
    remaining = iter(points)
    model = from_pyfunc(
        posterior.size, lambda: partial(_in_numbers, posterior), lambda *_: lambda point: {"point": np.asarray(point)},
        [np.dtype("float64")], [(posterior.size,)], ["point"],
        make_initial_point_fn=lambda _: next(remaining, points[0]),
    )  # fmt: skip
    with interrupts.immediate():
        trace = nutpie.sample(
            model, draws=settings.iter_sampling, tune=settings.iter_warmup, chains=len(points), seed=seed,
            cores=1, target_accept=settings.adapt_delta, maxdepth=settings.max_treedepth, progress_bar=False,
        )  # fmt: skip
    records = {n: np.asarray(trace.sample_stats[v])[:, :: settings.thin] for n, v in _NUTPIES.items()}
    records["lp__"] = records["lp__"].astype(float)
    drawn = np.asarray(trace.posterior["point"])[:, :: settings.thin]
    ones = np.ones((len(points), posterior.size))
    return Draws(drawn, records, records["stepsize__"][:, -1], ones)
