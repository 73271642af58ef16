"""The no-U-turn samplers on a posterior: one compiled program for all its options, driven chain by chain.

The program makes transitions. Everything else happens between its calls: the windows of warm-up end there, where the
metric is renewed and a step size searched, and stranded chains are noticed.
"""
from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import nested
from ..precision import Streams
from ..running.progress import Progress
from . import adaptation, curvature, low_rank, stranding
from .adaptation import Segment
from .calls import Arrays, Bound, Calls
from .chains import Stop, in_pieces, room_for, room_of
from .journal import Journal
from .metric import Metric, estimate, shrunk
from .standing import Standing
from .states import NUMBERS, Chain, Controls, State, StepSize
from .stranding import Restart
from .tracks import Settings, Track
from .windows import Window

if TYPE_CHECKING:
    from ..executables import Executable
    from ..programs import Program
    from .transitions import Transitions

_log = logging.getLogger("stanimport")
_TYPES = {"treedepth__": np.int64, "n_leapfrog__": np.int64, "divergent__": np.bool_}


class Group(NamedTuple):
    """The chains of a track: which they are, their random numbers, their starts, and how often they began anew."""

    rows: list[int]
    streams: Streams
    points: np.ndarray
    attempt: int = 0


class NutsSampler:
    """NUTS on a density: compiles in the background as soon as it is made.

    Args:
        density: a function of a point, (size,), and of the data that vary between chains: the log density there.
        size: of a point.
        settings: how to sample.
        lanes: how many chains one program runs; 0 for one chain without an axis of chains.
        in_turn: whether a program runs its chains one after the other, as a CPU does best, and not at the same time.
        metric: the inverse metric that warm-up starts from, or the one to keep; a list has one for each chain.
        devices: where the programs run.
        varying: for chains with data of their own, those data by name, the first axis counting chains.
        elsewhere: another starting point for a chain, and for its how-manieth beginning; None if it must not move.
        ready: the program of one chain, compiled before, and the data that enter the density's arithmetic.
        standing: where the chains of an earlier run stand after its warm-up, with the metric of each; those of this one
            go on from there.
        journal: where to keep what is made, and to go on with what it holds.
    """

    _resting: Arrays | None = None

    def __init__(
        self, density: Callable[[Any, Any], Any], size: int, settings: Settings, lanes: int = 0, metric: Any = None,
        devices: Sequence[Any] = (None,), varying: Mapping[str, np.ndarray] | None = None,
        elsewhere: Callable[[int, int], np.ndarray | None] | None = None,
        ready: tuple[Program | Executable, Any] | None = None, standing: tuple[Standing, np.ndarray] | None = None,
        journal: Journal | None = None, in_turn: bool = False,
    ):  # fmt: skip
        self.settings, self.size, self.lanes, self.elsewhere = settings, size, lanes, elsewhere
        self.in_turn = in_turn
        self.varying = {n: np.asarray(v) for n, v in (varying or {}).items()}
        self.width = size * (1 + settings.metric.by_gradients)
        self.room = room_of(self.width * (lanes or 1))
        self.segments = self._schedule() if settings.adapt_engaged else []
        settling = min(adaptation.INITIAL, settings.iter_warmup // 10)
        ends = [s.end for s in self.segments if s.end >= settling][:2] + [settings.iter_warmup] * settings.adapt_engaged
        self.resumed, self.journal = standing, journal
        self.moved: list[Restart] = [] if journal is None else journal.restarts
        self.milestones = sorted({*ends, settings.total} - {0}) if standing is None else [settings.total]
        ones = np.ones(size)
        given = metric if isinstance(metric, list) else [metric]
        self.of: Callable[[np.ndarray], Any] = low_rank.LowRank.of if settings.metric.low_rank else Metric.of
        begin = np.diag(ones) if settings.metric.dense else ones
        self.metrics = [self.of(begin if m is None else m) for m in given]
        self.metric = self.metrics[0]
        self.programs = [Bound(self._calls(), *reversed(ready))] if ready else self._compiling(density, devices)

    def _compiling(self, density: Callable[[Any, Any], object], devices: Sequence[object]) -> list[Bound]:
        """The programs for the devices, whose compilation begins."""
        from ..programs import shared  # only now: what was compiled before needs no JAX
        from .transitions import Transitions, traced

        s, depth, found = self.settings, room_for(self.settings.max_treedepth, self.size), []
        for device in devices:
            one = traced(density, np.ones(self.size), self._own([0], False), device)
            made = Transitions(one, s.method, self.lanes, self.in_turn, depth, self.room, s.metric.by_gradients)
            kind = one.text(), self.lanes, self.in_turn, s.method, s.metric._replace(adapts=True), depth, str(device)
            found.append(Bound(self._calls(), one.constants, shared(kind, partial(self._compiled, made, device))))
        return found

    def _schedule(self) -> list[Segment]:
        s = self.settings
        given = s.init_phase, s.metric_window, s.last_phase
        if s.metric.by_gradients and given == (None, None, None):
            return adaptation.early_schedule(s.iter_warmup)
        return adaptation.schedule(s.iter_warmup, *given)

    # --- the program -----------------------------------------------------------------------------------------------

    def _compiled(self, transitions: Transitions, device: object) -> Program:
        """The program of transitions, whose compilation begins."""
        from ..programs import Program
        from .transitions import Called

        calls, constants = self._calls(), transitions.density.constants
        blank = calls.arguments.closed(calls.arguments.example)
        return Program(Called(transitions, calls), constants, *blank, device=device, as_one=True)

    def _calls(self) -> Calls:
        """What goes into its calls, and out of them."""
        each = range(self.lanes or 1)
        chain, metric = self._joined([Chain.blank(self.size) for _ in each]), self._joined([self.metric for _ in each])
        return Calls.of(self._own([0 for _ in each]), chain, metric, _controls(self.settings, True))

    # --- chains ----------------------------------------------------------------------------------------------------

    def tracks(self, points: np.ndarray, streams: Streams) -> list[Track]:
        """The chains at their starting points, (chains, size), or where an earlier run or a journal left them."""
        step = self.lanes or 1
        groups = [Group([*range(i, i + step)], streams[i : i + step], points[i : i + step])
                  for i in range(0, len(points), step)]  # fmt: skip
        tracks = [self._track(group, number) for number, group in enumerate(groups)]
        for track in tracks:
            if self.resumed is not None:
                self._resume(track, *self.resumed)
            elif not self._restored(track):
                track.note(_start(track), at_once=True)
        return tracks

    def _track(self, group: Group, number: int) -> Track:
        return Track(self.settings, self.lanes, group, None if self.journal is None else self.journal.of_track(number))

    def _restored(self, track: Track) -> bool:
        """Whether a journal holds the track, which goes on where it stands there."""
        rows, shape = track.start.rows, [self.lanes] if self.lanes else []
        blank = self._joined([Chain.blank(self.size) for _ in rows]), self._joined([self.metric for _ in rows])
        none = {"point": np.zeros((0, *shape, self.size)), **_named(np.zeros((len(NUMBERS), 0, *shape)))}
        start = track.restore(blank, none, (*shape, self.width))
        if start is None:
            return False
        track.start = track.start._replace(points=start["points"], attempt=int(start["attempt"]))
        if track.state is not None:
            chains, metrics = map(self._parts, track.state)
            self._continue(track, self.programs[0], chains, metrics, searches=False)
        return True

    def standing(self, tracks: list[Track], kept: int) -> Standing:
        """Where the chains stand, of whose transitions so many are returned."""
        chains = [c for t in tracks for c in self._parts(t.state[0])]
        ahead = [r for t in tracks for r in t.records(kept, len(t.kept["point"]))]
        numbers = [np.stack([np.asarray(r[n], float) for n in NUMBERS], -1) for r in ahead]
        return Standing(
            np.array([t.done for t in tracks for _ in range(t.lanes or 1)]),
            np.array([c.random for c in chains], np.uint64), np.stack([c.state.point for c in chains]),
            np.stack([c.state.density for c in chains]), np.stack([c.state.gradient for c in chains]),
            np.array([[float(v) for v in c.step] for c in chains]), np.array([len(n) for n in numbers]),
            np.concatenate([r["point"] for r in ahead]), np.concatenate(numbers),
        )  # fmt: skip

    def _resume(self, track: Track, at: Standing, metrics: np.ndarray) -> None:
        """Put chains where they stood, with the draws that they were ahead of others."""
        rows = track.start.rows
        states = [State(at.point[i], np.asarray(at.density[i]), at.gradient[i]) for i in rows]
        steps = [StepSize(*(np.asarray(v) for v in at.step[i])) for i in rows]
        chains = [Chain(np.uint64(at.random[i]), s, z, s) for i, s, z in zip(rows, states, steps)]
        self._continue(track, self.programs[0], chains, [self.of(metrics[i]) for i in rows], searches=False)
        mine = [at.draws_ahead(i) for i in rows]  # as many of each: the chains of one program advance together
        points, numbers = ([a[part] for part in mine] for a in (at.ahead_points, at.ahead_numbers))
        columns = np.moveaxis(np.stack(numbers, 1) if self.lanes else numbers[0], -1, 0)
        track.keep({"point": np.stack(points, 1) if self.lanes else points[0], **_named(columns)})
        track.done = track.tally.before = int(at.done[rows[0]])

    def advance(self, track: Track, program: Bound, until: int, stop: Stop, progress: Progress) -> None:
        """Make transitions up to the count `until`, fewer once `stop` is set; segments of warm-up end with learning."""
        if track.state is None:
            self._begin(track, program)
        for segment in (*self.segments, Segment(self.settings.total, False)):
            if track.done < segment.end <= until:
                self._sample(track, program, segment, stop, progress)
                if track.done == segment.end <= self.settings.iter_warmup:
                    self._learn(track, program, segment.in_window)
                track.note(_start(track), at_once=True)
                if track.done < segment.end:  # interrupted
                    return

    def restarts(self, tracks: list[Track], iteration: int, attempt: int) -> bool:
        """Let stranded chains begin anew elsewhere, which `moved` tells with the reasons; whether there were any."""
        if self.elsewhere is None or self.lanes or not self.settings.restart or attempt >= stranding.ATTEMPTS:
            return False
        found = stranding.stranded(
            [t.levels for t in tracks], [float(t.step_size) for t in tracks], [t.metric for t in tracks],
            iteration == self.settings.iter_warmup, lambda i: self._integral(tracks[i]),
        )  # fmt: skip
        before = len(self.moved)
        for i, reason in found.items():
            point = self.elsewhere(i, tracks[i].start.attempt + 1)
            if point is not None:
                start = tracks[i].start._replace(points=point[None], attempt=tracks[i].start.attempt + 1)
                tracks[i] = self._track(start, i)
                tracks[i].note(_start(tracks[i]), at_once=True)
                self.moved.append(Restart(i + 1, iteration, reason))
                _log.info("chain %d begins anew after iteration %d of warm-up: %s", i + 1, iteration, reason)
        if self.journal is not None:
            self.journal.restarts = self.moved
        return len(self.moved) > before

    def _integral(self, track: Track) -> float:
        """The logarithm of the integral of the density around a chain.

        Of a normal law the state tells the mean by its gradient; else the state itself may be the better center.
        """
        (seed, number), (chain, metric) = track.start.streams[0], track.state
        point, row = chain.state.point, track.start.rows[0]
        centers = point + metric.velocity(np.asarray(chain.state.gradient)), point
        return stranding.integral(lambda x: self.value_and_grad(x, row)[0], metric, track.metric, centers,
                                  np.random.default_rng([seed, 22, number, track.start.attempt]))  # fmt: skip

    def value_and_grad(self, point: np.ndarray, row: int = 0) -> tuple[float, np.ndarray]:
        """The log density at a point with the data of a chain, and its gradient."""
        (state,) = self.evaluate(self.programs[0], [point], [row])
        return float(state.density), np.asarray(state.gradient)

    def evaluate(self, program: Bound, points: Sequence[np.ndarray], rows: Sequence[int]) -> list[State]:
        """The states at points with the data of these chains: where transitions with steps of no length lead."""
        out, together = list[State](), self.lanes or 1
        for at in range(0, len(points), together):
            mine = [min(i, len(points) - 1) for i in range(at, at + together)]
            here = self._joined([np.asarray(points[i], float) for i in mine])
            out += self._parts(program.state_at(self._still(program, [rows[i] for i in mine]), here))
        return out[: len(points)]

    def _still(self, program: Bound, rows: Sequence[int]) -> Arrays:
        """What calls travel as whose steps have no length; made once if no chain has data of its own."""
        if self._resting is not None and not self.varying:
            return self._resting
        chain, metric = (self._joined([one] * (self.lanes or 1)) for one in (_resting(self.size), self.metric))
        still = Controls(np.bool_(False), np.float64(0.0), np.int64(1))
        self._resting = program.calls.arguments.closed((self._own(rows), chain, metric, still, np.int64(1)))
        return self._resting

    def _begin(self, track: Track, program: Bound) -> None:
        """The first state and step size of each chain."""
        rows, streams, points, attempt = track.start
        states = self.evaluate(program, points, rows)
        seeds = [np.random.SeedSequence([seed, 20, number, attempt]).generate_state(1, np.uint64)[0]
                 for seed, number in streams]  # fmt: skip
        sizes = [float(_of_chain(self.settings.step_size, row)) for row in rows]
        chains = [Chain(s, state, StepSize.starting(z), state) for s, state, z in zip(seeds, states, sizes)]
        metrics = [_of_chain(self.metrics, row) for row in rows]
        self._continue(track, program, chains, metrics, searches=self.settings.adapt_engaged)

    def _continue(self, track: Track, program: Bound, chains: list[Chain], metrics: list[Metric],
                  searches: bool) -> None:  # fmt: skip
        """Take chains and metrics as the state; with a search for step sizes, from which adaptation begins anew."""
        if searches:
            rngs = [np.random.default_rng([seed, 21, number, track.start.attempt, track.done])
                    for seed, number in track.start.streams]  # fmt: skip
            found = adaptation.step_sizes(
                lambda points: self.evaluate(program, points, track.start.rows), metrics, [c.state for c in chains],
                [float(c.step.size) for c in chains], rngs,
            )  # fmt: skip
            chains = [c._replace(step=StepSize.starting(z)) for c, z in zip(chains, found)]
        track.state = self._joined(chains), self._joined(metrics)
        step = np.stack([c.step.size for c in chains]), np.stack([m.inverse for m in metrics])
        track.step_size, track.metric = step if self.lanes else (step[0][0], step[1][0])

    def _sample(self, track: Track, program: Bound, segment: Segment, stop: Stop,
                progress: Progress) -> None:  # fmt: skip
        """Make transitions; the track's window has where the chain was in one."""
        warms_up = track.done < self.settings.iter_warmup
        controls = _controls(self.settings, warms_up and self.settings.adapt_engaged)
        if track.segment != segment.end:  # else it was begun by a run that this one continues
            shape = (*([self.lanes] if self.lanes else []), self.width)
            track.begin(segment.end, shape if segment.in_window else None)

        def step(count: int) -> None:
            chain, metric = track.state
            chain, points, numbers = program(self._own(track.start.rows), chain, metric, controls, np.int64(count))
            points, numbers = np.asarray(points)[:count], np.asarray(numbers)[:count]
            track.state = chain, metric
            self._keep(track, points, np.moveaxis(numbers, -1, 0), warms_up)
            progress.advance(count * max(self.lanes, 1), "warm-up" if warms_up else "sampling")
            if track.done < segment.end:  # its end is noted when it has been learned from
                track.note(_start(track))

        in_pieces(track, segment.end, stop, step, self.room)
        if warms_up and track.done == segment.end:  # with those of the latest window, as the metric is
            track.levels = np.concatenate([track.levels[: 0 if segment.in_window else None], *track.recent])

    def _keep(self, track: Track, points: np.ndarray, columns: np.ndarray, warms_up: bool) -> None:
        """Add what a piece of a segment has drawn to its window, to the levels of the warm-up, and to the draws."""
        if track.window is not None:
            track.window.add(points)
        if warms_up:
            track.recent.append(columns[0])
        track.add({"point": points[..., : self.size], **_named(columns)}, len(points))

    def _learn(self, track: Track, program: Bound, in_window: bool) -> None:
        """At the end of a segment of warm-up: the metric from a window's draws, the step size that was settled for."""
        chain, metric = track.state
        chains, metrics, window = self._parts(chain), self._parts(metric), track.window
        renews = in_window and window is not None and self.settings.metric.adapts and len(window) > 1
        if renews and window is not None:
            metrics = [self._renewed(m, one, len(window)) for m, one in zip(metrics, self._drawn(window))]
        track.window = None
        if track.done == self.settings.iter_warmup:
            chains = [c._replace(step=c.step.settled()) for c in chains]
            renews = False
        self._continue(track, program, chains, metrics, renews)

    def _drawn(self, window: Window) -> list[np.ndarray]:
        """Of each chain, where it was in a window, (draws, width), or the variances, (width,), of a large one."""
        if window.is_reduced:
            return list(np.atleast_2d(window.variances()))
        rows = window.array()
        return [rows[:, i] for i in range(self.lanes)] if self.lanes else [rows]

    def _renewed(self, metric: object, drawn: np.ndarray, count: int) -> Any:
        """The metric from a window of so many draws; the one it has if that overflows, of a chain that flew off."""
        try:
            with np.errstate(all="ignore"):
                made = self.of(self._estimate(drawn, count))
        except np.linalg.LinAlgError:
            return metric
        return made if all(np.isfinite(a).all() for a in made) else metric

    def _estimate(self, drawn: np.ndarray, count: int) -> np.ndarray:
        """The inverse metric from what is known of so many draws of a window."""
        points, gradients, kind = drawn[..., : self.size], drawn[..., self.size :], self.settings.metric
        if kind.low_rank:
            return low_rank.estimate(points, gradients)
        if kind.dense:
            return curvature.matrix(points, gradients) if kind.by_gradients else estimate(points, dense=True)
        if drawn.ndim == 1:
            return curvature.diagonal_of(points, gradients, count) if kind.by_gradients else shrunk(points, count)
        return curvature.diagonal(points, gradients) if kind.by_gradients else estimate(points, dense=False)

    # --- one chain, or the lanes of a program ------------------------------------------------------------------------

    def _own(self, rows: Sequence[int], in_lanes: bool = True) -> dict[str, np.ndarray]:
        """The data of chains that have their own."""
        return {n: v[list(rows)] if self.lanes and in_lanes else v[rows[0]] for n, v in self.varying.items()}

    def _joined(self, every: Sequence[object]) -> Any:
        return nested.mapped(lambda *a: np.stack(a), *every) if self.lanes else every[0]

    def _parts(self, whole: object) -> list[Any]:
        known = nested.mapped(np.asarray, whole)
        return [nested.mapped(lambda a, i=i: a[i], known) for i in range(self.lanes)] if self.lanes else [known]


@lru_cache(64)
def _resting(size: int) -> Chain:
    """A chain of so many parameters whose steps have no length."""
    return Chain.blank(size)._replace(step=StepSize.starting(1.0)._replace(size=np.zeros(())))


def _start(track: Track) -> dict[str, object]:
    """What a track began with, and may begin with again elsewhere."""
    return {"points": track.start.points, "attempt": track.start.attempt}


def _named(columns: np.ndarray) -> dict[str, np.ndarray]:
    """The numbers of transitions, (7, count, ...), by name and of their types."""
    return {n: v.astype(_TYPES.get(n, float)) for n, v in zip(NUMBERS, columns)}


def _of_chain(values: object, row: int) -> Any:
    """What a chain has of something that is one for all, or one for each."""
    return values if not isinstance(values, (list, tuple)) else values[0] if len(values) == 1 else values[row]


def _controls(settings: Settings, adapts: bool) -> Controls:
    return Controls(np.bool_(adapts), np.float64(settings.adapt_delta), np.int64(settings.max_treedepth))
