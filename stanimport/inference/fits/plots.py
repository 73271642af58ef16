"""ArviZ's plots of a fit, and files of them."""
from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from stanlib.errors import MissingLibraryError

from ..io.files import atomically
from ..options import suggestion
from .arviz_packages import is_whole, load

# The plots by the names of the packages: arviz before version 1, then arviz_plots.
PLOTS = {
    "trace": ("plot_trace", "plot_trace_dist"), "posterior": ("plot_posterior", "plot_dist"),
    "ppc": ("plot_ppc", "plot_ppc_dist"),
}  # fmt: skip


def plot(
    kind: str, draws: Callable[[bool], object], known: Sequence[str], var_names: Sequence[str] | None,
    options: Mapping[str, object],
) -> Any:  # fmt: skip
    """One of ArviZ's plots, with ArviZ's options.

    Args:
        kind: "trace", "posterior" or "ppc".
        draws: makes ArviZ's data, with replications or without.
        known: the variables that there are.
        var_names: those to plot; all if None.

    Raises:
        MissingLibraryError: if ArviZ is not installed.
        ValueError: for a plot of replications where there are none, and for a variable that is not there.
    """
    if var_names is not None and not var_names:
        raise ValueError("var_names has no names: there is nothing to plot")
    for name in var_names or () if kind != "ppc" else ():
        if name.partition(".")[0] not in {n.partition(".")[0] for n in known}:
            raise ValueError(f"there is no variable {name!r}{suggestion(name, known)}")
    whole = is_whole()
    if not whole and importlib.util.find_spec("arviz_plots") is None:
        raise MissingLibraryError("plots need ArviZ's package of plots: pip install arviz-plots matplotlib")
    data = draws(kind == "ppc")
    if kind == "ppc":
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
    for name in var_names or ():
        if name not in (*observed, *replicated):
            raise ValueError(f"there are no observations of {name!r}{suggestion(name, observed)}")
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


def save_figure(drawn: object, path: Path) -> None:
    """Write a plot to a file whose suffix names the format, whole or not at all."""
    import numpy as np

    if hasattr(drawn, "savefig"):  # arviz_plots
        atomically(path, drawn.savefig)
        return
    figure = np.ravel(np.asarray(drawn, dtype=object))[0].figure
    figure.set_layout_engine("constrained")  # else titles lie over the labels of the axes above them
    atomically(path, lambda place: figure.savefig(place, bbox_inches="tight"))
