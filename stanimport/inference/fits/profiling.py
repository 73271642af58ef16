"""The time of `profile` blocks, measured on the parts of the compiled density.

XLA merges statements with their neighbours, so there is no clock inside a density. What a block costs is what the
density up to its end takes beyond the density up to its begin: each is compiled, and runs at draws of the fit in a
loop, as in the sampler.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from stanlib.errors import StanError
from stanlib.extras import require

from ... import api
from ..density.points import LogProb
from ..precision import TRACING, double_precision

if TYPE_CHECKING:
    from stanlib.program import Module

    from ...api import Profiled
    from .result import Result

COLUMNS = ("name", "thread_id", "total_time", "forward_time", "reverse_time", "chain_stack", "no_chain_stack",
           "autodiff_calls", "no_autodiff_calls")  # fmt: skip
POINTS = 4  # draws at which a density runs, as the time may depend on the values
ROUNDS = 9  # of measuring, one program after the other; the least time counts
LEAST = 0.01  # seconds that a round takes at least
_NEGLIGIBLE = 1e-30


class Cost(NamedTuple):
    """Seconds of one evaluation: of the value, and of the gradient beyond the value."""

    forward: float
    reverse: float


def table(fit: Result) -> Any:
    """The time of every `profile` block in a run, as a DataFrame with CmdStan's columns, a row per block and chain.

    Raises:
        StanError: for a fit that has not been sampled with gradients, or a program with networks.
    """
    require("pandas", extra="inference")
    import pandas

    program = fit.program
    if "n_leapfrog__" not in fit.stats or not fit.has_data:
        raise StanError(f"profiles are those of a run of NUTS with its data, not of one by {fit.method!r}")
    if program.networks:
        raise StanError("profile blocks of programs with networks are not measured")
    folder = Path(program.filename).parent
    folders = [folder] if folder.is_dir() else []
    found = api.profiled(program.filename, source=program.source, include_paths=folders, includes=program.includes)
    costs = [(p, _cost(fit, p)) for p in found]
    names = dict.fromkeys(p.name for p in found)
    rows = [_row(fit, chain, name, costs) for name in names for chain in range(fit.chains)]
    return pandas.DataFrame(rows, columns=list(COLUMNS))


def _row(fit: Result, chain: int, name: str, costs: Sequence[tuple[Profiled, Cost]]) -> list[object]:
    """A row of the table; blocks of one name are counted together."""
    gradients = int(fit.stats["n_leapfrog__"][chain].sum())
    if fit.warmup is not None:
        gradients += int(fit.warmup[1]["n_leapfrog__"][chain].sum())
    mine = [(p, c) for p, c in costs if p.name == name]
    differentiated = [c for p, c in mine if p.block != "generated quantities"]
    values = [c for p, c in mine if p.block in ("generated quantities", "transformed parameters")]
    calls, draws = gradients * len(differentiated), fit.draws_per_chain * len(values)
    forward = gradients * sum(c.forward for c in differentiated) + fit.draws_per_chain * sum(c.forward for c in values)
    reverse = gradients * sum(c.reverse for c in differentiated)
    return [name, fit.chain_ids[chain], forward + reverse, forward, reverse, np.nan, np.nan, calls, draws]


def _cost(fit: Result, profiled: Profiled) -> Cost:
    """What a block costs in one evaluation; not a number for one that is not measured."""
    if not profiled.with_it:
        return Cost(np.nan, np.nan)
    data = {n: fit.data[n] for n in fit.program.names("data")}
    pair = [LogProb(_module(fit, text), data) for text in (profiled.with_it, profiled.without)]
    params = fit.create_inits(0, min(POINTS, fit.num_draws))
    points = np.stack([pair[0].unconstrain(p) for p in params])
    if profiled.block == "generated quantities":
        return Cost(_apart([_generating(p, points) for p in pair]), 0.0)
    forward = _apart([_running(p, points, _value_of(p)) for p in pair])
    both = _apart([_running(p, points, _gradient_of(p)) for p in pair])
    return Cost(forward, max(both - forward, 0.0))


def _module(fit: Result, text: str) -> Module:
    return api.loads(text, name=fit.program.name, backend="numpyro", scheme="comprehensive")


def _value_of(density: LogProb) -> Callable[[Any], Any]:
    return lambda point: density.posterior.log_density(point)


def _gradient_of(density: LogProb) -> Callable[[Any], Any]:
    def gradient(point: object) -> Any:
        value, found = jax.value_and_grad(density.posterior.log_density)(point)
        return value + jnp.sum(found)

    return gradient


def _generating(density: LogProb, points: np.ndarray) -> Callable[[int], float]:
    key = np.zeros(2, np.uint32)

    def quantities(point: Any) -> jax.Array:
        made = density.posterior.everything(key, point)
        return sum((jnp.sum(jnp.real(jnp.asarray(v, float))) for v in made.values()), start=jnp.zeros(()))

    return _running(density, points, quantities)


def _running(density: LogProb, points: np.ndarray, function: Callable[[Any], Any]) -> Callable[[int], float]:
    """A function that runs another so many times in one compiled loop, at points in turn, and gives the seconds.

    Each run reads, to no effect, what the one before gave: XLA can't leave any out.
    """

    def loop(times: Any, at: Any) -> Any:
        def step(i: Any, carried: Any) -> Any:
            made = function(at[i % len(points)] + carried)
            return jnp.where(jnp.isfinite(made), made, 0.0) * _NEGLIGIBLE

        return lax.fori_loop(0, times, step, jnp.zeros(()))

    with TRACING, double_precision():
        compiled = jax.jit(loop).lower(0, points).compile()

    def seconds(times: int) -> float:
        with double_precision():
            begin = perf_counter()
            jax.block_until_ready(compiled(times, points))
            return perf_counter() - begin

    return seconds


def _apart(runs: Sequence[Callable[[int], float]]) -> float:
    """How much longer one evaluation takes in the first run than in the second; never less than nothing."""
    times = 1
    while max(run(times) for run in runs) < LEAST:
        times *= 2
    rounds = [[run(times) / times for run in runs] for _ in range(ROUNDS)]
    return max(min(r[0] for r in rounds) - min(r[1] for r in rounds), 0.0)
