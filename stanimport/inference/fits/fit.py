"""The result of an inference method: draws of all the program's variables, and what can be asked of them."""
from __future__ import annotations

import copy
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex

import numpy as np

from stanlib.extras import require

from ...errors import nearest
from .. import tuples
from ..kinds import checking
from ..options import wanted, whole
from ..running.first_use import in_threads
from ..running.interrupts import collected
from .labels import named
from .result import Result

if TYPE_CHECKING:
    from .diagnosis import Diagnosis
    from .predictions import Predictions

__all__ = ["Fit"]
AT_TOP = ["Fit"]

# What other packages' fits have, and what has its place here.
_OTHERS = {
    "extract": "stan_variables", "samples": "stan_variables", "get_samples": "stan_variables", "posterior": "to_arviz",
    "to_frame": "draws_pd", "to_dataframe": "draws_pd", "draws_df": "draws_pd", "as_data_frame": "draws_pd",
    "to_netcdf": "save", "sampler_diagnostics": "method_variables", "get_sampler_params": "method_variables",
    "print_summary": "summary", "plot": "plot_trace", "loo": "to_arviz", "inference_data": "to_arviz",
}  # fmt: skip


class Fit(Result):
    """Draws of the parameters, transformed parameters and generated quantities of a program.

    Its attributes are those of `Result`. A fit holds no model and pickles without one: where something has to be
    computed from the model, the program is translated again from its source.
    """

    @staticmethod
    def of(result: Result) -> Fit:
        """The fit of what a method found; the same one, if it is a fit."""
        if isinstance(result, Fit):
            return result
        made = object.__new__(Mode if result.method == "optimize" else Fit)
        vars(made).update(vars(result))
        return made

    def __repr__(self) -> str:
        return f"<Fit of {self.program.name} by {self.method}: {self.chains} chains of {self.draws_per_chain} draws>"

    def __bool__(self) -> Literal[True]:  # a `Failure` among fits is false
        return True

    def _repr_html_(self) -> str:
        from .html import of_fit

        return of_fit(self)

    if not TYPE_CHECKING:  # a type checker would take every misspelt method for a variable

        def __getattr__(self, name: str) -> Any:
            """The draws of a variable, as `stan_variable` gives them. Raises AttributeError."""
            known = vars(self).get("variables")
            if known is not None and any(n.partition(".")[0] == name for n in known):
                return self.stan_variable(name)
            public = [*(n for n in dir(type(self)) if not n.startswith("_")), *(known or ())]
            meant = None if name.startswith("_") else _OTHERS.get(name) or nearest(name, public)
            hint = f"; did you mean {meant!r}?" if meant else ""
            raise AttributeError(f"a fit has no attribute and no variable {name!r}{hint}", name=name, obj=self)

        def __getitem__(self, name: str) -> Any:
            """Raises TypeError, which tells what is meant: here draws come first, in PyStan's items last."""
            raise TypeError(f"a fit has no items: the draws of {name!r} are fit.stan_variable({name!r})")

        __iter__ = None

    # --- what it holds ---------------------------------------------------------------------------------------------

    @checking
    @collected()  # an interrupt is not lost in a callback
    def discrete_probabilities(self, name: str) -> np.ndarray:
        """The probability of every value of a discrete parameter, summed over all others: the mean over the draws.

        Returns:
            An array of the parameter's shape and one more axis, of its values from the least lower bound on.

        Raises:
            ValueError: for a name that is no discrete parameter; StanError for a fit that lacks its data.
        """
        from .discrete import probabilities

        return probabilities(self, name)

    @checking
    @collected()
    def most_probable(self, name: str) -> np.ndarray:
        """A discrete parameter in the most probable assignment to all discrete ones, for each draw of the others.

        Returns:
            An array (draws of all chains, ...) of ints.

        Raises:
            ValueError: for a name that is no discrete parameter; StanError for a fit that lacks its data.
        """
        from .discrete import modes

        return modes(self, name)

    # --- as tables -------------------------------------------------------------------------------------------------

    @checking
    def draws_xr(
        self, vars: Sequence[str] | str | None = None, *, inc_warmup: bool = False,
        dims: Mapping[str, Sequence[str]] | None = None, coords: Mapping[str, Sequence[object]] | None = None,
    ) -> Any:  # fmt: skip
        """The draws as an xarray Dataset with the dimensions chain and draw.

        Args:
            vars: the variables to take, all if None.
            inc_warmup: put the warm-up in front.
            dims, coords: names of the dimensions of variables, and their coordinates, beside `fit.dims` and
                `fit.coords`; else `x_dim_0`, `x_dim_1`, counting from 0.

        Raises:
            OptionError: for dims and coords that don't fit the variables.
        """
        require("xarray", extra="inference")
        from .groups import dataset

        wanted = list(self.variables) if vars is None else [vars] if isinstance(vars, str) else list(vars)
        for name in wanted:
            self.stan_variable(name)
        roots = {n: n.partition(".")[0] for n in self.variables}
        values = self.with_warmup() if inc_warmup else self.variables
        chosen = {n: values[n] for n in self.variables if n in wanted or roots[n] in wanted}
        made = dataset(chosen, *named(self, dims, coords))
        return made.assign_coords(chain=self.chain_ids)

    @checking
    @collected()
    def summary(
        self, percentiles: Sequence[float] = (5, 50, 95), sig_figs: SupportsIndex | None = None, *,
        vars: Sequence[str] | str | None = None,
    ) -> Any:  # fmt: skip
        """Means, standard errors, quantiles and convergence statistics as a pandas DataFrame, one row per column.

        Args:
            percentiles: the quantiles to give, in percent.
            sig_figs: significant digits to round to; None for all.
            vars: the variables or columns to take, as for `draws_pd`; all and lp__ if None.
        """
        from .summary import table

        return table(self, percentiles, vars).frame(_digits(sig_figs))

    @collected()
    def diagnose(self) -> Diagnosis:
        """What the draws say of the sampler and of convergence, with advice; `print(fit.diagnose())`."""
        from .diagnosis import diagnose

        return diagnose(self)

    @collected()
    def profiles(self) -> Any:
        """The time of the program's `profile` blocks in this run: a DataFrame with the columns of CmdStan's file.

        A row per block and chain: `total_time`, `forward_time` and `reverse_time` in seconds, `autodiff_calls` (the
        gradients of the run, those of the warm-up if it was saved) and `no_autodiff_calls` (the draws). The blocks are
        measured now, on this machine, which takes some seconds for each: what the compiled density up to a block's
        end takes beyond that up to its begin, times the calls. `chain_stack` and `no_chain_stack` have no meaning
        here and are NaN; so are the times of blocks in transformed data, and of those that return from a function.

        Raises:
            StanError: for other methods than NUTS, and programs with networks.
        """
        from .profiling import table

        return table(self)

    # --- inference with it -----------------------------------------------------------------------------------------

    @checking
    @collected()
    def posterior_predictive(
        self, data: object = None, *, redraw: Sequence[str] | str | None = None, seed: SupportsIndex | None = None
    ) -> Predictions:  # fmt: skip
        """Draws of the data that the program observes, one for every draw of the parameters.

        They come from the laws of its statements `y ~ ...` and `target += ..._lpdf(y | ...)`. Where a law depends on
        earlier data, as in a time series, draws are one step ahead of the data that are given, else of each other.

        Args:
            data: others than those of the fit, to predict; what the program observes may be left out of them, unless
                its laws need it. So may some of its numbers, as those to come of a series: NaN, or masked.
            redraw: the discrete parameters to be drawn anew from their laws, as the classes of new observations;
                other ones keep their draws. Programs that have any need it where there are other data.
            seed: of the random numbers; a new one if None.

        Raises:
            StanDataError: for data that are not as declared, that give a parameter another shape, or whose rows have
                other names than a parameter's components, or theirs in another order.
            ValueError: for names that are no discrete parameters.
            StanError: for a program of whose data none can be replicated, and a fit that lacks its data; it says why.
        """
        in_threads()
        from .predictive import posterior_predictive

        return posterior_predictive(self, data, seed, redraw)

    # --- for ArviZ -------------------------------------------------------------------------------------------------

    @checking
    @collected()
    def to_arviz(
        self, *, log_likelihood: bool = True, posterior_predictive: bool | Sequence[str] | str = True,
        prior: bool = True, dims: Mapping[str, Sequence[str]] | None = None,
        coords: Mapping[str, Sequence[object]] | None = None,
    ) -> Any:  # fmt: skip
        """The draws for ArviZ: InferenceData, or a DataTree where the split packages of ArviZ are installed.

        Args:
            log_likelihood: add the log density of every observation, from the observed sites, else, or where they
                observe a part of a variable alone, from the program's `log_lik`.
            posterior_predictive: add replicated data: generated quantities whose names say so (`y_rep`), those
                named here, and draws of the observed sites.
            prior: add draws from the prior, where the mixed scheme makes it proper.
            dims, coords: names of the dimensions of variables, and their coordinates, beside `fit.dims` and
                `fit.coords`.

        Groups for which the program has nothing are left out, and with a LikelihoodWarning what the model can't
        compute as `keep` or `leave_out` spared draws of a parameter.
        """
        require("xarray", extra="inference")
        from .arviz_packages import container
        from .groups import all_groups

        labels = named(self, dims, coords)
        return container(all_groups(self, log_likelihood, posterior_predictive, prior, *labels))

    @checking
    def save(
        self, path: str | os.PathLike[str], *, log_likelihood: bool = False, posterior_predictive: bool = False,
        prior: bool = False, keep: Sequence[str] | str | None = None, leave_out: Sequence[str] | str | None = None,
    ) -> Path:  # fmt: skip
        """Write the fit as compressed NetCDF, whole or not at all, with ArviZ's groups and the warm-up, if saved.

        Args:
            path: of the file, *.nc.
            keep, leave_out: the variables whose draws to write, or those not to write, as for `sample`.
            log_likelihood, posterior_predictive, prior: also compute and keep what `to_arviz` computes from the model
                (a loaded fit computes it when it is asked). What the program itself computes is kept in any case.

        Raises:
            ValueError: for a suffix that stands for another format.
            OSError: if the file can't be written.
        """
        from .storage import save

        chosen = dict(log_likelihood=log_likelihood, posterior_predictive=posterior_predictive, prior=prior)
        with collected():  # an interrupt is handled when the file is whole, not lost in a callback
            return save(self._of(keep, leave_out), Path(path), [n for n, is_chosen in chosen.items() if is_chosen])

    def _of(self, keep: Sequence[str] | str | None, leave_out: Sequence[str] | str | None) -> Fit:
        """The fit with the draws of some of its variables."""
        names = wanted(self.program, keep, leave_out)
        if names is None:
            return self
        made = copy.copy(self)
        kept = {n for n in self.variables if n.partition(".")[0] in names}
        made.variables = {n: v for n, v in self.variables.items() if n in kept}
        if self.warmup is not None:
            made.warmup = {n: v for n, v in self.warmup[0].items() if n in kept}, self.warmup[1]
        made.settings = {**self.settings, "keep": sorted({n.partition(".")[0] for n in kept}), "leave_out": None}
        made._groups = {}
        return made

    @staticmethod
    @checking
    @collected()
    def load(path: str | os.PathLike[str], *, networks: Mapping[str, Any] | None = None) -> Fit:
        """Read a fit that `save` wrote, or the draws so far of the journal of a run (`sample(..., journal=path)`).

        Args:
            path: of the file, or of the journal's folder.
            networks: those that the program declares, by name, where it does not find them by itself. The fit has
                copies of them, with the weights that it was saved with.

        Raises:
            StanDataError: for a file that holds none.
            StanError: for networks that are not of the shapes of those of the fit.
        """
        if Path(path).is_dir():
            from ..methods.drawing import so_far

            return Fit.of(so_far(Path(path)))
        from ..modules import restored, with_saved_weights
        from .storage import load

        fit = Fit.of(load(Path(path)))
        if networks:
            fit._module = with_saved_weights(restored(fit.program), fit.info.get("params", {}), networks)
        return fit

    @checking
    @collected()
    def save_csvfiles(self, dir: str | os.PathLike[str] = ".", *, sig_figs: SupportsIndex | None = None) -> list[Path]:
        """Write CmdStan's CSV, one file for each chain, for `stansummary`, `posterior`, `shinystan`, `from_cmdstan`.

        Args:
            dir: the folder, which is made if it is missing.
            sig_figs: significant digits; all if None.

        Returns:
            The paths, called `<program>-<time>_<chain>.csv`.

        Raises:
            OSError: for files that are there already, or can't be written.
        """
        from . import stan_csv

        return stan_csv.save(self, Path(dir), stan_csv.timestamp(), _digits(sig_figs))

    @checking
    @collected()
    def plot_trace(self, var_names: Sequence[str] | str | None = None, **options: object) -> Any:
        """ArviZ's plot of traces and marginal densities; further options are ArviZ's."""
        return self._plotted("trace", var_names, options)

    @checking
    @collected()
    def plot_posterior(self, var_names: Sequence[str] | str | None = None, **options: object) -> Any:
        """ArviZ's plot of marginal posterior densities; further options are ArviZ's."""
        return self._plotted("posterior", var_names, options)

    @checking
    @collected()
    def plot_ppc(self, var_names: Sequence[str] | str | None = None, **options: object) -> Any:
        """ArviZ's plot of replicated data against the data; further options are ArviZ's."""
        return self._plotted("ppc", var_names, options)

    def _plotted(self, kind: str, var_names: Sequence[str] | str | None, options: Mapping[str, object]) -> object:
        """One of ArviZ's plots. Raises ValueError for a fit without draws."""
        from .plots import plot

        self.require_draws()

        def draws(replicated: bool) -> Any:
            return self.to_arviz(log_likelihood=False, posterior_predictive=replicated, prior=False)

        chosen = [var_names] if isinstance(var_names, str) else var_names
        return plot(kind, draws, list(self.variables), chosen, options)


