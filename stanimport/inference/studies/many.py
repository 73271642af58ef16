"""`sample_many`: the same model on many data sets, in order, a failed fit reported and not fatal, restartable."""
from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, Future, as_completed
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeVar, overload

from .. import options
from ..digests import program_of
from ..failures import Failure
from ..fits.fit import Fit
from ..fits.labels import of_data
from ..io.names import read
from ..modules import module_of
from ..precision import random_keys
from ..running.progress import Progress
from . import identity

if TYPE_CHECKING:
    from stanlib.program import Module, Program

    from .stacked import StackedFits

Key = TypeVar("Key")

__all__ = ["sample_many"]
AT_TOP = ["sample_many"]


@overload
def sample_many(
    module: object, data_sets: Sequence[object], *, executor: Executor | None = None,
    seed: SupportsIndex | None = None, folder: str | os.PathLike[str] | None = None, method: str = "nuts",
    show_progress: bool = False, sampling: Mapping[str, object] | None = None,
) -> Sequence[Fit | Failure]: ...  # fmt: skip


@overload
def sample_many(
    module: object, data_sets: Mapping[Key, object], *, executor: Executor | None = None,
    seed: SupportsIndex | None = None, folder: None = None, method: str = "nuts",
    show_progress: bool = False, sampling: Mapping[str, object] | None = None,
) -> dict[Key, Fit | Failure]: ...  # fmt: skip


@overload
def sample_many(
    module: object, data_sets: Mapping[Key, object], *, executor: Executor | None = None,
    seed: SupportsIndex | None = None, folder: str | os.PathLike[str] | None = None, method: str = "nuts",
    show_progress: bool = False, sampling: Mapping[str, object] | None = None,
) -> dict[Key, Fit | Failure] | StackedFits: ...  # fmt: skip


