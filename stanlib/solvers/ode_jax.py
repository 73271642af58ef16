"""Initial value problems in JAX, with their derivatives.

For few parameters the state carries its derivatives in them along, as in Stan: rows of a matrix whose first row is
the state itself. Errors are controlled in all rows, and a `custom_jvp` combines the rows with the tangents. For many
parameters adjoint_jax.py goes back over the steps instead.
"""
from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from . import explicit, implicit
from .arguments_jax import Arguments, fixed, is_real, is_zero, join, real_type

MOST_COLUMNS = 60  # derivatives that the state carries; with more, going back is faster
LARGEST_GROWTH, LEAST_GROWTH, SAFETY = 10.0, 0.2, 0.9

Slope = Callable[[Any, Any, Any], Any]


@dataclass(frozen=True)
class Control:
    """Tolerances of the error in one step, and how many steps may lie between two times of output."""

    relative: Any
    absolute: Any
    most_steps: int

    def at_precision(self, dtype: Any) -> "Control":
        """The same, but not tighter than the floating type allows."""
        return Control(jnp.maximum(self.relative, 10 * jnp.finfo(dtype).eps), self.absolute, self.most_steps)

    def scale(self, *states: Any) -> Any:
        return self.absolute + self.relative * functools.reduce(jnp.maximum, map(jnp.abs, states))


@dataclass(frozen=True)
class Equations:
    """`y' = slope(t, y, p)`, or `0 = residual(t, y, y', p)` if slope is None."""

    slope: Slope | None
    residual: Callable[[Any, Any, Any, Any], Any]

    def jacobians(self, t: Any, y: Any, dy: Any, p: Any) -> tuple[Any, Any]:
        """The derivatives of the residual in y and in y'."""
        if self.slope is not None:
            return -jax.jacfwd(self.slope, 1)(t, y, p), jnp.eye(y.size, dtype=y.dtype)
        in_y, in_dy = jax.jacfwd(self.residual, (1, 2))(t, y, dy, p)
        return in_y, in_dy


def solve(
    f: Callable[..., Any], y0: Any, t0: Any, ts: Any, arguments: tuple[Any, ...], method: str, control: Control,
    adjoint: int = 0,
) -> Any:  # fmt: skip
    """The states of y' = f(t, y, *arguments) at the times ts, one per row.

    `method` is "rk45", "ckrk", "adams" or "bdf". With `adjoint`, derivatives are computed backwards over stretches of
    that many steps.
    """
    dtype = real_type(y0, t0, ts, arguments)
    split = Arguments(arguments)
    y0 = jnp.asarray(y0, dtype)

    def slope(t: Any, y: Any, leaves: Any) -> Any:
        return jnp.asarray(f(t, y, *split.restore(leaves)), dtype)

    if isinstance(t0, jax.Array):  # y(t0 + d) = y0 means y(t0) = y0 - d y'(t0), to first order
        y0 = y0 - (t0 - fixed(t0)).astype(dtype) * slope(fixed(t0).astype(dtype), y0, split.leaves)
    equations = Equations(slope, lambda t, y, dy, leaves: dy - slope(t, y, leaves))
    count = y0.size + sum(x.size for x in split.leaves if is_real(x))
    states = _states(equations, y0, None, t0, ts, split.leaves, method, control, adjoint or 250 * (count > MOST_COLUMNS))
    if isinstance(ts, jax.Array):
        ends, change = fixed(ts).astype(dtype), (ts - fixed(ts)).astype(dtype)
        states = states + change[:, None] * jax.vmap(lambda t, y: slope(t, y, split.leaves))(ends, states)
    return states


