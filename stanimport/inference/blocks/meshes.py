"""Rows of data over several devices: each has its own rows, and totals are summed over all of them."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec

_SUMS: dict[str, Callable[..., Any]] = {"add": lax.psum, "max": lax.pmax, "min": lax.pmin}


def spread(mesh: Mesh, rows: np.ndarray, axis: int) -> jax.Array:
    """Rows of data over the devices of a mesh, in equal parts; each process keeps those of its own devices."""
    sharding = NamedSharding(mesh, _spec(mesh, axis))
    return jax.make_array_from_callback(rows.shape, sharding, lambda index: rows[index])


def _spec(mesh: Mesh, axis: int) -> PartitionSpec:
    return PartitionSpec(*(None,) * axis, tuple(mesh.axis_names))


def on_each(mesh: Mesh, function: Callable[..., object], whole: object, parts: Mapping[object, jax.Array],
            axes: Mapping[object, int]) -> Any:  # fmt: skip
    """`function(device, whole, parts)` on every device, of what all have and of its own parts; its results are equal.

    Args:
        whole: arrays in any structure.
        parts: what `spread` made, with the axes of their rows.
    """
    keys = list(parts)

    def local(whole: object, *own: object) -> object:
        return function(lax.axis_index(tuple(mesh.axis_names)), whole, dict(zip(keys, own)))

    specs = (PartitionSpec(), *(_spec(mesh, axes[k]) for k in keys))
    run = jax.shard_map(local, mesh=mesh, in_specs=specs, out_specs=PartitionSpec(), check_vma=False)
    return run(whole, *(parts[k] for k in keys))


def total(mesh: Mesh, value: Any, join: str) -> Any:
    """What the devices' totals make together."""
    names = tuple(mesh.axis_names)
    if join in _SUMS and value.dtype != bool:
        return _SUMS[join](value, names)
    if join == "mul":
        return jnp.prod(lax.all_gather(value, names), axis=0)
    extreme: Callable[..., Any] = lax.pmin if join in ("and", "min") else lax.pmax
    return extreme(value.astype(np.int32), names).astype(value.dtype)
