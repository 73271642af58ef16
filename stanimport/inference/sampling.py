"""`sample`: draws from the posterior by NUTS."""
from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import partial
from numbers import Real
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from stanlib.errors import StanDataError
from stanlib.extras import require

from . import background, initial, interrupts, journals, options, remembered, resumption
from .data import read_data
from .devices import mesh_of
from .fit import Fit
from .journals import Run
from .labels import labelled
from .metrics import metrics_of
from .modules import module_of, restored
from .precision import new_seed
from .quantities import DrawProcessor, together
from .samplers import chains as chains_of
from .samplers import control
from .samplers.chains import Draws
from .samplers.nuts import NutsSampler, results_of, room_for
from .samplers.tracks import Settings

if TYPE_CHECKING:
    from .posterior import Posterior

METHODS = (*options.OWN_METHODS, "numpyro", "blackjax", "nutpie")


class DivergenceWarning(RuntimeWarning):
    """Transitions of the sampler diverged: its draws may be biased."""


@options.suggesting
@background.optional
@labelled
@resumption.resuming
def sample(
    module: Any, data: Any = None, *, chains: int | None = 4, parallel_chains: int | None = None, seed: Any = None,
    inits: Any = None, iter_warmup: int | None = 1000, iter_sampling: int | None = 1000, save_warmup: bool = False,
    thin: int | None = 1, max_treedepth: int | None = 10, metric: Any = "auto", step_size: Any = None,
    adapt_engaged: bool = True, adapt_delta: float | None = 0.8, fixed_param: bool = False,
    show_progress: bool = False, method: str = "nuts", chain_method: str | None = None,
    restart_stranded: bool = True, chain_ids: Any = None, inv_metric: Any = None, adapt_init_phase: int | None = None,
    adapt_metric_window: int | None = None, adapt_step_size: int | None = None,
    networks: Mapping[str, Any] | None = None, resume: Any = None,
    journal: Any = None, blocking: bool = True, mesh: Any = None, threads_per_chain: int | None = None,
) -> Fit:  # fmt: skip
    """Draw from the posterior by the no-U-turn sampler.

    Args:
        module: a translated module, or the path of a Stan program. For a module of the Pyro backend, Pyro samples.
        data: the program's data: a dict, a path of a JSON or R dump file, or anything with columns.
        chains: how many Markov chains.
        parallel_chains: how many run at the same time; the number of cores if None.
        seed: of all random numbers; a new one, kept in `fit.seed`, if None; a list has one for each chain.
        inits: None for uniform(-2, 2) on the unconstrained scale; another radius; a dict of values, which need not
            name all parameters; the path of such a JSON file, or of a saved fit; another fit; a list with one of
            these for each chain; or "pathfinder".
        iter_warmup, iter_sampling: iterations of each chain.
        save_warmup: keep the draws of the warm-up.
        thin: keep every how many-th draw.
        max_treedepth: of a trajectory.
        metric: "auto", "low_rank", or Stan's "diag_e", "dense_e", "unit_e", or the inverse metric to start from: an
            array, a dict with "inv_metric", or the path of such a JSON file; a list has one for each chain, as has
            `fit.metric`. "auto" learns from draws and gradients: a matrix for up to 64 parameters where the posterior
            is nearly normal, else the diagonal, by more windows than "diag_e" has. With other samplers it is "diag_e".
            "low_rank" learns likewise the diagonal and up to 16 directions: for many correlated parameters.
        step_size: to start from, or to keep if there is no adaptation; a list has one for each chain.
        adapt_engaged: whether warm-up adapts step size and metric.
        adapt_delta: the mean acceptance statistic that the step size is adapted to.
        fixed_param: don't sample: only generated quantities, at the inits. So it is for a program without parameters.
        show_progress: show how far the chains are: a table if rich is installed, else a bar.
        method: the sampler: "nuts" or "walnuts", this package's own; NumPyro's NUTS; or if they are installed that of
            "blackjax" or "nutpie". WALNUTS divides its steps where the posterior is narrow: for funnels, hierarchies
            with few data and heavy tails, where NUTS diverges or is biased.
        chain_method: how chains run: "parallel" in a thread each, on all devices in turn; "vectorized" in
            one program on each device; "sequential". If None, "parallel" on a CPU, else "vectorized".
        restart_stranded: let chains begin anew, elsewhere, whose steps shrink to nothing during warm-up at densities
            far below the other chains', or that end it in a place that holds next to nothing of the posterior.
            `fit.restarts` tells which. Only chains with random initial values do, of the methods "nuts" and
            "walnuts", and none after warm-up. Chains in another mode stay there.
        chain_ids: numbers of the chains, from 1 if None; the first one, if it is an integer. Chains of one seed with
            other numbers draw other random numbers, so that they may run in several processes.
        inv_metric: the same as an array for `metric`, which then only names the kind.
        adapt_init_phase, adapt_metric_window, adapt_step_size: iterations of warm-up before the windows in which the
            metric is learned, in the first of them, and after the last. If None 75, 25 and 50.
        networks: those that the program declares, by name, trained before: their weights stay as they are.
        resume: a fit of the method "nuts" or "walnuts" whose chains go on where they ended, the file that it was saved
            in, or the journal of a run. Data and options that are not given are the run's; others can't be given, but
            for `iter_sampling`, which is that of the whole run, and for how chains run. The draws, those made before
            among them, are to the last bit those of one run that was as long, or was not interrupted.
        journal: a new folder to which the draws of "nuts" or "walnuts" go while they are made, with where each chain
            stands: after a crash `resume` goes on from there, and `Fit.load` reads what is there. Large arrays of
            the fit are maps of files there: memory need not hold them.
        blocking: wait for the fit. If False, a `Sampling` is returned at once, which tells how far the chains are,
            gives the draws so far as a fit, waits, and ends the run.
        mesh: a `jax.sharding.Mesh` whose devices, in this process or several, share the rows of the data: each has its
            part of them, and the log density is summed over all. Draws differ by rounding alone. Chains run one after
            the other.
        threads_per_chain: how many threads share the rows of large data: a mesh of so many CPU devices of JAX, which
            must not run yet, or have as many. Data of few rows, and those of recurrences, have one thread.

    An option that is None has its default.

    Returns:
        The fit. After an interrupt (Ctrl-C) it holds the draws made so far.

    Raises:
        StanDataError: for data that are not as declared.
        InitialValueError: if no initial value was found; it names the statement.
        OptionError, TypeError: for options that are wrong.
        NotEnoughMemoryError: if memory, or the disk of a journal, has no room for the draws.
        StanError: if a mesh can't share the rows, for they need the ones before or are too few.
        KeyboardInterrupt: after an interrupt before the first draw.

    Source: Hoffman and Gelman (2014), "The No-U-Turn Sampler", Journal of Machine Learning Research 15; Bou-Rabee,
    Carpenter, Kleppe and Liu (2025), "The Within-Orbit Adaptive Leapfrog No-U-Turn Sampler", arXiv:2506.18746.

    Examples:
        >>> coin = stanimport.load("models/coin.stan")
        >>> data = {"flips": 8, "heads": [1, 1, 0, 1, 1, 0, 1, 1]}
        >>> fit = stanimport.sample(coin, data, seed=1)
        >>> round(float(fit.stan_variable("bias").mean()), 1)  # of a beta(8, 4): 2 / 3
        0.7
        >>> fit.draws().shape[:2]
        (1000, 4)
    """
    chosen = _checked(dict(locals()))
    if resume is not None:
        chosen |= resumption.start_of(resume, chosen)
    translated, given = module_of(module, networks), read_data(data)
    if translated.stan.backend == "pyro":
        require("torch", "pyro", extra="pyro")
        from .pyro_methods import sample as sample_by_pyro

        _refuse_several(chosen | {"method": "pyro"}, None)
        if mesh is not None or (chosen["threads_per_chain"] or 1) > 1:
            raise options.OptionError("mesh and threads_per_chain: Pyro's sampler runs on one device")
        with interrupts.immediate():
            return _warned(sample_by_pyro(translated, given, _recorded(chosen)))
    chosen["mesh"] = _devices(given, chosen)
    kept = len(range(0, chosen["iter_sampling"], chosen["thin"])) - chosen.get("earlier", 0)
    key = _key(translated, given, chosen, chosen["chains"] * kept)
    posterior = _posterior(translated, given, chosen["seed"], key)
    if chosen["mesh"] is not None and not posterior.divide(chosen["mesh"], needed=mesh is not None):
        chosen["mesh"] = None
    if fixed_param or posterior.size == 0:
        if chosen["journal"] is not None:
            raise options.OptionError("journal: no chain is drawn, so there is nothing to go on with")
        return _fixed(posterior, chosen)
    if resume is not None:
        resumption.check(resume, translated, posterior.inputs)
        if isinstance(resume, Fit) and not kept:
            return resume
    return _warned(_finish(posterior, chosen, *_draw(posterior, chosen, kept, key)))


