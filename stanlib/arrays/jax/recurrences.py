"""Linear recurrences: loops of which XLA keeps nothing but their results, for derivatives too."""
from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from .. import numpy as _np
from .. import uses_jax
from ..base import Array

NARROW = 4  # numbers at a step, of which several steps are one of XLA's loop: that costs as much as their arithmetic
TOGETHER = 4  # steps


def linear_recurrence(growth: Any, added: Any, start: Any) -> Array:
    """r[t] = growth[t] r[t + 1] + added[t] for all t, from the last, behind which r is `start`.

    Args:
        growth, added: (length, n).
        start: (n,).
    """
    if not uses_jax((growth, added, start)):
        return _np.linear_recurrence(growth, added, start)
    out: Array = _along(jnp.asarray(growth), jnp.asarray(added), jnp.asarray(start))
    return out


@jax.custom_jvp
def _along(growth: Any, added: Any, start: Any) -> Any:
    def step(r: Any, x: Any) -> Any:
        r = x[0] * r + x[1]
        return r, r

    return lax.scan(step, start, (growth, added), reverse=True, unroll=TOGETHER if start.size <= NARROW else 1)[1]


@_along.defjvp
def _(primals: Any, tangents: Any) -> Any:
    growth, _, start = primals
    r, (of_growth, of_added, of_start) = _along(*primals), tangents
    after = jnp.concatenate([r[1:], start[None]])
    return r, _along(growth, of_growth * after + of_added, of_start)
