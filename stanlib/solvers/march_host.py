"""Steps from time to time in Python, with errors under control: the host's counterpart of march_jax.py."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np

from ..arrays.base import Array, Namespace
from ..dataclass import dataclass
from ..errors import StanDomainError
from .calculus_host import plain, precision
from .control import Control


class Stepper(Protocol):
    """A method. `attempt` makes one step: the new state, its worst error relative to what is allowed, its memory."""

    first_size: float

    def attempt(self, t: float, h: float, y: Array) -> tuple[Array, float, Any]: ...

    def accept(self, memory: Any) -> None:
        """Remember a step that was good enough."""

    def growth(self, worst: float) -> float:
        """How the size changes then."""


@dataclass(frozen=True)
class Step:
    """A step that was accepted."""

    begin: float
    size: float
    before: Array
    after: Array
    memory: Any


class _Stuck(Exception):
    """Too many steps, or too small ones."""


def march(xp: Namespace, stepper: Any, control: Control, t0: float, ts: Array, y: Array, past: bool) -> list[Array]:
    """The states at every time of output; where it takes too many steps, or too small ones, NaN on PyTorch.

    With `past`, steps go past the times of output but the last, and states are taken inside them: the stepper must
    have `inside(where, step)`, the state at `where` in [0, 1] of a Step.

    Raises:
        StanDomainError: the same on NumPy.
    """
    ends = [float(t) for t in ts]
    states: list[Array] = []
    try:
        for state in (_past if past else _cut)(stepper, control, t0, ends, y):
            states.append(state)
    except _Stuck:
        if xp.LIBRARY == "numpy":
            end = ends[len(states)]
            message = f"the solution does not get to time {end:g} in as many steps as are allowed"
            raise StanDomainError(message) from None
        states += [y + xp.nan] * (len(ends) - len(states))
    return states


def _cut(stepper: Stepper, control: Control, t: float, ends: list[float], y: Array) -> Iterator[Array]:
    """Steps that end at every time of output."""
    h = stepper.first_size
    for end in ends:
        for _ in _count(control, end, y, lambda: h):
            if t >= end:
                break
            step, h = _attempt(stepper, t, h, y, end)
            if step is not None:
                t, y = (end if t + step.size >= end else t + step.size), step.after
        yield y


def _past(stepper: Any, control: Control, t: float, ends: list[float], y: Array) -> Iterator[Array]:
    """The states at the times of output, taken inside of steps, none of which goes beyond the last time."""
    h, last = stepper.first_size, Step(t, 1.0, y, y, None)
    for due in ends:
        for _ in _count(control, ends[-1], y, lambda: h):
            if t >= due:
                break
            step, h = _attempt(stepper, t, h, y, ends[-1])
            if step is not None:
                last = step
                t, y = (ends[-1] if t + step.size >= ends[-1] else t + step.size), step.after
        yield stepper.inside((due - last.begin) / last.size, last)


def _count(control: Control, end: float, y: Array, size: Callable[[], float]) -> Iterator[int]:
    """Counts the steps that are allowed, as long as they are not too small."""
    least = 10 * precision(y) * abs(end)
    for i in range(control.most_steps + 1):
        if not size() > least:
            break
        yield i
    raise _Stuck


def _attempt(stepper: Stepper, t: float, h: float, y: Array, end: float) -> tuple[Step | None, float]:
    """One step towards `end`, None if it is rejected, and the size to try next."""
    reaches = t + h >= end
    size = end - t if reaches else h
    with np.errstate(all="ignore"):
        new, worst, memory = stepper.attempt(t, size, y)
    worst = worst if worst < np.inf else np.inf  # NaN too
    grown = size * float(stepper.growth(worst))
    if worst > 1:
        return None, grown
    stepper.accept(memory)
    # a step cut short by the output says little about the one after it
    return Step(t, size, y, new, memory), max(h, grown) if reaches else grown


def allowed(control: Control, *states: Array) -> Array:
    """The errors that are just allowed."""
    out: Array = control.absolute + control.relative * np.max([np.abs(plain(s)) for s in states], axis=0)
    return out


def first_step(limits: object, y: Array, slope: Array) -> float:
    """A cautious guess: the change is a hundredth of the state, where the tolerances make a difference."""
    d0, d1 = np.max(np.abs(plain(y)) / limits), np.max(np.abs(slope) / limits)
    return float(0.01 * d0 / d1) if d0 > 1e-5 and d1 > 1e-5 else 1e-6
