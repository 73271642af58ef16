"""What a fit's model says of its observations: their log densities, replications, and draws from the prior."""
from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from numpyro import handlers
from numpyro.distributions import Unit

from stanlib.errors import StanError

from . import tuples
from .modules import for_numpyro, restored
from .posterior import Posterior, log_prob
from .precision import TRACING, double_precision, random_keys
from .quantities import Batched

if TYPE_CHECKING:
    from .fit import Fit


def is_observation(site: Mapping[str, Any]) -> bool:
    """Whether a site is a `~` on data: a factor is none."""
    return site["type"] == "sample" and site["is_observed"] and not isinstance(site["fn"], Unit)


def posterior_of(fit: Fit) -> Posterior:
    """The posterior of a fit, on NumPyro."""
    return Posterior(for_numpyro(fit.module), fit.data)


def log_likelihood(fit: Fit) -> dict[str, np.ndarray]:
    """The log density of every observation, (chains, draws, ...), by observed site."""

    def densities(key: Any, trace: Mapping[str, Any]) -> dict[str, Any]:
        return {n: log_prob(s) for n, s in trace.items() if is_observation(s)}

    return _merged(_over_draws(fit, densities, 3), fit.program)


def posterior_predictive(fit: Fit) -> dict[str, np.ndarray]:
    """Replications of the observed data, (chains, draws, ...), by observed site, where all their laws can be drawn."""

    def replications(key: Any, trace: Mapping[str, Any]) -> dict[str, Any]:
        sites = {n: s for n, s in trace.items() if is_observation(s)}
        keys = jax.random.split(key, max(len(sites), 1))
        return {n: s["fn"].sample(k, _missing_axes(s)) for k, (n, s) in zip(keys, sites.items())}

    try:
        return _over_draws(fit, replications, 4)
    except (NotImplementedError, StanError):
        return {}


def _missing_axes(site: Mapping[str, Any]) -> tuple[int, ...]:
    """The axes of the data in front of those of the law: many observations of one scalar law."""
    shape, law = np.shape(site["value"]), tuple(site["fn"].shape())
    return tuple(shape[: len(shape) - len(law)])


def _over_draws(fit: Fit, function: Callable[[Any, Any], dict[str, Any]], stream: int) -> dict[str, np.ndarray]:
    """A function of the model's trace, for every draw of a fit."""
    posterior = posterior_of(fit)

    def one(key: Any, parameters: Mapping[str, Any]) -> dict[str, Any]:
        model = partial(posterior.module.model, **posterior.inputs)
        given = handlers.substitute(handlers.seed(model, key), data=dict(parameters))
        return function(key, handlers.trace(given).get_trace())

    chains, count = fit.chains, fit.draws_per_chain
    draws = {n: fit.stan_variable(n) for n in posterior.names}
    run = Batched(one, {n: v[0] for n, v in draws.items()}, chains * count)
    made = run(random_keys(fit.seed, stream, count=chains * count), draws)
    return {n: v.reshape(chains, count, *v.shape[1:]) for n, v in made.items()}


def _merged(sites: Mapping[str, np.ndarray], program: Any) -> dict[str, np.ndarray]:
    """Several statements on the same data (`y`, `y__2`) stay apart; every name without the suffix if it is free."""
    out: dict[str, np.ndarray] = {}
    for name, value in sites.items():
        plain = _variable(name, program)
        out[name if plain in out else plain] = value
    return out


def _variable(site: str, program: Any) -> str:
    """What a site is called after: a variable of the program may itself be called `y__2`."""
    return site if site in program.names("data") else re.sub(r"__\d+$", "", site)


def observed_names(fit: Fit) -> tuple[str, ...]:
    """The data variables that observed sites are named after."""
    try:
        posterior = posterior_of(fit)
        with TRACING, double_precision():
            names: list[str] = []
            jax.eval_shape(lambda p: names.extend(
                _variable(n, fit.program) for n, s in posterior.trace(p)[0].items() if is_observation(s)
            ), posterior.blank)  # fmt: skip
    except StanError:
        return ()
    data = fit.program.names("data")
    return tuple(n for n in dict.fromkeys(names) if n in data)


def prior(fit: Fit, chains: int = 1, draws: int = 500) -> dict[str, np.ndarray]:
    """Draws from the prior, (chains, draws, ...): where the mixed scheme gives every parameter a law to draw from."""
    try:
        module = restored(fit.program, backend="numpyro", scheme="mixed")
        names = tuples.leaf_names(fit.program.parameters)

        def one(key: Any, _: Any) -> dict[str, Any]:
            trace = handlers.trace(handlers.seed(partial(module.model, **fit.data), key)).get_trace()
            return {n: trace[n]["value"] for n in names} if _is_proper(trace) else {}

        run = Batched(one, np.zeros(()), chains * draws)
        made = run(random_keys(fit.seed, 5, count=chains * draws), np.zeros(chains * draws)) if run.shapes else {}
    except (NotImplementedError, StanError):
        return {}
    return {n: v.reshape(chains, draws, *v.shape[1:]) for n, v in made.items()}


def _is_proper(trace: Mapping[str, Any]) -> bool:
    """Whether no factor is left over that ties the parameters beside their laws."""
    return not any(s["type"] == "sample" and isinstance(s["fn"], Unit) for s in trace.values())
