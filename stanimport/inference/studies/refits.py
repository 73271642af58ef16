"""`leave_groups_out`: a refit without each group of rows, and how well it predicts the rows that it has not seen."""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any, SupportsIndex, cast

import jax
import numpy as np
from numpyro.distributions import Unit

from stanlib.absent import NOTHING, marked
from stanlib.errors import StanDataError, StanError

from .. import nested, options, tuples
from ..density.posterior import Posterior, transformed_data
from ..failures import Failure
from ..fits.arviz_packages import is_whole, load
from ..fits.observations import as_one, log_densities
from ..fits.positions import ALIKE, UNORDERED, variable_of
from ..fits.replications import over_draws
from ..io.names import read, verify_beside
from ..modules import module_of, observing_apart
from .many import sample_many

if TYPE_CHECKING:
    from stanlib.program import Module, Program, Variable

__all__ = ["leave_groups_out"]
AT_TOP = ["leave_groups_out"]


class GroupsLeftOut:
    """What refits without each group predict of it.

    Attributes:
        elpd: the expected log predictive density of all groups: the sum of those of each.
        se: its standard error; NaN if the fits of all groups but one failed.
        by_group: by group, the log density of its rows together, given all others.
        fits: by group, the fits without it; a `Failure` where that failed, which `elpd` leaves out.
    """

    def __init__(self, by_group: Mapping[Any, float], fits: Mapping[Any, Any]):
        self.by_group, self.fits = dict(by_group), dict(fits)
        found = np.array(list(by_group.values()))
        self.elpd = float(found.sum())
        self.se = float(np.sqrt(len(found)) * found.std(ddof=1)) if len(found) > 1 else np.nan

    def __repr__(self) -> str:
        failed = len(self.fits) - len(self.by_group)
        missing = f", {failed} failed" if failed else ""
        return f"<{len(self.fits)} groups left out in turn{missing}: elpd {self.elpd:.1f} (se {self.se:.1f})>"

    def plot(self, var_names: Sequence[str] | None = None, **given: object) -> Any:
        """ArviZ's forest plot of parameters, as each refit has them: what each group contributes; its options.

        Raises:
            MissingLibraryError: if ArviZ is not installed.
        """
        fits = {str(k): f for k, f in self.fits.items() if f}
        plain = {"log_likelihood": False, "posterior_predictive": False, "prior": False}
        if not is_whole():
            containers = {k: f.to_arviz(**plain) for k, f in fits.items()}
            return load("arviz_plots").plot_forest(containers, var_names=var_names, **given)
        data = [f.to_arviz(**plain) for f in fits.values()]
        chosen = {"combined": True, "model_names": list(fits)} | given
        return load("arviz").plot_forest(data, var_names=var_names, **chosen)


