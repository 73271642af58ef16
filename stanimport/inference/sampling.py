"""`sample`: draws from the posterior by NUTS."""
from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from stanlib.errors import StanDataError

from . import initial, interrupts, options, remembered
from .data import read_data
from .fit import Fit
from .labels import labelled
from .modules import module_of
from .precision import new_seed
from .quantities import DrawProcessor, together
from .samplers import chains as chains_of
from .samplers.chains import Draws, Settings
from .samplers.nuts import NutsSampler, results_of, room_for

if TYPE_CHECKING:
    from .posterior import Posterior

METHODS = ("nuts", "numpyro", "blackjax", "nutpie")
METRICS = ("diag_e", "dense_e", "unit_e")


class DivergenceWarning(RuntimeWarning):
    """Transitions of the sampler diverged: its draws may be biased."""


@labelled
@options.suggesting
def sample(
    module: Any, data: Any = None, *, chains: int = 4, parallel_chains: int | None = None, seed: int | None = None,
    inits: Any = None, iter_warmup: int = 1000, iter_sampling: int = 1000, save_warmup: bool = False, thin: int = 1,
    max_treedepth: int = 10, metric: Any = "diag_e", step_size: float | None = None, adapt_engaged: bool = True,
    adapt_delta: float = 0.8, fixed_param: bool = False, show_progress: bool = False, method: str = "nuts",
    chain_method: str | None = None, restart_stranded: bool = True,
) -> Fit:  # fmt: skip
    """Draw from the posterior by the no-U-turn sampler.

    Args:
        module: a translated module, or the path of a Stan program. For a module of the Pyro backend, Pyro samples.
        data: the program's data: a dict, a path of a JSON or R dump file, or anything with columns.
        chains: how many Markov chains.
        parallel_chains: how many run at the same time; the number of cores if None.
        seed: of all random numbers; a new one, kept in `fit.seed`, if None.
        inits: None for uniform(-2, 2) on the unconstrained scale; another radius; a dict of values, which need not
            name all parameters; the path of such a JSON file; a list with one of these for each chain; another
            fit; or "pathfinder".
        iter_warmup, iter_sampling: iterations of each chain.
        save_warmup: keep the draws of the warm-up.
        thin: keep every how many-th draw.
        max_treedepth: of a trajectory.
        metric: "diag_e", "dense_e", "unit_e", or the inverse metric to start from: an array, a dict with
            "inv_metric", or the path of such a JSON file.
        step_size: to start from, or to keep if there is no adaptation.
        adapt_engaged: whether warm-up adapts step size and metric.
        adapt_delta: the mean acceptance statistic that the step size is adapted to.
        fixed_param: don't sample: only generated quantities, at the inits. So it is for a program without parameters.
        show_progress: draw a progress bar.
        method: whose sampler: "nuts", this package's own; NumPyro's; or if they are installed "blackjax" or "nutpie".
        chain_method: how chains run: "parallel" in a thread each, on all devices in turn; "vectorized" in
            one program on each device; "sequential". If None, "parallel" on a CPU, else "vectorized".
        restart_stranded: let chains begin anew, elsewhere, whose step size collapses during warm-up at densities far
            below the other chains'. `fit.restarts` tells which. Only chains with random initial values do, of the
            method "nuts", and none after warm-up. Chains in another mode stay there.

    Returns:
        The fit. After an interrupt (Ctrl-C) it holds the draws made so far.

    Raises:
        StanDataError: for data that are not as declared.
        InitialValueError: if no initial value was found; it names the statement.
        OptionError, TypeError: for options that are wrong.
        KeyboardInterrupt: after an interrupt before the first draw.

    Source: Hoffman and Gelman (2014), "The No-U-Turn Sampler", Journal of Machine Learning Research 15.

    Examples:
        >>> coin = stanimport.load("models/coin.stan")
        >>> data = {"flips": 8, "heads": [1, 1, 0, 1, 1, 0, 1, 1]}
        >>> fit = stanimport.sample(coin, data, seed=1)
        >>> round(float(fit.stan_variable("bias").mean()), 1)  # of a beta(8, 4): 2 / 3
        0.7
        >>> fit.draws().shape[:2]
        (1000, 4)
    """
    chosen = dict(locals())
    _check(chosen)
    translated, given = module_of(module), read_data(data)
    chosen["seed"] = new_seed() if seed is None else int(seed)
    if translated.stan.backend == "pyro":
        from .pyro_methods import sample as sample_by_pyro

        with interrupts.immediate():
            return _warned(sample_by_pyro(translated, given, _recorded(chosen)))
    kept = len(range(0, iter_sampling, thin))
    key = _key(translated, given, chosen, chains * kept)
    posterior = _posterior(translated, given, chosen["seed"], key)
    if fixed_param or posterior.size == 0:
        return _fixed(posterior, chosen)
    draws, processor = _draw(posterior, chosen, kept, key)
    return _warned(fit_of(posterior, draws, processor, _recorded(chosen)))


