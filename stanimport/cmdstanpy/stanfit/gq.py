"""The result of `generate_quantities`."""
from __future__ import annotations

import copy
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from ...errors import warn
from ...inference import generate_quantities
from ...inference.fits.fit import Fit
from .base import Array, CmdStanFit
from .chains import OfChains, chosen_columns, described, frame
from .runset import RunSet
from .values import value, with_warmup

_IN_FRONT = ("chain__", "iter__", "draw__")


class CmdStanGQ(OfChains):
    """The result of `generate_quantities`: generated quantities alone; `previous_fit` has the parameters.

    Attributes:
        previous_fit: the fit whose draws were used.
    """

    def __init__(self, fit: Fit, previous_fit: Any = None, runset: RunSet | None = None):
        super().__init__(fit, runset)
        self.previous_fit = previous_fit

    @property
    def mcmc_sample(self) -> Any:
        return self.previous_fit

    def _shown(self) -> Fit:
        return self._with(sample=False)

    def draws(self, *, inc_warmup: bool = False, inc_iterations: bool = False, concat_chains: bool = False,
              inc_sample: bool = False) -> Array:  # fmt: skip
        """(draws, chains, columns), or (draws, columns); `inc_sample` puts the parameters in front."""
        more = self._has_more(inc_warmup or inc_iterations)
        return self._with(sample=inc_sample).draws(concat_chains=concat_chains, inc_warmup=more)

    def draws_pd(self, vars: Sequence[str] | str | None = None, inc_warmup: bool = False,
                 inc_sample: bool = False) -> Any:  # fmt: skip
        """A column for each element; `inc_sample` puts those of the previous fit in front."""
        made = frame(self._with(sample=True), self._has_more(inc_warmup))
        if vars is not None:
            return chosen_columns(made, self.fit, vars)
        own = [*_IN_FRONT, *self.column_names]
        return made[[*(c for c in made if c not in own and inc_sample), *own]]

    def draws_xr(self, vars: Sequence[str] | str | None = None, inc_warmup: bool = False,
                 inc_sample: bool = False) -> Any:  # fmt: skip
        """The quantities as a Dataset; with `inc_sample` the variables of the previous fit too.

        Raises:
            ValueError: for variables that there aren't; for those of other results CmdStanPy has a KeyError.
        """
        shown = self._with(sample=inc_sample or vars is not None)
        try:
            return described(shown, self.metadata, vars, self._has_more(inc_warmup))
        except KeyError as e:
            raise ValueError(*e.args) from None

    def stan_variable(self, var: str, **options: bool) -> Any:
        """The draws of a variable: a quantity, or one of the previous fit, which takes the options.

        Args:
            options: `inc_warmup` or `inc_iterations`, and those of the previous fit's `stan_variable`.
        """
        generated = self.fit.program.names("generated_quantities")
        previous = self.previous_fit
        if var not in generated and isinstance(previous, CmdStanFit) and var in previous.fit.stan_variables():
            found = previous.stan_variable(var, **options)
            return _one(found) if isinstance(found, tuple) else np.atleast_1d(found)
        more = self._has_more(options.get("inc_warmup", False) or options.get("inc_iterations", False))
        return value(with_warmup(self.fit) if more else self.fit, var)

    def stan_variables(self, **options: bool) -> dict[str, Any]:
        """The quantities, and behind them the variables of the previous fit."""
        sampled = self.previous_fit.fit.stan_variables() if isinstance(self.previous_fit, CmdStanFit) else {}
        names = [*self.metadata.stan_vars, *sampled, *self.fit.stan_variables()]
        return {n: self.stan_variable(n, **options) for n in dict.fromkeys(names)}

    def _has_more(self, asked: bool) -> bool:
        """Whether there are the iterations before the draws that are asked for; warns where they were not saved."""
        if asked and self.fit.warmup is None:
            warn("the previous fit has no such iterations: run the sampler with save_warmup=True, the "
                 "optimizer with save_iterations=True")  # fmt: skip
        return asked and self.fit.warmup is not None

    def _with(self, sample: bool) -> Fit:
        """The fit with the quantities alone, or with what the previous fit has in front of them."""
        names = self.fit.program.names("generated_quantities")
        made = _only(self.fit, [n for n in self.fit.variables if n.partition(".")[0] in names])
        if not sample:
            return made
        previous = self.previous_fit.fit if isinstance(self.previous_fit, CmdStanFit) else self.fit
        before = _only(previous, [n for n in previous.variables if n not in made.variables])
        made.stats, made.variables = previous.stats, {**before.variables, **made.variables}
        if made.warmup is not None and before.warmup is not None and previous.warmup is not None:
            made.warmup = {**before.warmup[0], **made.warmup[0]}, previous.warmup[1]
        return made


def _one(found: tuple[object, ...]) -> Array:
    """The tuple at a mode as one draw."""
    made = np.empty(1, object)
    made[0] = found
    return made


def _only(fit: Fit, names: Collection[str]) -> Fit:
    """The fit with some of its variables, and without the method's own."""
    made = copy.copy(fit)
    made.variables, made.stats = {n: fit.variables[n] for n in names}, {}
    made.warmup = None if fit.warmup is None else ({n: fit.warmup[0][n] for n in names}, {})
    return made


def generated(module: object, data: object, previous: object, seed: int | None) -> Fit:
    """Quantities for all iterations of a fit: those of its warm-up, or before its mode, are the result's warm-up."""
    if not isinstance(previous, CmdStanFit) or previous.fit.warmup is None:
        given = previous.fit if isinstance(previous, CmdStanFit) else previous
        return generate_quantities(module, data, previous_fit=given, seed=seed)
    made = generate_quantities(module, data, previous_fit=with_warmup(previous.fit), seed=seed)
    count = made.draws_per_chain - previous.fit.draws_per_chain
    parts = made.variables, made.stats
    first, second = ({n: v[:, :count] for n, v in part.items()} for part in parts)
    made.warmup = first, second
    made.variables, made.stats = ({n: v[:, count:] for n, v in part.items()} for part in parts)
    return made