_DEFAULTS = {"chains": 4, "iter_warmup": 1000, "iter_sampling": 1000, "thin": 1, "max_treedepth": 10}
_LESS = ("Fewer draws (iter_sampling, thin, chains) need less, journal='folder' puts them into files, and a program "
         "need not declare at its top level what only it itself needs: variables in { } are not kept")  # fmt: skip
_WINDOWS = ("adapt_init_phase", "adapt_metric_window", "adapt_step_size")


def _checked(given: Mapping[str, Any]) -> dict[str, Any]:
    """The options with their defaults in the place of None, and the streams of random numbers of the chains.

    Raises:
        OptionError: for one that is wrong.
    """
    chosen = dict(given)
    for name, default in _DEFAULTS.items():
        chosen[name] = options.whole(name, given[name], default, 0 if name.startswith("iter_") else 1)
    if not chosen["iter_warmup"] + chosen["iter_sampling"]:
        raise options.OptionError("iter_warmup and iter_sampling are both 0: there is nothing to do")
    for name in ("parallel_chains", "threads_per_chain", *_WINDOWS):
        if given[name] is not None:
            chosen[name] = options.whole(name, given[name], 0, int(name not in _WINDOWS))
    chosen["adapt_delta"] = 0.8 if given["adapt_delta"] is None else given["adapt_delta"]
    options.between(0, 1, adapt_delta=chosen["adapt_delta"])
    options.one_of("method", chosen["method"], METHODS)
    options.one_of("chain_method", chosen["chain_method"] or "parallel", ("parallel", "vectorized", "sequential"))
    sizes = options.for_chains("step_size", given["step_size"], chosen["chains"])
    for size in sizes:
        if size is not None and not (isinstance(size, Real) and float(size) > 0):
            raise options.OptionError(f"step_size must be positive, not {size!r}")
    chosen["step_size"] = sizes[0] if len(set(sizes)) == 1 else tuple(float(s) for s in sizes)
    chosen["metric"] = _metric_option(given["metric"], given["inv_metric"])
    if given["journal"] is not None:
        chosen["journal"] = Path(given["journal"])
        journals.require_new(chosen["journal"])
    return chosen | _streams(given["seed"], given["chain_ids"], chosen["chains"])


