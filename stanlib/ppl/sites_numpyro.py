"""Sample sites on NumPyro: those of a minibatch stand in a subsampled plate."""
from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import jax.numpy as jnp
import numpyro

from .. import batches
from .numpyro_distributions import of_shape


def latent(name: str, law: Any) -> Any:
    """A parameter; its other axes are one event for every entry of a minibatch."""
    batch = batches.of_site(name)
    if batch is None:
        return jnp.asarray(numpyro.sample(name, law))  # never NumPy's: what it leads to depends on parameters
    rank = len(law.batch_shape)
    with _plate(name, law.batch_shape, batch, -1):
        return numpyro.sample(name, law.to_event(rank - 1) if rank > 1 else law)


def observed(name: str, law: Any, value: Any) -> None:
    """Data: one observation for every entry of the law's batch shape."""
    law, batch = of_shape(law, jnp.shape(value)), batches.of_site(name)
    with _plate(name, law.batch_shape, batch, -len(law.batch_shape)):
        numpyro.sample(name, law, obs=value)


def weighted(name: str, terms: Any) -> None:
    """Terms of the log density."""
    batch = batches.of_site(name)
    with _plate(name, jnp.shape(terms), batch, -jnp.ndim(terms)):
        numpyro.factor(name, terms)


def _plate(name: str, shape: tuple[int, ...], batch: batches.Batch | None, dim: int) -> AbstractContextManager[Any]:
    if batch is None or not shape:
        return nullcontext()
    whole = shape[0] // batch.size * batch.total
    return numpyro.plate(f"{name}__plate", whole, subsample_size=shape[0], dim=dim)
