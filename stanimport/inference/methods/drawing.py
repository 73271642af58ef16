"""The draws of `sample` by this package's sampler, NumPyro's, BlackJAX's or nutpie's, from options that are checked."""
from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from stanlib.errors import StanDataError

from .. import memory, options
from ..density import initial, remembered
from ..density.conditioned import keyed
from ..density.evaluation import Role
from ..density.quantities import DrawProcessor, quantities_role, together
from ..devices import mesh_of
from ..fits.result import Result
from ..io.data import read_data
from ..modules import restored
from ..rows import Points, Repeated
from ..samplers import chains as chains_of
from ..samplers import control
from ..samplers.chains import Draws, room_for
from ..samplers.metric import Kind
from ..samplers.nuts import NutsSampler
from ..samplers.tracks import Settings
from . import journals, resumption, stan_order
from .journals import Run
from .metrics import Choice, metrics_of
from .refusals import refuse
from .sampling_options import ENSEMBLES, checked, recorded, seed_of_all, streams_of_run

if TYPE_CHECKING:
    from stanlib.program import Module

    from ..density.posterior import Posterior

_LESS = ("Fewer draws (iter_sampling, thin, chains) need less, journal='folder' puts them into files, and a program "
         "need not declare at its top level what only it itself needs: variables in { } are not kept")  # fmt: skip
SAMPLER: Role = ("sampler",)
_OF_OTHERS = (*ENSEMBLES, "blackjax", "nutpie")


def drawn(module: Module, data: Mapping[str, Any], chosen: dict[str, Any]) -> Result:
    """The draws that the options ask for, in a run of its own or one that goes on.

    Raises:
        Errors of `sample`.
    """
    resume, asked = chosen["resume"], chosen["mesh"] is not None
    if resume is not None:
        chosen |= resumption.start_of(resume, chosen)
    chosen["mesh"] = _devices(data, chosen)
    kept = len(range(0, chosen["iter_sampling"], chosen["thin"])) - chosen.get("earlier", 0)
    key = _key(module, data, chosen, chosen["chains"] * kept)
    wanted = options.wanted(module.stan, chosen["keep"], chosen["leave_out"])
    needed = SAMPLER, quantities_role(chosen["chains"] * kept, wanted)
    posterior = keyed(module, data, chosen["seed"], key, needed)
    posterior.wanted = wanted
    if chosen["mesh"] is not None and not posterior.divide(chosen["mesh"], needed=asked):
        chosen["mesh"] = None
    if chosen["fixed_param"] or posterior.size == 0:
        if chosen["journal"] is not None:
            raise options.OptionError("journal: no chain is drawn, so there is nothing to go on with")
        return _fixed(posterior, chosen)
    if resume is not None:
        resumption.check(resume, module, posterior.inputs)
        if isinstance(resume, Result) and not kept:
            return resume
    draws, processor, own = _draw(posterior, chosen, kept)
    if own is not None and key is not None:
        _remember(posterior, own, needed)
    return _finish(posterior, chosen, draws, processor)


def _remember(posterior: Posterior, own: NutsSampler, needed: tuple[Role, Role]) -> None:
    """Let other processes find the posterior with what it was sampled by."""
    if not isinstance(posterior, remembered.Remembered):
        (bound,) = own.programs
        posterior.made[SAMPLER] = bound.program, [np.asarray(c) for c in bound.constants]
        remembered.keep(posterior, needed)


def so_far(folder: Path) -> Result:
    """The draws that all chains of a journal have made, also while they run.

    Raises:
        StanDataError: for a folder that holds no journal, or one without draws.
    """
    run, ended = Run(folder), control.Control()
    ended.end()
    try:
        with ended.active():
            data = read_data(resumption.data_of_run(run))
            return drawn(restored(run.program), data, checked(resumption.options_of(run)))
    except KeyboardInterrupt:
        raise StanDataError(f"{folder}: holds no draws of every chain yet") from None


def _devices(data: Mapping[str, Any], chosen: Mapping[str, Any]) -> object:
    """The mesh whose devices are to share the rows of the data; None for one device, and for few rows in threads."""
    threads = chosen["threads_per_chain"]
    if chosen["mesh"] is None and (threads or 1) > 1:
        from ..blocks.density import has_many_rows

        if not has_many_rows({n: np.asarray(v) for n, v in data.items() if np.ndim(v)}):
            return None
    return mesh_of(chosen["mesh"], threads, chosen["method"], chosen["chain_method"])