@options.suggesting
def leave_groups_out(
    module: object, data: object, groups: object, *, size: str | None = None, executor: Executor | None = None,
    seed: SupportsIndex | None = None, folder: Any = None, show_progress: bool = False,
    sampling: Mapping[str, object] | None = None,
) -> GroupsLeftOut:  # fmt: skip
    """Leave-one-group-out cross-validation: a fit without each group of rows, and their density given the others.

    The parameters of a group that is left out are then those that the model predicts for a new one.

    Args:
        module: a translated module, or the path of a program.
        data: all data.
        groups: the name of data with one number for each row, or an array of one number or text for each.
        size: the name of the data that count the rows, if `groups` is an array.
        executor, folder, show_progress: as for `sample_many`, which makes the fits.
        seed: of all random numbers; a new one if None.
        sampling: options of `sample`.

    Raises:
        OptionError: where groups or size name nothing of the kind.
        StanError: if parameters' sizes depend on the rows, or the log density of single rows is not known.
        StanDataError, TypeError: for data and options that are wrong.

    Source: Vehtari, Gelman and Gabry (2017), "Practical Bayesian model evaluation using leave-one-out cross-validation
    and WAIC", Statistics and Computing 27.

    Examples:
        >>> coin = stanimport.load("models/coin.stan")
        >>> data = {"flips": 6, "heads": [1, 0, 1, 1, 0, 1]}
        >>> left = stanimport.leave_groups_out(coin, data, [1, 1, 1, 2, 2, 2], size="flips", seed=1)
        >>> list(left.by_group), left.elpd < 0
        ([1, 2], True)
    """
    translated = module_of(module)
    given = read(translated.stan, data)
    first = options.seed_or_new(seed)
    labels, counted = _labels(translated, given, groups, size)
    if not isinstance(groups, str):
        verify_beside(translated.stan, data, "groups", counted, groups)
    observing = observing_apart(translated)
    whole = Posterior(observing, transformed_data(observing, given, first))
    keys = _keys(labels)
    sets = {k: _without(translated, given, labels == k, counted) for k in keys}
    fits = sample_many(translated, sets, executor=executor, seed=first, folder=folder, show_progress=show_progress,
                       sampling=sampling)  # fmt: skip
    found = {k: fits[k if isinstance(fits, dict) else str(k)] for k in keys}
    if not any(found.values()):
        raise StanError(f"all fits failed, the first with: {cast(Failure, found[keys[0]]).error}")
    good = {k: f for k, f in found.items() if not isinstance(f, Failure)}
    for fit in good.values():
        _require_sizes(whole, fit, counted)
    by_group = {k: _density(whole, f, labels == k, counted) for k, f in good.items()}
    return GroupsLeftOut(by_group, found)


def _labels(module: Module, data: Mapping[str, Any], groups: object, size: str | None) -> tuple[np.ndarray, str]:
    """The group of each row, and the name of the data that count rows."""
    known = {v.name: v for v in module.stan.data}
    if isinstance(groups, str):
        if groups not in known or len(known[groups].shape) != 1:
            names = [n for n, v in known.items() if len(v.shape) == 1]
            raise options.OptionError(f"groups: {groups!r} is no data with one number for each row"
                                      f"{options.suggestion(groups, names)}")  # fmt: skip
        size, groups = known[groups].shape[0], data.get(groups)
    if size is None:
        counts = ", ".join(n for n, v in known.items() if v.type == "int" and not v.shape)
        raise options.OptionError(f"size: for an array of groups it is to name the data that count rows, of {counts}")
    if size not in known or known[size].type != "int":
        meant = options.suggestion(str(size), list(known))
        raise options.OptionError(f"size: {size!r} is no integer among the data{meant}")
    if size not in data:
        raise StanDataError(f"{size} is missing from the data", size)
    labels = np.asarray(groups)
    if labels.dtype.kind == "M":  # of nanoseconds, which NumPy's days may count, Python has no date
        labels = labels.astype("M8[us]")
    if labels.shape != (int(data[size]),):
        raise StanDataError(f"groups: one number is needed for each of {data[size]} rows, not {labels.shape}")
    return labels, size


def _keys(labels: np.ndarray) -> list[Any]:
    """The groups, in their order if they have one.

    Raises:
        StanDataError: where a row has none.
        OptionError: if there is one only.
    """
    rows = labels.tolist() if labels.dtype.kind == "O" else [v.item() for v in labels]
    missing = next((n for n, v in enumerate(rows, 1) if _is_missing(v)), None)
    if missing is not None:
        raise StanDataError(f"groups: row {missing} is in none")
    keys = list(dict.fromkeys(rows))
    if len(keys) < 2:
        raise options.OptionError("groups: there is one group only")
    try:
        return sorted(keys)
    except TypeError:  # numbers and texts, say
        return keys


def _is_missing(value: object) -> bool:
    """Whether a value is None, NaN, or what pandas has for these, which is not said to be equal to itself."""
    try:
        return value is None or not bool(value == value)
    except TypeError:
        return True


def _without(module: Module, data: Mapping[str, object], gone: np.ndarray, size: str) -> dict[str, object]:
    """The data without some rows."""
    out = dict(data)
    for v in module.stan.data:
        shapes = dict(_shapes(v, v.name, ()))
        if not any(size in shape for shape in shapes.values()):
            continue
        arrays = {n: np.asarray(a) for n, a in tuples.given([v], {v.name: data[v.name]}).items()}
        for name, axis in ((n, i) for n, shape in shapes.items() for i, at in enumerate(shape) if at == size):
            arrays[name] = np.compress(~gone, arrays[name], axis)
        out[v.name] = tuples.pack(v, arrays)
    return out | {size: int((~gone).sum())}


