"""Sums and maps over pieces of data. Source: Stan Functions Reference, "Reduce-sum Function", "Map-rect Function".

Threads have nothing to gain here: a sum is one call for the whole slice, a map one vectorised call for all shards
where JAX can make one, else a call per shard.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..arrays.base import Array, Namespace, Real
from ..checks import same_size
from ..domains import POSITIVE
from ..registry import stan_function, variadic_function
from ..rejection import Lifted
from ..solvers import engine
from ..types import INT, REAL, array
from ..variadic import Variadic, values

_SLICES = array(REAL, 1)  # of the type that the program's function takes
_CALL = Variadic(REAL, values(_SLICES, INT), values(_SLICES, INT, INT), REAL, kind="reduce_sum")


def _register(name: str) -> None:
    def reduce(xp: Namespace, f: Callable[..., Any], x: Array, grainsize: Array, *arguments: Array) -> Real:
        if xp.is_concrete(grainsize):
            POSITIVE.check(xp, name, "grainsize", grainsize)
        size = xp.shape(x)[0]
        return f(x, 1, size, *arguments) if size else 0.0

    variadic_function(name, _CALL)(reduce)


for _name in ("reduce_sum", "reduce_sum_static"):
    _register(_name)


@stan_function(
    "vector map_rect(function(vector, vector, data array[] real, data array[] int => vector) f, "
    "vector phi, array[] vector thetas, data array[,] real x_rs, data array[,] int x_is)",
    raw=True, first_order=True,
)
def map_rect(xp: Namespace, f: Callable[..., object], phi: Array, thetas: Array, x_rs: Array, x_is: Array) -> Array:
    count = xp.shape(thetas)[0]
    for what, x in (("x_rs", x_rs), ("x_is", x_is)):
        same_size("map_rect", f"the shards of {what}", xp.shape(x)[0], "those of the parameters", count)
    return engine(xp, "shards").apply(Lifted(f), phi, thetas, x_rs, x_is) if count else xp.zeros((0,))
