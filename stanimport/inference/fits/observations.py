"""What a fit's model says of its observations: their log densities, replications, and draws from the prior."""
from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from numpyro import handlers
from numpyro.distributions import Unit

from stanlib.errors import StanError
from stanlib.metadata import Program

from .. import tuples
from ..density.posterior import Posterior, log_prob
from ..density.quantities import Batched
from ..modules import anew, for_numpyro
from ..precision import TRACING, double_precision, random_keys
from .discrete import observing
from .replications import ReplicationWarning, Replicator, is_observation, over_draws, variable_of

if TYPE_CHECKING:
    from .result import Result


def posterior_of(fit: Result) -> Posterior:
    """The posterior of a fit, on NumPyro."""
    return Posterior(for_numpyro(fit.module), fit.data)


def log_likelihood(fit: Result) -> dict[str, np.ndarray]:
    """The log density of every observation, (chains, draws, ...), by observed site."""
    return _merged(log_densities(posterior_of(fit), fit.variables, fit.seed), fit.program)


def log_densities(posterior: Posterior, draws: Mapping[str, np.ndarray], seed: int) -> dict[str, np.ndarray]:
    """The same for draws of parameters, maybe given other data."""

    def densities(key: Any, trace: Mapping[str, Any]) -> dict[str, Any]:
        return {n: log_prob(s) for n, s in trace.items() if is_observation(s)}

    return over_draws(posterior, draws, densities, seed, 3)


def posterior_predictive(fit: Result) -> dict[str, np.ndarray]:
    """Replications of the observed data, (chains, draws, ...), by variable; a warning names those that can't be had."""
    try:
        posterior, discrete = observing(for_numpyro(fit.module), fit.data, fit.variables, fit.seed)
        replicator = Replicator(posterior.program, posterior.inputs)
        drawn = over_draws(posterior, fit.variables, replicator, fit.seed, 4, discrete)
    except StanError as e:
        _tell("no data were replicated", e)
        return {}
    made = replicator.together(drawn)
    if replicator.failed:
        warnings.warn(replicator.told(), ReplicationWarning, stacklevel=2)
    return made


def _tell(what: str, error: StanError) -> None:
    warnings.warn(f"{what}: {error}", ReplicationWarning, stacklevel=3)


def _merged(sites: Mapping[str, np.ndarray], program: Program) -> dict[str, np.ndarray]:
    """Several statements on the same data (`y`, `y__2`) stay apart; every name without the suffix if it is free."""
    out: dict[str, np.ndarray] = {}
    for name, value in sites.items():
        plain = variable_of(name, program)
        out[name if plain in out else plain] = value
    return out


def observed_names(fit: Result) -> tuple[str, ...]:
    """The data variables that observed sites are named after."""
    try:
        posterior = posterior_of(fit)
        with TRACING, double_precision():
            names: list[str] = []
            jax.eval_shape(lambda p: names.extend(
                variable_of(n, fit.program) for n, s in posterior.trace(p)[0].items() if is_observation(s)
            ), posterior.blank)  # fmt: skip
    except StanError as e:
        _tell("which data are observed is not known", e)
        return ()
    data = fit.program.names("data")
    return tuple(n for n in dict.fromkeys(names) if n in data)


def prior(fit: Result, chains: int = 1, draws: int = 500) -> dict[str, np.ndarray]:
    """Draws from the prior, (chains, draws, ...): where every parameter has a law to draw from."""
    try:
        module = anew(fit.module, backend="numpyro", scheme="simulation")
        names = tuples.leaf_names(fit.program.parameters)

        def one(key: Any, _: Any) -> dict[str, Any]:
            trace = handlers.trace(handlers.seed(partial(module.model, **fit.data), key)).get_trace()
            return {n: trace[n]["value"] for n in names} if _is_proper(trace) else {}

        run = Batched(one, np.zeros(()), chains * draws)
        made = run(random_keys(fit.seed, 5, count=chains * draws), np.zeros(chains * draws)) if run.shapes else {}
    except NotImplementedError:  # a parameter without a law to draw from
        return {}
    except StanError as e:
        _tell("there are no draws from the prior", e)
        return {}
    return {n: v.reshape(chains, draws, *v.shape[1:]) for n, v in made.items()}


def _is_proper(trace: Mapping[str, Any]) -> bool:
    """Whether no factor is left over that ties the parameters beside their laws."""
    return not any(s["type"] == "sample" and isinstance(s["fn"], Unit) for s in trace.values())