def solve_dae(
    f: Callable[..., Any], y0: Any, dy0: Any, t0: Any, ts: Any, arguments: tuple[Any, ...], control: Control
) -> Any:
    """The states of 0 = f(t, y, y', *arguments) at the times ts, one per row."""
    dtype = real_type(y0, dy0, arguments)
    split = Arguments(arguments)

    def residual(t: Any, y: Any, dy: Any, leaves: Any) -> Any:
        return jnp.asarray(f(t, y, dy, *split.restore(leaves)), dtype)

    # the solution does not depend on dy0: it follows from y0 where the two are consistent
    start = fixed(dy0).astype(dtype)
    return _states(Equations(None, residual), jnp.asarray(y0, dtype), start, t0, ts, split.leaves, "bdf", control, 0)


def _states(
    equations: Equations, y0: Any, dy0: Any, t0: Any, ts: Any, leaves: tuple[Any, ...], method: str, control: Control,
    adjoint: int,
) -> Any:  # fmt: skip
    control = control.at_precision(y0.dtype)
    times = [fixed(x).astype(y0.dtype) for x in (t0, ts)]
    if adjoint:
        from .adjoint_jax import with_adjoint

        return with_adjoint(equations, method, control, adjoint)(*times, y0, leaves)

    @jax.custom_jvp
    def states(t0: Any, ts: Any, y0: Any, *leaves: Any) -> Any:
        return _rows(equations, method, control, (t0, ts), y0, dy0, leaves, ())[:, 0]

    @functools.partial(states.defjvp, symbolic_zeros=True)
    def _(primals: Any, tangents: Any) -> Any:
        t0, ts, y0, *leaves = primals
        varied = tuple(i for i, t in enumerate(tangents[2:]) if not is_zero(t))
        rows = _rows(equations, method, control, (t0, ts), y0, dy0, leaves, varied)
        changes = [tangents[2 + i] for i in varied]
        if not varied:
            return rows[:, 0], jnp.zeros_like(rows[:, 0])
        weights = jnp.concatenate([jnp.ravel(c).astype(y0.dtype) for c in changes])
        return rows[:, 0], jnp.einsum("tri,r->ti", rows[:, 1:], weights)

    return states(*times, y0, *leaves)


def _rows(
    equations: Equations, method: str, control: Control, times: Any, y0: Any, dy0: Any, leaves: Any,
    varied: tuple[int, ...],
) -> Any:  # fmt: skip
    """The states and their derivatives in what varies (0 for y0, 1 + i for leaf i): an array times x (1 + count) x n."""
    t0, ts = times
    p, split = join([leaves[i - 1] for i in varied if i], y0.dtype)
    n = y0.size * (0 in varied)
    in_y0, in_p = np.zeros((n + p.size, y0.size)), np.zeros((n + p.size, p.size))
    in_y0[:n] = np.eye(n, y0.size)
    in_p[n:] = np.eye(p.size)

    def restore(p: Any) -> list[Any]:
        out = list(leaves)
        for i, x in zip([i for i in varied if i], split(p)):
            out[i - 1] = x
        return out

    slope = equations.slope
    of_p = Equations(
        None if slope is None else lambda t, y, p: slope(t, y, restore(p)),
        lambda t, y, dy, p: equations.residual(t, y, dy, restore(p)),
    )
    rows = jnp.concatenate([y0[None], jnp.asarray(in_y0, y0.dtype)])
    coupled = Coupled(of_p, p, jnp.asarray(in_p, y0.dtype))
    return march(stepper(coupled, method, control), control, t0, ts, rows, dy0)


@dataclass(frozen=True)
class Coupled:
    """Equations at the parameters p, with the directions in p of each row below the first."""

    equations: Equations
    p: Any
    in_p: Any

    def push(self, f: Callable[[Any, Any], Any], rows: Any) -> tuple[Any, Any]:
        """f(y, p), and its derivatives along every row."""
        y = rows[0]
        if not len(self.in_p):
            out = f(y, self.p)
            return out, jax.tree.map(lambda x: jnp.zeros((0, *x.shape), x.dtype), out)
        along = lambda dy, dp: jax.jvp(f, (y, self.p), (dy, dp))
        return jax.vmap(along, out_axes=(None, 0))(rows[1:], self.in_p)

    def slope(self, t: Any, rows: Any) -> Any:
        f = self.equations.slope
        assert f is not None
        return _stack(*self.push(lambda y, p: f(t, y, p), rows))


