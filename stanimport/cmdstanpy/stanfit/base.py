"""What CmdStanPy's results have in common."""
from __future__ import annotations

import copy
from typing import Any

import numpy as np

from ...inference.fits.fit import Fit
from ..folders import ready

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
        self.fit.save_csvfiles(ready(dir) or ".")

    def create_inits(
        self, seed: int | None = None, chains: int = 4
    ) -> dict[str, np.ndarray] | list[dict[str, np.ndarray]]:
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
