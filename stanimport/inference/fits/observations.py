"""What a fit's model says of its observations: their log densities, replications, and draws from the prior."""
from __future__ import annotations

import math
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from stanlib.absent import NOTHING, marked
from stanlib.dataclass import dataclass
from stanlib.errors import StanError
from stanlib.metadata import Program, Variable
from stanlib.ppl.numpyro import Sums, Terms, Units
from stanlib.unobserved import Observations, Unobserved

from ...errors import warn
from .. import nested, tuples
from ..density.posterior import Posterior, log_prob
from ..modules import anew, for_numpyro, observing_apart, told_apart
from ..precision import TRACING, double_precision
from .discrete import observing
from .entries import Entries, LogDensities, entries_of
from .joined import Places, joined
from .positions import EXPRESSION, UNORDERED, in_order, is_observation, moved_expressions, positions, variable_of
from .prior_draws import NoPriorError, prior_draws
from .replications import ReplicationWarning, Replicator, over_draws, warn_of_others, warn_of_outside
from .summed import summed, sums_of_no_variable

if TYPE_CHECKING:
    from .result import Result

__all__ = ["LikelihoodWarning"]

Sites = Sequence[tuple[str, Mapping[str, Any]]]  # of a trace, by name


class LikelihoodWarning(RuntimeWarning):
    """A log likelihood in which some numbers of the observed data have no part."""


def posterior_of(fit: Result) -> Posterior:
    """The posterior of a fit, on NumPyro, with observations apart."""
    return Posterior(observing_apart(fit.module), fit.data)


def log_likelihood(fit: Result) -> LogDensities:
    """The log density of every observation, (chains, draws, ...), by observed site.

    Where statements observe a part of a variable, or sums of its log densities, the program's own `log_lik` if there is
    one, else a warning: what `target +=` adds for the rest, as for censored data, is in no log density of an
    observation, and so for log densities of which it is not known whether they come as the data do. One sum for a whole
    variable is left out.
    """
    posterior = posterior_of(fit)
    with marked():
        every, places = log_densities(posterior, fit.variables, fit.seed)
    parts = _parts(fit, {n: _width(v) - _width(_present(v)) for n, v in every.items()}, places)
    together, where = joined_by_variable(fit, posterior, every, places)
    sites = _sites(fit)
    sums = sums_of_no_variable(fit.program, sites)
    known = {n: _present(v) for n, v in together.items() if n not in sums}
    own = fit.variables.get("log_lik")
    without, repeated = _without(fit, sites), _repeated(fit, known)
    unordered = list(dict.fromkeys([*_unordered(fit, every, places), *_unordered(fit, together, where)]))
    if (parts or without or unordered or repeated) and own is not None:
        return LogDensities({"log_lik": own}, {})
    made = _merged(known, fit.program, {p.variable for p in parts if p.is_whole})
    for told in (*(p.told() for p in parts), *map(_left_out, without), *_open(fit, unordered, repeated)):
        warn(f"the log likelihood {told}", LikelihoodWarning)
    return LogDensities(made, _entries(fit, together, where))


def _left_out(s: Unobserved) -> str:
    told = f"leaves out what line {s.line} adds to the target, which depends on {', '.join(s.data)}"
    return f"{told}: it is no log density of single observations"


def _open(fit: Result, unordered: Sequence[str], repeated: Mapping[str, int]) -> Iterator[str]:
    """What is to be told of log densities whose order is not known, and of more than there are numbers."""
    for name in unordered:
        yield f"has the log densities of {name} in the order in which the program computes them: {UNORDERED}"
    for name, width in repeated.items():
        numbers = f"the {np.size(fit.data[name])} numbers of {name}"
        yield f"has {width} log densities of {numbers}: what is observed more than once counts as so many observations"


def _entries(
    fit: Result, terms: Mapping[str, np.ndarray], places: Mapping[str, np.ndarray | str]
) -> dict[str, Entries]:  # fmt: skip
    """The entries of the variables that are observed in part."""
    found = dict[str, Entries]()
    times = Counter(variable_of(n, fit.program) for n in terms)
    for name, values in terms.items():
        variable = variable_of(name, fit.program)
        if times[variable] == 1:
            at = entries_of(places.get(name), _observing(values), fit.data.get(variable))
            found |= {} if at is None else {variable: at}
    return found