def _stack(value: Any, along: Any) -> Any:
    return jnp.concatenate([value[None], along]) if len(along) else value[None]


@dataclass(frozen=True)
class Stepper:
    """A method: `start(t, rows, dy0)` is what it remembers at first, `step(t, h, rows, memory)` the new rows, their
    errors and the new memory; the errors go with the power `power` of h and are held to `control`."""

    start: Callable[[Any, Any, Any], Any]
    step: Callable[[Any, Any, Any, Any], tuple[Any, Any, Any]]
    power: int
    control: Control


def stepper(coupled: Coupled, method: str, control: Control) -> Stepper:
    if method == "bdf":
        from .implicit_jax import radau

        return radau(coupled, control)
    tableau = explicit.TABLEAUS[method]
    return Stepper(
        lambda t, rows, dy0: coupled.slope(t, rows),
        lambda t, h, rows, k: explicit.step(tableau, coupled.slope, t, h, rows, k),
        tableau.power, control,
    )  # fmt: skip


def first_step(control: Control, rows: Any, slope: Any) -> Any:
    """A cautious guess: the change is a hundredth of the state, where the tolerances make a difference."""
    scale = control.scale(rows)
    d0, d1 = jnp.max(jnp.abs(rows) / scale), jnp.max(jnp.abs(slope) / scale)
    return jnp.where((d0 > 1e-5) & (d1 > 1e-5), 0.01 * d0 / jnp.where(d1 > 0, d1, 1.0), 1e-6)


def attempt(method: Stepper, end: Any, state: Any) -> tuple[Any, Any, Any]:
    """One step towards `end` from state (t, h, rows, memory): the state after it, whether it was accepted, its size.

    A step that is rejected changes h alone.
    """
    t, h, rows, memory = state
    reaches = t + 1.01 * h >= end
    size = jnp.where(reaches, end - t, h)
    new, error, remembered = method.step(t, size, rows, memory)
    worst = jnp.max(jnp.abs(error) / method.control.scale(rows, new))
    worst = jnp.where(worst < jnp.inf, worst, jnp.inf)  # NaN too
    accepted = worst <= 1
    growth = jnp.clip(SAFETY * worst ** (-1 / method.power), LEAST_GROWTH, LARGEST_GROWTH)
    # a step cut short by the output says little about the one after it
    following = jnp.where(accepted & reaches, jnp.maximum(h, size * growth), size * growth)
    keep = lambda a, b: jnp.where(accepted, a, b)
    time = keep(jnp.where(reaches, end, t + size), t)
    state = time, following, keep(new, rows), jax.tree.map(keep, remembered, memory)
    return state, accepted, size


def least_step(t: Any) -> Any:
    return 10 * jnp.finfo(t.dtype).eps * jnp.abs(t)


def march(method: Stepper, control: Control, t0: Any, ts: Any, rows: Any, dy0: Any) -> Any:
    """The rows at every time of output; NaN from where it would take too many steps, or too small ones."""
    memory = method.start(t0, rows, dy0)
    slope = memory if not isinstance(memory, tuple) else memory[0]
    h = first_step(method.control, rows, slope).astype(rows.dtype)

    def reach(state: Any, end: Any) -> tuple[Any, Any]:
        def unfinished(loop: Any) -> Any:
            (t, h, *_), count = loop
            return (t < end) & (count < control.most_steps) & (h > least_step(end))

        (t, h, rows, memory), _ = jax.lax.while_loop(
            unfinished, lambda loop: (attempt(method, end, loop[0])[0], loop[1] + 1), (state, 0)
        )
        arrived = t >= end
        rows = jnp.where(arrived, rows, jnp.nan)
        return (end, jnp.where(arrived, h, 0), rows, memory), rows

    return jax.lax.scan(reach, (t0, h, rows, memory), ts)[1]
