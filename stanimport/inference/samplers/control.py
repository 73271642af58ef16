"""How a run is watched and ended from outside, by another thread or by a display."""
from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from stanlib.dataclass import dataclass

from .tracks import Settings, Track

_CURRENT: ContextVar["Control | None"] = ContextVar("stanimport_control", default=None)


@dataclass(frozen=True)
class ChainProgress:
    """How far a chain is, or the chains of one program are.

    Attributes:
        chains: their numbers in the run, from 1.
        phase: "waiting", "warm-up", "sampling" or "done".
        iteration, total: transitions made, and to make.
        divergences: after warm-up.
        step_size: the latest.
        leapfrog_steps: of a transition, the mean of the latest ones.
        seconds_left: at the speed so far; None before the first transitions.
    """

    chains: tuple[int, ...]
    phase: str
    iteration: int
    total: int
    divergences: int
    step_size: float
    leapfrog_steps: float
    seconds_left: float | None


class Control:
    """What is shared with a run: the request to end it, and its chains.

    Attributes:
        stop: set it to end the run; what was drawn so far is its result.
        asked: whether the end was asked for on purpose, so that no warning tells of it.
        tracks: the chains; none before they start.
        so_far: the draws that all of them have, None if there are none.
        finish: makes a fit of draws; None before the posterior is known.
    """

    def __init__(self) -> None:
        self.stop, self.asked = threading.Event(), False
        self.tracks: Sequence[Track] = []
        self.so_far: Callable[[], Any] = _nothing
        self.finish: Callable[[Any], Any] | None = None

    def end(self) -> None:
        """Ask the run to end with the draws that it has."""
        self.asked = True
        self.stop.set()

    @property
    def is_in_vain(self) -> bool:
        """Whether the run is to end, and will have no fit: it need not wait for what is compiled."""
        return self.stop.is_set() and not (self.tracks and all(t.done for t in self.tracks))

    @contextmanager
    def active(self) -> Iterator[None]:
        """Inside, the run that this thread starts is the one controlled."""
        token = _CURRENT.set(self)
        try:
            yield
        finally:
            _CURRENT.reset(token)

    def progress(self) -> list[ChainProgress]:
        """How far the chains are."""
        made, first = [], 1
        for track in list(self.tracks):
            count = track.lanes or 1
            made.append(_progress(track, tuple(range(first, first + count)), track.settings))
            first += count
        return made


def _nothing() -> None:
    return None


def current() -> Control:
    """The control of the run that this thread starts; a new one if nobody controls it."""
    return _CURRENT.get() or Control()


def _progress(track: Track, chains: tuple[int, ...], settings: Settings) -> ChainProgress:
    done, tally = track.done, track.tally
    phase = "waiting" if not done else "warm-up" if done < settings.iter_warmup else "sampling"
    if done >= settings.total:
        phase = "done"
    made = done - tally.before
    left = float(track.times.sum() - tally.seconds) / made * (settings.total - done) if made > 0 else None
    return ChainProgress(chains, phase, done, settings.total, tally.divergences, tally.step_size,
                         tally.leapfrog_steps, left)  # fmt: skip
