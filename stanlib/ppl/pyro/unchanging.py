"""Networks of torch that stay as they are: functions of their arguments, or there is no density."""
from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from contextvars import ContextVar

import torch

from ...networks import Network

_asked: ContextVar[bool] = ContextVar("unchanging", default=False)


@contextlib.contextmanager
def unchanging() -> Iterator[None]:
    """Inside, calls of networks are looked at: methods that train none of them evaluate a density by them."""
    token = _asked.set(True)
    try:
        yield
    finally:
        _asked.reset(token)


@contextlib.contextmanager
def evaluating(networks: Iterable[object]) -> Iterator[None]:
    """Inside, networks are in evaluation mode: what has been trained is used."""
    parts = [m for n in networks if isinstance(n, torch.nn.Module) for m in n.modules()]
    modes = [m.training for m in parts]
    for m in parts:
        m.training = False
    try:
        yield
    finally:
        for m, training in zip(parts, modes):
            m.training = training


def is_asked() -> bool:
    """Whether calls of networks are looked at."""
    return _asked.get()


@contextlib.contextmanager
def looked_at(network: Network, module: torch.nn.Module) -> Iterator[None]:
    """Around a call of a network that stays as it is.

    Raises:
        StanNetworkError: where it draws random numbers, as dropout does, and where it changes one of its buffers, as
            batch normalisation does, whose rows depend on one another then.
    """
    state, versions = torch.get_rng_state(), {n: b._version for n, b in module.named_buffers()}
    yield
    trains = any(m.training for m in module.modules())
    mode, advice = "in evaluation mode, too", "it must return the same every time"
    if trains:
        mode, advice = "in training mode", "pass it after net.eval(), or train it by `variational`"
    if not torch.equal(state, torch.get_rng_state()):
        raise network.error(f"draws random numbers {mode}, as dropout does, so that there is no density: {advice}")
    changed = [n for n, b in module.named_buffers() if b._version != versions.get(n)]
    if changed:
        raise network.error(f"changes its {changed[0]!r} {mode}, as batch normalisation does: {advice}")
