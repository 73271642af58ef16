"""Initial value problems in JAX, with their derivatives.

For few parameters the state carries its derivatives in them along, as in Stan: rows of a matrix whose first row is
the state itself. Errors are controlled in all rows, and a `custom_jvp` combines the rows with the tangents. For many
parameters adjoint_jax.py goes back over the steps instead.
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from . import explicit
from .arguments_jax import Arguments, fixed, is_real, is_zero, join, real_type
from .control import FIRST_STEP, STANS_OWN, Control, explicit_growth
from .march_jax import Stepper, first_step, march

MOST_COLUMNS = 100  # derivatives that the state carries; with more, going back is faster
STRETCH = 32  # steps that are repeated together on the way back
Slope = Callable[..., Any]


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
    if y0.size + sum(x.size for x in split.leaves if is_real(x)) > MOST_COLUMNS:
        adjoint = adjoint or STRETCH
    states = _states(equations, y0, None, t0, ts, split.leaves, method, control, adjoint)
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
    loose = method in STANS_OWN and control.is_loose(np)
    control = control.at_precision(float(jnp.finfo(y0.dtype).eps))
    times = [fixed(x).astype(y0.dtype) for x in (t0, ts)]

    def plain(t0: Any, ts: Any, dy0: Any, y0: Any, *leaves: Any) -> Any:
        return _rows(equations, method, control, (t0, ts), y0, dy0, leaves, (), loose)[:, 0]

    if adjoint:
        from .adjoint_jax import with_adjoint

        states = with_adjoint(equations, method, control if loose else control.tightened(), adjoint)
        return states(times[0], times[1], y0, leaves)
    states = jax.custom_jvp(plain)

    def rule(primals: Any, tangents: Any) -> Any:
        t0, ts, dy0, y0, *leaves = primals
        changes = tangents[3:]
        varied = tuple(i for i, t in enumerate(changes) if t is not None and not is_zero(t))
        if not varied:
            value = plain(*primals)
            return value, jnp.zeros_like(value)
        rows = _rows(equations, method, control, (t0, ts), y0, dy0, leaves, varied, loose)
        weights = jnp.concatenate([jnp.ravel(changes[i]).astype(y0.dtype) for i in varied])
        return rows[:, 0], jnp.einsum("tri,r->ti", rows[:, 1:], weights)

    states.defjvp(rule, symbolic_zeros=True)
    return states(*times, dy0, y0, *leaves)


def _rows(
    equations: Equations, method: str, control: Control, times: Any, y0: Any, dy0: Any, leaves: Any,
    varied: tuple[int, ...], loose: bool,
) -> Any:  # fmt: skip
    """The states, and their derivatives in what varies (0 for y0, 1 + i for leaf i): times x (1 + count) x states."""
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
    return march(stepper(coupled, method, control, dy0, loose), control, t0, ts, rows)


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


def stepper(coupled: Coupled, method: str, control: Control, dy0: Any = None, loose: bool = False) -> Stepper:
    """The method; outputs of rk45 are taken inside its steps, as in Stan.

    With `loose` the errors of the states alone are controlled, not those of their derivatives.
    """
    if method == "bdf":
        from .implicit_jax import radau

        return radau(coupled, control, dy0)
    tableau, dense = explicit.TABLEAUS[method], method == "rk45"

    def allowed(h: Any, rows: Any, k: Any) -> Any:
        return control.absolute + control.relative * (jnp.abs(rows) + h * jnp.abs(k))

    def start(t: Any, rows: Any) -> tuple[Any, Any]:
        k = coupled.slope(t, rows)
        h = FIRST_STEP if method in STANS_OWN else first_step(allowed(0.0, rows, k), rows, k)
        h = jnp.asarray(h, rows.dtype)
        return h, (k, t, h, rows, k, k, k) if dense else (k,)

    def step(t: Any, h: Any, rows: Any, memory: Any) -> tuple[Any, Any, Any]:
        k = memory[0]
        new, error, slopes = explicit.step(tableau, coupled.slope, t, h, rows, k)
        memory = (slopes[-1], t, h, rows, *explicit.shape(slopes)) if dense else (slopes[-1],)
        relative = jnp.abs(error) / allowed(h, rows, k)
        return new, jnp.max(relative[0] if loose else relative), memory

    def inside(time: Any, after: Any, memory: Any) -> Any:
        last, t, h, before, *form = memory
        return explicit.inside((time - t) / h, h, before, after, (last, *form))

    growth = lambda worst: explicit_growth(jnp, worst, tableau.power)
    return Stepper(start, step, growth, inside if dense else None)
