"""Chains of a sampler in threads, in short pieces of one compiled program: for progress, interruption, and restarts.

On a CPU each chain runs in a thread of its own: no chain waits for the longest trajectory of the others. Other devices
get all their chains in one vectorized program.
"""
from __future__ import annotations

import math
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import replace
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np

from stanlib.dataclass import dataclass

from ...errors import warn
from .. import devices as known
from ..precision import Streams, streams_of
from ..rows import FEW, Points
from ..running import interrupts
from ..running.progress import Progress
from .control import current
from .display import shown
from .standing import Standing
from .stranding import Restart
from .tracks import Settings, Track

ROOM = 250  # iterations that one call of the compiled program makes at most
ROOM_DEPTH = 16  # of trees: deeper ones make another program
FIRST_DEPTH, LARGE = 10, 10_000  # that of programs of so many parameters, of which each depth takes memory
PIECE = 2**22  # bytes of the points that it returns at most
TURN = 1.0  # seconds after which a chain lets another one go on, if there are more of them than threads
ALONE = 0.1  # seconds in which one thread runs the chains: for small models more of them gain nothing
PATIENCE = 0.2  # seconds that one call should take, so that progress shows and an interrupt is noticed
STATS = ("lp__", "accept_stat__", "stepsize__", "treedepth__", "n_leapfrog__", "divergent__", "energy__")


@dataclass
class Draws:
    """What a sampler returns.

    Attributes:
        points: on the unconstrained scale, (chains, draws, size): an array, `Points` (given up once read), `Repeated`.
        stats: per transition, (chains, draws), by CmdStan's names.
        step_size, metric: per chain, after adaptation; the metric is the inverse one, its diagonal or the matrix.
        warmup: points and stats of the warm-up, if they were kept.
        interrupted: whether there are fewer draws than were asked for.
        restarts: of chains, during warm-up.
        times: seconds that each chain took for warm-up and sampling, (chains, 2), if they are known.
        standing: where the chains stand, of samplers that can go on from there.
    """

    points: Any
    stats: dict[str, np.ndarray]
    step_size: np.ndarray
    metric: np.ndarray
    warmup: tuple[Any, dict[str, np.ndarray]] | None = None
    interrupted: bool = False
    restarts: tuple[Restart, ...] = ()
    times: np.ndarray | None = None
    standing: Standing | None = None


class Runnable(Protocol):
    """A compiled program: `may_block` is that of `Program`."""

    @property
    def may_block(self) -> bool: ...


P = TypeVar("P", bound=Runnable)


class Stop(Protocol):
    """Whether to stop: an event, or the end of a turn."""

    def is_set(self) -> bool: ...


class Sampler(Protocol[P]):
    """What `run` needs of a sampler.

    Attributes:
        programs: one for each device.
        milestones: counts of iterations at which all chains wait for each other; the last is that of all.
        moved: chains that began anew.
    """

    settings: Settings
    milestones: list[int]
    moved: list[Restart]

    @property
    def programs(self) -> Sequence[P]: ...

    def tracks(self, points: np.ndarray, streams: Streams) -> list[Track]:
        """The chains at their starting points, (chains, size)."""

    def advance(self, track: Track, program: P, until: int, stop: Stop, progress: Progress) -> None:
        """Make transitions up to the count `until`; fewer once `stop` is set."""

    def restarts(self, tracks: list[Track], iteration: int, attempt: int) -> bool:
        """Put stranded chains back to a beginning; whether there were any."""

    def standing(self, tracks: list[Track], kept: int) -> Standing | None:
        """Where the chains stand, of whose transitions so many are returned; None if none can go on from there."""


