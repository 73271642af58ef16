"""Options of the inference functions: unknown ones are refused with the one that was probably meant."""
from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from numbers import Real
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from stanlib.errors import StanDataError
from stanlib.program import Program
from stanlib.tracebacks import of_others

from .. import files
from ..errors import StanError, nearest
from . import kinds
from .kinds import OptionError
from .precision import new_seed
from .running.interrupts import collected

F = TypeVar("F", bound=Callable[..., Any])

OWN_METHODS = ("nuts", "walnuts")  # of `sample`, that are this package's own
METRICS = ("auto", "diag_e", "dense_e", "unit_e")  # of samplers, by name
OWN_METRICS = (*METRICS, "low_rank")

# What other interfaces call an option, and what it is called here.
SYNONYMS = {
    "num_chains": "chains", "num_warmup": "iter_warmup", "warmup": "iter_warmup", "tune": "iter_warmup",
    "num_samples": "iter_sampling", "draws": "iter_sampling", "target_accept": "adapt_delta",
    "target_accept_prob": "adapt_delta", "max_tree_depth": "max_treedepth", "init": "inits", "init_params": "inits",
    "rng_key": "seed", "random_seed": "seed", "progress_bar": "show_progress", "cores": "parallel_chains",
    "n_jobs": "parallel_chains", "threads": "threads_per_chain", "pars": "keep", "include": "keep",
    "verbose": "show_progress", "refresh": "show_progress", "show_console": "show_progress", "n_iter": "iter_sampling",
    "n_warmup": "iter_warmup", "n_tune": "iter_warmup", "n_samples": "iter_sampling", "n_draws": "iter_sampling",
    "rng_seed": "seed", "initial_values": "inits", "max_depth": "max_treedepth",
    "delta": "adapt_delta", "num_thin": "thin", "stepsize": "step_size",
}  # fmt: skip


# Options that other functions have, or that stand for several.
_ADVI = "advi() has it"
_FILES = "fit.save() and fit.save_csvfiles() write files, CmdStanModel of stanimport.cmdstanpy too"
_WRAPPED = "CmdStanModel of stanimport.cmdstanpy has it"
ELSEWHERE: dict[str, dict[str, str]] = {
    "variational": {n: _ADVI for n in ("elbo_samples", "adapt_iter", "adapt_engaged", "eval_elbo")},
    "sample": {"iter": "iter_warmup and iter_sampling count the two parts of a chain",
               "control": "its entries are options themselves: adapt_delta, max_treedepth, ..."},
    "": {"output_dir": _FILES, "sig_figs": _FILES, "timeout": _WRAPPED, "save_profile": "fit.profiles() has the times"},
}  # fmt: skip


def _of_data(name: str, module: object = None, *_: object) -> str:
    """What to say where a variable of the data is given as an option."""
    program = getattr(module, "stan", None)
    is_data = isinstance(program, Program) and name in program.names("data")
    return f": the data are one argument, {{{name!r}: ...}}" if is_data else ""


def brief(function: F) -> F:
    """Decorator: of where an error came from, only lines of others are told, as of the program."""

    @functools.wraps(function)
    def told(*args: object, **options: object) -> Any:
        __tracebackhide__ = True  # for pytest and IPython
        try:
            return function(*args, **options)
        except (StanError, OptionError) as e:
            raise e.with_traceback(of_others(e.__traceback__))

    return told  # type: ignore[return-value]


def suggesting(function: F) -> F:
    """Decorator: a keyword argument that the function does not have is a TypeError with a suggestion.

    One that is not of the kind that its annotation says is an OptionError; None stands for the default.

    Interrupts are collected while the function runs. Errors are `brief`.
    """
    known, taken = [p.name for p in inspect.signature(function).parameters.values()], kinds.Kinds(function)

    @brief
    @functools.wraps(function)
    def checked(*args: object, **options: object) -> Any:
        __tracebackhide__ = True  # for pytest and IPython
        for name in options:
            if name not in known:
                told = {**ELSEWHERE[""], **ELSEWHERE.get(function.__name__, {})}.get(name)
                hint = f": {told}" if told else _of_data(name, *args) or suggestion(name, known)
                raise TypeError(f"{function.__name__}() has no option {name!r}{hint}")
        options = taken.checked(options)
        with collected():
            return function(*map(files.as_paths, args), **options)

    return checked  # type: ignore[return-value]


def suggestion(name: str, known: Collection[str]) -> str:
    """`; did you mean 'chains'?`, or nothing."""
    meant = SYNONYMS.get(name)
    similar = meant if meant in known else nearest(name, known, 0.6)
    return f"; did you mean {similar!r}?" if similar else ""


def require_parameters(program: str, size: int) -> None:
    """Raise StanError for a program whose posterior can't be approximated, for it has none."""
    if not size:
        raise StanError(f"{program} has no parameters to approximate: sample() runs its generated quantities")


def require_several(algorithm: str, size: int) -> None:
    """Raise OptionError for a flow of a single parameter."""
    if algorithm in ("iaf", "bnaf", "spline") and size < 2:
        raise OptionError(f"the {algorithm} flow is one of several parameters, and there is {size}: take meanfield")