def _repeated(fit: Result, terms: Mapping[str, np.ndarray]) -> dict[str, int]:
    """How many log densities there are of variables that have fewer numbers, as of one with a law in a loop around."""
    widths = {variable_of(n, fit.program): _width(v) for n, v in terms.items()}
    data = {n: fit.data[n] for n in widths if n in fit.data and not isinstance(fit.data[n], tuple)}
    return {n: widths[n] for n, v in data.items() if 0 < np.size(v) < widths[n]}


def _unordered(
    fit: Result, terms: Mapping[str, np.ndarray], places: Mapping[str, np.ndarray | str]
) -> list[str]:
    """The variables of which as many log densities as they have numbers are in an order that is not known."""
    found = {variable_of(n, fit.program): _width(v) for n, v in terms.items() if places.get(n) is UNORDERED}
    sizes = {n: {*map(np.size, nested.leaves(fit.data.get(n, 0.0)))} for n in found}  # of the items of a tuple
    for v in fit.program.data:
        if v.name in sizes and not v.items:
            sizes[v.name].add(_vectors(fit.data.get(v.name), v) or 0)
    return [n for n, width in found.items() if 1 < width and width in sizes[n]]


def _without(fit: Result, sites: Sites) -> list[Unobserved]:
    """The statements of whose data there are no log densities of single observations, in the order of the text."""
    known = told_apart(for_numpyro(fit.module))
    sums = summed(fit.program, (n for n, _ in sites), known.lines)
    missing = (s for s in known.unobserved if not s.is_beside)  # those are in it, under another name
    computed = (known.computed[n] for n in sums_of_no_variable(fit.program, sites) if n in known.computed)
    return sorted({*missing, *sums, *computed, *_summed_out(fit.program, sites, known)})


def _summed_out(program: Program, sites: Sites, known: Observations) -> Iterator[Unobserved]:
    """The statements about data among what discrete parameters are summed out of, where no site tells of any data."""
    if not program.discrete_parameters or any(isinstance(s["fn"], Units) for _, s in sites if s["type"] == "sample"):
        return
    data, observed = program.names("data", "transformed_data"), {n for n, s in sites if is_observation(s)}
    seen = {variable_of(n, program) for n in observed}
    for name, line in known.lines.items():
        variable = variable_of(name, program)
        if variable in data and variable not in seen:
            yield Unobserved(line, (variable,))
    for name, s in known.computed.items():
        if name not in observed and (own := tuple(n for n in s.data if n in data)):
            yield Unobserved(s.line, own)


@dataclass(frozen=True)
class _Part:
    """A variable of the data of which fewer log densities are known than it has numbers, `size`."""

    variable: str
    observed: int
    size: int
    is_sums: bool  # whether there are sums among these
    is_coupled: bool  # whether those are of what discrete parameters couple
    is_open: bool  # whether it is not known of how many numbers each is

    @property
    def is_whole(self) -> bool:
        """Whether one sum is all that there is."""
        return self.is_sums and self.observed == 1

    def told(self) -> str:
        """What the log likelihood holds of it."""
        numbers = f"the {self.size} numbers of {self.variable}"
        if self.is_coupled and not self.is_whole:
            return f"holds {self.observed} log densities of {numbers}: those that discrete parameters couple are one"
        if self.is_whole:
            return f"leaves {self.variable} out: the log densities of {numbers} are one sum, and not told apart"
        if self.is_sums:
            return f"holds {self.observed} log densities of {numbers}: there are sums of several, not told apart"
        if self.is_open:
            return f"holds {self.observed} log densities of {numbers}: how many of them each is of is not known"
        return f"holds {self.observed} of {numbers}: the other ones are in no statement `~`"


def _present(terms: np.ndarray) -> np.ndarray:
    """Log densities (chains, draws, ...) without those of iterations that observe nothing, whatever the draw."""
    kept, observing = np.where(terms == NOTHING, 0.0, terms), _observing(terms)
    return kept if observing.all() else kept[:, :, observing]


def _observing(terms: np.ndarray) -> np.ndarray:
    """Which log densities (chains, draws, ...) are of an iteration that observes something in any draw."""
    absent = terms == NOTHING
    return np.asarray(~(absent.all(axis=(0, 1)) & absent.any(axis=(0, 1))))  # there may be no draw


