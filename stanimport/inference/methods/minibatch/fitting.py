"""`variational` for minibatches: from data that are read part by part to a fit."""
from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from stanlib.batches import Batches
from stanlib.program import Model, Module

from ... import options
from ...fits.fit import Fit
from ...modules import copied
from ...options import OptionError
from .. import importance
from ..convergence import has_converged
from .feeds import ArrayFeed
from .inputs import Feed, Inputs
from .iterables import IterableFeed, is_iterable
from .optimization import Progressing, batches_together, optimize
from .sources import open_data

DRAWS = 200  # with which the approximation is compared with the posterior of all data
ROWS = 4096  # that are read at once for that


def variational(
    module: Module, data: object, batch: Mapping[str, int], guide: object, inits: object, settings: dict[str, Any],
    show: bool, checkpoint: Path | None,
) -> Fit:  # fmt: skip
    """Fit an approximation by batches of so many rows of each size.

    Raises:
        StanSemanticError: naming the statements that depend on all rows.
        StanDataError: for data that are not as declared.
        OptionError: for options that don't go together.
        StanError: where no step has a finite bound.
    """
    sizes = options.batches(batch)
    model = module.model.with_batches(**sizes)
    feed = _feed(data, sizes, model, settings["seed"])
    wanted = _wanted(settings["rows"], feed)
    made = _of_batches(module, model, feed.totals)
    law = _guide(guide, feed.totals) if settings["algorithm"] == "guide" else None
    inputs = Inputs(feed, _converter(made, settings["seed"]), model.batches.rows)
    most = batches_together(inputs, settings["iter"])
    with inputs.naming_rows(feed.take(0, 1)):
        steps = _stepper(made, inputs, settings, law, inits, most)
    _require_places(steps, feed)
    run = {"program": module.stan.source, "backend": module.stan.backend, "scheme": module.stan.scheme,
           "totals": feed.totals, **{n: settings[n] for n in ("seed", "algorithm", "grad_samples", "eta", "minibatch")}}
    if checkpoint is not None:
        run["data"] = feed.digests()
    at = _begun(steps, feed, settings, inits, checkpoint, run)
    at = optimize(steps, inputs, at, settings["iter"], settings["eta"], most, show, checkpoint, run)
    return _fit(module, inputs, steps, at, settings, wanted)


def _feed(data: object, sizes: Mapping[str, int], model: Model, seed: int) -> Feed:
    names = set(model.program.names("data"))
    axes = {s: {n: a for n, a in r.axes.items() if n in names} for s, r in model.batches.rows.items()}
    if is_iterable(data):
        return IterableFeed(data, sizes, axes)
    return ArrayFeed(open_data(data), sizes, axes, seed)


def _of_batches(module: Module, model: Model, totals: Mapping[str, int]) -> Module:
    """The module with the model for batches of so many rows in all."""
    made = copied(module)
    scaled = copy.copy(model)
    scaled.batches = Batches(totals, model.batches.rows)
    made.model = scaled
    return made


def _guide(guide: Any, totals: Mapping[str, int]) -> Callable[..., Any]:
    """The guide for batches; a function that is none of a program says itself what it makes of a batch."""
    return guide.with_batches(**totals) if isinstance(guide, Model) else guide


def _converter(module: Module, seed: int) -> Callable[[dict[str, Any]], dict[str, Any]]:
    if module.stan.backend == "pyro":
        from ..pyro_methods import transformed_data as of_pyro

        return partial(of_pyro, module, seed)
    from ...density.posterior import transformed_data

    return lambda given: transformed_data(module, given, seed)


def _stepper(
    module: Module, inputs: Inputs, settings: Mapping[str, Any], guide: Any, inits: object, most: int
) -> Any:  # fmt: skip
    """What takes steps on the module's backend, `most` in one run: for an automatic guide, or for the given one."""
    if module.stan.backend == "pyro":
        from ..pyro_variational import guide_of
        from .pyro_steps import Steps as PyroSteps

        family = None if guide is not None else guide_of(settings["algorithm"])
        return PyroSteps(module, inputs, settings, family, guide, inits, most)
    from ..numpyro_guides import GUIDES, guide_class
    from .numpyro_steps import Steps

    automatic = guide_class(settings["algorithm"]) if settings["algorithm"] in GUIDES else None
    return Steps(module, inputs, settings, automatic, guide, inits, most)


