"""Powers that XLA leaves as they are: it takes the logarithm of one, `log(x**y)`, for `y * log(abs(x))`.

So a logarithm that is no number would become one where x is negative. It does so to what is a power alone.
"""
from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


def power(base: Any, exponent: Any) -> Any:
    """base**exponent, of a negative base by cases: no number, or minus the power of its size for an odd exponent."""
    made = jnp.power(base, exponent)
    if isinstance(exponent, (int, jax.Array)) or jnp.iscomplexobj(made):
        return made
    known = np.asarray(exponent)
    if known.dtype.kind != "f" or not np.isfinite(known).all() or not (known % 2).any():
        return made
    odd, even = known % 2 == 1, known % 2 == 0
    mirrored = -jnp.power(-base, np.where(odd, known, 1.0)) if odd.any() else jnp.nan
    broken = jnp.where(base == -jnp.inf, np.power(-np.inf, known), jnp.nan)
    return jnp.where(base < 0, jnp.where(odd, mirrored, jnp.where(even, made, broken)), made)
