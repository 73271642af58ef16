"""A function of shards of data in JAX: one vectorised call where the shapes inside permit it."""
from __future__ import annotations

from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from ..errors import StanTracingError, StanUnknownError

Rows = Array | np.ndarray  # one for each shard: of parameters, or of data
# what a function meets that needs to know its data, for sizes and slices
_HIDDEN = (jax.errors.JAXTypeError, jax.errors.JAXIndexError, StanUnknownError, StanTracingError)


def apply(f: Callable[..., Array], phi: Array, thetas: Rows, x_rs: Rows, x_is: Rows) -> Array:
    """The values f(phi, theta, x_r, x_i) of all shards, one behind the other."""
    if not (isinstance(x_is, np.ndarray) and (x_is == x_is[:1]).all()):
        try:
            return _at_once(f, phi, thetas, x_rs, jnp.asarray(x_is), 0).ravel()
        except _HIDDEN:
            pass
    values: dict[int, Array] = {}
    for at in _alike(x_is) if isinstance(x_is, np.ndarray) else [[i] for i in range(len(thetas))]:
        values.update(zip(at, _of_group(f, phi, _rows(thetas, at), _rows(x_rs, at), x_is[at[0]])))
    return jnp.concatenate([values[i] for i in range(len(thetas))])


def _at_once(f: Callable[..., Array], phi: Array, thetas: Rows, x_rs: Rows, integers: Rows, axis: int | None) -> Array:
    """The values of shards, (shards, values)."""
    return jax.vmap(f, (None, 0, 0, axis))(phi, jnp.asarray(thetas), jnp.asarray(x_rs), integers)


def _alike(x_is: np.ndarray) -> list[list[int]]:
    """The numbers of the shards with the same integers, group by group."""
    groups: dict[bytes, list[int]] = {}
    for i, row in enumerate(x_is):
        groups.setdefault(row.tobytes(), []).append(i)
    return list(groups.values())


def _rows(x: Rows, at: Sequence[int]) -> Rows:
    """Those of a group: the array itself for a group of all."""
    return x if len(at) == len(x) else x[np.asarray(at)]


def _of_group(f: Callable[..., Array], phi: Array, thetas: Rows, x_rs: Rows, integers: Rows) -> Sequence[Array]:
    """The values of each of the shards that have the same integers, which are known if data tell them."""
    if len(thetas) > 1:
        try:
            return list(_at_once(f, phi, thetas, x_rs, integers, None))
        except _HIDDEN:
            pass
    return [jnp.asarray(f(phi, theta, x_r, integers)) for theta, x_r in zip(thetas, x_rs)]
