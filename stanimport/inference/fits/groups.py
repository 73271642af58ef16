"""The groups that ArviZ works with, as xarray data sets: posterior, sample_stats, log_likelihood, observed_data, ..."""
from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray

from stanlib.errors import StanDataError

from ...errors import warn
from .. import tuples
from ..running.first_use import in_threads
from .entries import LogDensities

if TYPE_CHECKING:
    from .result import Result

# ArviZ's names of what CmdStan calls otherwise.
STATS = {
    "lp__": "lp", "accept_stat__": "acceptance_rate", "stepsize__": "step_size", "treedepth__": "tree_depth",
    "n_leapfrog__": "n_steps", "divergent__": "diverging", "energy__": "energy",
}  # fmt: skip
REPLICATED = re.compile(r"(?i)^(.+_(rep|replicated|sim|simulated|ppc|tilde|pred)|yrep|ysim|replicated)$")

Names = Mapping[str, Sequence[str]]


def dataset(
    variables: Mapping[str, np.ndarray], dims: Names | None = None,
    coords: Mapping[str, Sequence[object]] | None = None, sampled: bool = True,
) -> xarray.Dataset:  # fmt: skip
    """Arrays (chains, draws, ...) as a data set; without `sampled`, plain arrays.

    Dimensions and coordinates are CmdStanPy's unless they are named: `x_dim_0` from 0, chains from 1, draws from 0.
    Arrays of a part of a variable's entries (`entries.LogDensities`) have the coordinates of these.
    """
    dims, coords = dims or {}, coords or {}
    head = ("chain", "draw") if sampled else ()
    arrays, known = dict[str, tuple[tuple[str, ...], np.ndarray]](), dict[str, np.ndarray]()
    for name, value in variables.items():
        labels = _labels(name, np.shape(value)[len(head) :], variables, dims, coords)
        arrays[name] = ((*head, *labels), np.asarray(value))
        known |= labels
    if sampled and variables:
        first = next(iter(variables.values()))
        known |= {"chain": np.arange(1, first.shape[0] + 1), "draw": np.arange(first.shape[1])}
    return xarray.Dataset(arrays, coords=known)


def _labels(
    name: str, shape: tuple[int, ...], variables: Mapping[str, np.ndarray], dims: Names,
    coords: Mapping[str, Sequence[object]],
) -> dict[str, np.ndarray]:  # fmt: skip
    """The axes of a variable, with the coordinates along each."""
    named, numbered = tuple(dims.get(name, ())), _numbered(name, shape)
    axes = named if len(named) == len(shape) else numbered
    labels = {a: np.asarray(coords.get(a, np.arange(n))) for a, n in zip(axes, shape)}
    entries = variables.entries.get(name, ()) if isinstance(variables, LogDensities) else ()
    along = [i for i, at in enumerate(entries) if at.size]
    if along and len(along) == len(shape):
        shared = Counter(axis for n in variables for axis in dims.get(n, ()))
        axes = tuple(named[i] for i in along) if len(named) == len(entries) else numbered
        return dict(_of_part(*one, coords, shared) for one in zip(axes, numbered, (entries[i] for i in along)))
    if any(len(at) != n for at, n in zip(labels.values(), shape)):
        return {a: np.arange(n) for a, n in zip(numbered, shape)}
    return labels


def _of_part(
    axis: str, own: str, at: np.ndarray, coords: Mapping[str, Sequence[object]], shared: Mapping[str, int]
) -> tuple[str, np.ndarray]:
    """An axis with some entries of a variable's; one of its own where others have all of these."""
    if axis not in coords:
        return own if shared[axis] > 1 else axis, at
    is_whole = np.array_equal(at, np.arange(len(coords[axis])))
    return own if shared[axis] > 1 and not is_whole else axis, np.asarray(coords[axis])[at]


def _numbered(name: str, shape: tuple[int, ...]) -> tuple[str, ...]:
    """The names of axes that nobody named."""
    return tuple(f"{name}_dim_{i}" for i in range(len(shape)))


def all_groups(
    fit: Result, log_likelihood: bool, posterior_predictive: bool | Sequence[str] | str, prior: bool, dims: Names,
    coords: Mapping[str, Sequence[object]],
) -> dict[str, xarray.Dataset]:  # fmt: skip
    """Every group that the fit has something for."""
    replicated = _replicated(fit, posterior_predictive)
    groups = _of_draws(fit, replicated)
    if log_likelihood:
        groups["log_likelihood"] = _log_likelihood(fit, _can_be_asked(fit, "log_likelihood"))
    if posterior_predictive:
        groups["posterior_predictive"] = _predictive(fit, replicated, _can_be_asked(fit, "posterior_predictive"))
    if prior:
        groups["prior"] = _computed(fit, "prior")
    return _datasets(fit, groups, dims, coords)


