"""Parts of JAX's arrays, read and replaced: as slices and blocks where the places are known, else gathered."""
from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .. import numpy as _np
from .. import uses_jax
from ..base import Array
from ..progressions import Repetition, is_order, progressions, repetition
from .rearranging import rearranged


def get(x: Array, index: tuple[object, ...]) -> Array:
    """x[index] for indices that are known to be inside, or traced: then NaN is selected outside."""
    if not uses_jax((x, *index)):
        return x[index]
    if not uses_jax(index):
        return _at_known(jnp.asarray(x), index)
    x = jnp.asarray(x)
    mode = "fill" if jnp.issubdtype(x.dtype, jnp.inexact) else "clip"
    return x.at[index].get(mode=mode, fill_value=np.nan if mode == "fill" else None, wrap_negative_indices=False)


def _at_known(x: jax.Array, index: tuple[object, ...]) -> Array:
    if not any(isinstance(i, np.ndarray) for i in index):
        return x[index]
    axis = _axis_of_vector(index)
    found = None if axis is None else _entries(x, index, axis)
    if found is None:
        return x.at[index].get(mode="promise_in_bounds", wrap_negative_indices=False)
    return found


def _entries(x: Any, index: tuple[Any, ...], axis: int) -> Array | None:
    """What a vector of indices selects along an axis, by what has a quick derivative; None if nothing has."""
    def at(i: object) -> Any:
        return _at_known(x, (*index[:axis], i, *index[axis + 1 :]))

    vector = index[axis]
    parts = progressions(vector)
    if parts is not None:
        return at(parts[0]) if len(parts) == 1 else jnp.concatenate([at(part) for part in parts], axis)
    found = repetition(vector)
    if found is not None:
        return _repeated(at(found.base), axis, found)
    if not is_order(vector, x.shape[axis]):
        return None
    return jnp.moveaxis(rearranged(jnp.moveaxis(at(slice(None)), axis, 0), vector), 0, axis)


def _axis_of_vector(index: tuple[Any, ...]) -> int | None:
    """The axis of the one vector of integers in an index beside slices."""
    arrays = [k for k, i in enumerate(index) if not isinstance(i, slice)]
    if len(arrays) != 1 or np.ndim(index[arrays[0]]) != 1 or np.asarray(index[arrays[0]]).dtype.kind not in "iu":
        return None
    return arrays[0]


def _repeated(x: Any, axis: int, how: Repetition) -> Array:
    """The entries of the base along an axis, repeated."""
    before, behind = x.shape[:axis], x.shape[axis + 1 :]
    spread = jnp.expand_dims(x, axis + 1 if how.in_turn else axis)
    return jnp.reshape(jnp.broadcast_to(spread, (*before, *how.shape, *behind)), (*before, -1, *behind))


def at_set(x: object, index: object, value: object) -> Any:
    if not uses_jax((x, index, value)):
        return _np.at_set(x, index, value)
    x = jnp.asarray(x, jnp.result_type(x, value))
    block = _block(index, x.shape)
    if block is not None:
        return _with_block(x, block, value)
    return x.at[index].set(value, unique_indices=_is_unique(index, x.shape))


def _is_unique(index: object, shape: tuple[int, ...]) -> bool:
    """Whether known indices, one array for each of the first dimensions, name no place twice."""
    parts = index if isinstance(index, tuple) else (index,)
    arrays = [i for i in parts if isinstance(i, np.ndarray) and i.dtype.kind in "iu"]
    if not arrays or len(arrays) < len(parts) or len({a.shape for a in arrays}) > 1:
        return False
    flat = np.ravel_multi_index(arrays, shape[: len(arrays)], mode="wrap").reshape(-1)
    return len(np.unique(flat)) == flat.size


def _block(index: object, shape: tuple[int, ...]) -> list[tuple[int, int]] | None:
    """First and last place along every axis of a part that is a block at a known place; None for other parts."""
    parts = index if isinstance(index, tuple) else (index,)
    out = []
    for i, n in zip(parts, shape):
        if isinstance(i, slice):
            start, stop, step = i.indices(n)
            if step != 1:
                return None
            out.append((start, stop if stop > start else start))
        elif isinstance(i, (int, np.integer)) and not isinstance(i, bool) and 0 <= i < n:
            out.append((int(i), int(i) + 1))
        else:
            return None
    return out + [(0, n) for n in shape[len(parts) :]]


def _with_block(x: jax.Array, block: list[tuple[int, int]], value: Any) -> Array:
    """x with a block replaced: XLA puts blocks together faster than it scatters."""
    shape = tuple(stop - start for start, stop in block)
    value = jnp.broadcast_to(jnp.reshape(value, shape) if jnp.size(value) == np.prod(shape) else value, shape)
    value = value.astype(x.dtype)
    partial = [k for k, (a, b) in enumerate(block) if (a, b) != (0, x.shape[k])]
    if not partial:
        whole: Array = value
        return whole
    if len(partial) > 1:
        return jax.lax.dynamic_update_slice(x, value, [a for a, _ in block])
    axis, (start, stop) = partial[0], block[partial[0]]
    ends = jax.lax.slice_in_dim(x, 0, start, axis=axis), jax.lax.slice_in_dim(x, stop, x.shape[axis], axis=axis)
    return jnp.concatenate([p for p in (ends[0], value, ends[1]) if p.shape[axis]], axis)


def pick_last(x: Any, i: Any) -> jax.Array:
    rows = jnp.broadcast_shapes(np.shape(x)[:-1], np.shape(i))
    index = jnp.broadcast_to(i, rows)[..., None]
    return jnp.take_along_axis(jnp.broadcast_to(x, (*rows, np.shape(x)[-1])), index, -1)[..., 0]


def segment_sum(x: Any, i: Any, n: int) -> Any:
    if not uses_jax((x, i)):
        return _np.segment_sum(x, i, n)
    known = isinstance(i, np.ndarray) and len(i) > 0
    if known and (np.diff(i) == 1).all():  # a pad, which XLA fuses
        ends = [(int(i[0]), n - 1 - int(i[-1])), *((0, 0) for _ in range(jnp.ndim(x) - 1))]
        return jnp.pad(jnp.asarray(x), ends)
    ordered = known and bool((np.diff(i) >= 0).all())
    return jax.ops.segment_sum(jnp.asarray(x), jnp.asarray(i), n, indices_are_sorted=ordered)
