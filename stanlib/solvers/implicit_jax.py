"""Steps of the Radau IIA method in JAX, for stiff and differential-algebraic equations."""
from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from ..arrays.jax import linalg as linalg_jax
from . import implicit
from .control import Control, implicit_growth
from .equations_jax import Coupled, Equations
from .march_jax import Stepper, first_step

# What a step remembers: the derivatives of all rows where it ended, those of the state at its stages, its size.
Memory = tuple[Array, Array, Array]


def radau(coupled: Coupled, control: Control, dy0: Array) -> Stepper:
    """The method; dy0 are the derivatives at the beginning, if the equations don't give them."""
    relative, absolute = implicit.tolerances(control.relative, control.absolute)

    def start(t: Array, rows: Array) -> tuple[Array, Memory]:
        memory = _start(coupled, t, rows, dy0)
        return first_step(absolute + relative * jnp.abs(rows), rows, memory[0]), memory

    def step(t: Array, h: Array, rows: Array, memory: Memory) -> tuple[Array, Array, Memory]:
        new, error, memory = _step(coupled, control, t, h, rows, memory)
        allowed = absolute + relative * jnp.maximum(jnp.abs(rows), jnp.abs(new))
        return new, jnp.max(jnp.abs(error) / allowed), memory

    return Stepper(start, step, lambda worst: implicit_growth(jnp, worst, implicit.POWER))


def _start(coupled: Coupled, t: Array, rows: Array, dy0: Array) -> Memory:
    if coupled.equations.slope is not None:
        slopes = coupled.slope(t, rows)
    else:
        f = coupled.equations.residual
        _, lacking = coupled.push(lambda y, p: f(t, y, dy0, p), rows)
        in_dy = coupled.equations.jacobians(t, rows[0], dy0, coupled.p)[1]
        slopes = jnp.concatenate([dy0[None], -lacking @ jnp.linalg.pinv(in_dy).T])
    return slopes, jnp.broadcast_to(slopes[0], (3, rows.shape[1])), jnp.ones((), rows.dtype)


def _step(
    coupled: Coupled, control: Control, t: Array, h: Array, rows: Array, memory: Memory
) -> tuple[Array, Array, Memory]:
    """The rows, (rows, n), after a step of size h, estimates of their errors, (rows, n), and what to remember."""
    slopes, stages, size = memory
    equations, p, y = coupled.equations, coupled.p, rows[0]
    in_y, in_dy = equations.jacobians(t, y, slopes[0], p)
    inverse = linalg_jax.inverse(_matrix(h, jnp.broadcast_to(in_y, (3, *in_y.shape)), in_dy))
    guess = _continued(stages, h / size)
    found = _newton(equations, control, t, h, y, p, guess, inverse)
    found, changes = _corrected(coupled, t, h, rows, found)
    stages = jnp.concatenate([found[None], changes])  # rows x stages x n
    new = rows + h * jnp.einsum("j,rjn->rn", jnp.asarray(implicit.A[2], y.dtype), stages)
    drive = (slopes + jnp.einsum("j,rjn->rn", jnp.asarray(implicit.ERROR, y.dtype), stages)) @ in_dy.T
    filtered = linalg_jax.solve(in_dy + h * implicit.GAMMA * in_y, drive.T).T
    return new, implicit.GAMMA * h * filtered, (stages[:, 2], found, h)


def _continued(stages: Array, ratio: Array) -> Array:
    powers = (1 + jnp.asarray(implicit.C, stages.dtype) * ratio)[:, None] ** np.arange(3)
    out: Array = implicit.extrapolation(powers).astype(stages.dtype) @ stages
    return out


def residuals(equations: Equations, t: Array, h: Array, y: Array, p: object, stages: Array) -> Array:
    """The residual at the three stages."""
    a, c = jnp.asarray(implicit.A, y.dtype), jnp.asarray(implicit.C, y.dtype)
    return jax.vmap(equations.residual, (0, 0, 0, None))(t + c * h, y + h * a @ stages, stages, p)


def _matrix(h: Array, in_y: Array, in_dy: Array) -> Array:
    """The derivative of the residuals in the stages, from those of F at each stage (the first axis)."""
    n = in_y.shape[-1]
    in_dy = jnp.broadcast_to(in_dy, in_y.shape)
    a = jnp.asarray(implicit.A, in_y.dtype)
    blocks = jnp.eye(3, dtype=a.dtype)[:, None, :, None] * in_dy[:, :, None, :]
    blocks = blocks + h * a[:, None, :, None] * in_y[:, :, None, :]
    return blocks.reshape(3 * n, 3 * n)


def _newton(
    equations: Equations, control: Control, t: Array, h: Array, y: Array, p: Any, guess: Array, inverse: Array
) -> Array:
    """Newton's iteration with the matrix of the beginning; NaN where it doesn't converge."""
    allowed = (control.absolute + control.relative * jnp.abs(y)) / h

    def unfinished(loop: tuple[Array, Array, int]) -> Array:
        _, size, count = loop
        return (size > 1) & (count < implicit.NEWTON_STEPS)

    def step(loop: Any) -> Any:
        stages, _, count = loop
        change = (inverse @ residuals(equations, t, h, y, p, stages).ravel()).reshape(stages.shape)
        return stages - change, jnp.max(jnp.abs(change) / allowed), count + 1

    start = guess, jnp.asarray(jnp.inf, y.dtype), 0
    stages, size, _ = jax.lax.while_loop(unfinished, step, start)
    return jnp.where(size <= 1, stages, jnp.nan)


def _corrected(coupled: Coupled, t: Array, h: Array, rows: Array, found: Array) -> tuple[Array, Array]:
    """The stages after one more iteration with their own matrix, and their derivatives along the rows.

    That iteration gives the derivatives that the implicit function theorem says they have.
    """
    if len(rows) == 1:
        return found, jnp.zeros((0, *found.shape), found.dtype)
    exact = implicit_matrix(coupled.equations, t, h, rows[0], coupled.p, found)

    def iteration(y: Array, p: object) -> Array:
        return residuals(coupled.equations, t, h, y, p, found).ravel()

    value, along = coupled.push(iteration, rows)
    change = linalg_jax.solve(exact, jnp.concatenate([value[None], along]).T).T.reshape(-1, *found.shape)
    return found - change[0], -change[1:]


def implicit_matrix(equations: Equations, t: Array, h: Array, y: Array, p: Array, stages: Array) -> Array:
    """The derivative of the residuals in the stages, where these are."""
    a, c = jnp.asarray(implicit.A, y.dtype), jnp.asarray(implicit.C, y.dtype)
    in_y, in_dy = jax.vmap(equations.jacobians, (0, 0, 0, None))(t + c * h, y + h * a @ stages, stages, p)
    return _matrix(h, in_y, in_dy)