def _key(module: Module, data: Mapping[str, Any], chosen: Mapping[str, Any], count: int) -> bytes | None:
    """By what the posterior is remembered with what it takes to sample it; None if it is not remembered."""
    devices, lanes, _ = chains_of.layout(chosen["chains"], chosen["chain_method"], chosen["parallel_chains"])
    if chosen["fixed_param"] or chosen["method"] not in options.OWN_METHODS or lanes or [*devices] != [None]:
        return None
    if chosen["mesh"] is not None:
        return None
    metric = chosen["metric"]
    if not isinstance(metric, str) or metric not in options.OWN_METRICS:
        return None
    seed = chosen["seed"] if remembered.is_random(module) else None
    kept = chosen["keep"], chosen["leave_out"]
    program = chosen["method"], metric, room_for(chosen["max_treedepth"]), together(count), kept
    return remembered.key_of(module, data, *program, seed)


def _draw(
    posterior: Posterior, chosen: Mapping[str, Any], kept: int
) -> tuple[Draws, DrawProcessor, NutsSampler | None]:  # fmt: skip
    """The draws on the unconstrained scale, and what they are made by; the programs compile at the same time."""
    start, own = _sampler_of(posterior, chosen)
    reads = control.current().stop.is_set()  # only what a journal holds already
    folder = None if reads or chosen["journal"] is None else chosen["journal"] / "draws"
    processor = DrawProcessor(posterior, chosen["chains"] * kept, folder, _LESS)
    if "standing" in chosen:
        points = chosen["standing"][0].point
    else:
        points = initial.starting_points(posterior, chosen["inits"], chosen["chains"], streams_of_run(chosen))
    control.current().finish = lambda draws: _finish(posterior, chosen, draws, processor.in_memory())
    draws = start(points)
    if isinstance(draws.points, Points):  # many, of which the variables are to be made next
        memory.give_back()
    return draws, processor, own


def _finish(posterior: Posterior, chosen: Mapping[str, Any], draws: Draws, processor: DrawProcessor) -> Result:
    """The result, with what was drawn in an earlier run that this one continues."""
    found = result_of(posterior, draws, processor, recorded(chosen), chosen.get("earlier", 0))
    return found if chosen["resume"] is None else resumption.whole(chosen["resume"], found)


def _sampler_of(
    posterior: Posterior, chosen: Mapping[str, Any]
) -> tuple[Callable[[np.ndarray], Draws], NutsSampler | None]:
    """A function from starting points to draws, whose compilation has begun; and the sampler, if it is our own."""
    metric = _metric(posterior, chosen["metric"], chosen["chains"], chosen["method"])
    refuse(chosen["method"], chosen, metric)
    settings = _settings(chosen, metric.kind)
    if chosen["method"] in _OF_OTHERS:
        run = _runner(chosen["method"])
        return lambda points: run(posterior, settings, points, seed_of_all(streams_of_run(chosen)), metric.start), None
    devices, lanes, workers = chains_of.layout(chosen["chains"], chosen["chain_method"], chosen["parallel_chains"],
                                               chosen["mesh"] is not None)  # fmt: skip
    sampler: chains_of.Sampler[Any]
    own: NutsSampler | None = None
    if chosen["method"] == "numpyro":
        from ..samplers.numpyro_nuts import NumpyroSampler

        posterior.compile_gradient()  # the first to begin, since it is waited for first
        sampler = NumpyroSampler(posterior, settings, lanes, metric.start, devices)
    else:
        sampler = own = _own_sampler(posterior, chosen, settings, lanes, metric.start, devices)
    show, streams = chosen["show_progress"], streams_of_run(chosen)
    return lambda points: chains_of.run(sampler, points, streams, workers, show), own


def _metric(posterior: Posterior, metric: object, chains: int, method: str) -> Choice:
    """The metric that was asked for, its parameters in the order of points."""
    given = metrics_of(metric, posterior.size, chains, method)
    if given.start is None:
        return given
    of_chains = isinstance(given.start, list)
    start = stan_order.from_stan(posterior, given.start if of_chains else [given.start])
    return given._replace(start=list(start) if of_chains else start[0])


