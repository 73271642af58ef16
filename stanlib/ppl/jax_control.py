"""Control flow that may depend on traced values, as JAX asks for it: bodies are functions of explicit state.

Each helper runs plain Python when nothing is traced. UNSET stands for a variable that has no value yet; once any path
gives it one, it has that value's shape everywhere, with zeros where no path did.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..rejection import rejecting_draws

State = tuple[Any, ...]
UNSET = None
UNROLL = 4  # trip counts up to which a loop is written out


def is_traced(x: Any) -> bool:
    return isinstance(x, jax.core.Tracer)


def _any_traced(values: Any) -> bool:
    return any(map(is_traced, jax.tree_util.tree_leaves(values)))


def _captured(f: Callable[..., Any], seen: set[int]) -> Iterator[Any]:
    """The values that a function refers to, and those that functions among them do."""
    for cell in getattr(f, "__closure__", None) or ():
        try:
            value = cell.cell_contents
        except ValueError:  # a variable that is assigned later
            continue
        if id(value) in seen:
            continue
        seen.add(id(value))
        if callable(value) and hasattr(value, "__closure__"):
            yield from _captured(value, seen)
        else:
            yield value


def _is_concrete(state: Any, *functions: Callable[..., Any]) -> bool:
    if _any_traced(state):
        return False
    return not any(_any_traced(v) for f in functions for v in _captured(f, set()))


def cond(predicate: Any, then: Callable[..., State], otherwise: Callable[..., State], state: State = ()) -> State:
    """The state after one of two branches."""
    if not is_traced(predicate):
        return then(*state) if predicate else otherwise(*state)
    state = _arrays(state)
    with rejecting_draws():
        target = _merge(_shapes(then, state), _shapes(otherwise, state))
        out: State = jax.lax.cond(
            jnp.asarray(predicate) != 0, lambda s: _fit(then(*s), target), lambda s: _fit(otherwise(*s), target), state
        )
    return out


def choose(predicate: Any, then: Callable[[], Any], otherwise: Callable[[], Any]) -> Any:
    """The value of one of two expressions; the other one is not evaluated."""
    (out,) = cond(predicate, lambda: (then(),), lambda: (otherwise(),))
    return out


def logical_and(left: Any, right: Callable[[], Any]) -> Any:
    if not is_traced(left):
        return right() if left else 0
    return jnp.logical_and(left != 0, jnp.asarray(right()) != 0)


def logical_or(left: Any, right: Callable[[], Any]) -> Any:
    if not is_traced(left):
        return 1 if left else right()
    return jnp.logical_or(left != 0, jnp.asarray(right()) != 0)


def for_loop(
    lower: Any, upper: Any, body: Callable[..., State], state: State = (), outputs: int = 0, most: int | None = None
) -> State:
    """`for (i in lower:upper) state = body(i, *state)`.

    With `outputs`, the body returns that many further values per iteration, which come back stacked behind the state.
    `most` is a limit on the number of iterations, for bounds that are traced: the loop then has derivatives.
    """
    if is_traced(lower) or is_traced(upper):
        if most is not None:
            return _limited_loop(lower, upper, most, body, state, outputs)
        if outputs:
            raise TypeError("a loop whose bounds depend on parameters can't have one term per iteration")
        return _dynamic_loop(lower, upper, body, state)
    indices = range(int(lower), int(upper) + 1)
    if len(indices) <= UNROLL or _is_concrete(state, body):
        return _python_loop(indices, body, state, outputs)
    return _scan(np.asarray(indices), body, state, outputs)


def most(counts: Iterable[Any]) -> int:
    """The largest of some numbers of iterations, 0 if there are none."""
    return max((int(c) for c in counts), default=0)


def _limited_loop(
    lower: Any, upper: Any, most: int, body: Callable[..., State], state: State, outputs: int
) -> State:
    """As many iterations as there can be; those beyond the upper bound change nothing."""
    count = len(state)

    def step(k: Any, *state: Any) -> State:
        i = lower + k

        def skip(*state: Any) -> State:
            return (*state, *(UNSET,) * outputs)

        return cond(i <= upper, lambda *s: body(i, *s), skip, state)

    if most <= 0:
        return (*state, *(np.zeros(0),) * outputs)
    out = _scan(np.arange(most), step, state, outputs)
    return (*out[:count], *out[count:])


def _python_loop(indices: Sequence[int], body: Callable[..., State], state: State, outputs: int) -> State:
    count, collected = len(state), []
    for i in indices:
        result = body(i, *state)
        state = result[:count]
        collected.append(result[count:])
    return (*state, *(_stack([c[k] for c in collected]) for k in range(outputs)))


def _stack(terms: list[Any]) -> Any:
    """The terms of all iterations; one that had none counts as 0."""
    terms = [0.0 if t is UNSET else t for t in terms]
    if not terms:
        return np.zeros(0)
    shape = jnp.broadcast_shapes(*map(jnp.shape, terms))
    return jnp.stack([jnp.broadcast_to(t, shape) for t in terms])


def _scan(indices: np.ndarray, body: Callable[..., State], state: State, outputs: int) -> State:
    count, first = len(state), jnp.asarray(indices[0])
    state = _arrays(state)
    target = _fixpoint(lambda *s: body(first, *s)[:count], state)

    def step(carry: State, i: Any) -> tuple[State, State]:
        result = body(i, *carry)
        terms = tuple(jnp.zeros(()) if t is UNSET else t for t in result[count:])
        return _fit(result[:count], target), terms

    final, stacked = jax.lax.scan(step, _fit(state, target), indices)
    return (*final, *stacked)


def _dynamic_loop(lower: Any, upper: Any, body: Callable[..., State], state: State) -> State:
    state = _arrays(state)
    first = jnp.asarray(lower)
    target = _fixpoint(lambda *s: body(first, *s), state)
    out: State = jax.lax.fori_loop(lower, upper + 1, lambda i, s: _fit(body(i, *s), target), _fit(state, target))
    return out


def while_loop(condition: Callable[..., Any], body: Callable[..., State], state: State) -> State:
    """`while (condition(state)) state = body(state)`."""
    if _is_concrete(state, condition, body):
        while condition(*state):
            state = body(*state)
        return state
    state = _arrays(state)
    target = _fixpoint(body, state)
    out: State = jax.lax.while_loop(
        lambda s: jnp.asarray(condition(*s)) != 0, lambda s: _fit(body(*s), target), _fit(state, target)
    )
    return out


# --- shapes and types of state ---------------------------------------------------------------------------------------


def _arrays(state: State) -> State:
    return jax.tree_util.tree_map(jnp.asarray, state)  # type: ignore[no-any-return]


def _shapes(body: Callable[..., State], state: State) -> State:
    """The shapes and types of the state after a body."""
    return tuple(jax.eval_shape(lambda s: body(*s), state))


def _merge(a: Any, b: Any) -> Any:
    """Shapes and types that hold both of two states."""
    if a is UNSET or b is UNSET:
        return b if a is UNSET else a
    if isinstance(a, tuple):
        return tuple(_merge(x, y) for x, y in zip(a, b))
    return jax.ShapeDtypeStruct(jnp.broadcast_shapes(a.shape, b.shape), jnp.result_type(a.dtype, b.dtype))


def _fixpoint(body: Callable[..., State], state: State) -> State:
    """The shapes and types that a loop's state has from the first iteration on."""
    target = jax.tree_util.tree_map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype), state)
    while True:
        after = _merge(target, _shapes(body, target))
        if after == target:
            return target  # type: ignore[no-any-return]
        target = after


def _fit(state: Any, target: Any) -> Any:
    """The state in the shapes and types of a target."""
    if target is UNSET:
        return UNSET
    if isinstance(target, tuple):
        parts = (UNSET,) * len(target) if state is UNSET else state
        return tuple(_fit(x, t) for x, t in zip(parts, target))
    if state is UNSET:
        return jnp.zeros(target.shape, target.dtype)
    return jnp.broadcast_to(jnp.asarray(state, target.dtype), target.shape)
