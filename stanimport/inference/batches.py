"""Fits of one model to data sets of the same shapes by one compiled program, into which each chain passes its data."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any

import jax
import numpy as np

from . import initial
from .data import read_data
from .fit import Fit
from .metrics import metric_of
from .posterior import Posterior, transformed_data
from .precision import keys_of_draws
from .programs import Program
from .samplers.chains import Draws, layout, run
from .samplers.nuts import NutsSampler
from .samplers.tracks import Settings

TOGETHER = ("chains", "iter_warmup", "iter_sampling", "thin", "adapt_delta", "max_treedepth", "step_size", "inits",
            "save_warmup", "adapt_engaged", "show_progress")  # fmt: skip
MEMORY = 2**28  # bytes of the quantities of all draws of a fit, which one program computes


@dataclass(frozen=True)
class Group:
    """Data sets that differ in the values of the same arrays only.

    Attributes:
        indices: of the data sets.
        inputs: of each, as `transformed_data` returned them.
        names: of the arrays that differ.
    """

    indices: list[int]
    inputs: list[dict[str, Any]]
    names: tuple[str, ...]

    def __iter__(self) -> Any:
        return iter(self.indices)


def groups_of(
    module: ModuleType, data_sets: Mapping[int, Any], chosen: Mapping[str, Any]
) -> tuple[list[Group], list[int]]:  # fmt: skip
    """Groups of data sets that can be sampled together, and the data sets that can't."""
    inputs, alone = {}, []
    for index, data in data_sets.items():
        try:
            inputs[index] = transformed_data(module, read_data(data))
        except Exception:  # it fails again, alone, and is reported then
            alone.append(index)
    sets: dict[Any, list[int]] = {}
    for index, one in inputs.items():
        sets.setdefault(_signature(one), []).append(index)
    groups = []
    for signature, indices in sets.items():
        names = tuple(n for n, kind in signature if kind[0] == "array")
        if len(indices) > 1 and names and _can_join(module, chosen):
            groups.append(Group(indices, [inputs[i] for i in indices], names))
        else:
            alone += indices
    return groups, sorted(alone)


def _can_join(module: ModuleType, chosen: Mapping[str, Any]) -> bool:
    """Whether the options are those that one program knows: the own sampler with the default metric."""
    known = set(chosen) <= {*TOGETHER, "method"}
    return module.stan.backend == "numpyro" and chosen.get("method", "nuts") == "nuts" and known


def _signature(inputs: Mapping[str, Any]) -> tuple[Any, ...]:
    """What must be the same: the sizes of arrays of reals and of integers, and all other values."""
    out = []
    for name, value in sorted(inputs.items()):
        is_array = isinstance(value, np.ndarray) and value.dtype.kind in "fi" or isinstance(value, np.floating)
        kind = ("array", np.shape(value), value.dtype.kind) if is_array else ("value", repr(value))
        out.append((name, kind))
    return tuple(out)


def sample_group(
    module: ModuleType, group: Group, seeds: Mapping[int, int], chosen: Mapping[str, Any]
) -> dict[int, Fit]:  # fmt: skip
    """The fits of a group, by data set.

    Raises:
        Exception: whatever keeps the group from running in one program.
    """
    options = {"chains": 4, "inits": None, "show_progress": False} | {k: v for k, v in chosen.items() if k != "method"}
    names = {"iter_warmup", "iter_sampling", "thin", "adapt_delta", "max_treedepth", "adapt_engaged", "save_warmup"}
    step_size = options.get("step_size") or 1.0
    posteriors = [Posterior(module, one) for one in group.inputs]  # each checks its own data's indices and sizes
    chains, first = options["chains"], posteriors[0]
    settings = Settings(**{k: v for k, v in options.items() if k in names}, **metric_of("auto", first.size).settings,
                        step_size=step_size)  # fmt: skip
    varying = {n: np.repeat(np.stack([one[n] for one in group.inputs]), chains, axis=0) for n in group.names}

    def density(point: Any, varying: Mapping[str, Any]) -> Any:
        return first.given(varying).log_density(point)

    devices, lanes, workers = layout(chains * len(posteriors), None, None)
    sampler = NutsSampler(density, first.size, settings, lanes, None, devices, varying)
    for i, posterior in enumerate(posteriors):
        posterior.__dict__["value_and_grad"] = partial(sampler.value_and_grad, row=i * chains)
    points = np.concatenate([
        initial.starting_points(p, options["inits"], chains, seeds[i]) for i, p in zip(group.indices, posteriors)
    ])  # fmt: skip
    draws = run(sampler, points, seeds[group.indices[0]], workers, options["show_progress"])
    return _fits(module, group, posteriors, draws, seeds, {**settings.__dict__, "chains": chains, "method": "nuts"})


def _fits(module: ModuleType, group: Group, posteriors: Sequence[Posterior], draws: Draws, seeds: Mapping[int, int],
          settings: Mapping[str, Any]) -> dict[int, Fit]:  # fmt: skip
    """The fits, from the draws of all lanes."""
    points = np.asarray(draws.points)
    chains, count = settings["chains"], points.shape[1]
    process = _processor(posteriors[0], group, chains * count)
    out = {}
    for k, (index, posterior) in enumerate(zip(group.indices, posteriors)):
        lanes = slice(k * chains, (k + 1) * chains)
        keys = keys_of_draws(seeds[index], 1, chains=chains, draws=count)
        own = {n: posterior.inputs[n] for n in group.names}
        flat = process(own, keys, points[lanes].reshape(chains * count, -1))
        variables = {n: np.asarray(v).reshape(chains, count, *np.shape(v)[1:]) for n, v in flat.items()}
        info = {"step_size": draws.step_size[lanes], "metric": draws.metric[lanes], "interrupted": draws.interrupted}
        stats = {n: v[lanes] for n, v in draws.stats.items()}
        out[index] = Fit(posterior.program, "sample", variables, stats, posterior.inputs,
                         {**settings, "seed": seeds[index], "metric": "auto"}, info, module)  # fmt: skip
    return out


def _processor(posterior: Posterior, group: Group, count: int) -> Program:
    """All variables of the draws of one data set, which is an argument."""

    def everything(varying: Any, keys: Any, points: Any) -> Any:
        return jax.vmap(posterior.given(varying).everything)(keys, points)

    own = {n: posterior.inputs[n] for n in group.names}
    program = Program(everything, own, np.zeros((count, 2), np.uint32), np.zeros((count, posterior.size)))
    shapes = Program.shapes(everything, own, np.zeros((count, 2), np.uint32), np.zeros((count, posterior.size)))
    if sum(s.size * s.dtype.itemsize for s in shapes.values()) > MEMORY:
        raise MemoryError("the quantities of all draws of a fit are too large for one program")
    return program
