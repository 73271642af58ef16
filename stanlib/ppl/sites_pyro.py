"""Sample sites on Pyro: axes that are independent stand in plates, those of parameters belong to one event."""
from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import pyro
import torch

from .. import batches
from .pyro_distributions import of_shape


def latent(name: str, law: Any) -> Any:
    """A parameter: one event, or one for every entry of a minibatch."""
    batch = batches.of_site(name)
    rank = len(law.batch_shape)
    if batch is None:
        return pyro.sample(name, law.to_event(rank) if rank else law)
    with plates(name, law.batch_shape[:1], batch):
        return pyro.sample(name, law.to_event(rank - 1) if rank > 1 else law)


def observed(name: str, law: Any, value: Any) -> None:
    """Data: one observation for every entry of the law's batch shape."""
    law = of_shape(law, tuple(value.shape))
    with plates(name, law.batch_shape, batches.of_site(name)):
        pyro.sample(name, law, obs=value)


def weighted(name: str, terms: torch.Tensor) -> None:
    """Terms of the log density, one for every observation."""
    with plates(name, terms.shape, batches.of_site(name)):
        pyro.factor(name, terms)


def plates(name: str, shape: Sequence[int], batch: batches.Batch | None) -> ExitStack:
    """A plate for every axis, if there are any entries; the first is subsampled where it holds a batch."""
    stack = ExitStack()
    if 0 in shape:
        return stack
    for i, n in enumerate(shape):
        options: dict[str, Any] = {"size": n, "dim": i - len(shape)}
        if i == 0 and batch is not None:
            options |= {"size": n // batch.size * batch.total, "subsample": torch.arange(n)}
        stack.enter_context(pyro.plate(f"{name}__plate{i + 1}", **options))
    return stack
