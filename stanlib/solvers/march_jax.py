"""Steps from time to time in JAX, with errors under control.

The loop over the times of output is a `scan` around a `while_loop` of steps: XLA compiles that to better code than one
loop that stores its output where it is due.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from ..dataclass import dataclass
from .control import Control

State = tuple[Array, Array, Array, Any]  # t, the size to try next, rows, memory


@dataclass(frozen=True)
class Stepper:
    """A method, for rows of which the first is the state.

    `start` is the size to try first and what the method remembers at first; `step(t, h, rows, memory)` gives the new
    rows, their worst error relative to what is allowed, and the new memory; `growth(worst)` is how h changes then.
    """

    start: Callable[[Array, Array], tuple[Array, Any]]
    step: Callable[[Array, Array, Array, Any], tuple[Array, Array, Any]]
    growth: Callable[[Array], Any]
    # the rows at a time in the step that ended at (rows, memory)
    inside: Callable[[Array, Array, Any], Any] | None = None


def first_step(allowed: Array, rows: Array, slopes: Array) -> Array:
    """A cautious guess: the change is a hundredth of the state, where the tolerances make a difference."""
    d0, d1 = jnp.max(jnp.abs(rows) / allowed), jnp.max(jnp.abs(slopes) / allowed)
    return jnp.where((d0 > 1e-5) & (d1 > 1e-5), 0.01 * d0 / jnp.where(d1 > 0, d1, 1.0), 1e-6).astype(rows.dtype)


def attempt(method: Stepper, end: Array, state: State) -> tuple[State, Array, Array]:
    """One step towards `end`: the state after it, whether it was accepted, its size.

    A step that is rejected changes the size to try next alone.
    """
    t, h, rows, memory = state
    reaches = t + h >= end
    size = jnp.where(reaches, end - t, h)
    new, worst, remembered = method.step(t, size, rows, memory)
    worst = jnp.where(worst < jnp.inf, worst, jnp.inf)  # NaN too
    accepted = worst <= 1
    grown = size * method.growth(worst)
    # a step cut short by the output says little about the one after it
    following = jnp.where(accepted & reaches, jnp.maximum(h, grown), grown)
    keep: Callable[[Array, Array], Array] = lambda a, b: jnp.where(accepted, a, b)
    time = keep(jnp.where(reaches, end, t + size), t)
    return (time, following, keep(new, rows), jax.tree.map(keep, remembered, memory)), accepted, size


def least_step(t: Array) -> Array:
    return 10 * jnp.finfo(t.dtype).eps * jnp.abs(t)


def march(method: Stepper, control: Control, t0: Array, ts: Array, rows: Array) -> Array:
    """The rows at every time of output; NaN from where it would take too many steps, or too small ones."""
    h, memory = method.start(t0, rows)
    if method.inside is not None:
        return _march_past(method, method.inside, control, ts, (t0, h, rows, memory))

    def reach(state: State, end: Array) -> tuple[State, Array]:
        def unfinished(loop: tuple[State, int]) -> Array:
            (t, h, *_), count = loop
            return (t < end) & (count < control.most_steps) & (h > least_step(end))

        step = lambda loop: (attempt(method, end, loop[0])[0], loop[1] + 1)
        (t, h, rows, memory), _ = jax.lax.while_loop(unfinished, step, (state, 0))
        arrived = t >= end
        rows = jnp.where(arrived, rows, jnp.nan)
        return (end, jnp.where(arrived, h, 0), rows, memory), rows

    return jax.lax.scan(reach, (t0, h, rows, memory), ts)[1]


def _march_past(
    method: Stepper, inside: Callable[[Array, Array, Any], Any], control: Control, ts: Array, start: State
) -> Array:
    """The same with steps that only the last time cuts short: the rows at the others are taken inside the steps."""

    def reach(state: State, due: Array) -> tuple[State, Array]:
        def unfinished(loop: tuple[State, int]) -> Array:
            (t, h, *_), count = loop
            return (t < due) & (count < control.most_steps) & (h > least_step(ts[-1]))

        step = lambda loop: (attempt(method, ts[-1], loop[0])[0], loop[1] + 1)
        (t, h, rows, memory), _ = jax.lax.while_loop(unfinished, step, (state, 0))
        arrived = t >= due
        out = jnp.where(arrived, inside(due, rows, memory), jnp.nan)
        return (t, jnp.where(arrived, h, 0), rows, memory), out

    return jax.lax.scan(reach, start, ts)[1]
