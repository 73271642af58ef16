"""Integrals of smooth functions that fall from 1 at zero, by Gauss-Legendre quadrature (DLMF 3.5(v))."""
from __future__ import annotations

import numpy as np

# Integrands are cut off where they have fallen below exp(-CUTOFF), the relative precision of a double.
CUTOFF = 38.0
COUNT = 40
_nodes, _weights = np.polynomial.legendre.leggauss(COUNT)
NODES, WEIGHTS = (_nodes + 1) / 2, _weights / 2


def on_unit_interval(xp, like):
    """Nodes and weights on [0, 1] along a new leading axis in front of those of `like`, in its precision."""
    shape = (COUNT,) + (1,) * xp.ndim(like)
    dtype = like.dtype if isinstance(getattr(like, "dtype", None), np.dtype) else NODES.dtype
    nodes, weights = NODES.astype(dtype).reshape(shape), WEIGHTS.astype(dtype).reshape(shape)
    return xp.convert((nodes, weights, like))[:2]


def smaller_root(xp, slope, curvature):
    """The positive root u of slope u + curvature u^2 = CUTOFF, for slope and curvature not below 0."""
    return 2 * CUTOFF / (slope + xp.sqrt(slope * slope + 4 * CUTOFF * curvature))
