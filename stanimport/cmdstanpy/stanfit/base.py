"""What CmdStanPy's results have in common."""
from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...inference.fits.fit import Fit
from ...inference.fits.stan_configuration import METHODS
from ...inference.fits.stan_csv import COLUMNS
from .metadata import InferenceMetadata
from .runset import RunSet
from .values import column_names, parameters_at, value

Array = np.ndarray


class CmdStanFit:
    """What all results have in common; a variable of the program is an attribute too (`fit.mu`)."""

    def __init__(self, fit: Fit, runset: RunSet | None = None):
        self.fit = _with_cmdstans_columns(fit)
        self.runset = runset or RunSet(fit)
        self._told: Mapping[str, object] = {}  # by the files that it was read from

    def __repr__(self) -> str:
        method = METHODS.get(self.fit.method, self.fit.method)
        return f"{type(self).__name__}: model={self.fit.program.name} method={method} chains={self.fit.chains}"

    def __getattr__(self, name: str) -> Any:
        if name in ("fit", "runset") or name.startswith("_"):
            raise AttributeError(name)
        try:
            return self.stan_variable(name)
        except ValueError as e:
            raise AttributeError(f"Unknown variable name: {name}; {e}") from None

    @property
    def metadata(self) -> InferenceMetadata:
        return InferenceMetadata(self._shown(), self._told)

    @property
    def column_names(self) -> tuple[str, ...]:
        return column_names(self._shown().column_names)

    def _shown(self) -> Fit:
        """The fit with the variables that have columns here."""
        return self.fit

    def stan_variable(self, var: str) -> Any:
        return value(self.fit, var)

    def stan_variables(self) -> dict[str, Any]:
        return {n: self.stan_variable(n) for n in self.fit.stan_variables()}

    def method_variables(self) -> dict[str, Array]:
        return {n: v.astype(float) for n, v in self.fit.method_variables().items()}

    def save_csvfiles(self, dir: str | None = None) -> None:
        """Move the CSV files to a folder: see `RunSet.save_csvfiles`."""
        self.runset.save_csvfiles(dir)

    def create_inits(
        self, seed: int | None = None, chains: int = 4
    ) -> dict[str, object] | list[dict[str, object]]:
        """Initial values for chains; for a single one a dict, as in CmdStanPy."""
        made = [parameters_at(self.fit, point) for point in self.fit.create_inits(seed, chains)]
        return made[0] if chains == 1 else made


def _with_cmdstans_columns(fit: Fit) -> Fit:
    """The fit with the method's own variables as CmdStan has them."""
    wanted = {new: old if old in fit.stats else new for new, old in COLUMNS.get(fit.method, {}).items()}
    if not wanted or not all(n in fit.stats for n in wanted.values() if n != "path__"):
        return fit
    made = copy.copy(fit)
    made.stats = {new: fit.stats[old] for new, old in wanted.items() if old in fit.stats}
    return made
