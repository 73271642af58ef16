"""Initial value problems in JAX, with their derivatives.

For few parameters the state carries its derivatives in them along, as in Stan: rows of a matrix whose first row is
the state itself. Errors are controlled in all rows, and a `custom_jvp` combines the rows with the tangents. For many
parameters adjoint_jax.py goes back over the steps instead.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from . import times
from .arguments_jax import Arguments, fixed, is_real, is_zero, join, real_type
from .control import STANS_OWN, Control
from .equations_jax import Coupled, Equations
from .march_jax import march
from .steppers_jax import stepper

MOST_COLUMNS = 100  # derivatives that the state carries; with more, going back is faster
STRETCH = 32  # steps that are repeated together on the way back


def solve(
    f: Callable[..., object], y0: Array, t0: object, ts: object, arguments: tuple[object, ...], method: str,
    control: Control, adjoint: int = 0,
) -> Array:  # fmt: skip
    """The states of y' = f(t, y, *arguments) at the times ts, one per row.

    `method` is "rk45", "ckrk", "adams" or "bdf". With `adjoint`, derivatives are computed backwards over stretches of
    that many steps.
    """
    dtype = real_type(y0, t0, ts, arguments)
    split = Arguments(arguments)
    y0 = jnp.asarray(y0, dtype)

    def slope(t: Array, y: Array, leaves: Any) -> Array:
        return jnp.asarray(f(t, y, *split.restore(leaves)), dtype)

    if isinstance(t0, jax.Array):
        y0 = times.started_at(lambda t, y: slope(t, y, split.leaves), *_at(t0, dtype), y0)
    equations = Equations(slope, lambda t, y, dy, leaves: dy - slope(t, y, leaves))
    if y0.size + sum(x.size for x in split.leaves if is_real(x)) > MOST_COLUMNS:
        adjoint = adjoint or STRETCH
    states = _states(equations, y0, None, t0, ts, split.leaves, method, control, adjoint)
    if isinstance(ts, jax.Array):
        states = jax.vmap(partial(times.moved, lambda t, y: slope(t, y, split.leaves)))(*_at(ts, dtype), states)
    return states


def _at(t: Array, dtype: Any) -> tuple[Array, Array]:
    """Times without derivatives, and 0 with theirs."""
    return fixed(t).astype(dtype), (t - fixed(t)).astype(dtype)


def solve_dae(
    f: Callable[..., object], y0: Array, dy0: Array, t0: Array, ts: Array, arguments: tuple[object, ...],
    control: Control
) -> Array:
    """The states of 0 = f(t, y, y', *arguments) at the times ts, one per row."""
    dtype = real_type(y0, dy0, arguments)
    split = Arguments(arguments)

    def residual(t: Array, y: Array, dy: Array, leaves: Any) -> Array:
        return jnp.asarray(f(t, y, dy, *split.restore(leaves)), dtype)

    # the solution does not depend on dy0: it follows from y0 where the two are consistent
    start = fixed(dy0).astype(dtype)
    return _states(Equations(None, residual), jnp.asarray(y0, dtype), start, t0, ts, split.leaves, "bdf", control, 0)


def _states(
    equations: Equations, y0: Array, dy0: Array | None, t0: object, ts: object, leaves: tuple[Array, ...], method: str,
    control: Control, adjoint: int,
) -> Array:  # fmt: skip
    """The states at ts, (times, n), with derivatives in y0 and the leaves: carried along, or backwards (`adjoint`)."""
    loose = method in STANS_OWN and control.is_loose(np)
    control = control.at_precision(float(jnp.finfo(y0.dtype).eps))
    start, ends = (fixed(x).astype(y0.dtype) for x in (t0, ts))

    if adjoint:
        from .adjoint_jax import with_adjoint

        states = with_adjoint(equations, method, control if loose else control.tightened(), adjoint)
        return states(start, ends, y0, leaves)
    def of_rows(varied: tuple[int, ...], t0: Array, ts: Array, dy0: Array | None, y0: Array, *leaves: Array) -> Array:
        return _rows(equations, method, control, (t0, ts), y0, dy0, leaves, varied, loose)

    states = jax.custom_jvp(lambda *primals: of_rows((), *primals)[:, 0])
    states.defjvp(partial(_changed, of_rows), symbolic_zeros=True)
    return states(start, ends, dy0, y0, *leaves)


def _changed(of_rows: Callable[..., Array], primals: Any, tangents: Any) -> tuple[Array, Array]:
    """The states, and what changes of y0 and the leaves make of them: those that are not zero are carried along."""
    changes, dtype = tangents[3:], primals[3].dtype
    varied = tuple(i for i, t in enumerate(changes) if t is not None and not is_zero(t))
    rows = of_rows(varied, *primals)
    if not varied:
        return rows[:, 0], jnp.zeros_like(rows[:, 0])
    weights = jnp.concatenate([jnp.ravel(changes[i]).astype(dtype) for i in varied])
    return rows[:, 0], jnp.einsum("tri,r->ti", rows[:, 1:], weights)


def _rows(
    equations: Equations, method: str, control: Control, times: tuple[Array, Array], y0: Array, dy0: Array | None,
    leaves: Sequence[Array], varied: tuple[int, ...], loose: bool,
) -> Array:  # fmt: skip
    """The states, and their derivatives in what varies (0 for y0, 1 + i for leaf i): times x (1 + count) x states."""
    t0, ts = times
    p, split = join([leaves[i - 1] for i in varied if i], y0.dtype)
    n = y0.size * (0 in varied)
    in_y0, in_p = np.zeros((n + p.size, y0.size)), np.zeros((n + p.size, p.size))
    in_y0[:n] = np.eye(n, y0.size)
    in_p[n:] = np.eye(p.size)

    def restore(p: Array) -> list[Array]:
        out = list(leaves)
        for i, x in zip([i for i in varied if i], split(p)):
            out[i - 1] = x
        return out

    slope, residual = equations.slope, equations.residual
    of_p = Equations(
        None if slope is None else lambda t, y, p: slope(t, y, restore(p)),
        lambda t, y, dy, p: residual(t, y, dy, restore(p)),
    ).forwards()
    rows = jnp.concatenate([y0[None], jnp.asarray(in_y0, y0.dtype)])
    coupled = Coupled(of_p, p, jnp.asarray(in_p, y0.dtype))
    return march(stepper(coupled, method, control, dy0, loose), control, t0, ts, rows)
