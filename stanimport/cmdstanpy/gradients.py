"""Gradients as CmdStan's `log_prob` writes them: `g_m.2.1`, in the order of declaration, the first index fastest."""
from __future__ import annotations

import numpy as np

from stanlib.arrays import numpy as xp

from ..inference import tuples
from ..inference.density.points import LogProb
from ..inference.fits import columns
from ..inference.fits.stan_csv import name_in_file


def named(density: LogProb, gradient: np.ndarray) -> tuple[list[str], np.ndarray]:
    """The components of a gradient in CmdStan's order, and their names."""
    declared = density.posterior.program.parameters
    parts = _parts(density, gradient)
    places = {v.name: i for i, v in enumerate(declared)}
    first = {n: places.get(n, places.get(columns.root(n), len(places))) for n in parts}
    ordered = {n: parts[n] for n in sorted(parts, key=first.__getitem__)}
    names, values = columns.flatten(ordered, axes=tuples.axes(declared))
    return [f"g_{name_in_file(n)}" for n in names], values.ravel()


def _parts(density: LogProb, gradient: np.ndarray) -> dict[str, np.ndarray]:
    """The gradient by variables, as one draw of each; complex ones, whose parts are parameters, are one."""
    parts, at = {}, 0
    for name, shape in density.posterior.shapes.items():
        size = int(np.prod(shape))
        parts[name] = gradient[at : at + size].reshape(1, 1, *shape)
        at += size
    for name in [n.removesuffix(".real") for n in parts if n.endswith(".real") and f"{n[:-5]}.imag" in parts]:
        parts[name] = xp.complex(parts.pop(f"{name}.real"), parts.pop(f"{name}.imag"))
    return parts
