"""Gauss quadrature (DLMF 3.5(v)): rules, and integrals of smooth functions that fall from 1 at zero."""
from __future__ import annotations

from functools import lru_cache
from typing import Any

from ..base import Array, Namespace

# Integrands are cut off where they have fallen below exp(-CUTOFF), the relative precision of a double.
CUTOFF = 38.0
COUNT = 40


@lru_cache
def unit_rule(count: Any) -> Any:
    """Nodes and weights of `count` points on [0, 1]."""
    import numpy as np  # not before they are needed: records are read without an array library

    nodes, weights = np.polynomial.legendre.leggauss(count)
    return (nodes + 1) / 2, weights / 2


@lru_cache
def normal_rule(count: Any) -> Any:
    """Nodes and weights for the mean over a standard normal law."""
    import numpy as np

    nodes, weights = np.polynomial.hermite_e.hermegauss(count)
    return nodes, weights / weights.sum()


def on_unit_interval(xp: Namespace, like: Array) -> Any:
    """Nodes and weights on [0, 1] along a new leading axis in front of those of `like`, in its precision."""
    shape = (COUNT,) + (1,) * xp.ndim(like)
    nodes, weights = unit_rule(COUNT)
    dtype = getattr(like, "dtype", None)
    if isinstance(dtype, type(nodes.dtype)):
        nodes, weights = nodes.astype(dtype), weights.astype(dtype)
    return xp.convert((nodes.reshape(shape), weights.reshape(shape), like))[:2]


def smaller_root(xp: Namespace, slope: Array, curvature: Array) -> Array:
    """The positive root u of slope u + curvature u^2 = CUTOFF, for slope and curvature not below 0."""
    return 2 * CUTOFF / (slope + xp.sqrt(slope * slope + 4 * CUTOFF * curvature))
