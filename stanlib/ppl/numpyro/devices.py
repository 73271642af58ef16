"""Where JAX computes: the device that `jax.default_device` names, or its first one."""
from __future__ import annotations

from typing import Any

import jax


def named() -> Any:
    """The device that `jax.default_device` names, in this thread or for all; None if it is JAX's first one."""
    chosen: Any = jax.config.jax_default_device  # type: ignore[attr-defined]  # options are attributes at run time
    if isinstance(chosen, str):
        chosen = jax.local_devices(backend=chosen)[0]
    return None if chosen is None or chosen == jax.devices()[0] else chosen


def present() -> list[Any]:
    """The devices of this process, or the one that is named."""
    chosen = named()
    return [*jax.local_devices()] if chosen is None else [chosen]


def is_on_cpu() -> bool:
    """Whether what is traced is to run on a CPU."""
    return bool((named() or jax.devices()[0]).platform == "cpu")