def _check(chosen: Mapping[str, Any]) -> None:
    options.at_least(1, **{n: chosen[n] for n in ("chains", "iter_sampling", "thin", "max_treedepth")})
    options.at_least(0, iter_warmup=chosen["iter_warmup"])
    options.between(0, 1, adapt_delta=chosen["adapt_delta"])
    options.one_of("method", chosen["method"], METHODS)
    options.one_of("chain_method", chosen["chain_method"] or "parallel", ("parallel", "vectorized", "sequential"))
    if chosen["step_size"] is not None and not chosen["step_size"] > 0:
        raise options.OptionError(f"step_size must be positive, not {chosen['step_size']!r}")
    if isinstance(chosen["metric"], str) and not chosen["metric"].endswith(".json"):
        options.one_of("metric", chosen["metric"], METRICS)


def _recorded(chosen: Mapping[str, Any]) -> dict[str, Any]:
    """The options that a fit keeps."""
    out = {n: v for n, v in chosen.items() if n not in ("module", "data", "inits", "show_progress")}
    out["metric"] = chosen["metric"] if isinstance(chosen["metric"], str) else "given"
    return out | {"show_progress": bool(chosen["show_progress"]), "inits": chosen["inits"]}


def _posterior(module: ModuleType, data: Mapping[str, Any], seed: int, key: bytes | None) -> Any:
    """The posterior that is remembered, else the one that is made now."""

    def condition() -> Posterior:
        from .posterior import condition  # only now: it loads NumPyro

        return condition(module, data, seed)

    return remembered.find(module, key, results_of, condition) or condition()


def _key(module: ModuleType, data: Mapping[str, Any], chosen: Mapping[str, Any], count: int) -> bytes | None:
    """By what the posterior is remembered with what it takes to sample it; None if it is not remembered."""
    devices, lanes, _ = chains_of.layout(chosen["chains"], chosen["chain_method"], chosen["parallel_chains"])
    if chosen["fixed_param"] or chosen["method"] != "nuts" or lanes or [*devices] != [None]:
        return None
    metric = chosen["metric"]
    if not isinstance(metric, str) or metric not in METRICS:
        return None
    seed = chosen["seed"] if "_rng" in module.stan.source else None  # which transformed data may depend on
    program = metric == "dense_e", room_for(chosen["max_treedepth"]), together(count)
    return remembered.key_of(module, data, *program, seed)


def _draw(posterior: Any, chosen: Mapping[str, Any], kept: int, key: bytes | None) -> tuple[Draws, DrawProcessor]:
    """The draws on the unconstrained scale; the program for all other variables compiles meanwhile."""
    start, own = _sampler_of(posterior, chosen)
    processor = DrawProcessor(posterior, chosen["chains"] * kept)
    points = initial.starting_points(posterior, chosen["inits"], chosen["chains"], chosen["seed"])
    draws = start(points)
    if own is not None and not isinstance(posterior, remembered.Remembered):
        (bound,), batched = own.programs, processor.batched
        remembered.keep(key, posterior, bound.program, bound.constants, batched.program, batched.shapes, batched.batch)
    return draws, processor


def _sampler_of(posterior: Any, chosen: Mapping[str, Any]) -> tuple[Callable[[np.ndarray], Draws], NutsSampler | None]:
    """A function from starting points to draws, whose compilation has begun; and the sampler, if it is our own."""
    metric, dense, adapts = metric_of(chosen["metric"], posterior.size)
    settings = Settings(
        **{n: chosen[n] for n in ("iter_warmup", "iter_sampling", "thin", "adapt_delta", "max_treedepth",
                                  "adapt_engaged", "save_warmup")},
        dense=dense, adapt_metric=adapts, step_size=chosen["step_size"] or 1.0, restart=chosen["restart_stranded"],
    )  # fmt: skip
    if chosen["method"] in ("blackjax", "nutpie"):
        from . import other_samplers

        run = getattr(other_samplers, f"run_{chosen['method']}")
        return lambda points: run(posterior, settings, points, chosen["seed"], metric), None
    devices, lanes, workers = chains_of.layout(chosen["chains"], chosen["chain_method"], chosen["parallel_chains"])
    sampler: chains_of.Sampler
    own: NutsSampler | None = None
    if chosen["method"] == "numpyro":
        from .samplers.numpyro_nuts import NumpyroSampler

        posterior.value_and_grad  # noqa: B018  (its compilation is the first to begin: it is waited for first)
        sampler = NumpyroSampler(posterior, settings, lanes, metric, devices)
    else:
        ready = (posterior.sampler, posterior.constants) if isinstance(posterior, remembered.Remembered) else None
        sampler = own = NutsSampler(lambda point, _: posterior.log_density(point), posterior.size, settings, lanes,
                                    metric, devices, elsewhere=partial(_elsewhere, posterior, chosen), ready=ready)
        posterior.__dict__["value_and_grad"] = own.value_and_grad  # one program less to compile
    show, seed = chosen["show_progress"], chosen["seed"]
    return lambda points: chains_of.run(sampler, points, seed, workers, show), own


