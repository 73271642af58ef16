"""Random numbers inside of compiled loops: a chain's generator is one 64-bit number, which goes on by addition."""
from __future__ import annotations

import jax.numpy as jnp
from jax import Array, lax

from stanlib.random.split_mix import later, mixed


def bits(state: Array, count: int) -> tuple[Array, Array]:
    """The state after `count` numbers, and those numbers: 64 random bits each, (count,)."""
    return later(state, count), mixed(later(state, jnp.arange(1, count + 1)))


def uniforms(state: Array, count: int) -> tuple[Array, Array]:
    """The next state and numbers uniform on (0, 1), (count,): multiples of 2^-53 plus 2^-54."""
    state, made = bits(state, count)
    return state, ((made >> jnp.uint64(11)).astype(float) + 0.5) * 2.0**-53


def normals(state: Array, count: int) -> tuple[Array, Array]:
    """The next state and standard normal numbers, (count,)."""
    state, made = uniforms(state, count)
    return state, 2.0**0.5 * lax.erf_inv(2.0 * made - 1.0)