def _width(terms: np.ndarray) -> int:
    """How many log densities each draw has."""
    return math.prod(terms.shape[2:])


def _parts(fit: Result, absent: Mapping[str, int], places: Mapping[str, np.ndarray | str]) -> list[_Part]:
    """The variables of the data of which not every number has a log density of its own.

    `absent` says how many of each site's values no iteration observes, `places` which numbers those are of others: one
    that is observed twice counts once.
    """
    observed, known = Counter[str](), dict[str, set[int]]()
    sums, coupled, open_ = set[str](), set[str](), set[str]()
    for name, site in _observed(fit):
        variable, where = variable_of(name, fit.program), places.get(name)
        if isinstance(where, np.ndarray) and not isinstance(site["fn"], Sums):
            new = set(where.ravel().tolist()) - known.setdefault(variable, set())
            known[variable] |= new
            observed[variable] += len(new)
        else:
            observed[variable] += np.size(site["value"]) - absent[name]
            if where is UNORDERED and isinstance(site["fn"], Terms):
                open_.add(variable)
        if isinstance(site["fn"], Sums):
            sums.add(variable)
        if isinstance(site["fn"], Units):
            coupled.add(variable)
    sizes = {n: np.size(fit.data[n]) for n in observed if n in fit.data and not isinstance(fit.data[n], tuple)}
    vectors = {v.name: _vectors(fit.data.get(v.name), v) for v in fit.program.data if not v.items}
    return [_Part(n, observed[n], size, n in sums, n in coupled, n in open_) for n, size in sizes.items()
            if observed[n] < size and (n in sums or n in known or observed[n] != vectors.get(n))]  # fmt: skip


def _vectors(datum: object, variable: Variable) -> int | None:
    """How many vectors or matrices an array of those holds, each of which may be one observation."""
    kind = variable.type.rpartition(" ")[2]
    axes = 2 if "matrix" in kind else int("vector" in kind)
    shape = np.shape(np.asarray(datum)) if axes and len(variable.shape) > axes else None
    return None if shape is None else math.prod(shape[:-axes])


def _observed(fit: Result) -> Sites:
    """The sites that observe data; of their values the shapes are known."""
    return [(n, s) for n, s in _sites(fit) if is_observation(s)]


def _sites(fit: Result) -> Sites:
    """All sites of a fit's model."""
    found: list[tuple[str, Mapping[str, Any]]] = []
    posterior = posterior_of(fit)
    with TRACING, double_precision():
        jax.eval_shape(lambda p: found.extend(posterior.trace(p)[0].items()), posterior.blank)
    return found


def joined_by_variable(
    fit: Result, posterior: Posterior, every: Mapping[str, np.ndarray], places: Places
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray | str]]:  # fmt: skip
    """Log densities by site, those of a variable that several statements observe as one array where they can be.

    Where it is not known which of the data statements under conditions observe, their iterations tell. Beside them,
    where they stand in the data, or the reason why that is not known.
    """
    first, where = joined(every, places, posterior)
    if len({variable_of(n, posterior.program) for n in first}) == len(first):
        return first, dict(where)
    with marked(in_place=True):
        terms, there = log_densities(posterior, fit.variables, fit.seed)
    again, _ = joined(terms, {}, posterior)
    several = {n for n in every if n not in again and n in first}
    whole = {variable_of(n, posterior.program) for n in several}
    kept = [n for n in first if n not in several and variable_of(n, posterior.program) in whole]
    anew = {n: w for n, w in as_one(there, posterior.program).items() if n in kept and n in again}
    data = {n: posterior.inputs.get(variable_of(n, posterior.program)) for n in anew}
    made = {n: _as_data(again[n], anew[n], data[n]) if n in anew else v for n, v in first.items() if n not in several}
    others = {n: w for n, w in where.items() if variable_of(n, posterior.program) not in whole}
    return made, others | {n: w for n, w in anew.items() if isinstance(w, str)}