def _metric_option(metric: Any, inv_metric: Any) -> Any:
    """What `metric` and `inv_metric` give together."""
    metric = "auto" if metric is None else metric
    if isinstance(metric, str) and not metric.endswith(".json"):
        options.one_of("metric", metric, options.OWN_METRICS)
        return metric if inv_metric is None else inv_metric
    if inv_metric is not None:
        raise options.OptionError("metric and inv_metric both give an inverse metric: one of them is enough")
    return metric


def _streams(seed: Any, ids: Any, chains: int) -> dict[str, Any]:
    """The seed of what all chains share, the numbers of the chains, and the streams of their random numbers.

    Raises:
        OptionError: for seeds or numbers that are none, or of another count.
    """
    given = [options.whole("seed", s, 0, 0) for s in options.for_chains("seed", seed, chains)]
    if np.ndim(ids) == 0:
        first = options.whole("chain_ids", ids, 1)
        numbers_of = [*range(first, first + chains)]
    else:
        numbers_of = [options.whole("chain_ids", i, 1) for i in options.for_chains("chain_ids", ids, chains)]
    if len(set(numbers_of)) < chains:
        raise options.OptionError(f"chain_ids must be different, not {numbers_of}")
    one = new_seed() if seed is None else given[0]
    seeds = [one] * chains if np.ndim(seed) == 0 else given
    shared = one
    if np.ndim(seed) or numbers_of[0] != 1:  # other chains, other random numbers for what is computed of them
        shared = int(np.random.SeedSequence([*seeds, *numbers_of]).generate_state(1)[0] % 2**31)
    streams = [(s, i - 1) for s, i in zip(seeds, numbers_of)]
    return {"seed": shared, "chain_ids": numbers_of, "chain_seeds": seeds, "streams": streams}


def _recorded(chosen: Mapping[str, Any]) -> dict[str, Any]:
    """The options that a fit keeps."""
    left_out = ("module", "data", "inits", "show_progress", "streams", "inv_metric", "networks", "resume", "standing",
                "earlier", "journal", "blocking", "mesh")  # fmt: skip
    out = {n: v for n, v in chosen.items() if n not in left_out}
    out["metric"] = chosen["metric"] if isinstance(chosen["metric"], str) else "given"
    return out | {"show_progress": bool(chosen["show_progress"]), "inits": chosen["inits"]}


