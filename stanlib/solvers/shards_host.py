"""A function of shards of data in Python, on NumPy arrays and PyTorch tensors."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..arrays import namespace
from ..arrays.base import Array
from .calculus_host import Lift


def apply(f: Callable[..., Any], phi: Array, thetas: Any, x_rs: Any, x_is: Any) -> Array:
    """The values f(phi, theta, x_r, x_i) of all shards, one behind the other."""
    xp = namespace((phi, thetas))
    lift = Lift(xp, phi, thetas)
    phi, thetas, x_rs = lift.reals((phi, thetas, x_rs))
    return xp.concatenate([lift(f(phi, *shard)) for shard in zip(thetas, x_rs, x_is)])
