"""The options of `sample` as they were given: checked, with their defaults, and with what follows from them."""
from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from .. import options
from ..precision import Streams, new_seed, streams_of
from . import journals, unheeded
from .unheeded import WINDOWS

ENSEMBLES = ("chees", "meads")
METHODS = (*options.OWN_METHODS, *ENSEMBLES, "numpyro", "blackjax", "nutpie")
# What decides where and how visibly chains run, but not what they draw: a run that goes on may have its own.
HOW_CHAINS_RUN = frozenset({
    "resume", "parallel_chains", "chain_method", "show_progress", "networks", "mesh", "threads_per_chain",
})
_DEFAULTS = {"chains": 4, "iter_warmup": 1000, "iter_sampling": 1000, "thin": 1, "max_treedepth": 10}
_NOT_KEPT = ("inits", "show_progress", "inv_metric", "resume", "standing", "earlier", "journal", "mesh")


def checked(given: Mapping[str, Any]) -> dict[str, Any]:
    """The options with their defaults in the place of None, and the seeds and numbers of the chains.

    Raises:
        OptionError: for one that is wrong.
    """
    chosen = dict(given)
    for name, default in _DEFAULTS.items():
        chosen[name] = options.whole(name, given[name], default, 0 if name.startswith("iter_") else 1)
    if not chosen["iter_warmup"] + chosen["iter_sampling"]:
        raise options.OptionError("iter_warmup and iter_sampling are both 0: there is nothing to do")
    options.flags(**{n: given[n] for n in ("save_warmup", "adapt_engaged", "fixed_param", "restart_stranded")})
    for name in ("parallel_chains", "threads_per_chain", *WINDOWS):
        if given[name] is not None:
            chosen[name] = options.whole(name, given[name], 0, int(name not in WINDOWS))
    chosen["adapt_delta"] = 0.8 if given["adapt_delta"] is None else given["adapt_delta"]
    options.between(0, 1, adapt_delta=chosen["adapt_delta"])
    options.one_of("method", chosen["method"], METHODS)
    options.one_of("chain_method", chosen["chain_method"] or "parallel", ("parallel", "vectorized", "sequential"))
    chosen["step_size"] = _step_size(given["step_size"], chosen["chains"])
    for name in ("keep", "leave_out"):
        names = given[name]
        chosen[name] = [names] if isinstance(names, str) else None if names is None else list(names)
    chosen["metric"] = _metric_option(given["metric"], given["inv_metric"])
    unheeded.of_sampler(given)
    if given["journal"] is not None:
        chosen["journal"] = Path(given["journal"])
        journals.require_new(chosen["journal"])
    return chosen | _seeds(given["seed"], given["chain_ids"], chosen["chains"])


def _step_size(given: object, chains: int) -> object:
    """That of all chains, or where they differ those of each. Raises OptionError."""
    sizes = options.for_chains("step_size", given, chains)
    for size in sizes:
        if size is not None and (isinstance(size, bool) or not (isinstance(size, Real) and 0 < float(size) < np.inf)):
            raise options.OptionError(f"step_size must be positive and finite, not {size!r}")
    return sizes[0] if len(set(sizes)) == 1 else tuple(float(s) for s in sizes)


def _metric_option(metric: object, inv_metric: object) -> object:
    """What `metric` and `inv_metric` give together."""
    metric = "auto" if metric is None else metric
    if isinstance(metric, str) and not metric.endswith(".json"):
        options.one_of("metric", metric, options.OWN_METRICS)
        return metric if inv_metric is None else inv_metric
    if inv_metric is not None:
        raise options.OptionError("metric and inv_metric both give an inverse metric: one of them is enough")
    return metric


def _seeds(seed: Any, ids: Any, chains: int) -> dict[str, object]:
    """The numbers of the chains, the seed of each, and that of the first one, by which random transformed data are.

    So all chains of one seed have the same posterior, in whatever process they run.

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
    return {"seed": one, "chain_ids": numbers_of, "chain_seeds": [one] * chains if np.ndim(seed) == 0 else given}


def streams_of_run(chosen: Mapping[str, Any]) -> Streams:
    """The streams of the chains' random numbers: of one seed, by the chains' numbers."""
    return [(s, i - 1) for s, i in zip(chosen["chain_seeds"], chosen["chain_ids"])]


def seed_of_all(streams: Streams) -> int:
    """The seed of samplers that move all chains together: of other streams, other random numbers."""
    seed = streams[0][0]
    if streams == streams_of(seed, len(streams)):
        return seed
    return int(np.random.SeedSequence([n for stream in streams for n in stream]).generate_state(1)[0] % 2**31)


def recorded(chosen: Mapping[str, object]) -> dict[str, Any]:
    """The options that a fit keeps."""
    out = {n: v for n, v in chosen.items() if n not in _NOT_KEPT}
    out["metric"] = chosen["metric"] if isinstance(chosen["metric"], str) else "given"
    return out | {"show_progress": bool(chosen["show_progress"]), "inits": chosen["inits"]}
