"""Stochastic optimization over batches: stages of smaller and smaller step sizes, until the parameters have arrived."""
from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from stanlib.dataclass import dataclass
from stanlib.errors import StanError

from ...running import interrupts
from ...running.progress import Progress
from ..convergence import standard_error
from . import checkpoints, stopping
from .feeds import ArrayFeed, Chunk
from .inputs import Inputs
from .locals import Local
from .stopping import Block, Iterates

PIECE = 50  # steps of one run of the compiled program at most
MEMORY = 2**23  # bytes of the batches of one run
EVERY = 60.0  # seconds between checkpoints
_ELBO = 100  # steps whose mean bound is reported

State = dict[str, np.ndarray]


class Stepper(Protocol):
    """What takes steps: that of a backend."""

    start: State

    @property
    def locals(self) -> dict[str, Local]: ...

    def run(
        self, state: State, count: int, eta: float, batches: Mapping[str, np.ndarray], tables: Mapping[str, np.ndarray]
    ) -> tuple[State, dict[str, np.ndarray], np.ndarray, Block]: ...

    def units(self, state: State) -> np.ndarray: ...

    def verify(self, batch: Mapping[str, np.ndarray]) -> None: ...


@dataclass
class Progressing:
    """Where an optimization stands.

    Attributes:
        state: of the stepper; under "values" are the parameters that all rows share.
        tables: the laws of rows, by size.
        step: how many steps were taken.
        stage: the number of the step size, from 0.
        iterates: of the stage.
        losses: of all steps.
        converged: whether the iterates have arrived.
        rhat: the latest look's, NaN before the first.
        hurried: whether a stage ended because it had its share of the steps.
    """

    state: State
    tables: dict[str, np.ndarray]
    step: int = 0
    stage: int = 0
    iterates: Iterates = field(default_factory=Iterates)
    losses: list[np.ndarray] = field(default_factory=list)
    converged: bool = False
    rhat: float = float("nan")
    hurried: bool = False

    def elbo(self) -> tuple[np.ndarray, np.ndarray]:
        """The bound's mean over every hundred steps, and its standard error."""
        losses = np.concatenate([np.zeros(0), *self.losses])
        pieces = [losses[i : i + _ELBO] for i in range(0, len(losses), _ELBO)]
        return -np.asarray([p.mean() for p in pieces]), np.asarray([standard_error(p) for p in pieces])

    def result(self) -> State:
        """The state with the best estimate of the parameters."""
        if self.converged or not self.iterates.blocks:
            return self.state
        return self.state | {"values": self.iterates.latest()}

    def told(self) -> str:
        """For the progress bar."""
        recent = np.concatenate(self.losses[-_ELBO:])[-_ELBO:]
        return f"ELBO {-recent.mean():.6g} +- {standard_error(recent):.2g}, R-hat {self.rhat:.3g}"

    # --- on disk

    def save(self, path: Path, run: Mapping[str, object]) -> None:
        """Write all this as a checkpoint of the run that `run` describes."""
        blocks = self.iterates.blocks
        arrays = {f"state/{n}": v for n, v in self.state.items()} | {f"table/{n}": v for n, v in self.tables.items()}
        arrays |= {"losses": np.concatenate([np.zeros(0), *self.losses])}
        if blocks:
            arrays |= {"means": np.stack([b.mean for b in blocks]), "squares": np.stack([b.squares for b in blocks])}
        described = {"run": dict(run), "step": self.step, "stage": self.stage, "converged": self.converged,
                     "rhat": self.rhat, "hurried": self.hurried, "looked": self.iterates.looked,
                     "least": self.iterates.least, "lengths": [b.length for b in blocks]}  # fmt: skip
        checkpoints.save(path, described, arrays)

    @classmethod
    def load(cls, path: Path, run: Mapping[str, object]) -> "Progressing":
        described, arrays = checkpoints.load(path, run)
        by_kind = {k: {n.partition("/")[2]: v for n, v in arrays.items() if n.startswith(f"{k}/")}
                   for k in ("state", "table")}  # fmt: skip
        blocks = [Block(c, arrays["means"][i], arrays["squares"][i]) for i, c in enumerate(described["lengths"])]
        iterates = Iterates(blocks, described["least"], described["looked"])
        return cls(by_kind["state"], by_kind["table"], described["step"], described["stage"], iterates,
                   [arrays["losses"]], described["converged"], described["rhat"], described["hurried"])  # fmt: skip


