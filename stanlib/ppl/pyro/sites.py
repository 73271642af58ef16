"""Sample sites on Pyro: axes that are independent stand in plates, those of parameters belong to one event.

Sites that are sums over the rows of a minibatch are scaled to all rows.
"""
from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from typing import Any

import numpy as np
import pyro
import torch
from pyro.poutine.indep_messenger import IndepMessenger

from ... import batches
from ...drawn import note
from ..values import check_value
from .distributions import of_shape


def latent(name: str, law: object) -> Any:
    """A parameter, as one event.

    Raises:
        StanDataError: where a handler gives it a value of other sizes.
    """
    whole = as_event(law)
    with _scaled(name):
        value = pyro.sample(name, whole)
    check_value(name, np.shape(value), whole.event_shape)
    return note(name, value)


def as_event(law: Any) -> Any:
    """The law of all entries together."""
    rank = len(law.batch_shape)
    return law.to_event(rank) if rank else law


def observed(name: str, law: Any, value: Any) -> None:
    """Data: one observation for every entry of the law's batch shape.

    Raises:
        StanDataError: where a handler gives them a value of other sizes.
    """
    law = of_shape(law, tuple(value.shape))
    with plates(name, law.batch_shape), _scaled(name):
        taken = pyro.sample(name, law, obs=value)
    check_value(name, np.shape(taken), np.shape(value))


def weighted(name: str, terms: torch.Tensor) -> None:
    """Terms of the log density, one for every observation."""
    if not is_predicting():
        with plates(name, terms.shape), _scaled(name):
            pyro.factor(name, terms)


def is_predicting() -> bool:
    """Whether no log density is asked for, as under Predictive: what only adds to it is no quantity to predict."""
    return pyro.poutine.get_mask() is False


def plates(name: str, shape: Sequence[int]) -> ExitStack:
    """A plate for every axis, if there are any entries; of all of them, so that there is no sample of entries."""
    stack = ExitStack()
    for i, n in enumerate(() if 0 in shape else shape):
        stack.enter_context(IndepMessenger(f"{name}__plate{i + 1}", size=n, dim=i - len(shape)))
    return stack


def _scaled(name: str) -> AbstractContextManager[Any]:
    factor = batches.factor(name)
    return nullcontext() if factor is None else pyro.poutine.scale(scale=factor)
