"""The further arguments of a higher-order function in JAX: which parts are traced, and which may have derivatives."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax


class Arguments:
    """Arguments of any Stan types, split into JAX's arrays (`leaves`) and what is known and stays as it is.

    Of complex numbers the real and the imaginary parts are leaves: all that has derivatives is real.
    """

    def __init__(self, arguments: Sequence[object]):
        parts, self._tree = jax.tree.flatten([_in_reals(a) for a in jax.tree.leaves(tuple(arguments))])
        self._arguments = jax.tree.structure(tuple(arguments))
        self._where = [i for i, p in enumerate(parts) if isinstance(p, jax.Array)]
        self._parts = [None if isinstance(p, jax.Array) else p for p in parts]
        self.leaves = tuple(parts[i] for i in self._where)

    def restore(self, leaves: Sequence[object]) -> Any:
        """The arguments with other values of the leaves."""
        parts = list(self._parts)
        for i, leaf in zip(self._where, leaves):
            parts[i] = leaf
        values = jax.tree.unflatten(self._tree, parts)
        whole = [lax.complex(*v) if isinstance(v, _Complex) else v for v in values]
        return jax.tree.unflatten(self._arguments, whole)


class _Complex(NamedTuple):
    real: Array
    imag: Array


def _in_reals(value: object) -> object:
    if isinstance(value, jax.Array) and jnp.iscomplexobj(value):
        return _Complex(jnp.real(value), jnp.imag(value))
    return value


def is_real(x: Array) -> bool:
    return bool(jnp.issubdtype(x.dtype, jnp.floating))


def real_type(*values: object) -> Any:
    """The floating type to compute in: that of JAX's arrays among the values, and of the parts of complex ones."""
    arrays = [leaf for leaf in jax.tree.leaves(values) if isinstance(leaf, jax.Array)]
    types = [jnp.finfo(x.dtype).dtype for x in arrays if jnp.issubdtype(x.dtype, jnp.inexact)]
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
