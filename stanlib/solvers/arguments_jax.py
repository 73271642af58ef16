"""The further arguments of a higher-order function in JAX: which parts are traced, and which may have derivatives."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array


class Arguments:
    """Arguments of any Stan types, split into JAX's arrays (`leaves`) and what is known and stays as it is."""

    def __init__(self, arguments: Sequence[object]):
        parts, self._tree = jax.tree.flatten(tuple(arguments))
        self._where = [i for i, p in enumerate(parts) if isinstance(p, jax.Array)]
        self._parts = [None if isinstance(p, jax.Array) else p for p in parts]
        self.leaves = tuple(parts[i] for i in self._where)

    def restore(self, leaves: Sequence[object]) -> Any:
        """The arguments with other values of the leaves."""
        parts = list(self._parts)
        for i, leaf in zip(self._where, leaves):
            parts[i] = leaf
        return jax.tree.unflatten(self._tree, parts)


def is_real(x: Array) -> bool:
    return bool(jnp.issubdtype(x.dtype, jnp.inexact))


def real_type(*values: object) -> Any:
    """The floating type to compute in: that of JAX's arrays among the values."""
    types = [leaf.dtype for leaf in jax.tree.leaves(values) if isinstance(leaf, jax.Array) and is_real(leaf)]
    return jnp.result_type(*types) if types else jnp.result_type(float)


def join(leaves: Sequence[Array], dtype: Any) -> tuple[Array, Callable[[Array], list[Array]]]:
    """Real arrays as one vector, and the function that takes such a vector apart."""
    shapes, ends = [x.shape for x in leaves], np.cumsum([x.size for x in leaves])
    types = [x.dtype for x in leaves]

    def split(vector: Array) -> list[Array]:
        pieces = [vector[end - int(np.prod(s)) : end] for s, end in zip(shapes, ends)]
        return [p.reshape(s).astype(t) for p, s, t in zip(pieces, shapes, types)]

    if not leaves:
        return jnp.zeros(0, dtype), split
    return jnp.concatenate([jnp.ravel(x).astype(dtype) for x in leaves]), split


def is_zero(tangent: object) -> bool:
    """Whether a tangent is known to vanish, or belongs to integers."""
    zero = jax.custom_derivatives.SymbolicZero
    return isinstance(tangent, zero) or getattr(tangent, "dtype", None) == jax.dtypes.float0


def fixed(x: object) -> Array:
    """A value without derivatives, as an array."""
    return jax.lax.stop_gradient(jnp.asarray(x))
