"""`sample_many`: the same model on many data sets, in order, a failed fit reported and not fatal, restartable."""
from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, Future, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import options
from .data import read_data
from .fit import Fit
from .modules import module_of
from .precision import new_seed, random_keys


@dataclass(frozen=True)
class Failure:
    """A fit that failed.

    Attributes:
        index: of the data set.
        error: what was raised.
    """

    index: int
    error: Exception

    def __bool__(self) -> bool:
        return False


@options.suggesting
def sample_many(
    module: Any, data_sets: Sequence[Any], *, executor: Executor | None = None, seed: int | None = None,
    folder: str | os.PathLike[str] | None = None, method: str = "nuts", show_progress: bool = False,
    sampling: Mapping[str, Any] | None = None,
) -> list[Fit | Failure]:  # fmt: skip
    """Sample from the posteriors of one model given many data sets.

    Args:
        module: a translated module, or the path of a program.
        data_sets: the data of each fit, as for `sample`.
        executor: any `concurrent.futures` executor: threads, processes, or dask.distributed's
            `Client.get_executor()` for other machines. If None, data sets of the same shapes share one compiled
            program, into which their data are passed; others run one after the other.
        seed: the first fit's; each fit has a seed of its own, which depends on its place alone.
        folder: where each fit is saved when it is done ("0000.nc", ...). Fits that are there already are read and not
            made again: so an interrupted run goes on where it stopped.
        method, show_progress: as for `sample`.
        sampling: further options of `sample`: {"chains": 2, "iter_sampling": 500}.

    Returns:
        The fits in the order of the data sets; a `Failure`, which is false, in the place of one that failed.

    Raises:
        TypeError, OptionError: for options that are wrong.
        OSError: if the folder can't be written.

    Examples:
        >>> coin = stanimport.load("models/coin.stan")
        >>> heads = [1, 1, 1, 1, 1, 1], [0, 0, 1, 0, 0, 0], [1, 7, 0, 0, 0, 0]
        >>> data_sets = [{"flips": 6, "heads": h} for h in heads]
        >>> fits = stanimport.sample_many(coin, data_sets, seed=1, sampling={"chains": 2})
        >>> [round(float(fit.stan_variable("bias").mean()), 1) if fit else type(fit.error).__name__ for fit in fits]
        [0.8, 0.3, 'StanDataError']
    """
    translated = module_of(module)
    first = new_seed() if seed is None else int(seed)
    chosen = {"method": method, "show_progress": show_progress, **(sampling or {})}
    place = None if folder is None else Path(folder)
    if place is not None:
        place.mkdir(parents=True, exist_ok=True)
    found: dict[int, Fit | Failure] = {}
    if place is not None:
        found |= {i: f for i in range(len(data_sets)) if (f := _known(place, i)) is not None}
    todo = [i for i in range(len(data_sets)) if i not in found]
    seeds = {i: int(random_keys(first, i, count=1)[0, 0] % 2**31) for i in todo}
    run = _in_this_process if executor is None else _on(executor)
    for i, result in run(translated, {i: data_sets[i] for i in todo}, seeds, chosen):
        found[i] = result
        if place is not None and isinstance(result, Fit):
            result.save(_file(place, i))
    return [found[i] for i in range(len(data_sets))]


def _file(folder: Path, index: int) -> Path:
    return folder / f"{index:04d}.nc"


def _known(folder: Path, index: int) -> Fit | None:
    """The saved fit of a data set; None if there is none that can be read."""
    from stanlib.errors import StanDataError

    try:
        return Fit.load(_file(folder, index))
    except StanDataError:
        return None


def _in_this_process(
    module: Any, data_sets: Mapping[int, Any], seeds: Mapping[int, int], chosen: Mapping[str, Any]
) -> Any:  # fmt: skip
    """Fits as they are done: those of the same shapes by one program."""
    from .batches import groups_of, sample_group

    groups, alone = groups_of(module, data_sets, chosen)
    for group in groups:
        try:
            yield from sample_group(module, group, seeds, chosen).items()
        except Exception:  # what one program can't do together is tried one by one: a failure then has its own reason
            alone = [*alone, *group]
    for index in alone:
        yield index, fit_one(module, index, data_sets[index], seeds[index], chosen)


def _on(executor: Executor) -> Callable[..., Any]:
    def run(module: Any, data_sets: Mapping[int, Any], seeds: Mapping[int, int], chosen: Mapping[str, Any]) -> Any:
        jobs: dict[Future[Any], int] = {
            executor.submit(_fit_elsewhere, module.model, i, read_or_failure(d), seeds[i], dict(chosen)): i
            for i, d in data_sets.items()
        }
        for job in as_completed(jobs):
            error = job.exception()
            if error is not None and not isinstance(error, Exception):
                raise error
            yield jobs[job], Failure(jobs[job], error) if error is not None else job.result()

    return run


def read_or_failure(data: Any) -> Any:
    """Data ready to be sent to another process; those that can't be read are left to fail there."""
    return data if isinstance(data, (str, os.PathLike)) else read_data(data)


def _fit_elsewhere(model: Any, index: int, data: Any, seed: int, chosen: dict[str, Any]) -> Fit | Failure:
    """One fit in a worker, which has the module through its model: that pickles by reference."""
    import sys

    module = sys.modules[model.__module__]
    return fit_one(module, index, data, seed, chosen)


def fit_one(module: Any, index: int, data: Any, seed: int, chosen: Mapping[str, Any]) -> Fit | Failure:
    """One fit, or its failure."""
    from .sampling import sample

    try:
        fit: Fit = sample(module, data, seed=seed, **chosen)
    except (TypeError, options.OptionError):
        raise
    except Exception as error:
        return Failure(index, error)
    return fit
