"""CmdStanPy's results, each around a `Fit`, which is its attribute `fit`."""
from __future__ import annotations

import copy
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from stanlib.extras import require

from ..inference.fits import columns, stan_csv
from ..inference.fits.fit import Fit, Mode
from ..inference.options import suggestion
from ..inference.samplers.packed import written_out

Array = np.ndarray


class Shape(tuple[int, ...]):
    """The shape of a variable, whose attribute `dimensions` is itself, as CmdStanPy's descriptions have one."""

    @property
    def dimensions(self) -> tuple[int, ...]:
        return tuple(self)


class InferenceMetadata:
    """The configuration of a fit, and the shapes of its variables.

    Attributes:
        cmdstan_config: the options of the method, and the column names.
        method_vars, stan_vars: the shapes of the method's own variables and of the program's, by name.
    """

    def __init__(self, fit: Fit):
        options = {n: v for n, v in fit.settings.items() if not n.startswith("chain_") or n == "chain_ids"}
        named = {"model": f"{fit.program.name}_model", "method": fit.method, "num_chains": fit.chains}
        self.cmdstan_config: dict[str, Any] = {**options, **named, "column_names": fit.column_names}
        if fit.method == "sample":
            self.cmdstan_config |= {"num_samples": options.get("iter_sampling"), "delta": options.get("adapt_delta"),
                                    "num_warmup": options.get("iter_warmup"), "max_depth": options.get("max_treedepth")}
        self.method_vars = {n: Shape(v.shape[2:]) for n, v in fit.stats.items()}
        self.stan_vars = {n: Shape(v.shape[2:]) for n, v in fit.variables.items()}

    def __repr__(self) -> str:
        return f"Metadata:\n{self.cmdstan_config}\n"


class CmdStanFit:
    """What all results have in common; a variable of the program is an attribute too (`fit.mu`)."""

    def __init__(self, fit: Fit):
        self.fit = _with_cmdstans_columns(fit)

    def __repr__(self) -> str:
        about = f"model={self.fit.program.name} method={self.fit.method} chains={self.fit.chains}"
        return f"{type(self).__name__}: {about}"

    def __getattr__(self, name: str) -> Any:
        if name == "fit" or name.startswith("__"):
            raise AttributeError(name)
        try:
            return self.stan_variable(name)
        except ValueError as e:
            raise AttributeError(f"Unknown variable name: {name}; {e}") from None

    @property
    def metadata(self) -> InferenceMetadata:
        return InferenceMetadata(self.fit)

    @property
    def column_names(self) -> tuple[str, ...]:
        return self.fit.column_names

    def stan_variable(self, var: str) -> Any:
        return self.fit.stan_variable(var)

    def stan_variables(self) -> dict[str, Any]:
        return {n: self.stan_variable(n) for n in self.fit.stan_variables()}

    def method_variables(self) -> dict[str, Array]:
        return self.fit.method_variables()

    def save_csvfiles(self, dir: str | None = None) -> None:
        self.fit.save_csvfiles("." if dir is None else dir)

    def create_inits(self, seed: int | None = None, chains: int = 4) -> Any:
        """Initial values for chains; for a single one a dict, as in CmdStanPy."""
        made = self.fit.create_inits(seed, chains)
        return made[0] if chains == 1 else made


# CmdStan's columns of these methods, and what they are called in a fit.
_COLUMNS = {
    "pathfinder": {"lp_approx__": "log_q__", "lp__": "lp__", "path__": "path__"},
    "variational": {"lp__": "lp__", "log_p__": "log_p__", "log_g__": "log_q__"},
}


def _with_cmdstans_columns(fit: Fit) -> Fit:
    """The fit with the method's own variables as CmdStan has them."""
    wanted = {new: old if old in fit.stats else new for new, old in _COLUMNS.get(fit.method, {}).items()}
    if not wanted or not all(n in fit.stats for n in wanted.values() if n != "path__"):
        return fit
    made = copy.copy(fit)
    made.stats = {new: fit.stats[old] for new, old in wanted.items() if old in fit.stats}
    return made


class _OfChains(CmdStanFit):
    """A result with draws of several chains."""

    @property
    def chains(self) -> int:
        return self.fit.chains

    @property
    def chain_ids(self) -> list[int]:
        return self.fit.chain_ids


_IN_FRONT = ("chain__", "iter__", "draw__")


def _columns(frame: Any, fit: Fit, wanted: Sequence[str] | str | None) -> Any:
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


class CmdStanMCMC(_OfChains):
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


