"""How a chain runs, and what it has made: the rows of its transitions, in memory or in a journal."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from stanlib.dataclass import dataclass

from .. import nested
from ..rows import Rows
from .journal import Diary
from .metric import Kind
from .windows import Window


@dataclass(frozen=True)
class Settings:
    """How a sampler runs; the names are CmdStan's.

    Attributes:
        method: "nuts" or "walnuts", for samplers that have both.
        metric: what the metric is, and how it is learned.
        step_size: to start from; one for each chain, if there are several.
        restart: whether chains that are stranded in warm-up begin anew elsewhere.
        init_phase, metric_window, last_phase: iterations of warm-up before the windows, in the first one, and after
            the last; Stan's if None.
        earlier: draws that the chains have made in the run that this one continues.
    """

    method: str = "nuts"
    iter_warmup: int = 1000
    iter_sampling: int = 1000
    thin: int = 1
    adapt_delta: float = 0.8
    max_treedepth: int = 10
    metric: Kind = Kind()
    adapt_engaged: bool = True
    step_size: float | tuple[float, ...] = 1.0
    save_warmup: bool = False
    restart: bool = True
    init_phase: int | None = None
    metric_window: int | None = None
    last_phase: int | None = None
    earlier: int = 0

    @property
    def total(self) -> int:
        return self.iter_warmup + self.iter_sampling

    @property
    def saved(self) -> int:
        """How many transitions of the warm-up are kept."""
        return len(range(0, self.iter_warmup, self.thin)) if self.save_warmup else 0

    @property
    def kept(self) -> int:
        """How many transitions are kept in all."""
        return self.saved + len(range(0, self.iter_sampling, self.thin))


@dataclass
class Tally:
    """What is counted of a chain's transitions: divergences after warm-up, the latest step size, and the mean number of
    leapfrog steps of the latest transitions; what an earlier run made, and in how many seconds."""

    divergences: int = 0
    step_size: float = 0.0
    leapfrog_steps: float = 0.0
    before: int = 0
    seconds: float = 0.0


class Track:
    """A chain, or the chains of one vectorized program: their state, and the records of their transitions.

    Args:
        settings: how they run.
        lanes: how many chains; 0 for one without an axis of chains.
        start: what the sampler begins them with.
        diary: where to keep all this, if not in memory.

    Attributes:
        done: the number of transitions made.
        state: the sampler's own.
        step_size, metric: after adaptation.
        kept: what is kept of the transitions, by name.
        times: seconds of warm-up and sampling.
        pace: how many transitions to make at once.
        segment: the end of the segment of warm-up that the chain is in.
        window: where the chain was in this segment, if that is learned from.
        recent: the log densities of this segment.
        levels: those of the latest segments of warm-up.
        tally: what a display tells of the chain.
    """

    def __init__(self, settings: Settings, lanes: int, start: Any = None, diary: Diary | None = None):
        self.settings, self.lanes, self.start, self.diary = settings, lanes, start, diary
        self.done, self.kept = 0, dict[str, Rows]()
        self.state: Any = None
        self.times, self.pace = np.zeros(2), 10
        self.step_size = self.metric = np.zeros(0)
        self.levels = np.zeros((0, lanes) if lanes else 0)
        self.segment, self.recent = 0, list[np.ndarray]()
        self.window: Window | None = None
        self.tally = Tally()

    def begin(self, segment: int, shape: tuple[int, ...] | None) -> None:
        """Begin a segment with this end; with the shape of a row if it is learned from."""
        self.segment, self.recent = segment, []
        self.window = None if shape is None else self._window(shape)

    def add(self, piece: Mapping[str, np.ndarray], count: int) -> None:
        """Keep what will be asked for: every `thin`-th transition, those of the warm-up only where they are saved."""
        start, thin = self.settings.iter_warmup, self.settings.thin
        if self.kept and self.done + count <= start and not self.settings.save_warmup:
            self._count(piece, np.zeros(count, bool))
            self.done += count
            return
        at = np.arange(self.done, self.done + count)
        wanted = (at >= start) & ((at - start) % thin == 0)
        if self.settings.save_warmup:
            wanted |= (at < start) & (at % thin == 0)
        self._count(piece, at >= start)
        self.done += count
        if wanted.any() or not self.kept:
            self.keep(piece if wanted.all() else {n: rows[wanted] for n, rows in piece.items()})

    def _count(self, piece: Mapping[str, np.ndarray], sampled: np.ndarray) -> None:
        self.tally.divergences += int(piece["divergent__"][sampled].sum())
        if len(sampled):
            self.tally.step_size = float(np.mean(piece["stepsize__"][-1]))
            self.tally.leapfrog_steps = float(np.mean(piece["n_leapfrog__"]))

    def keep(self, records: Mapping[str, np.ndarray], count: int = 0) -> None:
        """Put records of transitions behind those that are kept; the diary has so many of them."""
        for name, rows in records.items():
            if name not in self.kept:
                self.kept[name] = self._rows(name, rows.shape[1:], rows.dtype, count)
            self.kept[name].add(rows)

    def records(self, start: int, end: int, without: Sequence[str] = ()) -> list[dict[str, np.ndarray]]:
        """Per chain, the transitions kept from start to end: the first axis counts them."""
        whole = {n: r.array(start, end) for n, r in self.kept.items() if n not in without}
        if not self.lanes:
            return [whole]
        return [{n: r[:, i] for n, r in whole.items()} for i in range(self.lanes)]

    def _rows(self, name: str, shape: tuple[int, ...], dtype: object, count: int = 0) -> Rows:
        if self.diary is not None:
            return self.diary.rows(name, shape, dtype, count)
        return Rows(shape, dtype, expected=max(self.settings.kept, self.segment - self.done))

    def _window(self, shape: tuple[int, ...], count: int = 0) -> Window:
        return Window(self._rows("window", shape, float, count), self.settings.metric.by_variances)

    # --- in a diary ------------------------------------------------------------------------------------------------

    def note(self, start: Mapping[str, object], at_once: bool = False) -> None:
        """Note where the chain stands, and what it began with, if there is a diary and it is time."""
        if self.diary is None or not (at_once or self.diary.is_due):
            return
        leaves = [] if self.state is None else nested.leaves(self.state)
        self.diary.note({
            "done": self.done, "kept": len(self.kept["point"]) if self.kept else 0, "segment": self.segment,
            "window": -1 if self.window is None else len(self.window), "times": self.times, "levels": self.levels,
            "recent": np.concatenate([self.levels[:0], *self.recent]),
            **{_START + n: v for n, v in start.items()}, **{f"{_STATE}{i}": v for i, v in enumerate(leaves)},
        })  # fmt: skip

    def restore(self, blank: object, empty: Mapping[str, np.ndarray], window: tuple[int, ...]) -> dict[str, Any] | None:
        """Go on where the diary says that the chain stands, if it does.

        Args:
            blank: something of the structure of the sampler's state.
            empty: no records of transitions.
            window: the shape of a row of a window.

        Returns:
            What the chain began with.
        """
        noted = None if self.diary is None else self.diary.noted()
        if noted is None:
            return None
        if f"{_STATE}0" in noted:
            self.state = nested.filled(blank, (noted[f"{_STATE}{i}"] for i in range(len(nested.leaves(blank)))))
        self.done, self.segment, self.times = int(noted["done"]), int(noted["segment"]), noted["times"]
        self.levels, self.recent = noted["levels"], [noted["recent"]]
        self.tally.before, self.tally.seconds = self.done, float(self.times.sum())
        if noted["window"] >= 0:
            self.window = self._window(window, int(noted["window"]))
        self.keep(empty, int(noted["kept"]))
        return {n.removeprefix(_START): v for n, v in noted.items() if n.startswith(_START)}


_START, _STATE = "start-", "state-"  # of names in notes
