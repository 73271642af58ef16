"""The methods for initial value problems by their names (JAX)."""
from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import Array

from . import explicit
from .control import FIRST_STEP, STANS_OWN, Control, explicit_growth
from .equations_jax import Coupled
from .implicit_jax import radau
from .march_jax import Stepper, first_step


def stepper(coupled: Coupled, method: str, control: Control, dy0: Any = None, loose: bool = False) -> Stepper:
    """The method; outputs of rk45 are taken inside its steps, as in Stan.

    With `loose` the errors of the states alone are controlled, not those of their derivatives.
    """
    if method == "bdf":
        return radau(coupled, control, dy0)
    tableau, dense = explicit.TABLEAUS[method], method == "rk45"

    def start(t: Array, rows: Array) -> tuple[Array, tuple[Array, ...]]:
        k = coupled.slope(t, rows)
        first = FIRST_STEP if method in STANS_OWN else first_step(_allowed(control, 0.0, rows, k), rows, k)
        h = jnp.asarray(first, rows.dtype)
        return h, (k, t, h, rows, k, k, k) if dense else (k,)

    def step(t: Array, h: Array, rows: Array, memory: tuple[Array, ...]) -> tuple[Array, Array, tuple[Array, ...]]:
        new, error, slopes = explicit.step(tableau, coupled.slope, t, h, rows, memory[0])
        relative = jnp.abs(error) / _allowed(control, h, rows, memory[0])
        memory = (slopes[-1], t, h, rows, *explicit.shape(slopes)) if dense else (slopes[-1],)
        return new, jnp.max(relative[0] if loose else relative), memory

    def inside(time: Array, after: Array, memory: Any) -> Any:
        last, t, h, before, *form = memory
        return explicit.inside((time - t) / h, h, before, after, (last, *form))

    return Stepper(start, step, lambda worst: explicit_growth(jnp, worst, tableau.power), inside if dense else None)


def _allowed(control: Control, h: Array | float, rows: Array, slopes: Array) -> Array:
    """The errors that are just allowed in a step."""
    allowed: Array = control.absolute + control.relative * (jnp.abs(rows) + h * jnp.abs(slopes))
    return allowed
