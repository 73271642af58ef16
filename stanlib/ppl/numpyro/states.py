"""The state of traced branches and loops: one shape and type for what comes from several paths.

UNSET stands for a variable that has no value yet; once any path gives it one, it has that value's shape everywhere,
with zeros where no path did.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...absent import absent
from ...errors import StanTracingError
from ...lanes.frames import Frame, current
from ...lanes.values import Lanes, full
from .tracing import Traced

State = tuple[Any, ...]
UNSET = None

jax.tree_util.register_pytree_node(
    Lanes, lambda v: ((v.data,), v.axes), lambda axes, data: Lanes(data[0], axes)
)


def as_arrays(state: State) -> State:
    """The same of arrays of JAX."""
    arrays: State = jax.tree_util.tree_map(jnp.asarray, state)
    return arrays


def merged(a: Any, b: Any) -> Any:
    """Shapes and types that hold both of two states."""
    if a is UNSET or b is UNSET:
        return b if a is UNSET else a
    if isinstance(a, tuple):
        return tuple(merged(x, y) for x, y in zip(a, b))
    if type(a) is Lanes or type(b) is Lanes:
        return _merge_lanes(a, b)
    return jax.ShapeDtypeStruct(_common_shape(a.shape, b.shape), jnp.result_type(a.dtype, b.dtype))


def _common_shape(a: Sequence[int], b: Sequence[int]) -> tuple[int, ...]:
    """The shape of a value that comes from either of two paths, which must be one; a number stands for any shape.

    Raises:
        StanTracingError: naming both shapes; Stan throws nothing, so that no draw is rejected.
    """
    if a and b and tuple(a) != tuple(b):
        raise StanTracingError(
            f"a condition that depends on parameters chooses between values of shapes {tuple(a)} and {tuple(b)}, "
            "which must be the same for JAX to compile it"
        )
    return tuple(a or b)


def nothing(shape: Sequence[int], dtype: Any) -> jax.Array:
    """An array of what no path gave a value: zeros, but for absent reals in double precision."""
    return jnp.full(shape, absent() if dtype == np.float64 else 0, dtype)


def _merge_lanes(a: Any, b: Any) -> Lanes:
    """Shapes and types of values of which one differs between lanes."""
    union = [x for v in (a, b) if type(v) is Lanes for x in v.axes]
    axes = tuple(x for x in current().axes if x in union or any(v in x.maps for v in union))
    data = [v.data if type(v) is Lanes else v for v in (a, b)]
    event = _common_shape(*(v.event if type(v) is Lanes else v.shape for v in (a, b)))
    shape = tuple(x.size for x in axes) + tuple(event)
    return Lanes(jax.ShapeDtypeStruct(shape, jnp.result_type(data[0].dtype, data[1].dtype)), axes)


def _fit_lanes(state: Any, target: Lanes) -> Lanes:
    if state is UNSET:
        return Lanes(nothing(target.data.shape, target.data.dtype), target.axes)
    data = jnp.asarray(full(state, Frame(target.axes)), target.data.dtype)
    return Lanes(jnp.broadcast_to(data, target.data.shape), target.axes)


def fixpoint(
    body: Callable[..., object], first: tuple[object, ...], state: State, carried: Callable[[Any], State]
) -> tuple[State, Traced]:
    """The shapes and types that a loop's state has from the first iteration on, and the body traced for them.

    The body takes what differs between iterations, as it is in the `first`, and the state; `carried` tells the state
    afterwards from its results.
    """
    target = jax.tree_util.tree_map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype), unmasked(state))
    while True:
        traced = Traced(body, *first, *target)
        after = merged(target, unmasked(carried(traced.results)))
        if _same(after, target):
            return target, traced
        target = after


def unmasked(state: object) -> Any:
    """The state without the marks of the masks that it was computed under."""
    if isinstance(state, tuple):
        return tuple(map(unmasked, state))
    return Lanes(state.data, state.axes) if type(state) is Lanes else state


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, tuple):
        return isinstance(b, tuple) and all(map(_same, a, b))
    if type(a) is Lanes or type(b) is Lanes:
        return type(a) is type(b) and a.axes == b.axes and a.data == b.data
    return bool(a == b)


def fitted(state: Any, target: Any) -> Any:
    """The state in the shapes and types of a target."""
    if target is UNSET:
        return UNSET
    if type(target) is Lanes:
        return _fit_lanes(state, target)
    if isinstance(target, tuple):
        parts = (UNSET,) * len(target) if state is UNSET else state
        return tuple(fitted(x, t) for x, t in zip(parts, target))
    if state is UNSET:
        return nothing(target.shape, target.dtype)
    return jnp.broadcast_to(jnp.asarray(state, target.dtype), target.shape)
