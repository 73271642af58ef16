"""A function of one lane's values whose conditions PyTorch's `vmap` would hide: lanes that go the same way run at once.

Where lanes differ in what Python decides on, a run ends, and those that agree there run again without the others: what
is computed for a lane that goes another way might have a gradient that is NaN.
"""
from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

import numpy as np

from ..rejection import deciding

Made = TypeVar("Made")

FEWEST = 8  # runs, however few lanes there are
SHARE = 4  # lanes for each further one: else one after the other is as fast


class Scattered(Exception):
    """Lanes hardly any of which go the same way."""


class _Apart(Exception):
    """Lanes that differ in what is decided on: the places of those that agree, group by group."""

    def __init__(self, groups: list[np.ndarray]):
        self.groups = groups


def in_groups(run: Callable[[np.ndarray], Made], lanes: np.ndarray) -> list[tuple[np.ndarray, Made]]:
    """Each group of lanes that go the same way, and what a run of these gave, of a function that `agrees`.

    Raises:
        Scattered: too many groups.
    """
    left, done, runs = [lanes], list[tuple[np.ndarray, Made]](), 0
    while left:
        group, runs = left.pop(), runs + 1
        if runs > FEWEST + len(lanes) // SHARE:
            raise Scattered
        try:
            done.append((group, run(group)))
        except _Apart as apart:
            left += [group[places] for places in apart.groups]
    return done


def agreeing(function: Callable[..., Made]) -> Callable[..., Made]:
    """The function as it runs for several lanes under `vmap`, if these agree in what is decided on."""
    from torch._C import _functorch

    def together(*arguments: object) -> Made:
        with deciding(partial(_decide, _functorch.maybe_current_level())):
            return function(*arguments)

    return together


def _decide(level: int | None, condition: object) -> object:
    """A condition that is the same in all lanes of the `vmap` of a level, as a number that is known.

    Raises:
        _Apart: it is not the same.
    """
    import torch
    from torch._C import _functorch

    if not isinstance(condition, torch.Tensor) or _functorch.maybe_get_level(condition) != level:
        return condition
    inside, lanes = _functorch.get_unwrapped(condition), _functorch.maybe_get_bdim(condition)
    values = np.moveaxis(inside.detach().cpu().numpy(), lanes, 0)
    found, numbers = np.unique(values, return_inverse=True)
    if len(found) > 1:
        raise _Apart([np.flatnonzero(numbers == k) for k in range(len(found))])
    return found[0]
