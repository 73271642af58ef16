"""Streams of random numbers in JAX: a state tells all numbers of its stream, and the states of others.

With 64 bits a state is one number, whose bits are mixed; without, where such numbers can't be had, a key of JAX.
"""
from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from .split_mix import later, mixed

Shape = tuple[int, ...]


@partial(jax.jit, inline=True)
def begun(key: Array) -> Array:
    """The state of a key of JAX; a state is its own. Raises AssertionError without one, as NumPyro's laws do."""
    assert key is not None, "there is no key to draw by"
    if key.dtype == jnp.uint64 or jax.dtypes.canonicalize_dtype(np.uint64) != np.uint64:
        return key
    # numbers are a key as they are, also where JAX's generator has been chosen to be one of longer keys
    raw = key if jnp.issubdtype(key.dtype, jnp.unsignedinteger) else jax.random.key_data(key)
    words = raw.reshape(-1).astype(jnp.uint64)
    state: Array = words[0]
    for word in words[1:]:
        state = mixed((state << jnp.uint64(32)) ^ word)
    return state


@partial(jax.jit, inline=True)
def fold(state: Array, number: Array | int) -> Array:
    """The state of another stream, independent of those of other numbers."""
    if state.dtype != jnp.uint64:
        return jax.random.fold_in(state, number)
    return mixed(later(state, jnp.asarray(number) + 1))


@partial(jax.jit, inline=True)
def key_of(key: Array, number: Array | int) -> Array:
    """A key of JAX, one for each number, that none is which JAX itself makes of `key`.

    JAX's `split` and `fold_in` make the same ones: what draws by keys of its own beside a handler that splits the same
    key would draw the same numbers.
    """
    state = fold(begun(key), number)
    if state.dtype != jnp.uint64:
        return jax.random.fold_in(state, 0x5EED)  # no number of a split or of a site
    return jnp.stack([state >> jnp.uint64(32), state]).astype(jnp.uint32)


def sampled(one: Callable[[Array], Array], key: Array, shape: Shape) -> Array:
    """What a function of a key or state makes of as many as the shape has places; of the key itself for none."""
    if not shape:
        return one(key)
    for _ in shape:
        one = jax.vmap(one)
    return one(spread(begun(key), shape))


def spread(state: Array, shape: Shape) -> Array:
    """As many states as the shape has places."""
    if state.dtype != jnp.uint64:
        return jax.random.split(state, shape)
    states: Array = fold(state, jnp.arange(math.prod(shape)).reshape(shape))
    return states


@partial(jax.jit, static_argnums=(1, 2), inline=True)
def uniforms(state: Array, shape: Shape, dtype: jnp.dtype) -> Array:
    """Numbers uniform on [0, 1)."""
    if state.dtype != jnp.uint64:
        return jax.random.uniform(state, shape, dtype)
    digits = jnp.finfo(dtype).nmant + 1
    made: Array = _leading(state, shape, digits).astype(dtype) * 2.0**-digits
    return made


@partial(jax.jit, static_argnums=(1, 2), inline=True)
def open_uniforms(state: Array, shape: Shape, dtype: jnp.dtype) -> Array:
    """Numbers uniform on (0, 1)."""
    if state.dtype != jnp.uint64:
        return jax.random.uniform(state, shape, dtype, jnp.finfo(dtype).tiny)
    digits = jnp.finfo(dtype).nmant  # one less than there is room for, which the half takes
    made: Array = (_leading(state, shape, digits).astype(dtype) + 0.5) * 2.0**-digits
    return made


@partial(jax.jit, static_argnums=(1, 2), inline=True)
def normals(state: Array, shape: Shape, dtype: jnp.dtype) -> Array:
    """Standard normal numbers."""
    if state.dtype != jnp.uint64:
        return jax.random.normal(state, shape, dtype)
    made: Array = 2.0**0.5 * jax.lax.erf_inv(2.0 * open_uniforms(state, shape, dtype) - 1.0)
    return made


@partial(jax.jit, static_argnums=(1, 2), inline=True)
def exponentials(state: Array, shape: Shape, dtype: jnp.dtype) -> Array:
    """Exponential numbers of rate 1."""
    return -jnp.log1p(-uniforms(state, shape, dtype))


def _leading(state: Array, shape: Shape, count: int) -> Array:
    """Integers of so many random bits."""
    made: Array = spread(state, shape) >> jnp.uint64(64 - count)
    return made