def groups_to_save(fit: Result, computed: Sequence[str]) -> dict[str, xarray.Dataset]:
    """The groups for a file: what the program itself computes, and of what the model is asked for, those named."""
    replicated = _replicated(fit, True)
    groups = _of_draws(fit, replicated)
    groups["log_likelihood"] = _log_likelihood(fit, "log_likelihood" in computed)
    groups["posterior_predictive"] = _predictive(fit, replicated, "posterior_predictive" in computed)
    groups["prior"] = _computed(fit, "prior") if "prior" in computed else {}
    return _datasets(fit, groups, fit.dims, fit.coords)


def _of_draws(fit: Result, replicated: Sequence[str]) -> dict[str, Mapping[str, np.ndarray]]:
    """The groups of draws and of the sampler's statistics, those of the warm-up too where it was saved."""
    groups: dict[str, Mapping[str, np.ndarray]] = {
        "posterior": _without(fit.variables, replicated), "sample_stats": _stats(fit.stats)
    }  # fmt: skip
    if fit.warmup is not None:
        groups["warmup_posterior"] = _without(fit.warmup[0], replicated)
        groups["warmup_sample_stats"] = _stats(fit.warmup[1])
    return groups


def _without(variables: Mapping[str, np.ndarray], replicated: Sequence[str]) -> dict[str, np.ndarray]:
    return {n: v for n, v in variables.items() if n.partition(".")[0] not in replicated and n != "log_lik"}


def _stats(stats: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """A sampler's statistics by ArviZ's names."""
    named = {STATS.get(n, n.rstrip("_")): v for n, v in stats.items()}
    return {n: v.astype(bool) if n == "diverging" else v for n, v in named.items()}


def _datasets(
    fit: Result, groups: Mapping[str, Mapping[str, np.ndarray]], dims: Names, coords: Mapping[str, Sequence[object]]
) -> dict[str, xarray.Dataset]:  # fmt: skip
    """The groups and the data as data sets; those that have nothing are left out."""
    made = {n: dataset(g, dims, coords) for n, g in groups.items()}
    made = {n: g.assign_coords(chain=fit.chain_ids) if g.sizes.get("chain") == fit.chains else g
            for n, g in made.items()}  # fmt: skip
    observed, constant = _data(fit)
    made["observed_data"] = dataset(observed, dims, coords, sampled=False)
    made["constant_data"] = dataset(constant, dims, coords, sampled=False)
    return {n: g for n, g in made.items() if g.data_vars or n in ("posterior", "warmup_posterior")}


def _replicated(fit: Result, wanted: bool | Sequence[str] | str) -> list[str]:
    """The generated quantities that replicate data: those named, else those whose names say so."""
    if not wanted:
        return []
    names = [v.name for v in fit.program.generated_quantities]
    if isinstance(wanted, (int, np.bool_)):
        return [n for n in names if REPLICATED.match(n)]
    chosen = [wanted] if isinstance(wanted, str) else list(wanted)
    for name in chosen:
        fit.stan_variable(name)
    return chosen


def _log_likelihood(fit: Result, asked: bool = True) -> Mapping[str, np.ndarray]:
    """Log densities of the observed sites, if the model is asked; else the program's `log_lik`; else nothing."""
    sites = _computed(fit, "log_likelihood") if asked else {}
    own = fit.variables.get("log_lik")
    return sites or ({} if own is None else {"log_lik": own})


def _predictive(fit: Result, replicated: Sequence[str], asked: bool = True) -> dict[str, np.ndarray]:
    """The generated quantities that replicate data, and if the model is asked, draws of the observed sites."""
    own = {n: v for n, v in fit.variables.items() if n.partition(".")[0] in replicated}
    sites = _computed(fit, "posterior_predictive") if asked else {}
    return own | {n: v for n, v in sites.items() if n not in own}


def _computed(fit: Result, group: str) -> Mapping[str, np.ndarray]:
    """A group that takes the model to compute, computed once."""
    if not fit.program.source or not fit.has_data:  # read from files that don't tell it, or of batches
        return {}
    if group not in fit._groups:
        in_threads()
        from . import observations

        fit._groups[group] = getattr(observations, group)(fit)
    found: Mapping[str, np.ndarray] = fit._groups[group]
    return found


def _can_be_asked(fit: Result, group: str) -> bool:
    """Whether the model gives a group, for which it needs draws of all parameters: a fit may have left some out."""
    from .observations import LikelihoodWarning

    try:
        _computed(fit, group)
    except StanDataError as e:
        if e.variable.partition(".")[0] not in fit.program.names("parameters"):
            raise
        warn(f"the group {group} lacks what the model computes: {e}", LikelihoodWarning)
        return False
    return True


def _data(fit: Result) -> tuple[dict[str, Any], dict[str, Any]]:
    """The data that are observed, and the others."""
    known = set(_computed(fit, "observed_names"))
    flat = tuples.unpack({n: fit.data[n] for n in fit.program.names("data") if n in fit.data})
    arrays = {n: np.asarray(v) for n, v in flat.items()}
    observed = {n: v for n, v in arrays.items() if n.partition(".")[0] in known}
    return observed, {n: v for n, v in arrays.items() if n not in observed}
