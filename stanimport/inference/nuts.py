"""NumPyro's NUTS, run in short pieces of one compiled program: for progress, interruption, and threads over chains.

On a CPU each chain runs in a thread of its own: the program of one chain compiles in a quarter of the time that one of
four vectorized chains takes, and no chain waits for the longest trajectory of the others. Other devices get all their
chains in one vectorized program.
"""
from __future__ import annotations

import os
import threading
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpyro.infer.hmc import hmc
from numpyro.infer.util import ParamInfo

from . import interrupts
from .posterior import Posterior
from .precision import random_keys
from .programs import Program
from .progress import Progress

ROOM = 250  # iterations that one call of the compiled program makes at most
PATIENCE = 0.2  # seconds that one call should take, so that progress shows and an interrupt is noticed


@dataclass(frozen=True)
class Settings:
    """How NUTS runs; the names are CmdStan's."""

    iter_warmup: int = 1000
    iter_sampling: int = 1000
    thin: int = 1
    adapt_delta: float = 0.8
    max_treedepth: int = 10
    dense: bool = False
    adapt_metric: bool = True
    adapt_engaged: bool = True
    step_size: float = 1.0
    save_warmup: bool = False

    @property
    def total(self) -> int:
        return self.iter_warmup + self.iter_sampling


@dataclass
class Draws:
    """What a sampler returns.

    Attributes:
        points: on the unconstrained scale, (chains, draws, size).
        stats: per transition, (chains, draws), by CmdStan's names.
        step_size, metric: per chain, after adaptation; the metric is the inverse one, its diagonal or the matrix.
        warmup: points and stats of the warm-up, if they were kept.
        interrupted: whether there are fewer draws than were asked for.
    """

    points: np.ndarray
    stats: dict[str, np.ndarray]
    step_size: np.ndarray
    metric: np.ndarray
    warmup: tuple[np.ndarray, dict[str, np.ndarray]] | None = None
    interrupted: bool = False


def _fields(state: Any) -> dict[str, Any]:
    """What is recorded of each transition."""
    return {
        "point": state.z, "lp__": -state.potential_energy, "accept_stat__": state.accept_prob,
        "stepsize__": state.adapt_state.step_size, "n_leapfrog__": state.num_steps,
        "divergent__": state.diverging, "energy__": state.energy,
    }  # fmt: skip


