"""`prior_predictive`: draws from the prior, and of the data that a model observes."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any, SupportsIndex

import jax.numpy as jnp
import numpy as np

from stanlib.data import StandIn
from stanlib.program import Module
from stanlib.rejection import gathering
from stanlib.sites import REJECTED
from stanlib.unknown_outcomes import unknown_outcomes

from ...errors import warn
from .. import options, tuples
from ..density.posterior import Posterior, condition
from ..io.data import read_data
from ..modules import POINTWISE, anew, module_of, observing_apart
from .dependence import are_read, depend, others_of, stood_in, with_computed
from .labels import labelled
from .predictions import (
    KEY,
    STREAM,
    DependsOnDataError,
    Predictions,
    lacking_of,
    names_of_transformed,
    observed_by,
    predicted,
)
from .prior_draws import PriorDraws, of_one_prior, prior_draws
from .replications import Arrays, ReplicationWarning, Trace, over_draws

__all__ = ["prior_predictive"]
AT_TOP = ["prior_predictive"]


@labelled
@options.suggesting
def prior_predictive(
    module: object, data: object = None, *, draws: SupportsIndex = 1000, seed: SupportsIndex | None = None,
    networks: Mapping[str, object] | None = None,
) -> Predictions:  # fmt: skip
    """Draws from the prior, and of the data that the program observes, before anything is learned from them.

    Args:
        module: a translated module of any scheme and backend, or the path of a Stan program.
        data: the program's data. What it observes need not be among them, unless the prior or sizes depend on it,
            or statements observe only a part of it: the other numbers stay as they are.
        draws: how many.
        seed: of the random numbers; a new one if None.
        networks: as for `sample`.

    Returns:
        The draws: `variables` of the data, `origin` of parameters and transformed parameters.

    Raises:
        StanError: where a parameter has no prior that can be drawn from; it names the parameter or statement.
        StanDataError: for data that are missing or not as declared.

    Examples:
        >>> coin = stanimport.load("models/coin.stan")
        >>> prior = stanimport.prior_predictive(coin, {"flips": 8}, draws=100, seed=1)
        >>> prior.stan_variable("heads").shape, prior.stan_variable("bias").shape
        ((100, 8), (100,))
    """
    draws = options.whole("draws", draws, 1000)
    translated, chosen = module_of(module, networks), options.seed_or_new(seed)
    return _from_prior(translated, read_data(data), draws, chosen)


def simulated_data(module: Module, given: Mapping[str, object], draws: int, seed: int) -> Predictions:
    """Draws from the prior, and of all data that the program observes: none depends on those that are given.

    Numbers of these that no statement observes stay as they are.

    Raises:
        DependsOnDataError: where draws from the prior, or those of the data, depend on data that are observed.
        StanError: where there are none from the prior.
    """
    made = _from_prior(module, given, draws, seed, alone=True)
    if made.given_data:
        drawn = " and ".join(made.variables)
        raise DependsOnDataError(f"draws of {drawn} are given the data that are there: {made.given_data}", drawn)
    return made


def _from_prior(
    module: Module, given: Mapping[str, object], draws: int, seed: int, alone: bool = False
) -> Predictions:  # fmt: skip
    """Draws from the prior, and of data; if `alone`, none that depend on what is observed."""
    lacking = lacking_of(module.stan, given)
    with unknown_outcomes(bool(lacking)):
        posterior = stood_in(anew(module, backend="numpyro", scheme="simulation"), given, lacking, seed)
        drawn = prior_draws(posterior, draws, seed)
        observed = _observed_among(posterior, given, lacking, drawn, seed) if lacking or alone else []
        names = [*lacking, *observed] if alone else lacking
        rejects_by_them = _is_rejected_by(posterior, names, drawn, seed)
        if not drawn.parameters:  # their number stands with these
            drawn = drawn._replace(parameters={"": np.zeros((1, draws))})
        drawing, posterior = posterior, _telling_apart(module, posterior, given, lacking, seed)
        made = predicted(posterior, "prior", drawn.parameters, lacking, seed, drawn.discrete)
        if rejects_by_them and _rejects_any(posterior, drawn, made.joint, seed):
            raise _prior_depends(names)
        if not alone:
            told = given.keys() & {*made.variables, *made.failed}
            _warn_of_priors_given(drawing, told, drawn, lambda: _rejects_any(posterior, drawn, made.joint, seed))
        values = tuples.joined(drawn.parameters)
        made.origin = {n: values[n] for n in tuples.leaf_names(module.stan.parameters) if n in values}
        made.origin |= _transformed(posterior, drawn, seed, made.joint)
    return made


def _observed_among(
    posterior: Posterior, given: Mapping[str, object], lacking: Sequence[str], drawn: PriorDraws, seed: int
) -> list[str]:  # fmt: skip
    """The data of those given that the program observes. Raises StanDataError for missing ones that it does not."""
    observed = observed_by(posterior, {n: v[0, 0] for n, v in posterior.of_draws(drawn.parameters).items()})
    if any(np.size(posterior.inputs[n]) for n in lacking if n not in observed):  # those without components are known
        condition(posterior.module, {n: v for n, v in given.items()} | {n: StandIn(0) for n in observed}, seed)
    return sorted(observed & given.keys())


def _warn_of_priors_given(
    posterior: Posterior, observed: Set[str], drawn: PriorDraws, rejects: Callable[[], bool]
) -> None:  # fmt: skip
    """Tell of parameters whose laws depend on what is observed, otherwise than by transformed data, which are given.

    So may depend on it which draws the program `rejects`, beside what is drawn of the data.
    """
    if not _depends(of_one_prior(posterior), posterior, observed):
        return
    if drawn.in_place or _depends(_of_prior_alone(posterior), posterior, observed) or rejects():
        told = "draws from the prior, or which of them the program rejects, are given the data that are there"
        warn(f"{told}: they depend on {' and '.join(sorted(observed))}", ReplicationWarning)


def _telling_apart(
    module: Module, posterior: Posterior, given: Mapping[str, object], lacking: Sequence[str], seed: int
) -> Posterior:  # fmt: skip
    """The posterior whose model observes data one by one, where there is one: none draws discrete parameters beside."""
    apart = module if module.stan.discrete_parameters else observing_apart(module)
    return stood_in(apart, given, lacking, seed) if apart.stan.scheme == POINTWISE else posterior


def _is_rejected_by(posterior: Posterior, names: Sequence[str], drawn: PriorDraws, seed: int) -> bool:
    """Whether the program may reject draws from the prior by some data.

    Raises:
        DependsOnDataError: where draws depend on these otherwise, or some are rejected whatever is drawn of the data.
    """
    if not are_read(posterior.module, {*names}):
        return False
    unknown = with_computed(posterior, names, others_of(posterior, names, seed))
    if not _depends(of_one_prior(posterior), posterior, unknown):
        return False
    if drawn.in_place or _depends(_of_prior_alone(posterior), posterior, unknown):
        raise _prior_depends(names)
    return True


def _depends(draw: Callable[..., dict[str, Any]], posterior: Posterior, unknown: Set[str]) -> bool:
    """Whether one draw from the prior, by a key, depends on some inputs of the model."""
    return are_read(posterior.module, unknown) and depend(posterior, unknown, draw, KEY, np.zeros(()))


def _of_prior_alone(posterior: Posterior) -> Callable[[object, object], dict[str, Any]]:
    """One draw from the prior by a key, without whether the program rejects it."""
    of_prior = of_one_prior(posterior)
    return lambda key, at: {n: v for n, v in of_prior(key, at).items() if n != REJECTED}


def _rejects_any(posterior: Posterior, drawn: PriorDraws, outcomes: Arrays, seed: int) -> bool:
    """Whether the program rejects any draws from the prior beside what is drawn of the data."""
    with gathering():
        flags = over_draws(posterior, drawn.parameters, _flags, seed, STREAM, drawn.discrete, outcomes)
    return any(bool(v.any()) for v in flags.values())


def _prior_depends(names: Sequence[str]) -> DependsOnDataError:
    told = f"the draws from the prior, or which of them the program rejects, depend on {' and '.join(names)}"
    return DependsOnDataError(f"{told}, which must be among the data", names[0])


def _flags(_: object, trace: Trace) -> dict[str, Any]:
    """Whether the program rejects, of a trace that tells."""
    return {REJECTED: jnp.any(trace[REJECTED]["fn"].log_factor == -jnp.inf)} if REJECTED in trace else {}


def _transformed(posterior: Posterior, drawn: PriorDraws, seed: int, outcomes: Arrays) -> dict[str, np.ndarray]:
    """Transformed parameters for draws of the parameters, as they were where the data were drawn, and of these."""
    wanted = names_of_transformed(posterior)
    if not wanted:
        return {}

    def taken(_: object, trace: Trace) -> dict[str, Any]:
        return {n: s["value"] for n, s in trace.items() if n in wanted}

    return over_draws(posterior, drawn.parameters, taken, seed, STREAM, drawn.discrete, outcomes)
