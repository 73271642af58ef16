"""Fits of one model to data sets of the same shapes by one compiled program, into which each chain passes its data."""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from jax import Array

from stanlib.dataclass import dataclass
from stanlib.errors import StanError

from ..density import initial, kernels
from ..density.posterior import Posterior, transformed_data
from ..density.quantities import error_at
from ..density.rejected import REJECTED, Told
from ..digests import digest_of
from ..fits.fit import Fit
from ..io.names import read
from ..methods import stan_order
from ..methods.metrics import metric_of
from ..precision import keys_of_draws
from ..programs import Program
from ..samplers.chains import ROOM, Draws, layout, run
from ..samplers.nuts import NutsSampler
from ..samplers.tracks import Settings
from .identity import settings_of

if TYPE_CHECKING:
    from stanlib.program import Module

TOGETHER = ("chains", "iter_warmup", "iter_sampling", "thin", "adapt_delta", "max_treedepth", "step_size", "inits",
            "save_warmup", "adapt_engaged", "show_progress")  # fmt: skip
CHAINS, LANES = 256, 64  # that run before results are handed on, and that one program runs one after the other
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

    def __iter__(self) -> Iterator[int]:
        return iter(self.indices)


def groups_of(
    module: Module, data_sets: Mapping[int, object], seeds: Mapping[int, int], chosen: Mapping[str, object]
) -> tuple[list[Group], list[int]]:  # fmt: skip
    """Groups of data sets that can be sampled together, and the data sets that can't."""
    inputs, alone = {}, []
    for index, data in data_sets.items():
        try:
            inputs[index] = transformed_data(module, read(module.stan, data), seeds[index])
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


def _can_join(module: Module, chosen: Mapping[str, object]) -> bool:
    """Whether the options are those that one program knows: the own sampler with the default metric."""
    known = set(chosen) <= {*TOGETHER, "method"} and not chosen.get("save_warmup")
    return module.stan.backend == "numpyro" and chosen.get("method", "nuts") == "nuts" and known


def _signature(inputs: Mapping[str, Any]) -> tuple[object, ...]:
    """What must be the same: the sizes of arrays of reals and of integers, and all other values."""
    out = []
    for name, value in sorted(inputs.items()):
        is_array = isinstance(value, np.ndarray) and value.dtype.kind in "fi" or isinstance(value, np.floating)
        kind = ("array", np.shape(value), value.dtype.kind) if is_array else ("value", digest_of(value))
        out.append((name, kind))
    return tuple(out)