def _digits(sig_figs: SupportsIndex | None) -> int | None:
    return None if sig_figs is None else whole("sig_figs", sig_figs, 1)


class Mode(Fit):
    """The point that an optimization found: a fit with one draw.

    `stan_variable` gives values without an axis of draws.
    """

    def _joined(self, value: np.ndarray) -> np.ndarray:
        alone: np.ndarray = value[0, 0]
        return alone

    def __repr__(self) -> str:
        return f"<Mode of {self.program.name}: {'converged' if self.converged else 'not converged'}>"

    @property
    def converged(self) -> bool:
        return bool(self.info.get("converged", False))

    @property
    def optimized_params_dict(self) -> dict[str, float]:
        """The value of every column, lp__ among them."""
        names, values = self._columns()
        return dict(zip(names, values[0, 0].tolist()))

    @property
    def optimized_params_np(self) -> np.ndarray:
        """The values of all columns, in the order of `column_names`."""
        values: np.ndarray = self._columns()[1][0, 0]
        return values

    @checking
    def create_inits(self, seed: SupportsIndex | None = None, chains: SupportsIndex = 4) -> list[dict[str, np.ndarray]]:
        """The mode, for every chain."""
        names = [n for n in tuples.leaf_names(self.program.parameters) if n in self.variables]
        return [{n: self.variables[n][0, 0] for n in names}] * whole("chains", chains, 1)

