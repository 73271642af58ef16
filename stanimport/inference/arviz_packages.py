"""ArviZ as it is installed: one package (before version 1), or arviz-base, arviz-stats and arviz-plots."""
from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stanlib.errors import MissingLibraryError

from .files import atomically
from .options import suggestion

if TYPE_CHECKING:
    from .fit import Fit

# The plots by the names of the packages: arviz before version 1, then arviz_plots.
PLOTS = {
    "trace": ("plot_trace", "plot_trace_dist"), "posterior": ("plot_posterior", "plot_dist"),
    "ppc": ("plot_ppc", "plot_ppc_dist"),
}  # fmt: skip


def is_whole() -> bool:
    """Whether ArviZ is installed as one package, with InferenceData.

    Raises:
        MissingLibraryError: if it is not installed at all.
    """
    if importlib.util.find_spec("arviz") is not None and hasattr(load("arviz"), "InferenceData"):
        return True
    if importlib.util.find_spec("arviz_base") is not None:
        return False
    raise MissingLibraryError("this needs ArviZ: pip install 'stanimport[inference]'")


def load(name: str) -> Any:
    """One of ArviZ's packages."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return importlib.import_module(name)


def container(groups: Mapping[str, Any]) -> Any:
    """Data sets by group as InferenceData, or as xarray's DataTree for the split packages."""
    if is_whole():
        return load("arviz").InferenceData(**groups)
    import xarray

    return xarray.DataTree.from_dict({f"/{n}": g for n, g in groups.items()})


def plot(fit: Fit, kind: str, var_names: Sequence[str] | None, options: Mapping[str, Any]) -> Any:
    """One of ArviZ's plots of a fit, with ArviZ's options.

    Raises:
        MissingLibraryError: if ArviZ is not installed.
        ValueError: for a plot of replications where there are none, and for a variable that is not there.
    """
    for name in var_names or () if kind != "ppc" else ():
        if name.partition(".")[0] not in {n.partition(".")[0] for n in fit.variables}:
            raise ValueError(f"there is no variable {name!r}{suggestion(name, list(fit.variables))}")
    whole = is_whole()
    if not whole and importlib.util.find_spec("arviz_plots") is None:
        raise MissingLibraryError("plots need ArviZ's package of plots: pip install arviz-plots matplotlib")
    replicates = kind == "ppc"
    data = fit.to_arviz(log_likelihood=False, posterior_predictive=replicates, prior=False)
    if replicates:
        var_names, options = _paired(data, var_names, dict(options), whole)
    function = getattr(load("arviz" if whole else "arviz_plots"), PLOTS[kind][0 if whole else 1])
    return function(data, var_names=None if var_names is None else list(var_names), **options)


def _paired(data: Any, var_names: Sequence[str] | None, options: dict[str, Any], whole: bool) -> tuple[Any, Any]:
    """The variables that are both observed and replicated; for ArviZ as one package, in pairs of different names."""
    groups = data.groups() if whole else list(data.children)
    if "posterior_predictive" not in groups or "observed_data" not in groups:
        raise ValueError("there are no replicated data: name a generated quantity `y_rep`, or write `y ~ ...`")
    observed = list(data["observed_data"].data_vars)
    replicated = list(data["posterior_predictive"].data_vars)
    if var_names is None:
        var_names = [n for n in observed if n in replicated]
    if not var_names and whole and "data_pairs" not in options:
        options["data_pairs"] = _pairs(data, observed, replicated)
        var_names = list(options["data_pairs"])
    return var_names, options


def _pairs(data: Any, observed: Sequence[str], replicated: Sequence[str]) -> dict[str, str]:
    """Each observed variable with the first replication of the same shape."""
    shapes = {n: data["posterior_predictive"][n].shape[2:] for n in replicated}
    return {o: next(n for n in replicated if shapes[n] == data["observed_data"][o].shape)
            for o in observed if data["observed_data"][o].shape in shapes.values()}  # fmt: skip


def save_figure(drawn: Any, path: Path) -> None:
    """Write a plot to a file whose suffix names the format, whole or not at all."""
    import numpy as np

    if hasattr(drawn, "savefig"):  # arviz_plots
        atomically(path, drawn.savefig)
        return
    figure = np.ravel(np.asarray(drawn, dtype=object))[0].figure
    figure.set_layout_engine("constrained")  # else titles lie over the labels of the axes above them
    atomically(path, lambda place: figure.savefig(place, bbox_inches="tight"))
