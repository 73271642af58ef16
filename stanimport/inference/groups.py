"""The groups that ArviZ works with, as xarray data sets: posterior, sample_stats, log_likelihood, observed_data, ..."""
from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray

from . import tuples

if TYPE_CHECKING:
    from .fit import Fit

# ArviZ's names of what CmdStan calls otherwise.
STATS = {
    "lp__": "lp", "accept_stat__": "acceptance_rate", "stepsize__": "step_size", "treedepth__": "tree_depth",
    "n_leapfrog__": "n_steps", "divergent__": "diverging", "energy__": "energy",
}  # fmt: skip
REPLICATED = re.compile(r"(?i)^(.+_(rep|replicated|sim|simulated|ppc|tilde|pred)|yrep|ysim|replicated)$")

Names = Mapping[str, Sequence[str]]


def dataset(
    variables: Mapping[str, np.ndarray], dims: Names | None = None,
    coords: Mapping[str, Sequence[Any]] | None = None, sampled: bool = True,
) -> xarray.Dataset:  # fmt: skip
    """Arrays (chains, draws, ...) as a data set whose coordinates count from 1; without `sampled`, plain arrays."""
    dims, coords = dims or {}, coords or {}
    head = ("chain", "draw") if sampled else ()
    arrays: dict[str, Any] = {}
    known: dict[str, Any] = {}
    for name, value in variables.items():
        shape = np.shape(value)[len(head) :]
        axes = tuple(dims.get(name, ())) or tuple(f"{name}_dim_{i + 1}" for i in range(len(shape)))
        arrays[name] = ((*head, *axes), np.asarray(value))
        known |= {a: np.asarray(coords.get(a, np.arange(1, n + 1))) for a, n in zip(axes, shape)}
    if sampled and variables:
        first = next(iter(variables.values()))
        known |= {"chain": np.arange(1, first.shape[0] + 1), "draw": np.arange(1, first.shape[1] + 1)}
    return xarray.Dataset(arrays, coords=known)


def all_groups(
    fit: Fit, log_likelihood: bool, posterior_predictive: bool | Sequence[str], prior: bool, dims: Names,
    coords: Mapping[str, Sequence[Any]],
) -> dict[str, xarray.Dataset]:  # fmt: skip
    """Every group that the fit has something for."""
    replicated = _replicated(fit, posterior_predictive)
    posterior = {n: v for n, v in fit.variables.items() if n.partition(".")[0] not in replicated and n != "log_lik"}
    groups = {"posterior": dataset(posterior, dims, coords)}
    stats = {STATS.get(n, n.rstrip("_")): v for n, v in fit.stats.items()}
    if stats:
        groups["sample_stats"] = dataset({n: v.astype(bool) if n == "diverging" else v for n, v in stats.items()})
    if log_likelihood:
        groups["log_likelihood"] = dataset(_log_likelihood(fit), dims, coords)
    if posterior_predictive:
        groups["posterior_predictive"] = dataset(_predictive(fit, replicated), dims, coords)
    if prior:
        groups["prior"] = dataset(_computed(fit, "prior"), dims, coords)
    observed, constant = _data(fit)
    groups["observed_data"] = dataset(observed, dims, coords, sampled=False)
    groups["constant_data"] = dataset(constant, dims, coords, sampled=False)
    return {n: g for n, g in groups.items() if g.data_vars or n == "posterior"}


def _replicated(fit: Fit, wanted: bool | Sequence[str]) -> list[str]:
    """The generated quantities that replicate data: those named, else those whose names say so."""
    if not wanted:
        return []
    names = [v.name for v in fit.program.generated_quantities]
    if wanted is True:
        return [n for n in names if REPLICATED.match(n)]
    for name in wanted:
        fit.stan_variable(name)
    return list(wanted)


def _log_likelihood(fit: Fit) -> Mapping[str, np.ndarray]:
    """Log densities of the observed sites; else what the program calls `log_lik`; else nothing."""
    sites = _computed(fit, "log_likelihood")
    own = fit.variables.get("log_lik")
    return sites or ({} if own is None else {"log_lik": own})


def _predictive(fit: Fit, replicated: Sequence[str]) -> dict[str, np.ndarray]:
    own = {n: v for n, v in fit.variables.items() if n.partition(".")[0] in replicated}
    return own | {n: v for n, v in _computed(fit, "posterior_predictive").items() if n not in own}


def _computed(fit: Fit, group: str) -> Mapping[str, np.ndarray]:
    """A group that takes the model to compute, computed once."""
    if group not in fit._groups:
        from . import observations

        fit._groups[group] = getattr(observations, group)(fit)
    found: Mapping[str, np.ndarray] = fit._groups[group]
    return found


def _data(fit: Fit) -> tuple[dict[str, Any], dict[str, Any]]:
    """The data that are observed, and the others."""
    known = set(_computed(fit, "observed_names"))
    flat = tuples.unpack({n: fit.data[n] for n in fit.program.names("data") if n in fit.data})
    arrays = {n: np.asarray(v) for n, v in flat.items()}
    observed = {n: v for n, v in arrays.items() if n.partition(".")[0] in known}
    return observed, {n: v for n, v in arrays.items() if n not in observed}
