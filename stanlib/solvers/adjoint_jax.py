"""Derivatives of initial value problems by going back over the steps, for many parameters (JAX).

The way forward keeps the state every so many steps. The way back repeats one stretch at a time, keeps its steps, and
takes the cotangents back through each: derivatives of the numerical solution itself, without tolerances of their own.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from ..arrays.implicit import differentiable
from ..arrays.jax import linalg as linalg_jax
from . import explicit, implicit
from .arguments_jax import is_real
from .control import Control
from .equations_jax import Coupled, Equations
from .implicit_jax import implicit_matrix, residuals
from .march_jax import State, Stepper, attempt, least_step
from .steppers_jax import stepper

MOST_STRETCHES = 2000  # besides one per time of output


def with_adjoint(
    equations: Equations, method: str, control: Control, length: int
) -> Callable[[Array, Array, Array, tuple[Array, ...]], Array]:
    """The function from t0, ts, y0 and the leaves of the arguments to the states at ts."""

    @jax.custom_vjp
    def states(t0: Array, ts: Array, y0: Array, leaves: tuple[object, ...]) -> Array:
        return forward(t0, ts, y0, leaves)[0]

    def forward(t0: Array, ts: Array, y0: Array, leaves: tuple[object, ...]) -> tuple[Array, Any]:
        out, kept, count = _forward(_plain(equations, method, control, leaves), control, t0, ts, y0, length)
        return out, (ts, y0, leaves, kept, count)

    def backward(saved: Any, change: Any) -> Any:
        ts, y0, leaves, kept, count = saved
        to_y0, to_leaves = _backward(equations, method, control, leaves, ts, kept, count, change, length)
        return jnp.zeros_like(ts[0]), jnp.zeros_like(ts), to_y0, to_leaves

    states.defvjp(forward, backward)
    return states


def _plain(equations: Equations, method: str, control: Control, leaves: tuple[object, ...]) -> Stepper:
    """The method for the state alone, whose steps have no derivatives in reverse."""
    return stepper(Coupled(equations.forwards(), leaves, np.zeros((0, 0))), method, control)


def _run(
    method: Stepper, control: Control, end: Array, state: State, length: int, keep: Any = None, kept: Any = ()
) -> Any:
    """Up to `length` accepted steps towards `end`; kept = keep(kept, i, before, after, size) sees each one.

    Returns the state, the numbers of accepted and of all steps, and what was kept.
    """

    def unfinished(loop: tuple[State, int, int, Any]) -> Array:
        (t, h, *_), accepted, tried, _ = loop
        return (t < end) & (accepted < length) & (tried < control.most_steps) & (h > least_step(end))

    def step(loop: Any) -> Any:
        before, accepted, tried, kept = loop
        after, good, size = attempt(method, end, before)
        if keep is not None:  # a step that was rejected is overwritten
            kept = keep(kept, accepted, before, after, size)
        return after, accepted + good, tried + 1, kept

    return jax.lax.while_loop(unfinished, step, (state, 0, 0, kept))


def _buffer(size: int, like: object) -> Any:
    return jax.tree.map(lambda x: jnp.zeros((size, *jnp.shape(x)), jnp.result_type(x)), like)


def _put(buffer: object, i: Array, values: object) -> Any:
    return jax.tree.map(lambda b, v: b.at[i].set(v, mode="drop"), buffer, values)


def _get(buffer: object, i: Array) -> Any:
    return jax.tree.map(lambda b: b[i], buffer)


def _forward(method: Stepper, control: Control, t0: Array, ts: Array, y0: Array, length: int) -> Any:
    """The states at ts, and where each stretch began: its state, the number of its output, whether it arrived there."""
    capacity = MOST_STRETCHES + len(ts)
    h, memory = method.start(t0, y0[None])
    state = t0, h, y0[None], memory
    kept = _buffer(capacity, (state, 0, True))

    def unfinished(loop: tuple[int, int, int, Array, State, Any, Array]) -> Array:
        i, count, tried, stuck, *_ = loop
        return (i < len(ts)) & (count < capacity) & ~stuck

    def stretch(loop: Any) -> Any:
        i, count, tried, _, state, kept, out = loop
        after, _, more, _ = _run(method, control, ts[i], state, length)
        tried = tried + more
        arrived = after[0] >= ts[i]
        stuck = ~arrived & ((tried >= control.most_steps) | (after[1] <= least_step(ts[i])))
        kept = _put(kept, count, (state, i, arrived))
        out = out.at[i].set(jnp.where(arrived, after[2][0], jnp.nan))
        return i + arrived, count + 1, jnp.where(arrived, 0, tried), stuck, after, kept, out

    out = jnp.full((len(ts), y0.size), jnp.nan, y0.dtype)
    start = 0, 0, 0, jnp.asarray(False), state, kept, out
    _, count, _, _, _, kept, out = jax.lax.while_loop(unfinished, stretch, start)
    return out, kept, count


def _through(
    advance: Callable[..., Any], varied: list[Any], steps: Any, count: Any, to_y: Any, to_leaves: list[Any]
) -> tuple[Any, list[Any]]:
    """The cotangents of the state before a stretch, and of the leaves, from those after it: step by step backwards."""

    def back(loop: Any) -> tuple[Any, Any, list[Any]]:
        j, to_y, to_leaves = loop
        step = _get(steps, j)
        pull = jax.vjp(lambda y, x: advance(y, x, step), step[2], varied)[1]
        to_y, more = pull(to_y)
        return j - 1, to_y, [a + b for a, b in zip(to_leaves, more)]

    _, to_y, to_leaves = jax.lax.while_loop(lambda c: c[0] >= 0, back, (count - 1, to_y, to_leaves))
    return to_y, to_leaves


def _backward(
    equations: Equations, method: str, control: Control, leaves: tuple[Array, ...], ts: Array, kept: Any, count: Array,
    change: Array, length: int,
) -> Any:  # fmt: skip
    """The cotangents of y0, (n), and of the leaves, from those of the states, (times, n), stretch by stretch."""
    plain = _plain(equations, method, control, leaves)
    reals = [i for i, x in enumerate(leaves) if is_real(x)]
    state = jax.tree.map(lambda b: b[0], kept[0])
    steps = _buffer(length, (state[0], state[0], state[2][0], state[3]))

    advance = lambda y, varied, step: _advance(equations, method, y, _filled(leaves, reals, varied), step)

    def record(buffers: Any, i: Array, before: State, after: State, size: Array) -> Any:
        return _put(buffers, i, (before[0], size, before[2][0], after[3]))

    def back(loop: Any) -> tuple[Any, Any, list[Any]]:
        s, to_y, to_leaves = loop
        state, i, arrived = _get(kept, s)
        _, accepted, _, buffers = _run(plain, control, ts[i], state, length, record, steps)
        to_y = to_y + jnp.where(arrived, change[i], 0)
        to_y, to_leaves = _through(advance, [leaves[i] for i in reals], buffers, accepted, to_y, to_leaves)
        return s - 1, to_y, to_leaves

    start = count - 1, jnp.zeros_like(change[0]), [jnp.zeros_like(leaves[i]) for i in reals]
    _, to_y, to_reals = jax.lax.while_loop(lambda c: c[0] >= 0, back, start)
    return to_y, tuple(_filled([np.zeros(x.shape, jax.dtypes.float0) for x in leaves], reals, to_reals))


def _filled(values: Sequence[object], at: Sequence[int], arrays: Sequence[object]) -> list[object]:
    """The values with arrays in some places."""
    filled = list(values)
    for i, x in zip(at, arrays):
        filled[i] = x
    return filled


def _advance(equations: Equations, method: str, y: Array, leaves: Any, step: Any) -> Array:
    """The state after an accepted step, as a function of the one before it and of the arguments."""
    t, h, known, memory = step
    of_p = equations.slope
    if method != "bdf" and of_p is not None:
        slope: Callable[[Array, Array], Array] = lambda t, y: of_p(t, y, leaves)
        after: Array = explicit.step(explicit.TABLEAUS[method], slope, t, h, y, slope(t, y))[0]
        return after
    found = memory[1]
    exact = jax.lax.stop_gradient(implicit_matrix(equations.forwards(), t, h, known, leaves, found))

    def iterated(stages: Array) -> Array:
        lacking = residuals(equations, t, h, y, leaves, stages)
        change: Array = linalg_jax.solve(exact, lacking.ravel()).reshape(found.shape)
        return stages - change

    stages: Array = differentiable(iterated, found)
    end: Array = y + h * jnp.asarray(implicit.A[2], y.dtype) @ stages
    return end
