"""`posterior_predictive` and `prior_predictive`: draws of the data that a model observes."""
from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any, SupportsIndex

import numpy as np

from stanlib.data import StandIn
from stanlib.errors import StanDataError, StanError
from stanlib.extras import require
from stanlib.program import Module, Program
from stanlib.rejection import NO_INTEGER
from stanlib.unknown_outcomes import unknown_outcomes

from ...errors import warn
from .. import options, tuples
from ..density.posterior import Posterior, condition
from ..io.data import read_data
from ..io.names import read
from ..modules import anew, module_of, observing_apart
from . import columns
from .dependence import StoodIn
from .discrete import observing
from .labels import labelled, of_data, verify_same_entries
from .positions import is_observation, trace_of, variable_of
from .prior_draws import of_one_prior, prior_draws
from .replications import (
    Arrays,
    ReplicationWarning,
    Replicator,
    all_drawn,
    of_one,
    over_draws,
    warn_of_others,
    warn_of_outside,
)
from .result import Result, declared

__all__ = ["Predictions", "prior_predictive"]
AT_TOP = ["prior_predictive"]
_REPLICATIONS = 6  # the stream of random numbers
_KEY = np.zeros(2, np.uint32)  # of a draw that is traced alone
_NONE = "with its data it runs no statement `y ~ ...` on data, nor `target += ..._lpdf(y | ...)`"


class Predictions:
    """Draws of the data that a program observes, and for those from the prior, of the variables that they come from.

    Attributes:
        program: the Stan program.
        kind: "posterior", "prior", or "predictions": from the posterior, for other data than those of the fit.
        variables: the replicated data, arrays (chains, draws, ...) by name.
        origin: of the prior: parameters and transformed parameters, likewise.
        data: data and transformed data that they were drawn with; without those that had to be predicted.
        seed: of the random numbers.
        dims, coords: names of dimensions and their coordinates, where the data carry them.
        failed: why observed data are not among them, by name.
    """

    def __init__(self, program: Program, kind: str, variables: Arrays, origin: Arrays, data: Mapping[str, object],
                 seed: int):  # fmt: skip
        self.program, self.kind, self.seed = program, kind, seed
        self.variables, self.origin, self.data = dict(variables), dict(origin), dict(data)
        self.dims: dict[str, tuple[str, ...]] = {}
        self.coords: dict[str, list[Any]] = {}
        self.failed: dict[str, str] = {}

    def __repr__(self) -> str:
        shapes = (v.shape[:2] for v in (*self.variables.values(), *self.origin.values()))
        chains, draws = next(shapes, (0, 0))
        drawn = ", ".join(self.variables) or "parameters alone"
        kind = self.kind if self.kind == "predictions" else f"{self.kind} predictive draws"
        return f"<{kind} of {drawn} by {self.program.name}: {chains * draws}>"

    def _repr_html_(self) -> str:
        from .html import of_predictions

        return of_predictions(repr(self)[1:-1], {**self.origin, **self.variables}, self.failed)

    def stan_variable(self, name: str) -> Any:
        """The draws of a variable, (draws of all chains, ...); for a tuple, a tuple of such arrays.

        Raises:
            ValueError: for a name that there isn't.
        """
        known = {n: columns.of_all_chains(v) for n, v in {**self.origin, **self.variables}.items()}
        if name in known:
            return known[name]
        whole = next((v for v in declared(self.program) if v.name == name), None)
        if whole is None or not set(tuples.leaves(whole)) <= set(known):
            raise ValueError(f"there is no variable {name!r}{options.suggestion(name, list(known))}")
        return tuples.pack(whole, known)

    def stan_variables(self) -> dict[str, np.ndarray]:
        """The draws of all variables, by name, as `stan_variable` returns them."""
        return {n: self.stan_variable(n) for n in (*self.origin, *self.variables)}

    def draws_pd(self) -> Any:
        """The draws as a pandas DataFrame, one column for each component."""
        require("pandas", extra="inference")
        import pandas

        names, values = columns.flatten({**self.origin, **self.variables}, axes=tuples.axes(declared(self.program)))
        return pandas.DataFrame(columns.of_all_chains(values), columns=names)

    def to_arviz(self) -> Any:
        """The draws for ArviZ, with its groups: posterior_predictive, predictions or prior_predictive, and the data."""
        require("xarray", extra="inference")
        from .arviz_packages import container
        from .groups import dataset

        named = self.dims, self.coords

        head = {"posterior": "posterior_predictive", "prior": "prior_predictive"}.get(self.kind, self.kind)
        flat = tuples.unpack({n: v for n, v in self.data.items() if n in self.program.names("data")})
        observed = {n: np.asarray(v) for n, v in flat.items() if n in self.variables}
        constant = {n: np.asarray(v) for n, v in flat.items() if n not in observed}
        data = "predictions_constant_data" if self.kind == "predictions" else "constant_data"
        groups = {
            "prior": dataset(self.origin, *named), head: dataset(self.variables, *named),
            "observed_data": dataset(observed, *named, sampled=False), data: dataset(constant, *named, sampled=False),
        }  # fmt: skip
        return container({n: g for n, g in groups.items() if g.data_vars})


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
        made = _predictions(posterior, "posterior", draws, (), chosen, discrete)
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
    given = read(translated.stan, data)
    lacking = _lacking(translated.stan, given)
    if lacking:
        fit.require_data()
        fitted = Posterior(translated, fit.data)
        observed = _observed(fitted, {n: v[0, 0] for n, v in fitted.of_draws(draws).items()})
        lacking = [n for n in lacking if n in observed]
    with unknown_outcomes(bool(lacking)):
        stood_in = StoodIn(translated, given, lacking, seed)
        _check_shapes(stood_in.posterior, draws, kept)
        _require_independence(stood_in, draws, kept, lacking)
        made = _predictions(stood_in.posterior, "predictions", draws, lacking, seed, kept)
    made.dims, made.coords = of_data(translated.stan, data)
    return made


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


