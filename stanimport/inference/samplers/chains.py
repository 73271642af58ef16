"""Chains of a sampler in threads, in short pieces of one compiled program: for progress, interruption, and restarts.

On a CPU each chain runs in a thread of its own: no chain waits for the longest trajectory of the others. Other devices
get all their chains in one vectorized program.
"""
from __future__ import annotations

import os
import threading
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any, Protocol

import jax
import numpy as np

from .. import interrupts
from ..precision import Streams, streams_of
from ..progress import Progress
from .rows import BLOCK, FEW, Points, Rows

ROOM = 250  # iterations that one call of the compiled program makes at most
PATIENCE = 0.2  # seconds that one call should take, so that progress shows and an interrupt is noticed
_STATS = ("lp__", "accept_stat__", "stepsize__", "treedepth__", "n_leapfrog__", "divergent__", "energy__")


@dataclass(frozen=True)
class Settings:
    """How a sampler runs; the names are CmdStan's.

    Attributes:
        dense: whether the metric is a matrix.
        by_gradients: whether it is estimated from draws and gradients.
        step_size: to start from; one for each chain, if there are several.
        restart: whether chains that are stranded in warm-up begin anew elsewhere.
        init_phase, metric_window, last_phase: iterations of warm-up before the windows, in the first one, and after
            the last; Stan's if None.
    """

    iter_warmup: int = 1000
    iter_sampling: int = 1000
    thin: int = 1
    adapt_delta: float = 0.8
    max_treedepth: int = 10
    dense: bool = False
    by_gradients: bool = False
    adapt_metric: bool = True
    adapt_engaged: bool = True
    step_size: float | tuple[float, ...] = 1.0
    save_warmup: bool = False
    restart: bool = True
    init_phase: int | None = None
    metric_window: int | None = None
    last_phase: int | None = None

    @property
    def total(self) -> int:
        return self.iter_warmup + self.iter_sampling

    @property
    def saved(self) -> int:
        """How many transitions of the warm-up are kept."""
        return len(range(0, self.iter_warmup, self.thin)) if self.save_warmup else 0


@dataclass(frozen=True)
class Restart:
    """A chain that began anew, counted from 1: after which iteration of warm-up, and why."""

    chain: int
    iteration: int
    reason: str


@dataclass
class Draws:
    """What a sampler returns.

    Attributes:
        points: on the unconstrained scale, (chains, draws, size): an array, or `Points`, which are given up once read.
        stats: per transition, (chains, draws), by CmdStan's names.
        step_size, metric: per chain, after adaptation; the metric is the inverse one, its diagonal or the matrix.
        warmup: points and stats of the warm-up, if they were kept.
        interrupted: whether there are fewer draws than were asked for.
        restarts: of chains, during warm-up.
        times: seconds that each chain took for warm-up and sampling, (chains, 2), if they are known.
    """

    points: Any
    stats: dict[str, np.ndarray]
    step_size: np.ndarray
    metric: np.ndarray
    warmup: tuple[Any, dict[str, np.ndarray]] | None = None
    interrupted: bool = False
    restarts: tuple[Restart, ...] = ()
    times: np.ndarray | None = None


class Track:
    """A chain, or the chains of one vectorized program: their state, and the records of their transitions.

    Args:
        settings: how they run.
        lanes: how many chains; 0 for one without an axis of chains.
        start: what the sampler begins them with.

    Attributes:
        done: the number of transitions made.
        state: the sampler's own.
        step_size, metric: after adaptation.
        kept: what is kept of the transitions, by name.
        times: seconds of warm-up and sampling.
        levels: the log densities of the latest segment of warm-up.
    """

    def __init__(self, settings: Settings, lanes: int, start: Any = None):
        self.settings, self.lanes, self.start = settings, lanes, start
        self.done, self.kept = 0, dict[str, Rows]()
        self.state: Any = None
        self.times = np.zeros(2)
        self.step_size = self.metric = self.levels = np.zeros(0)

    def add(self, piece: Mapping[str, np.ndarray], count: int) -> None:
        """Keep what will be asked for: every `thin`-th transition, those of the warm-up only where they are saved."""
        at, start, thin = np.arange(self.done, self.done + count), self.settings.iter_warmup, self.settings.thin
        wanted = (at >= start) & ((at - start) % thin == 0)
        if self.settings.save_warmup:
            wanted |= (at < start) & (at % thin == 0)
        self.done += count
        for name, rows in piece.items():
            kept = self.kept.setdefault(name, Rows(rows.shape[1:], rows.dtype))
            kept.add(rows if wanted.all() else rows[wanted])

    def records(self, start: int, end: int, without: Sequence[str] = ()) -> list[dict[str, np.ndarray]]:
        """Per chain, the transitions kept from start to end: the first axis counts them."""
        whole = {n: r.array(start, end) for n, r in self.kept.items() if n not in without}
        if not self.lanes:
            return [whole]
        return [{n: r[:, i] for n, r in whole.items()} for i in range(self.lanes)]


class Sampler(Protocol):
    """What `run` needs of a sampler.

    Attributes:
        programs: one for each device.
        milestones: counts of iterations at which all chains wait for each other; the last is that of all.
    """

    settings: Settings
    milestones: list[int]

    @property
    def programs(self) -> Sequence[Any]: ...

    def tracks(self, points: np.ndarray, streams: Streams) -> list[Track]:
        """The chains at their starting points, (chains, size)."""

    def advance(self, track: Track, program: Any, until: int, stop: threading.Event, progress: Progress) -> None:
        """Make transitions up to the count `until`; fewer once `stop` is set."""

    def restarts(self, tracks: list[Track], iteration: int, attempt: int) -> list[Restart]:
        """Put stranded chains back to a beginning: which and why."""


