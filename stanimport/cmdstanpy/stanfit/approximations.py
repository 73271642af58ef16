"""Results that approximate the posterior: the mode, and independent draws."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from stanlib.extras import require

from ... import errors
from ...inference.fits import columns
from ...inference.fits.fit import Fit, Mode
from .base import Array, CmdStanFit
from .chains import chosen_columns, described, frame
from .runset import RunSet
from .values import parameters_at, value, value_at, with_warmup


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
        return dict(zip(self.column_names, self.optimized_params_np.tolist()))

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

    def create_inits(self, seed: int | None = None, chains: int = 4) -> dict[str, object]:
        """The mode as initial values, a dict, of all chains alike; both arguments are for other results' sake."""
        return parameters_at(self.fit, self.fit.create_inits(seed, 1)[0])

    def stan_variable(self, var: str, *, inc_iterations: bool = False, warn: bool = True) -> Any:
        """The value at the mode; with `inc_iterations` at the start and after every step, if they were saved.

        Warns, as CmdStanPy does, where they were not, and of an optimization that has not converged.
        """
        if warn and not self.converged:
            errors.warn("invalid estimate: the optimization did not converge")
        if inc_iterations and self.fit.warmup is None:
            errors.warn("the iterations were not saved: optimize with save_iterations=True")
        return value(with_warmup(self.fit) if inc_iterations and self.fit.warmup is not None else self.fit, var)

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
        values: Array = columns.flatten({**zeros, **center}, axes=self.fit.axes)[1][0, 0]
        return values

    @property
    def variational_params_pd(self) -> Any:
        require("pandas", extra="inference")
        import pandas

        return pandas.DataFrame([self.variational_params_np], columns=self.column_names)

    @property
    def variational_params_dict(self) -> dict[str, float]:
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
        draws = value(self.fit, var)  # refuses names that there aren't
        if mean is False:
            return draws
        center = value_at(self.fit, var, self.fit.info["center"])
        return center if isinstance(center, tuple) or np.ndim(center) else center.item()

    def stan_variables(self, *, mean: bool | None = None) -> dict[str, Any]:
        return {n: self.stan_variable(n, mean=mean) for n in self.fit.stan_variables()}


class _Independent(CmdStanFit):
    """Independent draws."""

    def draws(self) -> Array:
        """(draws, columns)."""
        return self.fit.draws(concat_chains=True)

    def draws_pd(self, vars: Sequence[str] | str | None = None) -> Any:
        return chosen_columns(frame(self.fit)[[*self.column_names]], self.fit, vars)

    def draws_xr(self, vars: Sequence[str] | str | None = None) -> Any:
        """The draws as a Dataset with the dimension draw. Raises KeyError for variables that there aren't."""
        made = described(self.fit, self.metadata, vars).isel(chain=0, drop=True)
        del made.attrs["num_draws_sampling"]
        return made

    def method_variables(self) -> dict[str, Array]:
        return {n: v[:, 0] for n, v in super().method_variables().items()}


class CmdStanLaplace(_Independent):
    """The result of `laplace_sample`.

    Attributes:
        mode: the `CmdStanMLE` that the draws are around.
    """

    def __init__(self, fit: Fit, mode: CmdStanMLE | None = None, runset: RunSet | None = None):
        super().__init__(fit, runset)
        self.mode = mode


class CmdStanPathfinder(_Independent):
    """The result of `pathfinder`."""

    @property
    def is_resampled(self) -> bool:
        """Whether the draws were chosen among those of all paths by their importance."""
        return bool(self.fit.settings.get("psis_resample", True)) and self.fit.settings.get("num_paths") != 1
