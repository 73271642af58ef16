"""Draws of the data that a program observes, for draws of its parameters."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any

import numpy as np

from stanlib.errors import StanDataError, StanError
from stanlib.extras import require
from stanlib.program import Program
from stanlib.rejection import NO_INTEGER

from ...errors import warn
from .. import options, tuples
from ..density.posterior import Posterior
from . import columns
from .dependence import are_read, depend, others_of, with_computed
from .joint_draws import COMPUTED, NoJointDrawsError, joint_draws
from .positions import is_observation, trace_of, variable_of
from .replications import (
    Arrays,
    ReplicationWarning,
    Replicator,
    Trace,
    all_drawn,
    of_one,
    over_draws,
    warn_of_outside,
)
from .result import declared

__all__ = ["Predictions"]
STREAM = 6  # of random numbers
KEY = np.zeros(2, np.uint32)  # of a draw that is traced alone
_NONE = "with its data it runs no statement `y ~ ...` on data, nor `target += ..._lpdf(y | ...)`"


class DependsOnDataError(StanDataError):
    """What is drawn depends on data that are observed."""


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
        joint: those of the data whose laws depend on others of them, from their joint law.
        given_data: why data are drawn given those that are there, where their laws depend on these; else nothing.
    """

    def __init__(self, program: Program, kind: str, variables: Arrays, origin: Arrays, data: Mapping[str, object],
                 seed: int):  # fmt: skip
        self.program, self.kind, self.seed = program, kind, seed
        self.variables, self.origin, self.data = dict(variables), dict(origin), dict(data)
        self.dims: dict[str, tuple[str, ...]] = {}
        self.coords: dict[str, list[Any]] = {}
        self.failed: dict[str, str] = {}
        self.joint: Arrays = {}
        self.given_data = ""

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


def predicted(
    posterior: Posterior, kind: str, draws: Arrays, lacking: Sequence[str], seed: int, discrete: Arrays | None = None,
    gaps: Arrays | None = None,
) -> Predictions:  # fmt: skip
    """Draws of the data that the model observes, for draws of its parameters, (chains, draws, ...) each.

    Args:
        lacking: data that are to be predicted.
        discrete: draws of its discrete parameters, likewise.
        gaps: which numbers are to be predicted of data of which others are given, by name.

    Raises:
        StanError: if there are no data that it can draw.
    """
    replicator, joint, given_data = Replicator(posterior, lacking), dict[str, np.ndarray](), ""
    made = replicator.together(over_draws(posterior, draws, replicator, seed, STREAM, discrete))
    try:
        joint = _jointly(replicator, made, kind, draws, discrete or {}, seed, gaps or {})
    except NoJointDrawsError as e:
        given_data = str(e)
        warn(f"draws of {' and '.join(made)} are given the data that are there: {e}", ReplicationWarning)
    made |= joint
    made |= replicator.of_none(draws, made)
    if not made and kind != "prior":  # from the prior there are the parameters all the same
        raise _none_predicted(replicator)
    if replicator.told():
        warn(replicator.told(), ReplicationWarning)
    _warn_of_undrawn(made)
    warn_of_outside(posterior, made)
    data = {n: v for n, v in posterior.inputs.items() if n not in lacking}
    found = Predictions(posterior.program, kind, made, {}, data, seed)
    found.failed, found.joint, found.given_data = dict(replicator.failed), joint, given_data
    return found


def _none_predicted(replicator: Replicator) -> StanError:
    told = f"{replicator.posterior.program.name} predicts no data: {replicator.told() or _NONE}"
    advice = "Draw them in the block generated quantities: generate_quantities() runs it on new data"
    return StanError(f"{told}. {advice}")