def batches_together(inputs: Inputs, steps: int) -> int:
    """How many batches one run of the compiled program takes."""
    one = inputs.of(inputs.feed.take(0, 1))
    size = sum(v.nbytes for v in one.values())
    return max(1, min(PIECE, steps, MEMORY // max(size, 1), inputs.feed.available(0)))


def optimize(
    stepper: Stepper, inputs: Inputs, at: Progressing, steps: int, eta: float, most: int, show: bool,
    checkpoint: Path | None, run: Mapping[str, Any],
) -> Progressing:  # fmt: skip
    """Go on until the parameters have arrived, or `steps` steps are taken in all.

    Args:
        eta: the step size of the first stage.
        most: the number of batches of one run.
        checkpoint: where to keep how far it has come, for a run described by `run`.
    """
    saved = time.monotonic()
    with Progress(steps, show) as progress, _Reader(inputs.feed) as reader:
        progress.advance(at.step)
        try:
            while at.step < steps and not at.converged:
                interrupts.check()
                count = min(most, steps - at.step, inputs.feed.available(at.step))
                chunk = reader.take(at.step, count)
                following = at.step + count
                if following < steps:
                    reader.begin(following, min(most, steps - following, inputs.feed.available(following)))
                _advance(stepper, inputs, at, chunk, eta)
                _judge(stepper, at, steps)
                progress.advance(count, at.told())
                if checkpoint is not None and time.monotonic() - saved > EVERY:
                    at.save(checkpoint, run)
                    saved = time.monotonic()
        finally:
            if checkpoint is not None:
                at.save(checkpoint, run)
    return at


def _advance(stepper: Stepper, inputs: Inputs, at: Progressing, chunk: Chunk, eta: float) -> None:
    """Take the steps of a chunk, with the step size of the stage, and note what has come of them.

    Raises:
        StanError: if the bound is finite at none of them, and what `verify` raises for data where it is not.
    """
    size = eta * stopping.SMALLER**at.stage
    lines = {s: at.tables[s][chunk.rows[s]] for s in stepper.locals}
    batches = inputs.of(chunk)
    try:
        state, new, losses, block = stepper.run(at.state, chunk.steps, size, batches, lines)
    except StanError:
        _verify(stepper, inputs, chunk, batches, range(chunk.steps))
        raise
    _verify(stepper, inputs, chunk, batches, np.flatnonzero(~np.isfinite(losses)))
    if not np.isfinite(losses).any():
        raise StanError(f"the bound was finite at none of {len(losses)} steps: a smaller eta, or other inits, may help")
    for s, values in new.items():
        at.tables[s][chunk.rows[s]] = values
    at.state, at.step = state, at.step + chunk.steps
    at.losses.append(losses)
    at.iterates.add(block)


def _verify(
    stepper: Stepper, inputs: Inputs, chunk: Chunk, batches: Mapping[str, np.ndarray], steps: Iterable[int]
) -> None:  # fmt: skip
    """Raise the error of the first of some batches whose data no draw can go with, with the row that it is of."""
    for i in steps:
        with inputs.naming_rows(chunk, i):
            stepper.verify({n: v[i] for n, v in batches.items()})


def _judge(stepper: Stepper, at: Progressing, steps: int) -> None:
    """End the stage if its iterates have arrived, or it had its share of the steps."""
    if at.iterates.is_due():
        look = at.iterates.look(stepper.units(at.state))
        at.rhat = look.rhat
        if look.has_arrived(at.hurried):
            is_last = look.spread < stopping.LARGEST_SPREAD or at.stage + 1 >= stopping.STAGES
            if is_last and look.error < stopping.LARGEST_ERROR:
                at.converged, at.state = True, at.state | {"values": look.mean}
            elif not is_last:
                _next_stage(at, look.mean)
            return
    if at.iterates.count >= steps / stopping.SHARES and at.stage + 1 < stopping.STAGES:
        at.hurried = True
        _next_stage(at, at.iterates.latest())


def _next_stage(at: Progressing, values: np.ndarray) -> None:
    at.stage, at.iterates, at.state = at.stage + 1, Iterates(), at.state | {"values": values}


class _Reader:
    """Reads the next batches while steps are taken, where that can't be noticed: not from what the caller iterates."""

    def __init__(self, feed: Any):
        self.feed = feed
        self.threads = ThreadPoolExecutor(1) if isinstance(feed, ArrayFeed) else None
        self.coming: tuple[int, int, Future[Chunk]] | None = None

    def __enter__(self) -> "_Reader":
        return self

    def __exit__(self, *_: Any) -> None:
        if self.threads is not None:
            self.threads.shutdown(wait=True, cancel_futures=True)

    def begin(self, step: int, count: int) -> None:
        if self.threads is not None:
            self.coming = step, count, self.threads.submit(self.feed.take, step, count)

    def take(self, step: int, count: int) -> Chunk:
        if self.coming is not None and self.coming[:2] == (step, count):
            return interrupts.result_of(self.coming[2])
        made: Chunk = self.feed.take(step, count)
        return made