def run(sampler: Sampler[Any], points: np.ndarray, seed: int | Streams, workers: int, show_progress: bool) -> Draws:
    """Run all chains from their starting points; after an interrupt, the draws made so far.

    Raises:
        KeyboardInterrupt: if there are no draws yet.
    """
    control = current()
    if any(p.may_block for p in sampler.programs):
        workers = 1
    total = len(points) * sampler.settings.total
    with shown(control, total, show_progress) as progress, ThreadPoolExecutor(workers) as pool:
        tracks = control.tracks = sampler.tracks(points, streams_of(seed, len(points)))
        control.so_far = partial(so_far, sampler, tracks)
        _run(sampler, tracks, pool, workers, control.stop, progress)
    return _collect(sampler, tracks, control.stop.is_set(), control.asked)


class _Turn:
    """Whether a chain is to stop: with the run, or when others have waited for it so long."""

    def __init__(self, stop: threading.Event, waiting: deque[int]):
        self.stop, self.waiting = stop, waiting
        self.end: float | None = None

    def is_set(self) -> bool:
        now = time.monotonic()
        if self.end is None:  # the first question: every turn makes one piece at least
            self.end = now + TURN
            return self.stop.is_set()
        return self.stop.is_set() or bool(self.waiting) and now > self.end


def _run(sampler: Sampler[Any], tracks: list[Track], pool: ThreadPoolExecutor, workers: int, stop: threading.Event,
         progress: Progress) -> None:  # fmt: skip
    """All iterations of all chains, stranded ones restarted at the milestones.

    Chains for which there are no threads take turns, so that all of them have draws when somebody asks for these.
    """
    alone = time.monotonic() + ALONE
    for until in sampler.milestones:
        attempt = 0
        while not stop.is_set():
            waiting = deque(i for i, t in enumerate(tracks) if t.done < until)
            turns = partial(_take_turns, sampler, tracks, waiting, until, stop, progress)
            others = min(workers, len(waiting)) - 1
            jobs = [pool.submit(turns) for _ in range(min(len(waiting), 1))]
            _wait(jobs, stop, alone)
            jobs += [pool.submit(turns) for _ in range(others) if waiting and not stop.is_set()]
            _wait(jobs, stop)
            for job in jobs:
                if not job.cancelled():
                    job.result()
            if stop.is_set():
                return
            if until > sampler.settings.iter_warmup or not sampler.restarts(tracks, until, attempt):
                break
            attempt += 1


def _take_turns(sampler: Sampler[Any], tracks: list[Track], waiting: deque[int], until: int, stop: threading.Event,
                progress: Progress) -> None:  # fmt: skip
    """Advance the chains that wait, in one thread of several."""
    while not stop.is_set():
        try:
            i = waiting.popleft()
        except IndexError:  # the others run what is left
            return
        program = sampler.programs[i % len(sampler.programs)]
        sampler.advance(tracks[i], program, until, _Turn(stop, waiting), progress)
        if tracks[i].done < until:
            waiting.append(i)


