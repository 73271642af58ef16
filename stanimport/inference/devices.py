"""Devices that share the rows of a posterior's data."""
from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from . import executables, options

if TYPE_CHECKING:
    from jax.sharding import Mesh


def local(needed: bool = False) -> list[Any]:
    """Where chains may run; one that is None for the CPU where JAX is not loaded, and has no others, unless needed."""
    if not needed and executables.is_possible():
        return [None]
    from stanlib.ppl.numpyro.devices import present  # only now: what was compiled before needs no JAX

    return present()


def is_cpu(device: Any) -> bool:
    return device is None or bool(device.platform == "cpu")


def mesh_of(mesh: object, threads: int | None, method: str, chain_method: str | None) -> Mesh | None:
    """The mesh that was given, or one of so many of the CPU's threads; None for one device.

    Raises:
        OptionError: for what is none, for both at once, for another sampler, or where JAX has too few devices.
    """
    if mesh is None and (threads is None or threads == 1):
        return None
    if mesh is not None and threads is not None:
        raise options.OptionError("mesh and threads_per_chain both say what shares the rows: one of them is enough")
    if method not in options.OWN_METHODS:
        name = "mesh" if mesh is not None else "threads_per_chain"
        raise options.OptionError(f"{name} needs method='nuts', not {method!r}")
    if chain_method == "vectorized":  # XLA's partitioner ends the process
        raise options.OptionError("devices that share the rows can't have chain_method='vectorized'")
    from jax.sharding import Mesh  # only now: few need it

    if mesh is None:
        return _of_threads(int(threads or 1))
    if not isinstance(mesh, Mesh):
        raise options.OptionError(f"mesh must be a jax.sharding.Mesh, not {type(mesh).__name__}")
    return mesh


def _of_threads(count: int) -> Mesh:
    """A mesh of CPU devices, each of which has a thread of its own."""
    import jax
    from jax.sharding import Mesh

    present: int = jax.config.jax_num_cpu_devices  # type: ignore[attr-defined]  # options are attributes at run time
    if present < count and "host_platform_device_count" not in os.environ.get("XLA_FLAGS", ""):
        try:
            jax.config.update("jax_num_cpu_devices", count)
        except RuntimeError:  # JAX has its devices already
            pass
    devices = jax.local_devices(backend="cpu")
    if len(devices) < count:
        raise options.OptionError(
            f"threads_per_chain={count}: JAX runs already, with {len(devices)} CPU device{'s' * (len(devices) > 1)}. "
            f"Set the environment variable JAX_NUM_CPU_DEVICES={count} before it starts"
        )
    return Mesh(np.array(devices[:count]), ("rows",))