def one_of(name: str, value: object, allowed: Collection[str]) -> object:
    """The value of an option that takes one of some words.

    Raises:
        OptionError: for any other.
    """
    if value not in allowed:
        similar = nearest(str(value), allowed, 0.5)
        hint = f"; did you mean {similar!r}?" if similar else ""
        raise OptionError(f"{name} must be one of {', '.join(allowed)}, not {value!r}{hint}")
    return value


def batches(rows: object) -> dict[str, int]:
    """How many rows of each size a batch has, as `minibatch` says. Raises OptionError."""
    if not isinstance(rows, Mapping) or not rows:
        raise OptionError("minibatch must say how many rows a batch has, by size: {'N': 256}")
    return {str(size): whole(f"minibatch of {size}", held, 1) for size, held in rows.items()}


def whole(name: str, value: Any, default: int, least: int = 1) -> int:
    """The value of an option that takes an integer of any kind, or None for its default. Raises OptionError."""
    if value is None:
        return default
    number = kinds.whole(name, value, None if name == "seed" else kinds.MOST)
    if number < least:
        raise OptionError(f"{name} must be at least {least}, not {value!r}")
    return number


def flags(**given: object) -> None:
    """Raise OptionError for options that are neither True nor False; texts would count as True."""
    for name, value in given.items():
        if not isinstance(value, (bool, np.bool_, int, type(None))):
            raise OptionError(f"{name} must be True or False, not {value!r}")


def counts(**given: object) -> dict[str, int]:
    """Options that take integers of at least 1, as ints. Raises OptionError."""
    return {name: whole(name, value, 1) for name, value in given.items()}


def seed_or_new(seed: object) -> int:
    """The seed, an integer of at least 0; a new one if None. Raises OptionError."""
    return new_seed() if seed is None else whole("seed", seed, 0, 0)


def for_chains(name: str, value: Any, chains: int) -> list[Any]:
    """The values of an option that takes one for all chains or one for each. Raises OptionError."""
    several = value if isinstance(value, (list, tuple)) else np.asarray(value).tolist() if np.ndim(value) else None
    if several is None:
        return [value] * chains
    if len(several) != chains:
        raise OptionError(f"{name} has {len(several)} values for {chains} chains")
    return list(several)


def wanted(
    program: Program, keep: Sequence[str] | str | None, leave_out: Sequence[str] | str | None
) -> frozenset[str] | None:  # fmt: skip
    """The names of the variables that `keep` and `leave_out` choose; None for all.

    Raises:
        OptionError: for a name that there isn't, and for both options.
    """
    names = program.names("parameters", "transformed_parameters", "generated_quantities")
    chosen = [keep] if isinstance(keep, str) else None if keep is None else list(keep)
    without = [leave_out] if isinstance(leave_out, str) else list(leave_out or ())
    for name in (*(chosen or ()), *without):
        if name not in names:
            option = "leave_out" if name in without else "keep"
            raise OptionError(f"{option}: there is no variable {name!r}{suggestion(str(name), list(names))}")
    if chosen is not None and without:
        raise OptionError("keep and leave_out both choose the variables: one of them is enough")
    if chosen is None and not without:
        return None
    return frozenset(chosen) if chosen is not None else frozenset(names) - frozenset(without)


@contextmanager
def read_for(option: str) -> Iterator[None]:
    """Inside of it, what is wrong with a file that an option names is told with the option's name."""
    try:
        yield
    except StanDataError as e:
        raise StanDataError(f"{option}: {e}", e.variable, e.filename, e.lineno) from None


def new_folder(option: str, given: str | os.PathLike[str]) -> Path:
    """A folder that is made now. Raises OptionError if it is there already."""
    path = Path(given)
    try:
        path.mkdir(parents=True)
    except FileExistsError:
        raise OptionError(f"{option}: {path} is there already") from None
    return path


def at_least(bound: float, **options: object) -> None:
    """Raise OptionError unless every option is a number of at least `bound`."""
    for name, value in options.items():
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real) or not float(value) >= bound:
            raise OptionError(f"{name} must be at least {bound}, not {value!r}")


def between(low: float, high: float, **options: object) -> None:
    """Raise OptionError unless every option is a number strictly between two."""
    for name, value in options.items():
        if not isinstance(value, Real) or not low < float(value) < high:
            raise OptionError(f"{name} must be between {low} and {high}, not {value!r}")


def numbers_of_rows(size: str, given: object, total: int) -> np.ndarray:
    """Numbers of rows, counted from 1.

    Raises:
        OptionError: for what are none, and for rows that there are not.
    """
    numbers = np.atleast_1d(np.asarray(given))
    if numbers.dtype.kind not in "iu" or numbers.ndim != 1 or not numbers.size:
        raise OptionError(f"rows of {size} are whole numbers: {{{size!r}: [1, 2]}}")
    if numbers.min() < 1 or numbers.max() > total:
        raise OptionError(f"rows of {size} go from 1 to {total}")
    return numbers