@options.suggesting
def sample_many(
    module: object, data_sets: Sequence[object] | Mapping[Any, object], *, executor: Executor | None = None,
    seed: SupportsIndex | None = None, folder: str | os.PathLike[str] | None = None, method: str = "nuts",
    show_progress: bool = False, sampling: Mapping[str, object] | None = None,
) -> Any:  # fmt: skip
    """Sample from the posteriors of one model given many data sets.

    Args:
        module: a translated module, or the path of a program.
        data_sets: the data of each fit, as for `sample`; a mapping has them by key.
        executor: any `concurrent.futures` executor: threads, processes, or dask.distributed's
            `Client.get_executor()` for other machines. If None, data sets of the same shapes share one compiled
            program, into which their data are passed; others run one after the other.
        seed: the first fit's; each fit has a seed of its own, which depends on its place alone.
        folder: where each fit is saved when it is done ("0000.nc", ...), by key if there are keys; or with a name
            that ends in ".zarr" one zarr store of all of them, whose fits must be of one size. Fits that are there
            already are not made again: so an interrupted run goes on where it stopped. They must be of the same
            program, data and options, and of the same seed if one is given.
        method: as for `sample`.
        show_progress: show a bar that counts fits.
        sampling: further options of `sample`: {"chains": 2, "iter_sampling": 500}.

    Returns:
        The fits in the order of the data sets, by key if these have keys; a `Failure`, which is false, in the place of
        one that failed. From a zarr store, a sequence that reads each fit when its place or key is asked for: its
        `dataset()` gives all draws as one dataset of xarray, its `failures` the errors by key.

    Raises:
        TypeError, OptionError: for options that are wrong, and for a folder that has fits of something else.
        StanDataError: for data that are not as declared where there is a fit already.
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
    first = options.seed_or_new(seed)
    chosen = {"method": method, **(sampling or {})}
    keys = list(data_sets) if isinstance(data_sets, Mapping) else None
    sets = list(data_sets.values()) if isinstance(data_sets, Mapping) else list(data_sets)
    settings = identity.options_of(identity.settings_of(chosen)) if folder is not None else ""
    store = _store(folder, keys, len(sets), translated, chosen, settings)
    done = store.known()
    todo = [i for i in range(len(sets)) if i not in done]
    seeds = {i: int(random_keys(first, i, count=1)[0, 0] % 2**31) for i in range(len(sets))}
    for i in sorted(done):
        asked = identity.wanted(translated, sets[i], settings, None if seed is None else seeds[i])
        asked.verify(store.identity(i), store.place(i))
    run = _in_this_process if executor is None else _on(executor)
    with Progress(len(sets), show_progress, "fit") as progress:
        progress.advance(len(done))
        for some in run(translated, {i: sets[i] for i in todo}, seeds, chosen):
            store.keep({i: _named(f, sets[i], keys and keys[i]) for i, f in some.items()})
            progress.advance(len(some))
    return store.results(translated, sets, chosen)


def _named(found: Fit | Failure, data: object, key: object) -> Fit | Failure:
    """A fit with the names that its data carry, or a failure with its key."""
    if isinstance(found, Failure):
        return found if key is None else replace(found, key=key)
    found.dims, found.coords = of_data(found.program, data)
    return found


class _Memory:
    """Fits that are kept where they are made."""

    def __init__(self, keys: Sequence[object] | None):
        self.keys, self.found = keys, dict[int, Any]()

    def known(self) -> set[int]:
        """The places of fits that are there already."""
        return set(self.found)

    def identity(self, index: int) -> identity.Identity:
        """What a fit that is there is of."""
        return identity.of_fit(self.found[index])

    def place(self, index: int) -> str:
        """Where a fit lies, for messages."""
        return str(index)

    def keep(self, some: Mapping[int, object]) -> None:
        self.found.update(some)

    def results(self, module: Module, data_sets: Sequence[object], chosen: Mapping[str, object]) -> Any:
        ordered = [self.found[i] for i in range(len(data_sets))]
        return ordered if self.keys is None else dict(zip(self.keys, ordered))


class _Folder(_Memory):
    """Fits that are saved, each in a file."""

    def __init__(self, keys: Sequence[object] | None, folder: Path, count: int):
        super().__init__(keys)
        folder.mkdir(parents=True, exist_ok=True)
        names = [f"{i:04d}" for i in range(count)] if keys is None else [_name(k) for k in keys]
        if len(set(names)) < len(names):
            raise options.OptionError(f"folder: two keys make the same name of a file: {sorted(names)}")
        self.paths = [folder / f"{n}.nc" for n in names]
        self.found = {i: f for i, p in enumerate(self.paths) if (f := _known(p)) is not None}

    def place(self, index: int) -> str:
        return str(self.paths[index])

    def keep(self, some: Mapping[int, object]) -> None:
        super().keep(some)
        for i, fit in some.items():
            if isinstance(fit, Fit):
                fit.save(self.paths[i])


class _Zarr(_Memory):
    """Fits in one zarr store."""

    def __init__(self, keys: Sequence[object] | None, path: Path, count: int, program: str, settings: str):
        from .stacked import Stack

        super().__init__(keys)
        self.stack = Stack(path, range(count) if keys is None else keys, program, settings)

    def known(self) -> set[int]:
        return set(self.stack.made())

    def identity(self, index: int) -> identity.Identity:
        return self.stack.identity(index)

    def place(self, index: int) -> str:
        return f"the fit {self.stack.keys[index]} of {self.stack.path}"

    def keep(self, some: Mapping[int, object]) -> None:
        self.stack.write({i: f for i, f in some.items() if isinstance(f, Fit)})
        for i, failure in some.items():
            if isinstance(failure, Failure):
                self.stack.fail(i, failure.error)

    def results(self, module: Module, data_sets: Sequence[object], chosen: Mapping[str, object]) -> Any:
        from .stacked import StackedFits

        return StackedFits(self.stack, module, data_sets, chosen)


def _store(
    folder: Any, keys: Sequence[object] | None, count: int, module: Module, chosen: Mapping[str, object], settings: str
) -> _Memory:  # fmt: skip
    """Where the fits of a run are kept."""
    if folder is None:
        return _Memory(keys)
    path = Path(folder)
    if path.suffix != ".zarr":
        return _Folder(keys, path, count)
    if chosen.get("save_warmup"):
        raise options.OptionError("save_warmup: a zarr store holds no warm-up; a folder of files does")
    return _Zarr(keys, path, count, program_of(module.stan), settings)


def _name(key: object) -> str:
    """A key as the name of a file."""
    return re.sub(r"[^\w.+-]", "_", str(key)) or "_"


def _known(path: Path) -> Fit | None:
    """The saved fit of a data set; None if there is none that can be read."""
    from stanlib.errors import StanDataError

    try:
        return Fit.load(path)
    except StanDataError:
        return None


def _in_this_process(
    module: Any, data_sets: Mapping[int, Any], seeds: Mapping[int, int], chosen: Mapping[str, Any]
) -> Any:  # fmt: skip
    """Fits as they are done: those of the same shapes by one program."""
    from .batches import Together, groups_of

    groups, alone = groups_of(module, data_sets, seeds, chosen)
    for group in groups:
        done = set[int]()
        try:
            for some in Together(module, group, seeds, chosen):
                fits = {i: f for i, f in some.items() if f is not None}
                yield fits
                done |= set(fits)
        except Exception:  # what one program can't do together is tried one by one: a failure then has its own reason
            pass
        alone = [*alone, *(i for i in group if i not in done)]
    for index in alone:
        yield {index: fit_one(module, index, data_sets[index], seeds[index], chosen)}


def _on(executor: Executor) -> Callable[..., Any]:
    """What gives each fit to an executor, and yields it, or its failure, by its place as soon as it is done."""

    def run(module: Any, data_sets: Mapping[int, Any], seeds: Mapping[int, int], chosen: Mapping[str, Any]) -> Any:
        jobs: dict[Future[Any], int] = {
            executor.submit(_fit_elsewhere, module.model, i, read_or_failure(module.stan, d), seeds[i], dict(chosen)): i
            for i, d in data_sets.items()
        }
        for job in as_completed(jobs):
            error = job.exception()
            if error is not None and not isinstance(error, Exception):
                raise error
            yield {jobs[job]: Failure(jobs[job], error) if error is not None else job.result()}

    return run


def read_or_failure(program: Program, data: object) -> Any:
    """Data ready to be sent to another process; those that are wrong are left to fail there."""
    from stanlib.errors import StanDataError

    try:
        return data if isinstance(data, (str, os.PathLike)) else read(program, data)
    except StanDataError:
        return data


def _fit_elsewhere(model: object, index: int, data: object, seed: int, chosen: Mapping[str, object]) -> Fit | Failure:
    """One fit in a worker, which has the module through its model: that pickles by reference."""
    import sys

    module = sys.modules[model.__module__]
    return fit_one(module, index, data, seed, chosen)


def fit_one(module: Any, index: int, data: Any, seed: int, chosen: Mapping[str, Any]) -> Fit | Failure:
    """One fit, or its failure."""
    from ..methods.sampling import sample

    try:
        fit: Fit = sample(module, data, seed=seed, **chosen)
    except (TypeError, options.OptionError):
        raise
    except Exception as error:
        return Failure(index, error)
    return fit