def _runner(method: str) -> Callable[..., Draws]:
    """What runs all chains of a sampler of another package, which is loaded only now."""
    if method in ENSEMBLES:
        from ..samplers import ensembles

        run: Callable[..., Draws] = getattr(ensembles, f"run_{method}")
    else:
        from ..samplers import other_samplers

        run = getattr(other_samplers, f"run_{method}")
    return run


def _settings(chosen: Mapping[str, Any], metric: Kind) -> Settings:
    """What a sampler is told of the options, with the kind of the metric."""
    alike = ("method", "iter_warmup", "iter_sampling", "thin", "adapt_delta", "max_treedepth", "adapt_engaged")
    return Settings(
        **{n: chosen[n] for n in alike}, save_warmup=chosen["save_warmup"] and "standing" not in chosen,
        metric=metric, step_size=chosen["step_size"] or 1.0, restart=chosen["restart_stranded"],
        init_phase=chosen["adapt_init_phase"], metric_window=chosen["adapt_metric_window"],
        last_phase=chosen["adapt_step_size"], earlier=chosen.get("earlier", 0),
    )  # fmt: skip


def _own_sampler(
    posterior: Posterior, chosen: Mapping[str, Any], settings: Settings, lanes: Any, start: Any, devices: Any
) -> NutsSampler:
    """The package's own sampler, which evaluates the posterior from here on."""
    own_settings, journal = recorded(chosen), chosen["journal"]
    ready, standing = posterior.entry(SAMPLER), chosen.get("standing")
    if standing is not None:
        standing = standing[0], stan_order.from_stan(posterior, standing[1])
    own = NutsSampler(
        lambda point, _: posterior.log_density(point), posterior.size, settings, lanes, start, devices,
        ready=ready, elsewhere=partial(_elsewhere, posterior, chosen), standing=standing,
        journal=journal and journals.begin(journal, posterior, own_settings, settings, lanes),
    )  # fmt: skip
    posterior.evaluate_by(own.value_and_grad)
    return own


def _elsewhere(posterior: Posterior, chosen: Mapping[str, Any], chain: int, attempt: int) -> np.ndarray | None:
    streams, chains = streams_of_run(chosen), chosen["chains"]
    found: np.ndarray | None = initial.another_point(posterior, chosen["inits"], streams, chains, chain, attempt)
    return found


def result_of(
    posterior: Posterior, draws: Draws, processor: DrawProcessor, settings: Mapping[str, Any], earlier: int = 0
) -> Result:  # fmt: skip
    """The result, with all variables of the program at the points drawn, behind so many of earlier draws."""
    variables = processor(draws.points, streams_of_run(settings), earlier)
    warmup = None
    if draws.warmup is not None:
        points, stats = draws.warmup
        folder = processor.folder and processor.folder.with_name("warmup")
        process = DrawProcessor(posterior, points.shape[0] * points.shape[1], folder, of="draws of the warm-up")
        warmup = process(points, [(s + 1, i) for s, i in streams_of_run(settings)]), stats
    kept = {n: v for n, v in settings.items() if n not in ("inits", "show_progress")}
    info = {"step_size": draws.step_size, "metric": stan_order.to_stan(posterior, draws.metric),
            "interrupted": draws.interrupted, "restarts": draws.restarts, "times": draws.times}  # fmt: skip
    if draws.standing is not None:
        info |= draws.standing.arrays()
    return Result(posterior.program, "sample", variables, draws.stats, posterior.inputs, kept, info, posterior.module,
               warmup)  # fmt: skip


def _fixed(posterior: Posterior, chosen: Mapping[str, Any]) -> Result:
    """Generated quantities at fixed parameters, all draws independent."""
    chains, count = chosen["chains"], len(range(0, chosen["iter_sampling"], chosen["thin"]))
    points = np.zeros((chains, 0))
    if posterior.size:
        points = initial.starting_points(posterior, chosen["inits"], chains, streams_of_run(chosen))
    processor = DrawProcessor(posterior, chains * count)
    stats = {"lp__": np.zeros((chains, count)), "accept_stat__": np.zeros((chains, count))}
    draws = Draws(Repeated(points, count), stats, np.full(chains, np.nan), np.ones((chains, posterior.size)))
    began = time.perf_counter()
    made = result_of(posterior, draws, processor, recorded(chosen))
    made.info["times"] = np.tile([0.0, (time.perf_counter() - began) / chains], (chains, 1))
    return made
