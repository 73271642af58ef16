"""While loops of JAX with derivatives in reverse mode, for numbers of iterations known only at run time.

The derivative goes through the iterations backwards. It computes the state before each of them anew from the start,
so that it needs no memory for the states and no limit on their number; its cost is quadratic in that number.
"""
from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .jax_tracing import Traced

Leaves = list[Any]


def while_loop(condition: Callable[[Any], Any], body: Callable[[Any], Any], state: Any) -> Any:
    """`while condition(state): state = body(state)`; the body keeps the shapes and types of the state."""
    leaves, tree = jax.tree_util.tree_flatten(state)

    def flat_condition(leaves: Leaves) -> Any:
        return jnp.asarray(condition(jax.tree_util.tree_unflatten(tree, leaves))) != 0

    def flat_body(leaves: Leaves) -> Leaves:
        return jax.tree_util.tree_leaves(body(jax.tree_util.tree_unflatten(tree, leaves)))

    # What the functions refer to becomes an argument, so that it has derivatives too.
    decide, step = Traced(flat_condition, leaves), Traced(flat_body, leaves)
    out = _run(decide.on, step.on, leaves, decide.given, step.given)
    return jax.tree_util.tree_unflatten(tree, out)


@partial(jax.custom_vjp, nondiff_argnums=(0, 1))
def _run(decide: Any, step: Any, leaves: Leaves, decide_given: Leaves, step_given: Leaves) -> Leaves:
    return _forward(decide, step, leaves, decide_given, step_given)[0]


def _forward(decide: Any, step: Any, leaves: Leaves, decide_given: Leaves, step_given: Leaves) -> tuple[Leaves, Any]:
    """The last state, and what the derivative needs: the first one and the number of iterations."""

    def go_on(s: tuple[Any, Leaves]) -> Any:
        return decide(decide_given, s[1])

    def once(s: tuple[Any, Leaves]) -> tuple[Any, Leaves]:
        return s[0] + 1, step(step_given, s[1])

    count, out = jax.lax.while_loop(go_on, once, (jnp.asarray(0), leaves))
    return out, (leaves, decide_given, step_given, count)


def _backward(decide: Any, step: Any, kept: Any, cotangents: Leaves) -> tuple[Leaves, Leaves, Leaves]:
    leaves, decide_given, step_given, count = kept
    real = [_is_real(x) for x in leaves]
    real_given = [_is_real(x) for x in step_given]

    def pull(i: Any, carry: tuple[Leaves, Leaves]) -> tuple[Leaves, Leaves]:
        before = jax.lax.fori_loop(0, count - 1 - i, lambda _, s: step(step_given, s), leaves)

        def reals(inside: Leaves, given: Leaves) -> Leaves:
            out = step(_merged(given, step_given, real_given), _merged(inside, before, real))
            return _chosen(out, real)

        _, pull_back = jax.vjp(reals, _chosen(before, real), _chosen(step_given, real_given))
        of_state, of_given = pull_back(carry[0])
        return of_state, [a + b for a, b in zip(carry[1], of_given)]

    start = (_chosen(cotangents, real), [jnp.zeros_like(x) for x in _chosen(step_given, real_given)])
    of_state, of_given = jax.lax.fori_loop(0, count, pull, start)
    return (
        _with_zeros(of_state, leaves, real), [_zero(x) for x in decide_given],
        _with_zeros(of_given, step_given, real_given),
    )  # fmt: skip


_run.defvjp(_forward, _backward)


def _is_real(x: Any) -> bool:
    return bool(jnp.issubdtype(jnp.asarray(x).dtype, jnp.inexact))


def _chosen(values: Leaves, chosen: list[bool]) -> Leaves:
    return [v for v, c in zip(values, chosen) if c]


def _merged(some: Leaves, others: Leaves, chosen: list[bool]) -> Leaves:
    rest = iter(some)
    return [next(rest) if c else other for other, c in zip(others, chosen)]


def _with_zeros(some: Leaves, likes: Leaves, chosen: list[bool]) -> Leaves:
    rest = iter(some)
    return [next(rest) if c else _zero(x) for x, c in zip(likes, chosen)]


def _zero(x: Any) -> Any:
    """The derivative of what has none: JAX's empty type for ints."""
    return jnp.zeros_like(x) if _is_real(x) else np.zeros(jnp.shape(x), jax.dtypes.float0)
