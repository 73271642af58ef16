"""What arguments of CmdStanPy's methods may be, beyond what the methods here verify themselves."""
from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import warn

_POSITIVE = (int, float, np.integer, np.floating)


class IgnoredOptionWarning(UserWarning):
    """An option of CmdStan's that the method here does not have."""


def given(**options: object) -> dict[str, Any]:
    """Those that are not None."""
    return {n: v for n, v in options.items() if v is not None}


def of_sampler(
    fixed_param: bool, adapt_engaged: bool, iter_warmup: object, steps: dict[str, object], adaptation: dict[str, object]
) -> dict[str, Any]:  # fmt: skip
    """The options of the sampler's steps and of what its warm-up learns, with the metric by its whole name.

    Raises:
        ValueError: for those that parameters which stay as they are, or a sampler that does not adapt, does not heed,
            and for a warm-up of no iterations that was to adapt.
    """
    for name in given(**steps, **adaptation) if fixed_param else ():
        raise ValueError(f"When fixed_param=True, cannot specify adaptation parameters: {name} has no effect")
    for name, value in given(**adaptation).items() if not adapt_engaged else ():
        raise ValueError(f"Conflicting arguments: adapt_engaged: False, {name}: {value}")
    if adapt_engaged and not fixed_param and isinstance(iter_warmup, (int, np.integer)) and iter_warmup == 0:
        raise ValueError("Must specify iter_warmup > 0 when adapt_engaged=True.")
    return {} if fixed_param else {**steps, **adaptation, "metric": _named(steps["metric"])}


def of_pathfinder(
    resample: bool, *, num_paths: int | None, draws: int | None, num_single_draws: int | None, init_alpha: object,
    history_size: object, max_lbfgs_iters: object, num_elbo_draws: object, **tolerances: object,
) -> dict[str, Any]:  # fmt: skip
    """The options that are given. Where draws are not chosen among those of several paths, all are returned.

    Raises:
        ValueError: for tolerances that are no positive numbers, and two numbers of draws of a single path.
    """
    verify_positive(**tolerances)
    if num_paths == 1 and None not in (draws, num_single_draws) and draws != num_single_draws:
        raise ValueError("Cannot specify both 'draws' and 'num_single_draws' when 'num_paths' is 1")
    resample = resample and num_paths != 1
    if not resample:
        num_single_draws = num_single_draws or (draws if num_paths == 1 else None) or 1000
        draws = (4 if num_paths is None else num_paths) * num_single_draws
    chosen = given(num_paths=num_paths, draws=draws, num_single_draws=num_single_draws, init_alpha=init_alpha,
                   history_size=history_size, max_lbfgs_iters=max_lbfgs_iters,
                   num_elbo_draws=num_elbo_draws)  # fmt: skip
    return {**chosen, **given(**tolerances), "psis_resample": resample}


def verify_optimizer(algorithm: str | None, history_size: int | None, **tolerances: float | None) -> None:
    """
    Raises:
        ValueError: for options that are no positive numbers, or not of the algorithm.
    """
    found = given(**tolerances)
    if algorithm is not None and algorithm.lower() == "newton" and found:
        raise ValueError(f"{next(iter(found))} must not be set when the algorithm is Newton, only for bfgs or lbfgs")
    if algorithm is not None and algorithm.lower() != "lbfgs" and history_size is not None:
        raise ValueError("history_size must not be set when the algorithm is not lbfgs, only for bfgs or lbfgs")
    if history_size is not None and not isinstance(history_size, (int, np.integer)):
        raise ValueError(f"Argument 'history_size' must be of type int, found {type(history_size)}")
    verify_positive(**tolerances, history_size=history_size)


def verify_positive(**numbers: object) -> None:
    """Raise ValueError for the first that is neither a positive number nor None."""
    for name, value in given(**numbers).items():
        if not isinstance(value, _POSITIVE):
            raise ValueError(f"Argument '{name}' must be of type float, found {type(value)}")
        if not value > 0:
            raise ValueError(f"Argument '{name}' must be greater than 0, found {value}")


def either(**named: object) -> object:
    """The one that is given of an argument and its deprecated name; None for none. Raises ValueError for both."""
    found = given(**named)
    if len(found) > 1:
        first, second = named
        raise ValueError(f"Cannot supply both '{first}' and deprecated argument '{second}'")
    return next(iter(found.values()), None)


def _named(metric: object) -> object:
    """The metric, by its whole name where it has one; CmdStan's default for none."""
    short = {None: "diag_e", "diag": "diag_e", "dense": "dense_e", "unit": "unit_e"}
    return short.get(metric, metric) if metric is None or isinstance(metric, str) else metric


def tell(why: str, **options: object) -> None:
    """Warn of options that the method has no use for."""
    for name, value in options.items():
        if value is not None and value is not False:
            warn(f"the option {name} has no effect: {why}", IgnoredOptionWarning)
