"""The result of the sampler, and what it has in common with generated quantities: draws of several chains."""
from __future__ import annotations

import copy
from collections.abc import Sequence
from operator import lt
from typing import Any

import numpy as np

from ...errors import warn
from ...inference.fits import columns
from ...inference.fits.fit import Fit
from ...inference.options import suggestion
from ...inference.samplers.packed import written_out
from .base import Array, CmdStanFit
from .metadata import InferenceMetadata
from .values import column_names, value, with_warmup


class OfChains(CmdStanFit):
    """A result with draws of several chains."""

    @property
    def chains(self) -> int:
        return self.fit.chains

    @property
    def chain_ids(self) -> list[int]:
        return self.fit.chain_ids


def described(
    fit: Fit, told: InferenceMetadata, vars: Sequence[str] | str | None, inc_warmup: bool = False
) -> Any:  # fmt: skip
    """The draws as a Dataset with CmdStanPy's attributes, in the order in which variables are asked for.

    Raises:
        KeyError: for variables that there aren't, as CmdStanPy does.
    """
    wanted = [vars] if isinstance(vars, str) else vars
    for name in wanted or ():
        try:
            fit.stan_variable(name)
        except ValueError as e:
            raise KeyError(f"Unknown variable: {e}") from None
    version = ".".join(str(told[f"stan_version_{part}"]) for part in ("major", "minor", "patch"))
    attributes = {"stan_version": version, "model": told["model"], "num_draws_sampling": fit.draws_per_chain}
    if inc_warmup and fit.warmup is not None:
        attributes["num_draws_warmup"] = with_warmup(fit).draws_per_chain - fit.draws_per_chain
    made = fit.draws_xr(wanted, inc_warmup=inc_warmup)
    order = [name for asked in wanted or () for name in made.data_vars if asked in (name, columns.root(name))]
    return (made[[*dict.fromkeys(order)]] if order else made).assign_attrs(attributes)