def room_of(width: int) -> int:
    """The iterations that one call of the compiled program makes at most, for so many numbers of each."""
    return int(np.clip(PIECE // (8 * max(width, 1)), 1, ROOM))


def room_for(max_treedepth: int, size: int = LARGE) -> int:
    """The depth of trees that a program has room for, of so many parameters."""
    if size >= LARGE and max_treedepth <= FIRST_DEPTH:
        return FIRST_DEPTH
    return -(-max_treedepth // ROOM_DEPTH) * ROOM_DEPTH


def in_pieces(track: Track, until: int, stop: Stop, step: Callable[[int], None], room: int) -> None:
    """Calls of `step(count)` that make the transitions up to `until`, each of about the same time."""
    count = min(track.pace, room)
    while track.done < until and not stop.is_set():
        count = min(count, until - track.done)
        began = time.perf_counter()
        stage = int(track.done >= track.settings.iter_warmup)
        step(count)
        seconds = time.perf_counter() - began
        track.times[stage] += seconds
        count = track.pace = int(np.clip(count * PATIENCE / max(seconds, 1e-9), 1, room))


def _wait(jobs: Sequence[Future[None]], stop: threading.Event, until: float = math.inf) -> None:
    """Wait for the chains, at most until then; an interrupt, the end of all time, or an error in one, sets `stop`."""
    interrupted = stop.is_set()  # while the first of them ran alone
    while (left := until - time.monotonic()) > 0:
        try:
            interrupts.check()
            done, pending = wait(jobs, timeout=min(interrupts.INTERVAL, left))
            if any(j.exception() for j in done if not j.cancelled()):
                stop.set()
            if not pending:
                return
        except (KeyboardInterrupt, TimeoutError) as e:
            stop.set()
            for job in jobs:
                job.cancel()
            if interrupted or isinstance(e, TimeoutError):
                raise
            interrupted = True


def _collect(sampler: Sampler[Any], tracks: list[Track], interrupted: bool, asked: bool) -> Draws:
    """What the chains have drawn.

    Args:
        interrupted: whether that is less than they were to draw.
        asked: whether this is on purpose.

    Raises:
        KeyboardInterrupt: if there are no draws yet.
    """
    saved = sampler.settings.saved
    count = min(len(t.kept["point"]) if t.kept else 0 for t in tracks) - saved
    if interrupted and count <= 0:
        raise KeyboardInterrupt("interrupted before the first draw of every chain")
    if interrupted and not asked:
        held = sampler.settings.earlier + count
        warn(f"interrupted: the fit holds the first {held} draws of each chain", RuntimeWarning)
    draws = _draws(sampler, tracks, _stacked(tracks, saved, saved + count), interrupted)
    warmup = _stacked(tracks, 0, saved) if saved else None
    return replace(draws, warmup=warmup, standing=sampler.standing(tracks, saved + count))


def _draws(
    sampler: Sampler[Any], tracks: Sequence[Track], made: tuple[object, dict[str, np.ndarray]], interrupted: bool
) -> Draws:  # fmt: skip
    """The points and stats made, with what else is known of the chains."""
    join: Callable[[list[Any]], np.ndarray] = np.concatenate if tracks[0].lanes else np.stack
    times = np.stack([t.times for t in tracks for _ in range(t.lanes or 1)])
    return Draws(*made, step_size=join([t.step_size for t in tracks]), metric=join([t.metric for t in tracks]),
                 interrupted=interrupted, restarts=tuple(sampler.moved), times=times)  # fmt: skip


def so_far(sampler: Sampler[Any], tracks: list[Track]) -> Draws | None:
    """The draws that chains have made which still run; None if some have made none. They stay where they are."""
    saved = sampler.settings.saved
    count = min(len(rows) for t in tracks for rows in t.kept.values()) - saved if all(t.kept for t in tracks) else 0
    if count <= 0:
        return None
    return _draws(sampler, tracks, _stacked(tracks, saved, saved + count, stay=True), interrupted=True)


def _stacked(
    tracks: Sequence[Track], start: int, end: int, stay: bool = False
) -> tuple[object, dict[str, np.ndarray]]:  # fmt: skip
    """The points of all chains, and the stats by CmdStan's names in CmdStan's order.

    Many points are given up while they are read, unless they are to stay.
    """
    large = not stay and (end - start) * sum(t.kept["point"].width for t in tracks) > FEW
    records = [r for t in tracks for r in t.records(start, end, ("point",) if large else ())]
    stats = {n: np.stack([r[n] for r in records]) for n in STATS}
    if large:
        return Points([t.kept["point"] for t in tracks], start, end), stats
    return np.stack([r["point"] for r in records]), stats


def layout(
    chains: int, chain_method: str | None, parallel: int | None, shared: bool = False
) -> tuple[Sequence[Any], int, int]:  # fmt: skip
    """Devices, lanes of each program, and threads; `shared` is for a program that has devices of its own choice."""
    if shared:  # two of them at once could wait for each other's devices
        return [None], 0, 1
    devices = known.local(chain_method == "vectorized")
    on_cpu = known.is_cpu(devices[0])
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