class Sampler:
    """NUTS on a posterior: compiles in the background as soon as it is made.

    Args:
        posterior: what to sample from.
        settings: how.
        lanes: how many chains one program runs; 0 for one chain without an axis of chains.
        varying: for lanes with data of their own, those data by name, the first axis counting lanes.
        metric: the inverse metric that warm-up starts from, or the one to keep.
        devices: where the programs run.
    """

    def __init__(self, posterior: Posterior, settings: Settings, lanes: int = 0, metric: Any = None,
                 devices: Sequence[Any] = (None,), varying: Mapping[str, np.ndarray] | None = None):  # fmt: skip
        self.posterior, self.settings, self.lanes, self.metric = posterior, settings, lanes, metric
        self.varying = dict(varying or {})
        self._start, self._next = hmc(potential_fn_gen=self._potential, algo="NUTS")
        shape = (lanes,) if lanes else ()
        start = (np.zeros((*shape, 2), np.uint32), np.zeros((*shape, posterior.size)), np.zeros(shape),
                 np.zeros((*shape, posterior.size)), self.varying)  # fmt: skip
        state = Program.shapes(self._initial, *start)
        self.blank = jax.tree.map(lambda a: np.zeros(a.shape, a.dtype), state)
        self.programs = [
            Program(self._advance, np.bool_(True), start, self.blank, np.int64(1), device=d) for d in devices
        ]

    def _potential(self, varying: Mapping[str, Any]) -> Callable[[Any], Any]:
        posterior = self.posterior.given(varying)
        return lambda point: -posterior.log_density(point)

    def _initial(self, key: Any, point: Any, potential: Any, gradient: Any, varying: Any) -> Any:
        s = self.settings

        def one(key: Any, point: Any, potential: Any, gradient: Any, varying: Any) -> Any:
            return self._start(
                ParamInfo(point, potential, gradient), num_warmup=s.iter_warmup if s.adapt_engaged else 0,
                step_size=s.step_size, inverse_mass_matrix=self.metric, adapt_step_size=s.adapt_engaged,
                adapt_mass_matrix=s.adapt_metric and s.adapt_engaged, dense_mass=s.dense,
                target_accept_prob=s.adapt_delta, max_tree_depth=s.max_treedepth, rng_key=key,
                model_args=(varying,),
            )  # fmt: skip

        return (jax.vmap(one) if self.lanes else one)(key, point, potential, gradient, varying)

    def _advance(self, is_first: Any, start: tuple[Any, ...], state: Any, count: Any) -> tuple[Any, Any]:
        """`count` transitions, from the starting values or the state."""
        state = jax.lax.cond(is_first, lambda: self._initial(*start), lambda: state)
        records = jax.tree.map(lambda a: jnp.zeros((ROOM, *a.shape), a.dtype), _fields(state))

        def one(state: Any, varying: Any) -> Any:
            return self._next(state, (varying,), {})

        transition = jax.vmap(one) if self.lanes else one

        def body(i: Any, carry: tuple[Any, Any]) -> tuple[Any, Any]:
            state = transition(carry[0], start[-1])
            return state, jax.tree.map(lambda r, a: r.at[i].set(a), carry[1], _fields(state))

        made: tuple[Any, Any] = jax.lax.fori_loop(0, count, body, (state, records))
        return made

    def evaluate(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Potentials and their gradients at the starting points."""
        known = [self.posterior.value_and_grad(p) for p in points]
        return np.stack([-np.asarray(v) for v, _ in known]), np.stack([-np.asarray(g) for _, g in known])

    def run(self, start: tuple[Any, ...], program: Program, stop: threading.Event, progress: Progress) -> "Track":
        """All iterations of one chain, or of the chains of one vectorized program; fewer once `stop` is set."""
        track = Track(self.settings, self.posterior.size, self.lanes)
        state, count = self.blank, min(10, ROOM)
        while track.done < self.settings.total and not stop.is_set():
            count = min(count, self.settings.total - track.done)
            began = time.perf_counter()
            state, records = program(np.bool_(track.done == 0), start, state, np.int64(count))
            track.add({n: np.asarray(r)[:count] for n, r in records.items()}, count)
            elapsed = time.perf_counter() - began
            phase = "warm-up" if track.done <= self.settings.iter_warmup else "sampling"
            progress.advance(count * max(self.lanes, 1), phase)
            count = int(np.clip(count * PATIENCE / max(elapsed, 1e-9), 1, ROOM))
        track.state = state
        return track


class Track:
    """The records of the transitions that one program made."""

    def __init__(self, settings: Settings, size: int, lanes: int):
        self.settings, self.size, self.lanes = settings, size, lanes
        self.done, self.pieces = 0, list[dict[str, np.ndarray]]()
        self.state: Any = None

    def add(self, piece: dict[str, np.ndarray], count: int) -> None:
        """Keep what will be asked for: with warm-up iterations only where they are saved."""
        skip = 0 if self.settings.save_warmup else max(0, min(count, self.settings.iter_warmup - self.done))
        self.done += count
        if skip < count:
            # copies: a view would keep the program's whole buffer, of which this may be a small part
            self.pieces.append({n: r[skip:].copy() for n, r in piece.items()})

    def records(self) -> list[dict[str, np.ndarray]]:
        """Per chain, the transitions kept: thinned, the first axis counts them."""
        names = self.pieces[0] if self.pieces else ()
        whole = {n: np.concatenate([p[n] for p in self.pieces]) for n in names}
        if not self.lanes:
            return [whole]
        return [{n: r[:, i] for n, r in whole.items()} for i in range(self.lanes)]


def run(sampler: Sampler, points: np.ndarray, seed: int, workers: int, show_progress: bool) -> Draws:
    """Run all chains from their starting points; after an interrupt, the draws made so far.

    Raises:
        KeyboardInterrupt: if there are no draws yet.
    """
    groups = _starts(sampler, points, seed)
    stop = threading.Event()
    if any(p.may_block for p in sampler.programs):
        workers = 1
    with Progress(len(points) * sampler.settings.total, show_progress) as progress, ThreadPoolExecutor(workers) as pool:
        jobs = [
            pool.submit(sampler.run, start, sampler.programs[i % len(sampler.programs)], stop, progress)
            for i, start in enumerate(groups)
        ]
        interrupted = _wait(jobs, stop)
    return _collect([job.result() for job in jobs if not job.cancelled()], sampler.settings, interrupted, len(points))


def _starts(sampler: Sampler, points: np.ndarray, seed: int) -> list[tuple[Any, ...]]:
    """Keys, points, potentials and gradients of the chains, grouped by the programs' lanes."""
    keys = random_keys(seed, 0, count=len(points))
    potentials, gradients = sampler.evaluate(points)
    whole = (keys, points, potentials, gradients)
    if not sampler.lanes:
        return [(*(a[i] for a in whole), {}) for i in range(len(points))]
    return [(*(a[i : i + sampler.lanes] for a in whole), sampler.varying) for i in range(0, len(points), sampler.lanes)]


def _wait(jobs: Sequence[Future[Track]], stop: threading.Event) -> bool:
    """Wait for the chains; whether they were interrupted. An error in one ends all."""
    interrupted = False
    while True:
        try:
            interrupts.check()
            done, pending = wait(jobs, timeout=interrupts.INTERVAL)
            if any(j.exception() for j in done if not j.cancelled()):
                stop.set()
            if not pending:
                return interrupted
        except KeyboardInterrupt:
            if interrupted:
                raise
            interrupted = True
            stop.set()
            for job in jobs:
                job.cancel()


def _collect(tracks: Sequence[Track], settings: Settings, interrupted: bool, chains: int) -> Draws:
    records = [r for t in tracks for r in t.records()]
    kept = settings.iter_warmup if settings.save_warmup else 0
    lengths = [len(r["point"]) - kept if r else 0 for r in records]
    count = min(lengths) if len(records) == chains else 0
    if interrupted and count <= 0:
        raise KeyboardInterrupt("interrupted before the first draw of every chain")
    if interrupted:
        warnings.warn(f"interrupted: the fit holds the first {count} draws of each chain", RuntimeWarning, stacklevel=4)
    stacked = {n: np.stack([r[n][: kept + count] for r in records]) for n in records[0]}
    sampled = _split({n: v[:, kept :: settings.thin] for n, v in stacked.items()})
    warmup = _split({n: v[:, : kept : settings.thin] for n, v in stacked.items()}) if kept else None
    adapted = [t.state.adapt_state for t in tracks]
    join: Callable[[list[Any]], np.ndarray] = np.concatenate if tracks[0].lanes else np.stack
    return Draws(
        *sampled, step_size=join([np.asarray(a.step_size) for a in adapted]),
        metric=join([np.asarray(a.inverse_mass_matrix) for a in adapted]), warmup=warmup, interrupted=interrupted,
    )  # fmt: skip


def _split(records: dict[str, np.ndarray]) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Points, and stats by CmdStan's names in CmdStan's order."""
    steps = records["n_leapfrog__"]
    records["treedepth__"] = np.floor(np.log2(np.maximum(steps, 1))).astype(np.int64) + 1
    names = ("lp__", "accept_stat__", "stepsize__", "treedepth__", "n_leapfrog__", "divergent__", "energy__")
    return records["point"], {n: records[n] for n in names}


def default_workers(chains: int) -> int:
    try:
        available = len(os.sched_getaffinity(0))
    except AttributeError:
        available = os.cpu_count() or 1
    return max(1, min(chains, available))