class CmdStanMLE(CmdStanFit):
    """The result of `optimize`."""

    fit: Mode

    @property
    def converged(self) -> bool:
        return self.fit.converged

    @property
    def optimized_params_np(self) -> Array:
        return self.fit.optimized_params_np

    @property
    def optimized_params_dict(self) -> dict[str, float]:
        return self.fit.optimized_params_dict

    @property
    def optimized_params_pd(self) -> Any:
        require("pandas", extra="inference")
        import pandas

        return pandas.DataFrame([self.optimized_params_np], columns=self.column_names)

    @property
    def optimized_iterations_np(self) -> Array | None:
        """All columns at the start and after every step, (steps + 1, columns); None if they were not saved."""
        return None if self.fit.warmup is None else self.fit.draws(inc_warmup=True, concat_chains=True)

    @property
    def optimized_iterations_pd(self) -> Any:
        """The same as a DataFrame."""
        require("pandas", extra="inference")
        import pandas

        found = self.optimized_iterations_np
        return None if found is None else pandas.DataFrame(found, columns=self.column_names)

    def stan_variable(self, var: str, *, inc_iterations: bool = False, warn: bool = True) -> Any:
        """The value at the mode; with `inc_iterations` at the start and after every step, if they were saved.

        Warns, as CmdStanPy does, where they were not, and of an optimization that has not converged.
        """
        if warn and not self.converged:
            warnings.warn("invalid estimate: the optimization did not converge", stacklevel=2)
        if inc_iterations and self.fit.warmup is None:
            warnings.warn("the iterations were not saved: optimize with save_iterations=True", stacklevel=2)
        if not inc_iterations or self.fit.warmup is None:
            return self.fit.stan_variable(var)
        return self.fit.draws_xr(var, inc_warmup=True)[var].values[0]

    def stan_variables(self, inc_iterations: bool = False) -> dict[str, Any]:
        return {n: self.stan_variable(n, inc_iterations=inc_iterations) for n in self.fit.stan_variables()}


class CmdStanVB(CmdStanFit):
    """The result of `variational`."""

    @property
    def columns(self) -> int:
        return len(self.column_names)

    @property
    def eta(self) -> float:
        return float(self.fit.settings["eta"])

    @property
    def variational_params_np(self) -> Array:
        """The center of the approximation, one value for each column."""
        zeros = {n: np.zeros((1, 1)) for n in self.fit.stats}
        center = {n: np.asarray(self.fit.info["center"][n])[None, None] for n in self.fit.variables}
        return columns.flatten({**zeros, **center})[1][0, 0]

    @property
    def variational_params_pd(self) -> Any:
        require("pandas", extra="inference")
        import pandas

        return pandas.DataFrame([self.variational_params_np], columns=self.column_names)

    @property
    def variational_params_dict(self) -> dict[str, Any]:
        return dict(zip(self.column_names, self.variational_params_np))

    @property
    def variational_sample(self) -> Array:
        return self.fit.draws(concat_chains=True)

    @property
    def variational_sample_pd(self) -> Any:
        require("pandas", extra="inference")
        import pandas

        return pandas.DataFrame(self.variational_sample, columns=self.column_names)

    def stan_variable(self, var: str, *, mean: bool | None = None) -> Any:
        """The value at the center of the approximation, as in CmdStanPy 1; with `mean=False` the draws."""
        if mean is False:
            return self.fit.stan_variable(var)
        self.fit.stan_variable(var)  # refuses names that there aren't
        center = np.asarray(self.fit.info["center"][var])
        return center if center.ndim else center.item()

    def stan_variables(self, *, mean: bool | None = None) -> dict[str, Any]:
        return {n: self.stan_variable(n, mean=mean) for n in self.fit.stan_variables()}


class _Independent(CmdStanFit):
    """Independent draws."""

    def draws(self) -> Array:
        """(draws, columns)."""
        return self.fit.draws(concat_chains=True)

    def draws_pd(self, vars: Sequence[str] | str | None = None) -> Any:
        frame = self.fit.draws_pd(vars)
        return frame[[c for c in frame if c not in ("chain__", "iter__", "draw__")]]

    def draws_xr(self, vars: Sequence[str] | str | None = None) -> Any:
        return self.fit.draws_xr(vars)

    def method_variables(self) -> dict[str, Array]:
        return {n: v[:, 0] for n, v in self.fit.method_variables().items()}


class CmdStanLaplace(_Independent):
    """The result of `laplace_sample`.

    Attributes:
        mode: the `CmdStanMLE` that the draws are around.
    """

    def __init__(self, fit: Fit, mode: CmdStanMLE | None = None):
        super().__init__(fit)
        self.mode = mode


class CmdStanPathfinder(_Independent):
    """The result of `pathfinder`."""

    @property
    def is_resampled(self) -> bool:
        """Whether the draws were chosen among those of all paths by their importance."""
        return bool(self.fit.settings.get("psis_resample", True)) and self.fit.settings.get("num_paths") != 1


class CmdStanGQ(_OfChains):
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


KINDS: dict[str, type[CmdStanFit]] = {
    "sample": CmdStanMCMC, "optimize": CmdStanMLE, "variational": CmdStanVB, "laplace": CmdStanLaplace,
    "pathfinder": CmdStanPathfinder, "generate": CmdStanGQ,
}  # fmt: skip


def saved(fit: Fit, folder: Any, sig_figs: int | None, profiles: bool = False) -> None:
    """Write the files of a fit where `output_dir` asks for them, with the times of its `profile` blocks."""
    if folder is not None:
        from pathlib import Path

        stamp = stan_csv.timestamp()
        stan_csv.save(fit, Path(folder), stamp, sig_figs)
        if profiles:
            for chain, rows in fit.profiles().groupby("thread_id"):
                rows.to_csv(Path(folder) / f"{fit.program.name}-{stamp}-profile_{chain}.csv", index=False)
