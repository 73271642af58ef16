"""Functions whose derivatives are whole matrices, for those that can be derived forwards alone (JAX)."""
from __future__ import annotations

from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
from jax import Array

from .arguments_jax import is_zero


def densely(f: Callable[..., Array]) -> Callable[..., Array]:
    """The function f of arrays, of which derivatives of any order, in reverse too, are products with such matrices.

    These are computed forwards, in all directions, those of the matrices themselves as well.
    """

    @jax.custom_jvp
    def value(*primals: Array) -> Array:
        return f(*primals)

    def changed(primals: Sequence[Array], tangents: Sequence[Array]) -> tuple[Array, Array]:
        varied = tuple(i for i, t in enumerate(tangents) if not is_zero(t))
        out = value(*primals)
        if not varied:
            return out, jnp.zeros_like(out)

        def slopes(*primals: Array) -> Array:
            parts = jax.jacfwd(f, varied)(*primals)
            return jnp.concatenate([p.reshape(*out.shape, -1) for p in parts], -1)

        change = jnp.concatenate([jnp.ravel(tangents[i]) for i in varied])
        return out, jnp.dot(densely(slopes)(*primals), change.astype(out.dtype))

    value.defjvp(changed, symbolic_zeros=True)
    return value
