"""A function of shards of data in JAX: one vectorised call where the shapes inside permit it."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array


def apply(f: Callable[..., Array], phi: Array, thetas: Any, x_rs: Any, x_is: Any) -> Array:
    """The values f(phi, theta, x_r, x_i) of all shards, one behind the other."""
    same = isinstance(x_is, np.ndarray) and (x_is == x_is[:1]).all()
    integers = x_is[0] if same else jnp.asarray(x_is)
    try:
        whole = jax.vmap(f, (None, 0, 0, None if same else 0))
        return whole(phi, jnp.asarray(thetas), jnp.asarray(x_rs), integers).ravel()
    except (jax.errors.JAXTypeError, jax.errors.JAXIndexError):  # the function needs to know its data
        shards = zip(thetas, x_rs, x_is)
        return jnp.concatenate([jnp.asarray(f(phi, *shard)) for shard in shards])
