"""While loops of JAX with derivatives in reverse mode, for numbers of iterations known only at run time.

JAX's own have derivatives forwards, which is all that solvers ask for that carry derivatives along. Here the derivative
goes through the iterations backwards. It computes the state before each of them anew from the start, so that it needs
no memory for the states and no limit on their number; its cost is quadratic in that number.
"""
from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from ...solvers.arguments_jax import is_zero
from ...solvers.forwards import loops_forwards
from .liveness import steady
from .tracing import Traced

Leaves = list[Any]


def while_loop(condition: Callable[[Any], object], body: Callable[[Any], object], state: object) -> Any:
    """`while condition(state): state = body(state)`; the body keeps the shapes and types of the state."""
    if loops_forwards():
        return jax.lax.while_loop(lambda s: jnp.asarray(condition(s)) != 0, body, state)
    leaves, tree = jax.tree_util.tree_flatten(state)

    def flat_condition(leaves: Leaves) -> jax.Array:
        return jnp.asarray(condition(jax.tree_util.tree_unflatten(tree, leaves))) != 0

    def flat_body(leaves: Leaves) -> Leaves:
        return jax.tree_util.tree_leaves(body(jax.tree_util.tree_unflatten(tree, leaves)))

    # What the functions refer to becomes an argument, so that it has derivatives too.
    decide, step = Traced(flat_condition, leaves), Traced(flat_body, leaves)
    out = _run(decide, step, leaves, decide.given, step.given)
    return jax.tree_util.tree_unflatten(tree, out)


@partial(jax.custom_vjp, nondiff_argnums=(0, 1))
def _run(decide: Traced, step: Traced, leaves: Leaves, decide_given: Leaves, step_given: Leaves) -> Leaves:
    return _loop(decide, step, leaves, decide_given, step_given)[1]


def _loop(decide: Traced, step: Traced, leaves: Leaves, decide_given: Leaves, step_given: Leaves) -> tuple[Any, Leaves]:
    """The number of iterations and the last state."""

    def go_on(s: tuple[object, Leaves]) -> Any:
        return decide.on(decide_given, s[1])

    def once(s: tuple[Any, Leaves]) -> tuple[Any, Leaves]:
        return s[0] + 1, step.on(step_given, s[1])

    out: tuple[Any, Leaves] = jax.lax.while_loop(go_on, once, (jnp.asarray(0), leaves))
    return out


def _forward(decide: Traced, step: Traced, *arguments: object) -> tuple[Leaves, object]:
    """The last state, and what the derivative needs: the first one and the number of iterations."""
    leaves, decide_given, step_given = jax.tree_util.tree_map(lambda x: x.value, arguments, is_leaf=_is_primal)
    count, out = _loop(decide, step, leaves, decide_given, step_given)
    return out, (leaves, step_given, count)


def _is_primal(x: object) -> bool:
    return isinstance(x, jax.custom_derivatives.CustomVJPPrimal)


def _backward(decide: Traced, step: Traced, kept: Any, cotangents: Leaves) -> tuple[object, object, object]:
    """The cotangents of the arguments, None for those that no derivatives flow through, so that none are made up."""
    leaves, step_given, count = kept
    live = steady(lambda s: step.reached(s)[1], [_is_real(x) and not is_zero(c) for x, c in zip(leaves, cotangents)])
    live_given = step.reached(live)[0]

    def pull(i: Any, carry: tuple[Leaves, Leaves]) -> tuple[Leaves, Leaves]:
        before = jax.lax.fori_loop(0, count - 1 - i, lambda _, s: step.on(step_given, s), leaves)

        def reals(inside: Leaves, given: Leaves) -> Leaves:
            out = step.on(_merged(given, step_given, live_given), _merged(inside, before, live))
            return _chosen(out, live)

        _, pull_back = jax.vjp(reals, _chosen(before, live), _chosen(step_given, live_given))
        of_state, of_given = pull_back(carry[0])
        return of_state, [a + b for a, b in zip(carry[1], of_given)]

    at_end = [jnp.zeros_like(x) if is_zero(c) else c for x, c in zip(leaves, cotangents)]
    start = (_chosen(at_end, live), [jnp.zeros_like(x) for x in _chosen(step_given, live_given)])
    of_state, of_given = jax.lax.fori_loop(0, count, pull, start)
    nothing = [None] * len(leaves), [None] * len(step_given)
    return _merged(of_state, nothing[0], live), None, _merged(of_given, nothing[1], live_given)


_run.defvjp(_forward, _backward, symbolic_zeros=True)


def _is_real(x: object) -> bool:
    return bool(jnp.issubdtype(jnp.asarray(x).dtype, jnp.inexact))


def _chosen(values: Leaves, chosen: list[bool]) -> Leaves:
    return [v for v, c in zip(values, chosen) if c]


def _merged(some: Leaves, others: Leaves, chosen: list[bool]) -> Leaves:
    rest = iter(some)
    return [next(rest) if c else other for other, c in zip(others, chosen)]
