"""Integrals of smooth functions that fall from 1 at zero, by Gauss-Legendre quadrature (DLMF 3.5(v))."""
from __future__ import annotations

from functools import lru_cache

# Integrands are cut off where they have fallen below exp(-CUTOFF), the relative precision of a double.
CUTOFF = 38.0
COUNT = 40


@lru_cache(maxsize=1)
def _rule():
    """Nodes and weights on [0, 1]."""
    import numpy as np  # not before they are needed: records are read without an array library

    nodes, weights = np.polynomial.legendre.leggauss(COUNT)
    return (nodes + 1) / 2, weights / 2


def on_unit_interval(xp, like):
    """Nodes and weights on [0, 1] along a new leading axis in front of those of `like`, in its precision."""
    shape = (COUNT,) + (1,) * xp.ndim(like)
    nodes, weights = _rule()
    dtype = getattr(like, "dtype", None)
    if isinstance(dtype, type(nodes.dtype)):
        nodes, weights = nodes.astype(dtype), weights.astype(dtype)
    return xp.convert((nodes.reshape(shape), weights.reshape(shape), like))[:2]


def smaller_root(xp, slope, curvature):
    """The positive root u of slope u + curvature u^2 = CUTOFF, for slope and curvature not below 0."""
    return 2 * CUTOFF / (slope + xp.sqrt(slope * slope + 4 * CUTOFF * curvature))