def _elsewhere(posterior: Posterior, chosen: Mapping[str, Any], chain: int, attempt: int) -> np.ndarray | None:
    found: np.ndarray | None = initial.another_point(posterior, chosen["inits"], chosen["seed"], chosen["chains"],
                                                     chain, attempt)  # fmt: skip
    return found


def metric_of(metric: Any, size: int) -> tuple[np.ndarray | None, bool, bool]:
    """The inverse metric to start from, whether it is dense, and whether it is adapted.

    Raises:
        OptionError, StanDataError: for one that does not fit.
    """
    if isinstance(metric, str) and metric in METRICS:
        return None, metric == "dense_e", metric != "unit_e"
    if isinstance(metric, (str, os.PathLike)):
        try:
            metric = json.loads(Path(metric).read_text(encoding="utf-8"))
        except (OSError, ValueError) as e:
            raise StanDataError(f"{metric}: no readable metric: {e}") from None
    if isinstance(metric, Mapping):
        if "inv_metric" not in metric:
            raise options.OptionError("a metric given as a dict must have the item inv_metric")
        metric = metric["inv_metric"]
    try:
        array = np.asarray(metric, float)
    except (TypeError, ValueError, OverflowError) as e:
        raise options.OptionError(f"the metric must hold numbers: {e}") from None
    if array.shape not in ((size,), (size, size)):
        raise options.OptionError(f"the metric must have shape ({size},) or ({size}, {size}), not {array.shape}")
    if not _is_positive(array):
        raise options.OptionError("the metric must be finite and positive, a matrix symmetric and positive definite")
    return array, array.ndim == 2, True


def _is_positive(metric: np.ndarray) -> bool:
    """Whether an inverse metric, its diagonal or the matrix, is that of a kinetic energy."""
    if not np.all(np.isfinite(metric)):
        return False
    if metric.ndim == 1:
        return bool(np.all(metric > 0))
    return bool(np.allclose(metric, metric.T) and np.all(np.linalg.eigvalsh(metric) > 0))


def fit_of(posterior: Posterior, draws: Draws, processor: DrawProcessor, settings: Mapping[str, Any]) -> Fit:
    """The fit with all variables of the program at the points drawn."""
    variables = processor(draws.points, settings["seed"])
    warmup = None
    if draws.warmup is not None:
        points, stats = draws.warmup
        warmup = (DrawProcessor(posterior, points.shape[0] * points.shape[1])(points, settings["seed"] + 1), stats)
    kept = {n: v for n, v in settings.items() if n not in ("inits", "show_progress")}
    info = {"step_size": draws.step_size, "metric": draws.metric, "interrupted": draws.interrupted,
            "restarts": draws.restarts}  # fmt: skip
    return Fit(posterior.program, "sample", variables, draws.stats, posterior.inputs, kept, info, posterior.module,
               warmup)  # fmt: skip


def _fixed(posterior: Posterior, chosen: Mapping[str, Any]) -> Fit:
    """Generated quantities at fixed parameters, all draws independent."""
    chains, count, seed = chosen["chains"], len(range(0, chosen["iter_sampling"], chosen["thin"])), chosen["seed"]
    points = np.zeros((chains, 0))
    if posterior.size:
        points = initial.starting_points(posterior, chosen["inits"], chains, seed)
    repeated = np.repeat(points[:, None], count, axis=1)
    processor = DrawProcessor(posterior, chains * count)
    stats = {"lp__": np.zeros((chains, count)), "accept_stat__": np.zeros((chains, count))}
    draws = Draws(repeated, stats, np.full(chains, np.nan), np.ones((chains, posterior.size)))
    return fit_of(posterior, draws, processor, _recorded(chosen))


def _warned(fit: Fit) -> Fit:
    """Warn of transitions that diverged."""
    divergent = 0 if fit.divergences is None else int(fit.divergences.sum())
    if divergent == fit.num_draws > 0:
        warnings.warn("every transition diverged: these are no draws from the posterior; fit.diagnose() tells more",
                      DivergenceWarning, stacklevel=5)  # fmt: skip
    elif divergent:
        warnings.warn(f"{divergent} of {fit.num_draws} transitions diverged; fit.diagnose() tells what to do",
                      DivergenceWarning, stacklevel=5)  # fmt: skip
    return fit


def posterior_of(module: Any, data: Any, seed: int | None) -> tuple[Posterior, int]:
    """The posterior of a module or path of any backend, for methods that run on NumPyro; and the seed."""
    from .modules import for_numpyro
    from .posterior import condition

    chosen = new_seed() if seed is None else int(seed)
    translated: ModuleType = for_numpyro(module_of(module))
    return condition(translated, read_data(data), chosen), chosen
