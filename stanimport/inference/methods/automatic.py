"""Fits of automatic guides to the point of a posterior: `automatic_steps.py` has what is compiled, if it must be."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import options
from ..density import initial, remembered
from ..density.quantities import DrawProcessor
from ..fits.fit import Fit
from ..precision import random_keys
from ..running.progress import Progress
from .convergence import PIECE, has_converged

if TYPE_CHECKING:
    from ..density.posterior import Posterior
    from ..executables import Executable
    from ..programs import Program
    from .automatic_steps import Automatic

Densities = tuple[np.ndarray, np.ndarray]  # of the posterior and of the approximation at its draws


def fitted(posterior: Posterior, inits: object, settings: Mapping[str, Any], show: bool) -> Fit:
    """A normal law, or a flow, of the point on the unconstrained scale."""
    options.require_parameters(posterior.program.name, posterior.size)
    options.require_several(settings["algorithm"], posterior.size)
    start = initial.starting_points(posterior, inits, 1, settings["seed"])[0]
    programs = _programs(posterior, settings)
    processor = DrawProcessor(posterior, settings["draws"])
    begin, draw = (random_keys(settings["seed"], n, count=1)[0] for n in (9, 7))
    state, losses = taken(programs["advanced"], programs["begun"](begin, start), settings, show)
    params = programs["params"](state)
    points, log_p, log_q = (np.asarray(v) for v in programs["drawn"](draw, params))
    fit = fit_of(posterior, points, (log_p, log_q), params.get("auto_loc"), losses, settings, {}, processor)
    remembered.keep(posterior)
    return fit


def _programs(posterior: Posterior, settings: Mapping[str, object]) -> dict[str, Program | Executable]:
    """The functions of `Automatic`, compiled, by their names."""
    steps: list[Automatic] = []

    def make(what: str, posterior: Posterior) -> Program:
        if not steps:
            from .automatic_steps import Automatic  # only now: what was compiled before needs no JAX

            steps.append(Automatic(posterior, settings))
        return steps[0].compiled(what)

    told = {"begun": (), "advanced": ("grad_samples", "iter", "eta"), "params": (), "drawn": ("draws",)}
    return {
        what: posterior.prepared(("automatic", what, settings["algorithm"], *(settings[n] for n in names)),
                                 partial(make, what))
        for what, names in told.items()
    }  # fmt: skip


def taken(
    advance: Callable[[Any, np.int64], Any], state: Any, settings: Mapping[str, Any], show: bool
) -> tuple[Any, np.ndarray]:  # fmt: skip
    """The state after all steps, and the losses of each."""
    steps, losses = settings["iter"], []
    with Progress(steps, show) as progress:
        for start in range(0, steps, PIECE):
            count = min(PIECE, steps - start)
            state, some = advance(state, np.int64(count))
            losses.append(np.asarray(some)[:count])
            progress.advance(count, "optimizing the bound")
    return state, np.concatenate(losses)


def fit_of(
    posterior: Posterior, points: np.ndarray, densities: Densities, center: object, losses: np.ndarray,
    settings: Mapping[str, Any], info: Mapping[str, Any], processor: DrawProcessor | None = None,
) -> Fit:  # fmt: skip
    """The fit of draws from an approximation, whose center is a point, or None for one that has none."""
    made = processor or DrawProcessor(posterior, len(points))
    log_p, log_q = (v[None] for v in densities)
    stats = {"lp__": log_p, "log_p__": log_p, "log_q__": log_q}
    found = info_of(losses, settings)
    if center is not None:
        found |= {"center": made.at(np.asarray(center, float), settings["seed"])}
    variables = made(points[None], settings["seed"])
    return Fit(posterior.program, "variational", variables, stats, posterior.inputs, settings, {**found, **info},
               posterior.module)  # fmt: skip


def info_of(losses: np.ndarray, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Whether the bound has converged, and its means."""
    return {"converged": has_converged(losses, settings["tol_rel_obj"]),
            "elbo": -np.asarray([losses[i : i + PIECE].mean() for i in range(0, len(losses), PIECE)])}  # fmt: skip
