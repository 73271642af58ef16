"""Leave-one-out cross-validation of fits, by ArviZ's Pareto-smoothed importance sampling.

Source: Vehtari, Gelman and Gabry, "Practical Bayesian model evaluation using leave-one-out cross-validation and WAIC",
Statistics and Computing 27 (2017).
"""
from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from stanlib.errors import MissingLibraryError, StanError

from ..options import suggestion
from . import columns, statistics
from .arviz_packages import is_whole, load

if TYPE_CHECKING:
    from .fit import Fit


def leave_one_out(fit: Fit, variable: str | None = None) -> Any:
    """The expected log pointwise predictive density, as ArviZ tells it, with the diagnostics of every observation.

    Args:
        fit: draws of Markov chains.
        variable: whose observations are left out, where several variables are observed.

    Raises:
        StanError: for draws that are no Markov chains, and where log densities of observations are not known or it is
            not clear which are meant.
        MissingLibraryError: if ArviZ is not installed.
    """
    if fit.method not in ("sample", "generate"):
        raise StanError(f"cross-validation needs draws of Markov chains, not those of {fit.method}")
    package = _statistics()
    data = fit.to_arviz(posterior_predictive=False, prior=False)
    return package.loo(data, pointwise=True, var_name=_observed(data, variable), reff=_efficiency(fit))


def _efficiency(fit: Fit) -> float:
    """Effective draws of the parameters per draw: the mean over them, as ArviZ takes it over all variables.

    Constant and infinite ones do not count, nor NaN; files that do not tell the program have all their variables as
    parameters.
    """
    known = fit.program.names("parameters")
    chosen = {n: v for n, v in fit.variables.items() if n.partition(".")[0] in known and n != "log_lik"}
    _, values = columns.flatten(chosen)
    ess = statistics.ess_mean(values)
    ess = ess[np.isfinite(ess)]
    return float(ess.mean() / fit.num_draws) if ess.size and fit.draws_per_chain >= 4 else 1.0


def comparison(found: Mapping[str, Any]) -> Any:
    """The models by name, the best first, with differences, their standard errors, and stacking weights.

    Args:
        found: what `leave_one_out` returned for each model.

    Raises:
        StanError: for fits of different numbers of observations.
    """
    numbers = {name: int(e.n_data_points) for name, e in found.items()}
    if len(set(numbers.values())) > 1:
        shown = ", ".join(f"{n} of {name}" for name, n in numbers.items())
        raise StanError(f"only models of the same observations can be compared, not {shown}")
    return _statistics().compare(dict(found))


def _statistics() -> Any:
    """The package of ArviZ that has `loo` and `compare`."""
    if is_whole():
        return load("arviz")
    if importlib.util.find_spec("arviz_stats") is None:
        raise MissingLibraryError("cross-validation needs ArviZ's package of statistics: pip install arviz-stats")
    return load("arviz_stats")


def _observed(data: Any, variable: str | None) -> str:
    """The variable whose log densities count: that one, or the only one."""
    known = list(data["log_likelihood"].data_vars) if "log_likelihood" in _groups(data) else []
    if not known:
        raise StanError("the log density of each observation is not known: the program has no statement y ~ ... on "
                        "data and no generated quantity log_lik, or these files do not tell the program")  # fmt: skip
    if variable is not None and variable not in known:
        raise StanError(f"there is no observed variable {variable!r}{suggestion(variable, known)}")
    if variable is None and len(known) > 1:
        raise StanError(f"several variables are observed, and one has to be chosen: {', '.join(known)}")
    return variable or known[0]


def _groups(data: Any) -> list[str]:
    return list(data.groups() if is_whole() else data.children)
