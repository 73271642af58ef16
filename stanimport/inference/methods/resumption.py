"""`sample(..., resume=...)`: options, data and draws of a run that goes on where a fit or a journal ends."""
from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from stanlib.errors import StanDataError, StanError

from .. import options
from ..digests import digest_of, program_of
from ..fits import storage
from ..fits.result import Result
from ..samplers.packed import is_packed
from ..samplers.standing import Standing
from .journals import Run
from .sampling_options import HOW_CHAINS_RUN

if TYPE_CHECKING:
    from stanlib.program import Module

F = TypeVar("F", bound=Callable[..., Any])


def resuming(function: F) -> F:
    """Decorator of `sample`: where it resumes a fit, the data and options not given are those of the fit.

    Raises:
        OptionError: for an option that is given and is another than the fit's.
    """
    parameters = inspect.signature(function).parameters

    @functools.wraps(function)
    def filled(module: object, data: object = None, **given: object) -> Any:
        if given.get("resume") is None:
            return function(module, data, **given)
        source = given["resume"] = source_of(given["resume"])
        own = {n: v for n, v in _settings_of(source).items() if n in parameters}
        for name, value in given.items():
            if value is None or name in HOW_CHAINS_RUN or name == "iter_sampling":
                continue
            if name not in own or not _is_same(value, own[name]):
                what = f"{own[name]!r} in the run" if name in own else "no option of a run that goes on"
                raise options.OptionError(f"resume: {name} is {what}, and can't be {value!r}")
        chosen = {**own, **{n: v for n, v in given.items() if v is not None}}
        return function(module, data_of_run(source) if data is None else data, **chosen)

    return filled  # type: ignore[return-value]


def source_of(given: object) -> Result | Run:
    """The fit or the journal that `resume` gives, itself or by its path."""
    if isinstance(given, (str, os.PathLike)):
        with options.read_for("resume"):
            given = Run(Path(given)) if Path(given).is_dir() else storage.load(Path(given))
    if isinstance(given, Run) or isinstance(given, Result) and given.method == "sample" and Standing.found(given.info):
        return given
    raise options.OptionError("resume takes a fit of sample() with method='nuts' or 'walnuts', the file that it was "
                              "saved in, or the journal of a run")  # fmt: skip


def _settings_of(source: Result | Run) -> dict[str, object]:
    """The options of `sample` that a run has."""
    kept = {n: v for n, v in source.settings.items() if n not in HOW_CHAINS_RUN}
    kept["seed"] = list(source.settings["chain_seeds"])
    for name in ("chain_method", "threads_per_chain"):  # by which sums are rounded otherwise
        kept[name] = source.settings.get(name)
    if kept["metric"] == "given":
        kept["metric"] = source.metric if isinstance(source, Run) else _kind(source.metric)
    return kept


def _kind(metric: np.ndarray | None) -> str:
    """What metrics of chains are called."""
    if metric is None or metric.ndim == 2:
        return "diag_e"
    return "low_rank" if is_packed(metric[0]) else "dense_e"


def _is_same(given: Any, own: Any) -> bool:
    if isinstance(own, list) and np.ndim(given) == 0:
        return all(_is_same(given, o) for o in own)
    return bool(np.array_equal(np.asarray(given), np.asarray(own)))


def options_of(run: Run) -> dict[str, Any]:
    """The options by which the run of a journal goes on, as `sample` takes them; None for those that it has none of."""
    free = dict.fromkeys([*HOW_CHAINS_RUN, "inits", "inv_metric", "journal", "keep", "leave_out"])
    return {**free, **_settings_of(run), "resume": run}


def data_of_run(source: Result | Run) -> dict[str, Any]:
    """The data of a run, without what the program computed from them."""
    return {v.name: source.data[v.name] for v in source.program.data}


def start_of(source: Result | Run, chosen: Mapping[str, Any]) -> dict[str, Any]:
    """What the options of a run that goes on have beside those given: where the chains stand.

    Raises:
        OptionError: for fewer iterations than were made.
    """
    if isinstance(source, Run):
        made = source.settings["iter_sampling"]
        if chosen["iter_sampling"] < made:
            raise options.OptionError(f"resume: iter_sampling is of the whole run, of which {made} were asked for")
        return {"journal": source.folder}
    at, made = Standing.found(source.info), source.draws_per_chain
    assert at is not None
    if chosen["iter_sampling"] < int(at.done.max()) - chosen["iter_warmup"]:
        raise options.OptionError(f"resume: iter_sampling is of the whole run, of which {made} draws are made already")
    return {"standing": (at, source.metric), "earlier": made}


def check(source: Result | Run, module: Module, inputs: Mapping[str, object]) -> None:
    """Raise StanError or StanDataError if program or data are not those of the run."""
    if program_of(module.stan) != program_of(source.program):
        raise StanError(f"resume: the program is not that of the run, {source.program.name}")
    for variable in source.program.data:
        if digest_of(inputs[variable.name]) != digest_of(source.data[variable.name]):
            raise StanDataError(f"resume: the data are not those of the run: {variable.name} differs")


def whole(source: Result | Run, new: Result) -> Result:
    """The result of the whole run, from that of what was still to do."""
    if isinstance(source, Run):  # whose journal gave the draws made before
        new.settings["metric"] = source.settings["metric"]
        return new

    def behind(a: Mapping[str, np.ndarray], b: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        return {n: np.concatenate([a[n], b.pop(n)], axis=1) for n in a}  # which are given up one by one

    info = {**new.info, "restarts": source.restarts}
    if source.times is not None and new.times is not None:
        info["times"] = source.times + new.times
    settings = {**source.settings, "iter_sampling": new.settings["iter_sampling"]}
    made = Result(source.program, "sample", behind(source.variables, new.variables), behind(source.stats, new.stats),
               new.data, settings, info, new._module, source.warmup)  # fmt: skip
    made.dims, made.coords = source.dims, source.coords
    return made