def _require_places(steps: Any, feed: Feed) -> None:
    if steps.locals and not feed.has_places:
        names = ", ".join(n for local in steps.locals.values() for n in local.axes)
        raise OptionError(f"{names} has an entry for every row, and an iterable does not say which rows a batch holds: "
                          "give arrays, or a guide that computes it from the rows")  # fmt: skip


def _begun(
    steps: Any, feed: Feed, settings: Mapping[str, Any], inits: Any, checkpoint: Path | None, run: Mapping[str, Any]
) -> Progressing:  # fmt: skip
    """Where the optimization stands: at its checkpoint, or at the beginning."""
    if checkpoint is not None and checkpoint.exists():
        return Progressing.load(checkpoint, run)
    radius = float(inits) if isinstance(inits, (int, float)) else 2.0
    tables = {s: steps.locals[s].table(feed.totals[s], radius, (settings["seed"], 0x10CA, i))
              for i, s in enumerate(sorted(steps.locals))}  # fmt: skip
    return Progressing(dict(steps.start), tables)


def _length(total: int, most: int) -> int:
    """A length of batches of all rows: one that leaves no smaller last batch, if there is a large one."""
    return next((n for n in range(min(most, total), most // 4, -1) if total % n == 0), min(most, total))


def _wanted(rows: Mapping[str, object], feed: Feed) -> dict[str, np.ndarray]:
    """The rows whose parameters are to be drawn, by size and counted from 0.

    Raises:
        OptionError: for sizes of which there are no batches, rows that there are not, and rows of an iterable.
    """
    for size in rows:
        options.one_of("a size of rows", size, tuple(feed.totals))
        if not feed.has_places:
            raise OptionError("an iterable does not say which rows a batch holds: give arrays for rows={...}")
    return {size: options.numbers_of_rows(size, given, feed.totals[size]) - 1 for size, given in rows.items()}


def _fit(
    module: Module, inputs: Inputs, steps: Any, at: Progressing, settings: dict[str, Any],
    wanted: Mapping[str, np.ndarray],
) -> Fit:  # fmt: skip
    """The fit from where an optimization stands: draws, (1, draws, ...) each, bounds, parameters, and Pareto's k."""
    rows, state = inputs.rows, at.result()
    whole = frozenset.intersection(*(r.whole for r in rows.values()))
    variables = steps.draws(state, whole, settings["draws"])
    constant, known = steps.known(state)
    info = _info(at, settings["tol_rel_obj"], constant)
    params = steps.numbers(state)
    for size, local in steps.locals.items():
        params |= local.params(at.tables[size])
    info["params"] = params
    if wanted and isinstance(inputs.feed, ArrayFeed):
        names = frozenset(n for s in wanted for n in rows[s].axes if n in module.stan.names("parameters"))
        drawn = steps.draws_of_rows(state, at.tables, inputs.feed.some(wanted), names, settings["draws"])
        info |= {f"{n}.draws": v for n, v in drawn.items()}
    if settings["khat"]:
        info["pareto_k"] = _pareto_shape(inputs, steps, at, min(DRAWS, settings["draws"])) if known else math.nan
    data = inputs.fixed | {n: t for s, t in inputs.feed.totals.items() for n in rows[s].sizes}
    return Fit(module.stan, "variational", {n: v[None] for n, v in variables.items()}, {}, data, settings, info,
               steps.trained(state, module))  # fmt: skip


def _pareto_shape(inputs: Inputs, steps: Any, at: Progressing, draws: int) -> float:
    """That of the weights of so many draws, by a pass over all data."""
    size, totals = inputs.feed.longest, inputs.feed.totals
    others = math.prod(n for s, n in totals.items() if s != size)
    batch = _length(totals[size], max(1, max(ROWS, inputs.feed.batch[size]) // others))
    return importance.pareto_shape(steps.ratios(at.result(), at.tables, draws, batch))


def _info(at: Progressing, tol_rel_obj: float, constant: float) -> dict[str, Any]:
    """The bound where an optimization stands, with what it has not of Stan's density, and how it came there."""
    elbo, error = at.elbo()
    losses = np.concatenate([np.zeros(0), *at.losses])
    return {"converged": at.converged or has_converged(losses[np.isfinite(losses)], tol_rel_obj),
            "elbo": elbo + constant, "elbo_error": error, "steps": at.step, "rhat": at.rhat, "arrived": at.converged,
            "unbounded": int((~np.isfinite(losses[-max(len(losses) // 5, 1) :])).sum())}  # fmt: skip