def _posterior(module: ModuleType, data: Mapping[str, Any], seed: int, key: bytes | None) -> Any:
    """The posterior that is remembered, else the one that is made now."""

    def condition() -> Posterior:
        from .posterior import condition  # only now: it loads NumPyro

        return condition(module, data, seed)

    return remembered.find(module, key, results_of, condition) or condition()


def _devices(data: Mapping[str, Any], chosen: Mapping[str, Any]) -> Any:
    """The mesh whose devices are to share the rows of the data; None for one device, and for few rows in threads."""
    threads = chosen["threads_per_chain"]
    if chosen["mesh"] is None and (threads or 1) > 1:
        from .blocks.density import has_many_rows

        if not has_many_rows({n: np.asarray(v) for n, v in data.items() if np.ndim(v)}):
            return None
    return mesh_of(chosen["mesh"], threads, chosen["method"], chosen["chain_method"])


def _key(module: ModuleType, data: Mapping[str, Any], chosen: Mapping[str, Any], count: int) -> bytes | None:
    """By what the posterior is remembered with what it takes to sample it; None if it is not remembered."""
    devices, lanes, _ = chains_of.layout(chosen["chains"], chosen["chain_method"], chosen["parallel_chains"])
    if chosen["fixed_param"] or chosen["method"] not in options.OWN_METHODS or lanes or [*devices] != [None]:
        return None
    if chosen["mesh"] is not None:
        return None
    metric = chosen["metric"]
    if not isinstance(metric, str) or metric not in options.OWN_METRICS:
        return None
    seed = chosen["seed"] if "_rng" in module.stan.source else None  # which transformed data may depend on
    program = chosen["method"], metric, room_for(chosen["max_treedepth"]), together(count)
    return remembered.key_of(module, data, *program, seed)


def _draw(posterior: Any, chosen: Mapping[str, Any], kept: int, key: bytes | None) -> tuple[Draws, DrawProcessor]:
    """The draws on the unconstrained scale; the program for all other variables compiles meanwhile."""
    start, own = _sampler_of(posterior, chosen)
    reads = control.current().stop.is_set()  # only what a journal holds already
    folder = None if reads or chosen["journal"] is None else chosen["journal"] / "draws"
    processor = DrawProcessor(posterior, chosen["chains"] * kept, folder, _LESS)
    if "standing" in chosen:
        points = chosen["standing"][0].point
    else:
        points = initial.starting_points(posterior, chosen["inits"], chosen["chains"], chosen["streams"])
    control.current().finish = lambda draws: _finish(posterior, chosen, draws, processor.in_memory())
    draws = start(points)
    if own is not None and not isinstance(posterior, remembered.Remembered):
        (bound,), batched = own.programs, processor.batched
        remembered.keep(key, posterior, bound.program, bound.constants, batched.program, batched.shapes, batched.batch)
    return draws, processor


def _finish(posterior: Any, chosen: Mapping[str, Any], draws: Draws, processor: DrawProcessor) -> Fit:
    """The fit, with what was drawn in an earlier run that this one continues."""
    fit = fit_of(posterior, draws, processor, _recorded(chosen), chosen.get("earlier", 0))
    return fit if chosen["resume"] is None else resumption.whole(chosen["resume"], fit)


