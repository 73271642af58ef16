"""Roots of systems of equations in JAX, differentiated by the implicit function theorem."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array
from jax.typing import DTypeLike

from ..arrays.jax import linalg as linalg_jax
from ..rejection import Lifted
from . import roots
from .arguments_jax import Arguments, fixed, real_type
from .densely_jax import densely
from .forwards import Loops, forwards
from .roots import Limits

System = Callable[[Any], tuple[Any, Any]]  # the residual, and whether the draw is rejected there


def solve(
    f: Lifted, guess: Any, arguments: tuple[Any, ...], method: str, limits: Limits
) -> Any:
    """The y with f(y, *arguments) = 0; NaN where it is not found. The guess has no derivatives."""
    dtype, split = real_type(guess, arguments), Arguments(arguments)
    equations, limits = _Equations(f, split, dtype), limits.at_precision(float(jnp.finfo(dtype).eps))

    @jax.custom_jvp
    def root(guess: object, *leaves: object) -> Array:
        y, left = METHODS[method](lambda y: equations.watched(y, leaves), guess, limits.most_steps)
        return jnp.where(roots.norm(jnp, left) <= limits.residual, y, jnp.nan)

    @root.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        guess, *leaves = primals
        y = root(guess, *leaves)
        change = equations.change(y, tuple(leaves), tuple(tangents[1:]))
        return y, -linalg_jax.solve(jax.jacfwd(equations.residual)(y, leaves), change)

    return root(fixed(guess).astype(dtype), *split.leaves)


class _Equations:
    """The residual of a system as a function of y and of the leaves of its arguments, derived forwards alone."""

    def __init__(self, f: Lifted, split: Arguments, dtype: DTypeLike):
        self.f, self.split, self.dtype, self.loops = f, split, dtype, Loops()

    def residual(self, y: Array, leaves: Sequence[object]) -> Array:
        with forwards(self.loops):
            return jnp.asarray(self.f(y, *self.split.restore(leaves)), self.dtype)

    def watched(self, y: Array, leaves: Sequence[object]) -> tuple[Array, Array]:
        """The residual, and whether the draw is rejected there."""
        with forwards(self.loops):
            out, flag = self.f.flagged(y, *self.split.restore(leaves))
        return jnp.asarray(out, self.dtype), jnp.asarray(False if flag is None else flag)

    def change(self, y: Array, leaves: tuple[object, ...], tangents: tuple[object, ...]) -> Array:
        """What changes of the leaves make of the residual; with loops inside only matrices are derived in reverse."""
        of_leaves: Callable[..., Array] = lambda y, *leaves: self.residual(y, leaves)
        if self.loops.found:  # as the system has been looked at
            of_leaves = densely(of_leaves)
        out: Array = jax.jvp(partial(of_leaves, y), leaves, tangents)[1]
        return out


def newton(f: System, guess: Any, most_steps: int) -> tuple[Any, Any]:
    """Newton's method with a line search: the last iterate and its residual."""
    shares = jnp.asarray(roots.LAMBDAS, guess.dtype)

    def unfinished(loop: tuple[Array, Array, int, Array]) -> Array:
        _, _, count, done = loop
        return ~done & (count < most_steps)

    def step(loop: Any) -> Any:
        y, left, count, _ = loop
        change = -linalg_jax.solve(jax.jacfwd(lambda y: f(y)[0])(y), left)
        tried, rejected = jax.vmap(f)(y + shares[:, None] * change)
        sizes = jnp.sqrt(jnp.sum(tried**2, axis=1))
        good = sizes < (1 - roots.DECREASE * shares) * roots.norm(jnp, left)
        at = jnp.argmax(good | rejected)
        tried = jnp.where(rejected[:, None], jnp.nan, tried)
        better = good[at] | rejected[at]
        y = jnp.where(better, y + shares[at] * change, y)
        done = ~better | rejected[at] | roots.lost(jnp, change, y)
        return y, jnp.where(better, tried[at], left), count + 1, done

    y, left, _, _ = jax.lax.while_loop(unfinished, step, (guess, _start(f, guess), 0, jnp.asarray(False)))
    return y, left


def powell(f: System, guess: Any, most_steps: int) -> tuple[Any, Any]:
    """Powell's hybrid method: the last iterate and its residual."""

    def unfinished(loop: tuple[Array, Array, Array, int, Array]) -> Array:
        _, _, _, count, done = loop
        return ~done & (count < most_steps)

    def step(loop: Any) -> Any:
        y, left, radius, count, _ = loop
        jacobian = jax.jacfwd(lambda y: f(y)[0])(y)
        change = roots.dogleg(jnp, jacobian, -linalg_jax.solve(jacobian, left), left, radius)
        tried, rejected = f(y + change)
        before, after = roots.norm(jnp, left), roots.norm(jnp, tried)
        ratio = (before - after) / (before - roots.norm(jnp, left + jacobian @ change))
        better = after < before
        left = jnp.where(rejected, jnp.nan, left)
        radius = roots.next_radius(jnp, radius, change, jnp.where(better, ratio, 0.0))
        done = roots.lost(jnp, change, y) | rejected
        return jnp.where(better, y + change, y), jnp.where(better & ~rejected, tried, left), radius, count + 1, done

    size = roots.norm(jnp, guess)
    radius = roots.FIRST_RADIUS * jnp.where(size > 0, size, 1.0)
    y, left, *_ = jax.lax.while_loop(unfinished, step, (guess, _start(f, guess), radius, 0, jnp.asarray(False)))
    return y, left


def _start(f: System, guess: Array) -> Array:
    """The residual at the guess, NaN where it rejects the draw."""
    left, rejected = f(guess)
    return jnp.where(rejected, jnp.nan, left)


METHODS: dict[str, Callable[[System, Any, int], tuple[Any, Any]]] = {"newton": newton, "powell": powell}