def log_densities(
    posterior: Posterior, draws: Mapping[str, np.ndarray], seed: int
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray | str]]:  # fmt: skip
    """The same for draws of parameters, maybe given other data, and where in these the observations of each site stand.

    Those of a site that observes a whole variable, in whatever order, stand in the variable's own.
    """
    places: dict[str, np.ndarray | str] = {}

    def densities(key: jax.Array, trace: Mapping[str, Any]) -> dict[str, object]:
        places.update(positions(posterior, key, trace))
        places.update(dict.fromkeys(moved_expressions(posterior, key, trace, places), UNORDERED))
        return {n: log_prob(s) for n, s in trace.items() if is_observation(s)}

    made = over_draws(posterior, draws, densities, seed, 3)
    data: dict[str, Any] = {n: posterior.inputs.get(variable_of(n, posterior.program)) for n in made}
    ordered = {n: in_order(v, places[n], data[n]) for n, v in made.items()}
    return {n: v for n, (v, _) in ordered.items()}, {n: where for n, (_, where) in ordered.items()}


def as_one(places: Mapping[str, np.ndarray | str], program: Program) -> dict[str, np.ndarray | str]:
    """Places of the iterations of sites, which share them by variable: where one has another order, so have all."""
    moved = {variable_of(n, program) for n, where in places.items() if where is UNORDERED}
    return {n: UNORDERED if variable_of(n, program) in moved else where for n, where in places.items()}


def _as_data(terms: np.ndarray, where: np.ndarray | str, datum: object) -> np.ndarray:
    """Log densities (chains, draws, iterations) that stand in the order of the data, with the axes of these."""
    is_whole = where is EXPRESSION and not isinstance(datum, tuple) and _width(terms) == np.size(np.asarray(datum))
    return terms.reshape(*terms.shape[:2], *np.shape(np.asarray(datum))) if is_whole else terms


def posterior_predictive(fit: Result) -> dict[str, np.ndarray]:
    """Replications of the observed data, (chains, draws, ...), by variable; a warning names those that can't be had."""
    try:
        posterior, discrete = observing(observing_apart(fit.module), fit.data, fit.variables, fit.seed)
        replicator = Replicator(posterior)
        drawn = over_draws(posterior, fit.variables, replicator, fit.seed, 4, discrete)
    except StanError as e:
        _tell("no data were replicated", e)
        return {}
    made = replicator.together(drawn)
    made |= replicator.of_none(fit.variables, made)
    if replicator.told():
        warn(replicator.told(), ReplicationWarning)
    warn_of_others(fit.module, made)
    warn_of_outside(posterior, made)
    return made


def _tell(what: str, error: StanError) -> None:
    warn(f"{what}: {error}", ReplicationWarning)


def _merged(
    sites: Mapping[str, np.ndarray], program: Program, without: Container[str] = ()
) -> dict[str, np.ndarray]:
    """Several statements on the same data (`y`, `y__2`) stay apart; every name without the suffix if it is free.

    Those that observe nothing, for no draw reaches them, are left out beside others.
    """
    out: dict[str, np.ndarray] = {}
    observing = {variable_of(n, program) for n, v in sites.items() if np.size(v)}
    for name, value in sites.items():
        plain = variable_of(name, program)
        if plain in without or not np.size(value) and plain in observing:
            continue
        out[name if plain in out else plain] = value
    return out


def observed_names(fit: Result) -> tuple[str, ...]:
    """The data variables that observed sites are named after."""
    try:
        names = [variable_of(n, fit.program) for n, _ in _observed(fit)]
    except StanError as e:
        _tell("which data are observed is not known", e)
        return ()
    data = fit.program.names("data")
    return tuple(n for n in dict.fromkeys(names) if n in data)


def prior(fit: Result, chains: int = 1, draws: int = 500) -> dict[str, np.ndarray]:
    """Draws from the prior, (chains, draws, ...), as `prior_predictive` has them; none where there is no such prior."""
    try:
        drawing = anew(fit.module, backend="numpyro", scheme="simulation")
        made = prior_draws(Posterior(drawing, fit.data), chains * draws, fit.seed).parameters
    except NoPriorError:
        return {}
    except StanError as e:
        _tell("there are no draws from the prior", e)
        return {}
    drawn, names = tuples.joined(made), tuples.leaf_names(fit.program.parameters)
    return {n: drawn[n].reshape(chains, draws, *drawn[n].shape[2:]) for n in names if n in drawn}
