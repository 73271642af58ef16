"""Options that have no effect beside others: who gives both is told, instead of one of them going unheeded."""
from __future__ import annotations

from collections.abc import Mapping
from numbers import Number

from .. import options

WINDOWS = ("adapt_init_phase", "adapt_metric_window", "adapt_step_size")
# What options of `sample` are where they are not given.
_ADAPTATION: dict[str, object] = {"adapt_delta": 0.8, **dict.fromkeys(WINDOWS)}
_STEPS: dict[str, object] = {"max_treedepth": 10, "step_size": None, "metric": "auto", "inv_metric": None}
# The same of `optimize`, by the algorithms that do not heed them.
_TOLERANCES: dict[str, object] = {
    "tol_grad": 1e-8, "tol_rel_obj": 1e4, "tol_rel_grad": None, "tol_obj": None, "tol_param": None, "history_size": 5,
}  # fmt: skip
_OPTIMIZERS = {"newton": tuple(_TOLERANCES), "bfgs": ("history_size",)}


def of_sampler(given: Mapping[str, object]) -> None:
    """Raise OptionError for options of steps and warm-up where there are none, and of threads that run one by one."""
    if given["fixed_param"]:
        _refuse(given, {**_STEPS, **_ADAPTATION, "adapt_engaged": True}, "fixed_param=True: no chain takes a step")
    elif not given["adapt_engaged"]:
        _refuse(given, _ADAPTATION, "adapt_engaged=False")
    elif given["iter_warmup"] is not None and given["iter_warmup"] == 0:
        _refuse(given, _ADAPTATION, "iter_warmup=0")
    if given["chain_method"] in ("sequential", "vectorized"):
        _refuse(given, {"parallel_chains": 1}, f"chain_method={given['chain_method']!r}")
    if given["mesh"] is not None:
        _refuse(given, {"parallel_chains": 1}, "a mesh: chains run one after the other")


def of_optimizer(given: Mapping[str, object], algorithm: str) -> None:
    """Raise OptionError for those of another algorithm."""
    unused = {n: _TOLERANCES[n] for n in _OPTIMIZERS.get(algorithm, ())}
    _refuse(given, unused, f"algorithm={algorithm!r}")


def of_advi(given: Mapping[str, object], adapt_engaged: bool) -> None:
    """Raise OptionError for steps with each step size where one is given."""
    if not adapt_engaged:
        _refuse(given, {"adapt_iter": 50}, "adapt_engaged=False")


def of_laplace(mode: object, inits: object) -> None:
    """Raise OptionError for where to look for a mode that is given."""
    if mode is not None:
        _refuse({"inits": inits}, {"inits": None}, "a mode: none is looked for")


def of_guides(algorithm: str | None, guide: object) -> None:
    """Raise OptionError for a guide beside an algorithm that has its own."""
    if algorithm not in (None, "guide"):
        _refuse({"guide": guide}, {"guide": None}, f"algorithm={algorithm!r}")


def of_paths(draws: int, available: int, resample: bool) -> None:
    """Raise OptionError for more draws than there are, where each is returned once."""
    if not resample and draws > available:
        told = f"draws: with psis_resample=False there are {available}, num_single_draws of each of num_paths"
        raise options.OptionError(f"{told}, and not {draws}")


def _refuse(given: Mapping[str, object], usual: Mapping[str, object], beside: str) -> None:
    """Raise OptionError for the first option that is not what it is where it is not given."""
    for name, default in usual.items():
        value = given[name]
        if value is not None and not (isinstance(value, (Number, str)) and value == default):
            raise options.OptionError(f"{name} has no effect with {beside}")