def _sampler_of(posterior: Any, chosen: Mapping[str, Any]) -> tuple[Callable[[np.ndarray], Draws], NutsSampler | None]:
    """A function from starting points to draws, whose compilation has begun; and the sampler, if it is our own."""
    metric = metrics_of(chosen["metric"], posterior.size, chosen["chains"], chosen["method"])
    _refuse_several(chosen, metric.start)
    settings = Settings(
        **{n: chosen[n] for n in ("method", "iter_warmup", "iter_sampling", "thin", "adapt_delta", "max_treedepth",
                                  "adapt_engaged")},
        save_warmup=chosen["save_warmup"] and "standing" not in chosen,
        **metric.settings, step_size=chosen["step_size"] or 1.0, restart=chosen["restart_stranded"],
        init_phase=chosen["adapt_init_phase"], metric_window=chosen["adapt_metric_window"],
        last_phase=chosen["adapt_step_size"], earlier=chosen.get("earlier", 0),
    )  # fmt: skip
    if chosen["method"] in ("blackjax", "nutpie"):
        from . import other_samplers

        run = getattr(other_samplers, f"run_{chosen['method']}")
        return lambda points: run(posterior, settings, points, chosen["seed"], metric.start), None
    devices, lanes, workers = chains_of.layout(chosen["chains"], chosen["chain_method"], chosen["parallel_chains"],
                                               chosen["mesh"] is not None)  # fmt: skip
    sampler: chains_of.Sampler
    own: NutsSampler | None = None
    if chosen["method"] == "numpyro":
        from .samplers.numpyro_nuts import NumpyroSampler

        posterior.value_and_grad  # noqa: B018  (its compilation is the first to begin: it is waited for first)
        sampler = NumpyroSampler(posterior, settings, lanes, metric.start, devices)
    else:
        recorded, journal = _recorded(chosen), chosen["journal"]
        ready = (posterior.sampler, posterior.constants) if isinstance(posterior, remembered.Remembered) else None
        sampler = own = NutsSampler(
            lambda point, _: posterior.log_density(point), posterior.size, settings, lanes, metric.start, devices,
            ready=ready, elsewhere=partial(_elsewhere, posterior, chosen), standing=chosen.get("standing"),
            journal=journal and journals.begin(journal, posterior, recorded, settings, lanes),
        )  # fmt: skip
        posterior.__dict__["value_and_grad"] = own.value_and_grad  # one program less to compile
    show, streams = chosen["show_progress"], chosen["streams"]
    return lambda points: chains_of.run(sampler, points, streams, workers, show), own


def _refuse_several(chosen: Mapping[str, Any], metric: Any) -> None:
    """Raise OptionError for options that only the package's own methods have, for every chain or at all."""
    if chosen["method"] in options.OWN_METHODS:
        return
    several = {"step_size": isinstance(chosen["step_size"], tuple), "metric": isinstance(metric, list)}
    several |= {name: chosen[name] is not None for name in (*_WINDOWS, "journal")}
    for name, wrong in several.items():
        if wrong:
            method = chosen["method"]
            raise options.OptionError(f"method={method!r} does not take this {name}: that needs method='nuts'")


def _elsewhere(posterior: Posterior, chosen: Mapping[str, Any], chain: int, attempt: int) -> np.ndarray | None:
    found: np.ndarray | None = initial.another_point(posterior, chosen["inits"], chosen["streams"], chosen["chains"],
                                                     chain, attempt)  # fmt: skip
    return found


def fit_of(
    posterior: Posterior, draws: Draws, processor: DrawProcessor, settings: Mapping[str, Any], earlier: int = 0
) -> Fit:  # fmt: skip
    """The fit with all variables of the program at the points drawn, behind so many of earlier draws."""
    variables = processor(draws.points, settings["seed"], earlier)
    warmup = None
    if draws.warmup is not None:
        points, stats = draws.warmup
        folder = processor.folder and processor.folder.with_name("warmup")
        process = DrawProcessor(posterior, points.shape[0] * points.shape[1], folder)
        warmup = process(points, settings["seed"] + 1), stats
    kept = {n: v for n, v in settings.items() if n not in ("inits", "show_progress")}
    info = {"step_size": draws.step_size, "metric": draws.metric, "interrupted": draws.interrupted,
            "restarts": draws.restarts, "times": draws.times}  # fmt: skip
    if draws.standing is not None:
        info |= draws.standing.arrays()
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
                      DivergenceWarning, stacklevel=7)  # fmt: skip
    elif divergent:
        warnings.warn(f"{divergent} of {fit.num_draws} transitions diverged; fit.diagnose() tells what to do",
                      DivergenceWarning, stacklevel=7)  # fmt: skip
    return fit


def posterior_of(
    module: Any, data: Any, seed: int | None, networks: Mapping[str, Any] | None = None
) -> tuple[Posterior, int]:
    """The posterior of a module or path of any backend, for methods that run on NumPyro; and the seed."""
    from .modules import for_numpyro
    from .posterior import condition

    chosen = new_seed() if seed is None else int(seed)
    translated: ModuleType = for_numpyro(module_of(module, networks))
    return condition(translated, read_data(data), chosen), chosen


def so_far(folder: Path) -> Fit:
    """The draws that all chains of a journal have made, also while they run.

    Raises:
        StanDataError: for a folder that holds no journal, or one without draws.
    """
    run, ended = Run(folder), control.Control()
    ended.end()
    try:
        with ended.active():
            fit: Fit = sample(restored(run.program), resume=run)
    except KeyboardInterrupt:
        raise StanDataError(f"{folder}: holds no draws of every chain yet") from None
    return fit