def run(sampler: Sampler, points: np.ndarray, seed: int | Streams, workers: int, show_progress: bool) -> Draws:
    """Run all chains from their starting points; after an interrupt, the draws made so far.

    Raises:
        KeyboardInterrupt: if there are no draws yet.
    """
    stop = threading.Event()
    if any(p.may_block for p in sampler.programs):
        workers = 1
    with Progress(len(points) * sampler.settings.total, show_progress) as progress, ThreadPoolExecutor(workers) as pool:
        tracks = sampler.tracks(points, streams_of(seed, len(points)))
        moved = _run(sampler, tracks, pool, stop, progress)
    return _collect(tracks, sampler.settings, stop.is_set(), len(points), moved)


def _run(sampler: Sampler, tracks: list[Track], pool: ThreadPoolExecutor, stop: threading.Event,
         progress: Progress) -> list[Restart]:  # fmt: skip
    """All iterations of all chains, stranded ones restarted at the milestones."""
    moved: list[Restart] = []
    for until in sampler.milestones:
        attempt = 0
        while not stop.is_set():
            jobs = [
                pool.submit(sampler.advance, t, sampler.programs[i % len(sampler.programs)], until, stop, progress)
                for i, t in enumerate(tracks) if t.done < until
            ]  # fmt: skip
            _wait(jobs, stop)
            for job in jobs:
                if not job.cancelled():
                    job.result()
            if stop.is_set():
                return moved
            found = sampler.restarts(tracks, until, attempt) if until <= sampler.settings.iter_warmup else []
            if not found:
                break
            moved, attempt = moved + found, attempt + 1
    return moved


def room_of(width: int) -> int:
    """The iterations that one call of the compiled program makes at most, for so many numbers of each."""
    return int(np.clip(BLOCK // (8 * max(width, 1)), 10, ROOM))


def in_pieces(track: Track, until: int, stop: threading.Event, step: Callable[[int], None], room: int) -> None:
    """Calls of `step(count)` that make the transitions up to `until`, each of about the same time."""
    count = min(10, room)
    while track.done < until and not stop.is_set():
        count = min(count, until - track.done)
        began = time.perf_counter()
        stage = int(track.done >= track.settings.iter_warmup)
        step(count)
        seconds = time.perf_counter() - began
        track.times[stage] += seconds
        count = int(np.clip(count * PATIENCE / max(seconds, 1e-9), 1, room))


def _wait(jobs: Sequence[Future[None]], stop: threading.Event) -> None:
    """Wait for the chains; an interrupt, or an error in one, sets `stop`."""
    interrupted = False
    while True:
        try:
            interrupts.check()
            done, pending = wait(jobs, timeout=interrupts.INTERVAL)
            if any(j.exception() for j in done if not j.cancelled()):
                stop.set()
            if not pending:
                return
        except KeyboardInterrupt:
            if interrupted:
                raise
            interrupted = True
            stop.set()
            for job in jobs:
                job.cancel()


def _collect(tracks: Sequence[Track], settings: Settings, interrupted: bool, chains: int,
             moved: Sequence[Restart]) -> Draws:  # fmt: skip
    saved = settings.saved
    count = min(len(t.kept["point"]) if t.kept else 0 for t in tracks) - saved
    if interrupted and count <= 0:
        raise KeyboardInterrupt("interrupted before the first draw of every chain")
    if interrupted:
        warnings.warn(f"interrupted: the fit holds the first {count} draws of each chain", RuntimeWarning, stacklevel=4)
    sampled = _stacked(tracks, saved, saved + count)
    warmup = _stacked(tracks, 0, saved) if saved else None
    join: Callable[[list[Any]], np.ndarray] = np.concatenate if tracks[0].lanes else np.stack
    return Draws(
        *sampled, step_size=join([t.step_size for t in tracks]), metric=join([t.metric for t in tracks]),
        warmup=warmup, interrupted=interrupted, restarts=tuple(moved),
        times=np.stack([t.times for t in tracks for _ in range(t.lanes or 1)]),
    )  # fmt: skip


def _stacked(tracks: Sequence[Track], start: int, end: int) -> tuple[Any, dict[str, np.ndarray]]:
    """The points of all chains, and the stats by CmdStan's names in CmdStan's order."""
    large = (end - start) * sum(t.kept["point"].width for t in tracks) > FEW and not tracks[0].lanes
    records = [r for t in tracks for r in t.records(start, end, ("point",) if large else ())]
    stats = {n: np.stack([r[n] for r in records]) for n in _STATS}
    if large:
        return Points([t.kept["point"] for t in tracks], start, end), stats
    return np.stack([r["point"] for r in records]), stats


def layout(chains: int, chain_method: str | None, parallel: int | None) -> tuple[Sequence[Any], int, int]:
    """Devices, lanes of each program, and threads."""
    devices = jax.local_devices()
    on_cpu = devices[0].platform == "cpu"
    method = chain_method or ("parallel" if on_cpu else "vectorized")
    if method == "vectorized":
        spread = next(n for n in range(min(len(devices), chains), 0, -1) if chains % n == 0)
        return devices[:spread], chains // spread, spread
    used = [None] if on_cpu else devices[:chains]
    workers = 1 if method == "sequential" else parallel or (default_workers(chains) if on_cpu else len(used))
    return used, 0, min(workers, chains)


def default_workers(chains: int) -> int:
    """As many threads as there are chains, at most one for each core."""
    try:
        available = len(os.sched_getaffinity(0))
    except AttributeError:
        available = os.cpu_count() or 1
    return max(1, min(chains, available))