def _shapes(variable: Variable, name: str, outer: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The declared sizes of a variable's arrays, those of arrays of the tuples that they lie in before their own."""
    shape = (*outer, *variable.shape)
    if not variable.items:
        yield name, shape
    for i, item in enumerate(variable.items, 1):
        yield from _shapes(item, f"{name}.{i}", shape)


def _require_sizes(whole: Posterior, fit: Any, size: str) -> None:
    """Raise StanError if parameters of a fit have other sizes than with all rows."""
    for n, v in whole.of_draws(fit.variables).items():
        if v.shape[2:] != whole.constrained_shapes[n]:
            raise StanError(f"{whole.program.name}: the size of {n} depends on {size}: rows that are left out would "
                            "take parameters with them")  # fmt: skip


def _as_fitted(whole: Posterior, fit: Any, gone: np.ndarray) -> Posterior:
    """The model of all rows, with what the fit computed of the rows that it had, such as their mean.

    Raises:
        StanError: if data of each row, or numbers that count, are computed of other rows: those that are left out have
            none that go with the fit.
    """
    name, names, changed = whole.program.name, whole.program.names("data"), dict[str, Any]()
    for n in (n for n in whole.inputs if n not in names):
        every, own = whole.inputs[n], fit.data[n]
        if _is_same(every, own):
            continue
        if np.shape(every) == np.shape(own) and np.asarray(every).dtype.kind == "f":
            changed[n] = own
        elif not _is_same(_rows_of(every, ~gone), own):
            raise StanError(f"{name}: transformed data {n} depend on which rows there are, those of rows that are left "
                            "out included: compute numbers of all rows, such as a mean, in transformed data, what each "
                            "row has of them in the model block; or pass them as data")  # fmt: skip
    return Posterior(whole.module, {**whole.inputs, **changed}) if changed else whole


def _verify_terms(whole: Posterior, fit: Any, kept: float) -> None:
    """Verify that at a draw of a fit the model of its rows says of them what that of all rows does.

    Args:
        whole: of all rows, with what the fit computed of its own.
        fit: to the others.
        kept: the log density of its rows by the model of all, at the fit's first draw.

    Raises:
        StanError: if terms of rows stand in `target +=`, of which no row's is known; or where laws of rows depend on
            which others there are, as those of `y[n - 1]`, of `x - mean(x)`, or of `y[at]` with places of other rows.
    """
    name, part = whole.program.name, Posterior(whole.module, fit.data)
    first = {n: v[:1, :1] for n, v in whole.of_draws(fit.variables).items()}
    every, own = (over_draws(p, first, lambda _, trace: _factors(trace), 0, 3) for p in (whole, part))
    if any(not np.allclose(v, own.get(n, np.nan), equal_nan=True) for n, v in every.items()):
        raise StanError(f"{name}: `target +=` adds terms of rows, which can't be told apart: write them as `~`")
    observed = float(sum(v.sum() for v in log_densities(part, first, fit.seed)[0].values()))
    if not np.allclose(observed, kept, rtol=1e-8, atol=1e-8, equal_nan=True):
        raise StanError(f"{name}: laws of rows depend on which others there are, by rows before them, places, counts, "
                        "means: refits without some have other laws for the rest. Compute means and other numbers of "
                        "all rows in transformed data: they are those of the rows that a refit had")  # fmt: skip


def _factors(trace: Mapping[str, Any]) -> dict[str, object]:
    return {n: s["fn"].log_prob(s["value"]).sum() for n, s in trace.items()
            if s["type"] == "sample" and isinstance(s["fn"], Unit)}  # fmt: skip


def _is_same(every: object, own: object) -> bool:
    pairs = [(np.asarray(a), np.asarray(b)) for a, b in zip(jax.tree.leaves(every), jax.tree.leaves(own))]
    return all(np.array_equal(a, b, equal_nan=a.dtype.kind == "f") for a, b in pairs)


def _rows_of(every: Any, kept: np.ndarray) -> object:
    """An array without rows that are left out, if it has one axis of rows; else what it is."""
    axes = [k for k, n in enumerate(np.shape(every)) if n == len(kept)]
    return np.compress(kept, np.asarray(every), axes[0]) if len(axes) == 1 else every


def _density(whole: Posterior, fit: Any, gone: np.ndarray, size: str) -> float:
    """The log density of the rows that a fit has not seen together, of the mean over its draws."""
    made = _as_fitted(whole, fit, gone)
    name, total, kept = made.program.name, np.zeros(fit.num_draws), 0.0
    found, places = _log_densities(made, made.of_draws(fit.variables), fit.seed)
    if not found:
        raise StanError(f"{name}: no statement `~` observes the rows of {size}")
    for site, terms in found.items():
        at = _rows_at(places[site], made, variable_of(site, made.program), size, len(gone), terms.shape[2:])
        if at is None:
            raise StanError(f"{name}: the log density of {site} is not known for every row")
        total += terms[:, :, gone[at]].sum(axis=2).ravel()
        kept += float(terms[0, 0][~gone[at]].sum())
    _verify_terms(made, fit, kept)
    return float(np.logaddexp.reduce(total) - np.log(total.size))


def _log_densities(
    posterior: Posterior, draws: Mapping[str, np.ndarray], seed: int
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray | str]]:
    """Log densities and places of sites; of equal outcomes that decide which statement observes them by iterations."""
    found, places = log_densities(posterior, draws, seed)
    if not any(where is ALIKE for where in places.values()):
        return found, places
    with marked(in_place=True):
        found, places = log_densities(posterior, draws, seed)
    return {n: np.where(v == NOTHING, 0.0, v) for n, v in found.items()}, as_one(places, posterior.program)


