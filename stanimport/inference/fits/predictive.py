"""`posterior_predictive`: draws of the data that a model observes, for the draws of a fit."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import SupportsIndex

import numpy as np

from stanlib.errors import StanDataError, StanError
from stanlib.program import Module, Program
from stanlib.unknown_outcomes import unknown_outcomes

from .. import options
from ..density.posterior import Posterior
from ..io.names import read
from ..modules import anew, observing_apart
from .dependence import inputs_of, stood_in
from .discrete import observing
from .labels import of_data, verify_same_entries
from .predictions import STREAM, Predictions, lacking_of, observed_by, predicted, trace_for
from .replications import Arrays, Replicator, over_draws, warn_of_others
from .result import Result


def posterior_predictive(
    fit: Result, data: object, seed: SupportsIndex | None, redraw: Sequence[str] | str | None = None
) -> Predictions:
    """Draws of the observed data for the draws of a fit: see `Fit.posterior_predictive`.

    Args:
        data: others to predict, None for those of the fit.
        redraw: the discrete parameters to draw anew.
    """
    verify_same_entries(fit.program, fit.dims, fit.coords, data)
    draws, chosen = fit.variables, options.seed_or_new(seed)
    translated = observing_apart(fit.module)
    kept = _kept(translated.stan, draws, redraw, data)
    if data is None:
        fit.require_data()
        posterior, values = observing(translated, fit.data, draws, chosen)
        discrete = {n: v for n, v in values.items() if n in kept}
        made = predicted(posterior, "posterior", draws, (), chosen, discrete)
        made.dims, made.coords = fit.dims, fit.coords
    else:
        made = _of_other_data(translated, fit, data, chosen, kept)
    warn_of_others(fit.module, made.variables)
    return made


def _of_other_data(translated: Module, fit: Result, data: object, seed: int, kept: Arrays) -> Predictions:
    """The same of data that are none of the fit; `kept` are the draws of discrete parameters that keep them."""
    draws = fit.variables
    if translated.stan.discrete_parameters:
        translated = anew(translated, scheme="simulation")
    data, masked = _without_masks(data)
    given = read(translated.stan, data)
    lacking, gaps = lacking_of(translated.stan, given), {**_gaps(given), **masked}
    if lacking or gaps:
        fit.require_data()
        fitted = Posterior(translated, fit.data)
        observed = observed_by(fitted, {n: v[0, 0] for n, v in fitted.of_draws(draws).items()})
        lacking, gaps = [n for n in lacking if n in observed], {n: v for n, v in gaps.items() if n in observed}
    with unknown_outcomes(bool(lacking or gaps)):
        posterior = stood_in(translated, _filled(translated, given, gaps, seed), lacking, seed)
        if gaps:
            gaps = _observed_gaps(posterior, gaps, draws, kept)
            posterior = stood_in(translated, _filled(translated, given, gaps, seed), lacking, seed)
        _check_shapes(posterior, draws, kept)
        made = predicted(posterior, "predictions", draws, lacking, seed, kept, gaps)
    made.data |= {n: np.where(at, np.nan, np.asarray(given[n])) for n, at in gaps.items()}
    made.dims, made.coords = of_data(translated.stan, data)
    return made


def _without_masks(data: object) -> tuple[object, dict[str, np.ndarray]]:
    """The data with numbers in the place of those that masked arrays hide, and which these are."""
    given = data if isinstance(data, Mapping) else {}
    masked = {n: v for n, v in given.items() if isinstance(v, np.ma.MaskedArray) and np.ma.getmaskarray(v).any()}
    if not masked:
        return data, {}
    filled = {n: v.filled(v.compressed()[0] if v.count() else 0) for n, v in masked.items()}
    return {**given, **filled}, {n: np.ma.getmaskarray(v) for n, v in masked.items()}


def _gaps(given: Mapping[str, object]) -> dict[str, np.ndarray]:
    """Which numbers of the data are missing, NaN, of those of which some are."""
    arrays = {n: np.asarray(v) for n, v in given.items() if not isinstance(v, tuple)}
    missing = {n: np.isnan(v) for n, v in arrays.items() if v.dtype.kind == "f" and v.ndim}
    return {n: at for n, at in missing.items() if at.any()}


def _observed_gaps(posterior: Posterior, gaps: Arrays, draws: Arrays, kept: Arrays) -> dict[str, np.ndarray]:
    """Those of the missing numbers that statements observe: others stay missing.

    Raises:
        StanDataError: for those that have one law together with numbers that are given.
    """
    replicator, observed = Replicator(posterior), {n: np.zeros(np.size(v), bool) for n, v in gaps.items()}
    one = ({n: v[:1, :1] for n, v in own.items()} for own in (draws, kept))
    over_draws(posterior, next(one), replicator, 0, STREAM, next(one))
    for site, (variable, where) in replicator.pieces.items():
        if variable not in gaps:
            continue
        observed[variable][where.ravel()] = True
        missing = gaps[variable].ravel()[where].reshape(*where.shape[: where.ndim - replicator.widths[site]], -1)
        if (missing.any(axis=-1) & ~missing.all(axis=-1)).any():
            told = f"{variable} lacks some numbers of a vector or matrix that has one law, of which others are given"
            raise StanDataError(told, variable)
    found = {n: at & observed[n].reshape(at.shape) for n, at in gaps.items()}
    return {n: at for n, at in found.items() if at.any()}


def _filled(module: Module, given: Mapping[str, object], gaps: Arrays, seed: int) -> dict[str, object]:
    """The data with values as declared in the place of the missing ones."""
    stand_in = inputs_of(module, {n: v for n, v in given.items() if n not in gaps}, list(gaps), seed, 0) if gaps else {}
    return {**given, **{n: np.where(at, stand_in[n], np.asarray(given[n])) for n, at in gaps.items()}}


def _kept(program: Program, draws: Arrays, redraw: Sequence[str] | str | None, data: object) -> dict[str, np.ndarray]:
    """The draws of the discrete parameters that are not drawn anew.

    Raises:
        ValueError: for names of `redraw` that are no discrete parameters.
        StanError: for other data, if it is not said which are.
    """
    names = [v.name for v in program.discrete_parameters]
    anew = [redraw] if isinstance(redraw, str) else list(redraw or ())
    for name in anew:
        if name not in names:
            raise ValueError(f"redraw: there is no discrete parameter {name!r}{options.suggestion(name, names)}")
    if names and redraw is None and data is not None:
        told = f"which of {', '.join(names)} belong to these data, and are drawn anew from their laws"
        raise StanError(f"predictions of other data need to know {told}, redraw=[{names[0]!r}]: the others keep their "
                        "draws")  # fmt: skip
    return {n: np.asarray(draws[n]).astype(int) for n in names if n not in anew and n in draws}


def _check_shapes(posterior: Posterior, draws: Arrays, kept: Arrays) -> None:
    """Parameters, and discrete ones that keep their draws, must have the shapes of the fit: else StanDataError."""
    sites = {**posterior.of_draws(draws), **kept}
    shapes = {n: posterior.constrained_shapes[n] for n in posterior.names}
    if kept:
        trace = trace_for(posterior, {n: sites[n][0, 0] for n in posterior.names})
        shapes |= {n: np.shape(trace[n]["value"]) for n in kept}
    for name, shape in shapes.items():
        fitted = sites[name].shape[2:]
        if shape != fitted:
            raise StanDataError(
                f"{name} has shape {shape} for these data, but {fitted} in the fit: predictions are for the same "
                "parameters", name,
            )  # fmt: skip