def _jointly(
    replicator: Replicator, made: Arrays, kind: str, draws: Arrays, discrete: Arrays, seed: int, gaps: Arrays
) -> dict[str, np.ndarray]:  # fmt: skip
    """Joint draws of data whose laws depend on others that are drawn; nothing if none do.

    From the prior all data that are observed are drawn together, else those that are lacking, or have gaps.

    Raises:
        DependsOnDataError: where predictions depend on lacking data that can't be drawn one after the other.
        NoJointDrawsError: where draws of the prior depend so on data that are given.
    """
    posterior, lacking = replicator.posterior, [*replicator.lacking, *gaps]
    if not lacking and kind != "prior":
        return {}
    names = [n for n in made if n in lacking or kind == "prior"]
    if not are_read(posterior.module, {*names, *lacking}) and not replicator.counted & {*lacking}:
        return {}
    depends = _dependence(posterior, draws, discrete, names_of_transformed(posterior) if kind == "prior" else set())
    others = others_of(posterior, {*names, *lacking}, seed)
    unknown = with_computed(posterior, {*names, *lacking}, others)
    if not depends(unknown):
        return {}
    try:
        if unknown > set(names) and depends(unknown - set(names)):
            raise NoJointDrawsError(next((why for n, why in replicator.failed.items() if n in lacking), COMPUTED))
        given = {n: ~gaps[n] for n in names if n in gaps}
        return joint_draws(replicator, names, draws, discrete, others, seed, STREAM, given)
    except NoJointDrawsError as e:
        if lacking and depends(with_computed(posterior, lacking, others)):
            told = f"the predictions depend on {' and '.join(lacking)}, which must be among the data"
            raise DependsOnDataError(f"{told}: {e}", lacking[0]) from None
        raise


def _dependence(
    posterior: Posterior, draws: Arrays, discrete: Arrays, wanted: Set[str]
) -> Callable[[set[str]], bool]:  # fmt: skip
    """Tells whether what is drawn, or the variables wanted beside, depend on some inputs of the model."""
    first = tuple({n: v[0, 0] for n, v in own.items()} for own in (posterior.of_draws(draws), discrete))

    def of_trace(key: Any, trace: Trace) -> dict[str, Any]:
        return all_drawn(key, trace) | {n: s["value"] for n, s in trace.items() if n in wanted}

    return lambda unknown: depend(posterior, unknown, of_one(posterior, of_trace), KEY, first)


def _warn_of_undrawn(made: Arrays) -> None:
    """Tell of integers that Stan would throw for: counts of rates that are too great."""
    for name, values in made.items():
        lost = int(np.any(values == NO_INTEGER, axis=tuple(range(2, values.ndim))).sum())
        if lost and values.dtype.kind == "i":
            told = f"in {lost} of {np.prod(values.shape[:2])} draws {name} holds {NO_INTEGER}, for no number"
            told += ": Stan refuses to draw by the parameters of its law there"
            warn(told, ReplicationWarning)


def lacking_of(program: Program, given: Mapping[str, object]) -> list[str]:
    """The data that are not given, but for those that sizes are declared by: these are asked for, observed or not."""
    declared = (*program.data, *program.parameters, *program.transformed_parameters)
    sizes = {word for v in declared for size in v.shape for word in _words(size)}
    return [n for n in program.names("data") if n not in given and n not in sizes]


def _words(text: str) -> list[str]:
    return "".join(c if c.isalnum() or c == "_" else " " for c in text).split()


def trace_for(posterior: Posterior, parameters: Arrays) -> Trace:
    """The model's trace for one draw."""
    from ..precision import TRACING, double_precision

    with TRACING, double_precision():
        return trace_of(posterior, KEY, parameters)


def observed_by(posterior: Posterior, one: Arrays) -> set[str]:
    """The data that a model observes, at values of its parameters."""
    return {variable_of(n, posterior.program) for n, s in trace_for(posterior, one).items() if is_observation(s)}


def names_of_transformed(posterior: Posterior) -> set[str]:
    return set(tuples.leaf_names(posterior.program.transformed_parameters))