class Together:
    """The fits of a group, some at a time, by one program.

    Args:
        module: the model.
        group: its data sets.
        seeds: of the fits, by data set.
        chosen: options of `sample`.

    Raises:
        Exception: whatever keeps the group from running in one program.
    """

    def __init__(self, module: Module, group: Group, seeds: Mapping[int, int], chosen: Mapping[str, Any]):
        options = {"chains": 4, "inits": None} | {k: v for k, v in chosen.items() if k != "method"}
        self.module, self.group, self.seeds, self.recorded = module, group, seeds, settings_of(chosen)
        self.inputs = dict(zip(group.indices, group.inputs))
        self.first = Posterior(module, group.inputs[0])
        names = {"iter_warmup", "iter_sampling", "thin", "adapt_delta", "max_treedepth", "adapt_engaged"}
        self.settings = Settings(**{k: v for k, v in options.items() if k in names},
                                 metric=metric_of("auto", self.first.size).kind,
                                 step_size=options.get("step_size") or 1.0)  # fmt: skip
        self.chains, self.inits = options["chains"], options["inits"]
        self.each = self._fits_at_once()
        chains = self.chains * self.each
        devices, lanes, self.workers = layout(chains, None, None)
        in_turn = not lanes
        if in_turn:
            width = self.first.size * (1 + self.settings.metric.by_gradients)
            lanes = min(chains, max(1, kernels.LARGEST // (ROOM * max(width, 1))), LANES)
        self.lanes = lanes
        self.sampler = NutsSampler(self._density, self.first.size, self.settings, lanes, None, devices,
                                   self._varying(group.indices[:1]), in_turn=in_turn)  # fmt: skip
        self.process, self.told = _processor(self.first, group, self.chains * self._kept), Told()

    @property
    def _kept(self) -> int:
        return len(range(0, self.settings.iter_sampling, self.settings.thin))

    def _fits_at_once(self) -> int:
        """As many as keep all cores busy and their draws small."""
        kept = self.settings.iter_sampling + self.settings.iter_warmup
        width = 8 * max(int(self.first.size), 1) * int(kept) * int(self.chains)
        return max(1, min(len(self.group.indices), MEMORY // width, -(-CHAINS // int(self.chains))))

    def _density(self, point: Array, varying: Mapping[str, object]) -> Array:
        return self.first.given(varying).log_density(point)

    def _varying(self, indices: Sequence[int]) -> dict[str, np.ndarray]:
        """The data of the chains of some fits, as many as fill the lanes: the last ones run again for that."""
        arrays = {n: np.stack([self.inputs[i][n] for i in indices]) for n in self.group.names}
        return {n: np.repeat(a, self.chains, axis=0)[self._rows(len(indices))] for n, a in arrays.items()}

    def _rows(self, fits: int) -> np.ndarray:
        """The chains of so many fits, and the last one again until the lanes are full."""
        count = fits * self.chains
        rows: np.ndarray = np.minimum(np.arange(-(-count // self.lanes) * self.lanes), count - 1)
        return rows

    def __iter__(self) -> Iterator[dict[int, Fit | None]]:
        """Fits by data set; None for one that must be tried alone, to learn why it can't start."""
        indices = self.group.indices
        for start in range(0, len(indices), self.each):
            yield self._some(indices[start : start + self.each])
        self.told.warn("draws of all fits that ran together")

    def _some(self, indices: list[int]) -> dict[int, Fit | None]:
        """Fits of these data sets, by one run of all their chains; None for those that found no starting point."""
        posteriors = [self._posterior(i) for i in indices]
        rows = self._rows(len(indices))
        self.sampler.varying = self._varying(indices)
        streams = [(self.seeds[i], c) for i in indices for c in range(self.chains)]
        points = initial.points_together(self.first, self.inits, streams, self._evaluate)
        if points is None:
            points = self._points_alone(indices, posteriors)
        bad = ~np.isfinite(points).all(axis=1)
        if bad.all():
            return dict.fromkeys(indices)
        points[bad] = points[~bad][0]
        draws = run(self.sampler, points[rows], [streams[r] for r in rows], self.workers, False)
        failed = {indices[k // self.chains] for k in np.flatnonzero(bad)}
        good = [(k, i, p) for k, (i, p) in enumerate(zip(indices, posteriors)) if i not in failed]
        return {**dict.fromkeys(failed), **_fits(self, good, draws, self.recorded)}

    def _posterior(self, index: int) -> Posterior:
        """That of a data set, whose indices and sizes are checked if its integers are not those of the first."""
        own, known = self.inputs[index], self.first.inputs
        if all(np.array_equal(own[n], known[n]) for n in self.group.names if np.asarray(own[n]).dtype.kind == "i"):
            made = self.first.given({n: own[n] for n in self.group.names})
            made.inputs = dict(own)
            return made
        return Posterior(self.module, own)

    def _evaluate(self, points: np.ndarray) -> np.ndarray:
        """Whether value and gradient are finite where the chains are."""
        rows = self._rows(len(points) // self.chains)
        states = self.sampler.evaluate(self.sampler.programs[0], [points[r] for r in rows], list(range(len(rows))))
        return np.array([bool(np.isfinite(s.density) and np.isfinite(s.gradient).all()) for s in states[: len(points)]])

    def _points_alone(self, indices: Sequence[int], posteriors: Sequence[Posterior]) -> np.ndarray:
        """Starting points of initial values that were given."""
        for k, posterior in enumerate(posteriors):
            posterior.evaluate_by(partial(self.sampler.value_and_grad, row=k * self.chains))
        return np.concatenate([
            initial.starting_points(p, self.inits, self.chains, self.seeds[i]) for i, p in zip(indices, posteriors)
        ])  # fmt: skip


def _fits(made: Together, good: Sequence[tuple[int, int, Posterior]], draws: Draws, settings: Mapping[str, Any]
          ) -> dict[int, Fit | None]:  # fmt: skip
    """The fits, from the draws of all lanes."""
    points = np.asarray(draws.points)
    chains, count = made.chains, points.shape[1]
    out = dict[int, Fit | None]()
    for k, index, posterior in good:
        lanes, seed = slice(k * chains, (k + 1) * chains), made.seeds[index]
        keys = keys_of_draws(seed, 1, chains=chains, draws=count)
        own = {n: posterior.inputs[n] for n in made.group.names}
        flat = {n: np.asarray(v) for n, v in made.process(own, keys, points[lanes].reshape(chains * count, -1)).items()}
        made.told.add(flags := flat.pop(REJECTED, None), chains * count, _errors(posterior, keys, flat, flags))
        variables = {n: v.reshape(chains, count, *np.shape(v)[1:]) for n, v in flat.items()}
        metric = stan_order.to_stan(posterior, draws.metric[lanes])
        info = {"step_size": draws.step_size[lanes], "metric": metric, "interrupted": draws.interrupted}
        stats = {n: v[lanes] for n, v in draws.stats.items()}
        out[index] = Fit(posterior.program, "sample", variables, stats, posterior.inputs,
                         {**settings, "seed": seed, "chain_seeds": [seed] * chains}, info, made.module)  # fmt: skip
    return out


def _errors(
    posterior: Posterior, keys: np.ndarray, flat: Mapping[str, np.ndarray], flags: np.ndarray | None
) -> Iterator[StanError | None]:
    """What Stan throws for those draws of a fit for which it does."""
    for i in () if flags is None else np.flatnonzero(flags):
        yield error_at(posterior, keys[i], {n: flat[n][i] for n in posterior.names})


def _processor(posterior: Posterior, group: Group, count: int) -> Program:
    """All variables of the draws of one data set, which is an argument."""

    def everything(varying: Any, keys: Any, points: Array) -> object:
        return jax.vmap(posterior.given(varying).everything)(keys, points)

    own = {n: posterior.inputs[n] for n in group.names}
    program = Program(everything, own, np.zeros((count, 2), np.uint32), np.zeros((count, posterior.size)))
    shapes = Program.shapes(everything, own, np.zeros((count, 2), np.uint32), np.zeros((count, posterior.size)))
    if sum(s.size * s.dtype.itemsize for s in shapes.values()) > MEMORY:
        raise MemoryError("the quantities of all draws of a fit are too large for one program")
    return program