@labelled
@options.suggesting
def prior_predictive(
    module: object, data: object = None, *, draws: SupportsIndex = 1000, seed: SupportsIndex | None = None,
    networks: Mapping[str, object] | None = None,
) -> Predictions:  # fmt: skip
    """Draws from the prior, and of the data that the program observes, before anything is learned from them.

    Args:
        module: a translated module of any scheme and backend, or the path of a Stan program.
        data: the program's data. What it observes need not be among them, unless the prior or sizes depend on it.
        draws: how many.
        seed: of the random numbers; a new one if None.
        networks: as for `sample`.

    Returns:
        The draws: `variables` of the data, `origin` of parameters and transformed parameters.

    Raises:
        StanError: where a parameter has no prior that can be drawn from; it names the parameter or statement.
        StanDataError: for data that are missing or not as declared.

    Examples:
        >>> coin = stanimport.load("models/coin.stan")
        >>> prior = stanimport.prior_predictive(coin, {"flips": 8}, draws=100, seed=1)
        >>> prior.stan_variable("heads").shape, prior.stan_variable("bias").shape
        ((100, 8), (100,))
    """
    draws = options.whole("draws", draws, 1000)
    translated, chosen = module_of(module, networks), options.seed_or_new(seed)
    program, drawing = translated.stan, anew(translated, backend="numpyro", scheme="simulation")
    given = read_data(data)
    lacking = _lacking(program, given)
    with unknown_outcomes(bool(lacking)):
        return _from_prior(drawing, given, lacking, draws, chosen)


def _from_prior(module: Module, given: Mapping[str, Any], lacking: Any, draws: int, seed: int) -> Predictions:
    """Draws from the prior of a module whose parameters have laws."""
    program, stood_in = module.stan, StoodIn(module, given, lacking, seed)
    posterior = stood_in.posterior
    parameters, discrete = prior_draws(posterior, draws, seed)
    if lacking:
        one = {n: v[0, 0] for n, v in posterior.of_draws(parameters).items()}
        observed = _observed(posterior, one)
        unknown = [n for n in lacking if n not in observed]
        if any(np.size(posterior.inputs[n]) for n in unknown):  # without components there is nothing to know
            condition(module, {n: v for n, v in given.items()} | {n: StandIn(0) for n in observed}, seed)
        if stood_in.decides(of_one_prior(posterior), _KEY, np.zeros(())):
            told = f"the draws from the prior, or which of them the program rejects, depend on {' and '.join(lacking)}"
            raise StanDataError(f"{told}, which must be among the data", lacking[0])
        _require_independence(stood_in, parameters, discrete, lacking, _transformed_names(posterior))
    made = _predictions(posterior, "prior", parameters, lacking, seed, discrete)
    drawn = tuples.joined(parameters)
    made.origin = {n: drawn[n] for n in tuples.leaf_names(program.parameters) if n in drawn}
    made.origin |= _transformed(posterior, parameters, seed, discrete)
    return made


def _lacking(program: Program, given: Mapping[str, object]) -> list[str]:
    """The data that are not given, but for those that sizes are declared by: these are asked for, observed or not."""
    declared = (*program.data, *program.parameters, *program.transformed_parameters)
    sizes = {word for v in declared for size in v.shape for word in _words(size)}
    return [n for n in program.names("data") if n not in given and n not in sizes]