def _rows_at(
    where: np.ndarray | str, whole: Posterior, variable: str, size: str, count: int, own: tuple[int, ...]
) -> np.ndarray | None:
    """The row that each log density, of the shape `own`, is of; None where they are of none or it is not known.

    Of an expression it is that in whose place it stands, if one axis alone has as many entries as there are rows.
    """
    shapes = [np.shape(a) for a in nested.leaves(whole.inputs.get(variable, 0.0))]
    if isinstance(where, np.ndarray):
        axes = [k for k in _axes_of_rows(whole.program, variable, size) if shapes[0][k] == count]
        if len(axes) != 1 or where.shape[: len(own)] != own:
            return None
        at = np.unravel_index(where, shapes[0])[axes[0]].reshape(*own, -1)
        row: np.ndarray = at[..., 0]
        return row if (at == row[..., None]).all() else None
    axes = [k for k, n in enumerate(own) if n == count]
    is_known = where is not UNORDERED and _has_rows(whole.program, variable, size)
    if len(axes) != 1 or not is_known or any(s.count(count) > 1 for s in shapes):
        return None
    rows: np.ndarray = np.indices(own)[axes[0]]
    return rows


def _axes_of_rows(program: Program, name: str, size: str) -> list[int]:
    """The axes of a variable that the rows stand along: those of that size, else those of sizes that are computed."""
    shape = next((v.shape for v in (*program.data, *program.transformed_data) if v.name == name), ())
    return [k for k, n in enumerate(shape) if n == size] or [k for k, n in enumerate(shape) if _is_computed(n, program)]


def _is_computed(size: str, program: Program) -> bool:
    return not size.isdigit() and size not in program.names("data")


def _has_rows(program: Program, name: str, size: str) -> bool:
    """Whether a variable may have the rows that are left out: one of sizes that are other data has as many by chance.

    Of what is computed of the data, a size that is computed itself may be theirs.
    """
    known = {v.name: v for v in (*program.data, *program.transformed_data)}
    sizes = {n for _, shape in _shapes(known[name], name, ()) for n in shape} if name in known else set()
    return size in sizes or not sizes or any(_is_computed(n, program) for n in sizes)
