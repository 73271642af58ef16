"""Functions of complex numbers on their branch cuts, which side of it the sign of a zero tells, as in C99 (annex G).

JAX's own take a negative zero for a positive one there. Each function takes numbers mirrored in an axis to mirrored
ones, so that those with a negative part go by way of their mirror images.
"""
from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp
from jax import Array

Function = Callable[[Array], Array]


def _by_mirror(f: Function, part: Function, mirrored: Function) -> Function:
    """f by way of what has no negative `part`; reals as they are."""

    def on_side(x: Array) -> Array:
        if not jnp.iscomplexobj(x):
            return f(x)
        negative = jnp.signbit(part(x))
        value = f(jnp.where(negative, mirrored(x), x))
        return jnp.where(negative, mirrored(value), value)

    return on_side


def _across_the_real_axis(f: Function) -> Function:
    return _by_mirror(f, jnp.imag, jnp.conj)


sqrt = _across_the_real_axis(jnp.sqrt)
arccos = _across_the_real_axis(jnp.arccos)
arccosh = _across_the_real_axis(jnp.arccosh)
arcsin = _across_the_real_axis(jnp.arcsin)
arcsinh = _by_mirror(jnp.arcsinh, jnp.real, lambda z: -jnp.conj(z))