def _words(text: str) -> list[str]:
    return "".join(c if c.isalnum() or c == "_" else " " for c in text).split()


def _check_shapes(posterior: Posterior, draws: Arrays, kept: Arrays) -> None:
    """Parameters, and discrete ones that keep their draws, must have the shapes of the fit: else StanDataError."""
    sites = {**posterior.of_draws(draws), **kept}
    shapes = {n: posterior.constrained_shapes[n] for n in posterior.names}
    if kept:
        trace = _trace(posterior, {n: sites[n][0, 0] for n in posterior.names})
        shapes |= {n: np.shape(trace[n]["value"]) for n in kept}
    for name, shape in shapes.items():
        fitted = sites[name].shape[2:]
        if shape != fitted:
            raise StanDataError(
                f"{name} has shape {shape} for these data, but {fitted} in the fit: predictions are for the same "
                "parameters", name,
            )  # fmt: skip


def _require_independence(
    stood_in: StoodIn, draws: Arrays, discrete: Arrays, lacking: Sequence[str], wanted: Set[str] = frozenset()
) -> None:
    """Raise StanDataError if predictions, or the variables wanted beside, depend on the data to be predicted."""
    if not lacking:
        return
    posterior = stood_in.posterior
    first = tuple({n: v[0, 0] for n, v in given.items()} for given in (posterior.of_draws(draws), discrete))

    def made(key: Any, trace: Mapping[str, Any]) -> dict[str, Any]:
        return all_drawn(key, trace) | {n: s["value"] for n, s in trace.items() if n in wanted}

    if stood_in.decides(of_one(posterior, made), _KEY, first):
        told = f"the predictions depend on {' and '.join(lacking)}, which must be among the data"
        raise StanDataError(told, lacking[0])


def _predictions(
    posterior: Posterior, kind: str, draws: Arrays, lacking: Any, seed: int, discrete: Arrays | None = None
) -> Predictions:
    """Draws of the data that the model observes, for draws of its parameters, (chains, draws, ...) each.

    `discrete` are draws of its discrete parameters, likewise.

    Raises:
        StanError: if there are no data that it can draw.
    """
    replicator = Replicator(posterior, lacking)
    made = replicator.together(over_draws(posterior, draws, replicator, seed, _REPLICATIONS, discrete))
    made |= replicator.of_none(draws, made)
    if not made and kind != "prior":  # from the prior there are the parameters all the same
        reason = replicator.told() or _NONE
        raise StanError(f"{posterior.program.name} predicts no data: {reason}. Draw them in the block generated "
                        "quantities: generate_quantities() runs it on new data")  # fmt: skip
    if replicator.told():
        warn(replicator.told(), ReplicationWarning)
    _warn_of_undrawn(made)
    warn_of_outside(posterior, made)
    data = {n: v for n, v in posterior.inputs.items() if n not in lacking}
    found = Predictions(posterior.program, kind, made, {}, data, seed)
    found.failed = dict(replicator.failed)
    return found


def _warn_of_undrawn(made: Arrays) -> None:
    """Tell of integers that Stan would throw for: counts of rates that are too great."""
    for name, values in made.items():
        lost = int(np.any(values == NO_INTEGER, axis=tuple(range(2, values.ndim))).sum())
        if lost and values.dtype.kind == "i":
            told = f"in {lost} of {np.prod(values.shape[:2])} draws {name} holds {NO_INTEGER}, for no number"
            told += ": Stan refuses to draw by the parameters of its law there"
            warn(told, ReplicationWarning)


def _trace(posterior: Posterior, parameters: Arrays) -> Mapping[str, Any]:
    """The model's trace for one draw."""
    from ..precision import TRACING, double_precision

    with TRACING, double_precision():
        return trace_of(posterior, _KEY, parameters)


def _observed(posterior: Posterior, one: Arrays) -> set[str]:
    """The data that a model observes, at values of its parameters."""
    return {variable_of(n, posterior.program) for n, s in _trace(posterior, one).items() if is_observation(s)}


def _transformed(posterior: Posterior, parameters: Arrays, seed: int, discrete: Arrays) -> dict[str, np.ndarray]:
    """Transformed parameters for draws of the parameters, as they were where the data were drawn."""
    wanted = _transformed_names(posterior)
    if not wanted:
        return {}

    def taken(_: object, trace: Mapping[str, Any]) -> dict[str, Any]:
        return {n: s["value"] for n, s in trace.items() if n in wanted}

    return over_draws(posterior, parameters, taken, seed, _REPLICATIONS, discrete)


def _transformed_names(posterior: Posterior) -> set[str]:
    return set(tuples.leaf_names(posterior.program.transformed_parameters))
