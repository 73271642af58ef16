"""Results with draws of several chains: of the sampler, and generated quantities."""
from __future__ import annotations

import copy
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...inference.fits import columns
from ...inference.fits.fit import Fit
from ...inference.options import suggestion
from ...inference.samplers.packed import written_out
from .base import Array, CmdStanFit


class OfChains(CmdStanFit):
    """A result with draws of several chains."""

    @property
    def chains(self) -> int:
        return self.fit.chains

    @property
    def chain_ids(self) -> list[int]:
        return self.fit.chain_ids


_IN_FRONT = ("chain__", "iter__", "draw__")


def _columns(frame: Any, fit: Fit, wanted: Sequence[str] | str | None) -> object:
    """The columns of the variables that are wanted, and of no others; all if None. Raises ValueError."""
    if wanted is None:
        return frame
    chosen: list[str] = []
    for name in dict.fromkeys([wanted] if isinstance(wanted, str) else wanted):
        found = [name] if name in frame else [c for c in frame if c.partition("[")[0].partition(":")[0] == name]
        if not found:
            raise ValueError(f"Unknown variable: {name}{suggestion(name, list(fit.variables))}")
        chosen += found
    return frame[chosen]


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
        if self.fit.metric is None:
            return None
        return "dense_e" if self.fit.metric.ndim == 3 else "unit_e" if self._is_unit else "diag_e"

    @property
    def _is_unit(self) -> bool:
        return isinstance(asked := self.fit.settings.get("metric"), str) and asked == "unit_e"

    @property
    def metric(self) -> Array | None:
        """The inverse metric of each chain, as a matrix if it is not diagonal; None of the unit metric."""
        if self._is_unit or self.fit.metric is None:
            return None
        return np.stack([written_out(m) for m in self.fit.metric])

    inv_metric = metric

    @property
    def step_size(self) -> Array | None:
        return self.fit.step_size

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
        return _columns(self.fit.draws_pd(inc_warmup=self._has_warmup(inc_warmup)), self.fit, vars)

    def draws_xr(self, vars: Sequence[str] | str | None = None, inc_warmup: bool = False) -> Any:
        return self.fit.draws_xr(vars, inc_warmup=self._has_warmup(inc_warmup))

    def stan_variable(self, var: str, inc_warmup: bool = False) -> Any:
        """The draws of a variable, chain after chain; with the warm-up in front of each chain's."""
        if not self._has_warmup(inc_warmup):
            return self.fit.stan_variable(var)
        whole = copy.copy(self.fit)
        whole.variables = {n: v for n, v in self.fit.with_warmup().items() if n in self.fit.variables}
        return whole.stan_variable(var)

    def stan_variables(self, inc_warmup: bool = False) -> dict[str, Any]:
        return {n: self.stan_variable(n, inc_warmup) for n in self.fit.stan_variables()}

    def _has_warmup(self, asked: bool) -> bool:
        """Whether there is a warm-up that is asked for; warns, as CmdStanPy does, where it was not saved."""
        if asked and self.fit.warmup is None:
            warnings.warn("the warm-up was not saved: run the sampler with save_warmup=True", stacklevel=3)
        return asked and self.fit.warmup is not None

    def method_variables(self) -> dict[str, Array]:
        return self.fit.method_variables()

    def summary(self, percentiles: Sequence[int] = (5, 50, 95), sig_figs: int = 6) -> Any:
        """CmdStan's table: its rows are called by indices, also where the data came with labels."""
        plain = copy.copy(self.fit)
        plain.dims, plain.coords = {}, {}
        return plain.summary(percentiles, sig_figs)

    def diagnose(self) -> str:
        return str(self.fit.diagnose())


class CmdStanGQ(OfChains):
    """The result of `generate_quantities`: generated quantities alone; `previous_fit` has the parameters.

    Attributes:
        previous_fit: the fit whose draws were used.
    """

    def __init__(self, fit: Fit, previous_fit: Any = None):
        super().__init__(fit)
        self.previous_fit = previous_fit

    @property
    def mcmc_sample(self) -> Any:
        return self.previous_fit

    @property
    def _generated(self) -> Mapping[str, Array]:
        names = self.fit.program.names("generated_quantities")
        return {n: v for n, v in self.fit.variables.items() if n.partition(".")[0] in names}

    @property
    def _sampled(self) -> Mapping[str, Array]:
        """The columns of the previous fit that are not generated anew."""
        made, previous = set(self._generated), getattr(self.previous_fit, "fit", self.fit)
        return {n: v for n, v in {**previous.stats, **previous.variables}.items() if n not in made}

    @property
    def column_names(self) -> tuple[str, ...]:
        return tuple(columns.flatten(self._generated)[0])

    def draws(self, *, inc_warmup: bool = False, inc_iterations: bool = False, concat_chains: bool = False,
              inc_sample: bool = False) -> Array:  # fmt: skip
        """(draws, chains, columns), or (draws, columns); `inc_sample` puts the parameters in front."""
        if inc_warmup:
            raise ValueError("quantities are generated for the draws after warm-up")
        values = columns.flatten({**self._sampled, **self._generated} if inc_sample else self._generated)[1]
        chains, draws, width = values.shape
        return values.reshape(chains * draws, width) if concat_chains else values.transpose(1, 0, 2)

    def draws_pd(self, vars: Sequence[str] | str | None = None, inc_warmup: bool = False,
                 inc_sample: bool = False) -> Any:  # fmt: skip
        if inc_warmup:
            raise ValueError("quantities are generated for the draws after warm-up")
        frame = self.fit.draws_pd()
        if vars is None and not inc_sample:
            return frame[[*_IN_FRONT, *self.column_names]]
        return _columns(frame, self.fit, vars)

    def draws_xr(self, vars: Sequence[str] | str | None = None, inc_warmup: bool = False,
                 inc_sample: bool = False) -> Any:  # fmt: skip
        if inc_warmup:
            raise ValueError("quantities are generated for the draws after warm-up")
        return self.fit.draws_xr(vars if vars is not None or inc_sample else list(self._generated))

    def stan_variable(self, var: str, **options: bool) -> Any:
        return self.fit.stan_variable(var)

    def stan_variables(self, **options: bool) -> dict[str, Any]:
        return self.fit.stan_variables()
