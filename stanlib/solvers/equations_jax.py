"""Differential equations with the directions in which their solutions are derived (JAX)."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from ..dataclass import dataclass
from .forwards import forwards

Slope = Callable[..., Array]


@dataclass(frozen=True)
class Equations:
    """`y' = slope(t, y, p)`, or `0 = residual(t, y, y', p)` if slope is None."""

    slope: Slope | None
    residual: Callable[[Array, Array, Array, Any], Array]

    def forwards(self) -> Equations:
        """The same, derived forwards alone."""
        slope = None if self.slope is None else forwards()(self.slope)
        return Equations(slope, forwards()(self.residual))

    def jacobians(self, t: Array, y: Array, dy: Array, p: object) -> tuple[Array, Array]:
        """The derivatives of the residual in y and in y'."""
        if self.slope is not None:
            return -jax.jacfwd(self.slope, 1)(t, y, p), jnp.eye(y.size, dtype=y.dtype)
        in_y, in_dy = jax.jacfwd(self.residual, (1, 2))(t, y, dy, p)
        return in_y, in_dy


@dataclass(frozen=True)
class Coupled:
    """Equations at the parameters p, with the directions in p of each row below the first."""

    equations: Equations
    p: Any
    in_p: Any

    def push(self, f: Callable[[Any, Any], object], rows: Array) -> tuple[Any, Any]:
        """f(y, p), and its derivatives along every row."""
        y = rows[0]
        if not len(self.in_p):
            out = f(y, self.p)
            return out, jax.tree.map(lambda x: jnp.zeros((0, *x.shape), x.dtype), out)

        def along(dy: Array, dp: object) -> tuple[Any, Any]:
            return jax.jvp(f, (y, self.p), (dy, dp))

        return jax.vmap(along, out_axes=(None, 0))(rows[1:], self.in_p)

    def slope(self, t: Array, rows: Array) -> Array:
        f = self.equations.slope
        assert f is not None
        return _stack(*self.push(lambda y, p: f(t, y, p), rows))


def _stack(value: Array, along: Array) -> Array:
    return jnp.concatenate([value[None], along]) if len(along) else value[None]