def frame(fit: Fit, inc_warmup: bool = False) -> Any:
    """The draws as a DataFrame with CmdStanPy's names of columns and its numbers of chains, which are from 1."""
    made = fit.draws_pd(inc_warmup=inc_warmup)
    made["chain__"] = np.repeat(np.arange(1, fit.chains + 1), len(made) // max(fit.chains, 1))
    return made.set_axis(column_names(made), axis="columns")


def chosen_columns(frame: Any, fit: Fit, wanted: Sequence[str] | str | None) -> object:
    """The columns of the variables that are wanted, and of no others; all if None. Raises ValueError."""
    if wanted is None:
        return frame
    chosen: list[str] = []
    for name in dict.fromkeys([wanted] if isinstance(wanted, str) else wanted):
        found = [name] if name in frame else [c for c in frame if columns.root(c) == name]
        if not found:
            raise ValueError(f"Unknown variable: {name}{suggestion(name, list(fit.variables))}")
        chosen += found
    return frame[chosen]


def _verify_table(percentiles: Sequence[float], sig_figs: int) -> None:
    """Raise ValueError for what CmdStan's table can't have."""
    given = list(percentiles)
    if not given or not all(0 < p <= 99 for p in given) or not all(map(lt, given, given[1:])):
        raise ValueError(f"Invalid percentiles, must be ordered, from (1, 99), inclusive: {given}")
    if not isinstance(sig_figs, (int, np.integer)) or not 1 <= sig_figs <= 18:
        raise ValueError(f'Keyword "sig_figs" must be an integer between 1 and 18, found {sig_figs}')


class CmdStanMCMC(OfChains):
    """The result of `sample`."""

    @property
    def num_draws_warmup(self) -> int:
        return -(-int(self.fit.settings.get("iter_warmup", 0)) // self.thin)

    @property
    def num_draws_sampling(self) -> int:
        return self.fit.draws_per_chain

    @property
    def thin(self) -> int:
        return int(self.fit.settings.get("thin", 1))

    @property
    def metric_type(self) -> str | None:
        if self.fit.metric is None or self._is_fixed:
            return None
        return "dense_e" if self.fit.metric.ndim == 3 else "unit_e" if self._is_unit else "diag_e"

    @property
    def _is_unit(self) -> bool:
        return isinstance(asked := self.fit.settings.get("metric"), str) and asked == "unit_e"

    @property
    def metric(self) -> Array | None:
        """The inverse metric of each chain, as a matrix if it is not diagonal; None of the unit metric."""
        if self._is_unit or self.fit.metric is None or self._is_fixed:
            return None
        return np.stack([written_out(m) for m in self.fit.metric])

    inv_metric = metric

    @property
    def _save_warmup(self) -> bool:
        """Whether there are draws of the warm-up: ArviZ asks by this name."""
        return self.fit.warmup is not None

    @property
    def _is_fixed(self) -> bool:
        """Whether the parameters, if any, were to stay as they are."""
        return bool(self.fit.settings.get("fixed_param"))

    @property
    def step_size(self) -> Array | None:
        return None if self._is_fixed else self.fit.step_size

    @property
    def divergences(self) -> Array | None:
        return self.fit.divergences

    @property
    def max_treedepths(self) -> Array | None:
        return self.fit.max_treedepths

    @property
    def time(self) -> list[dict[str, float]] | None:
        """The seconds of each chain: warmup, sampling and total."""
        if self.fit.times is None:
            return None
        return [{"warmup": float(w), "sampling": float(s), "total": float(w + s)} for w, s in self.fit.times]

    def draws(self, *, inc_warmup: bool = False, concat_chains: bool = False) -> Array:
        """(draws, chains, columns), or (draws, columns)."""
        return self.fit.draws(inc_warmup=self._has_warmup(inc_warmup), concat_chains=concat_chains)

    def draws_pd(self, vars: Sequence[str] | str | None = None, inc_warmup: bool = False) -> Any:
        return chosen_columns(frame(self.fit, self._has_warmup(inc_warmup)), self.fit, vars)

    def draws_xr(self, vars: Sequence[str] | str | None = None, inc_warmup: bool = False) -> Any:
        return described(self.fit, self.metadata, vars, self._has_warmup(inc_warmup))

    def stan_variable(self, var: str, inc_warmup: bool = False) -> Any:
        """The draws of a variable, chain after chain; with the warm-up in front of each chain's."""
        return value(with_warmup(self.fit) if self._has_warmup(inc_warmup) else self.fit, var)

    def stan_variables(self, inc_warmup: bool = False) -> dict[str, Any]:
        return {n: self.stan_variable(n, inc_warmup) for n in self.fit.stan_variables()}

    def method_variables(self) -> dict[str, Array]:
        """The sampler's own variables, (draws, chains) each; with those of the warm-up in front, if that was saved."""
        found = (with_warmup(self.fit) if self._save_warmup else self.fit).method_variables()
        return {n: v.astype(float) for n, v in found.items()}

    def _has_warmup(self, asked: bool) -> bool:
        """Whether there is a warm-up that is asked for; warns, as CmdStanPy does, where it was not saved."""
        if asked and self.fit.warmup is None:
            warn("the warm-up was not saved: run the sampler with save_warmup=True")
        return asked and self.fit.warmup is not None

    def summary(self, percentiles: Sequence[int] = (5, 50, 95), sig_figs: int = 6) -> Any:
        """CmdStan's table: its rows are called by indices, also where the data came with labels.

        It has no row of the density where parameters stay as they are.

        Raises:
            ValueError: for percentiles that are not in order between 1 and 99, and digits not between 1 and 18.
        """
        _verify_table(percentiles, sig_figs)
        plain = copy.copy(self.fit)
        plain.dims, plain.coords = {}, {}
        if self._is_fixed:  # which knows no density
            plain.stats = {}
        table = plain.summary(percentiles, sig_figs)
        return table.set_axis(column_names(table.index), axis="index")

    def diagnose(self) -> str:
        return str(self.fit.diagnose())
