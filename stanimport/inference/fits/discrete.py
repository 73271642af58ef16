"""Discrete parameters given the draws of the continuous ones: marginal probabilities, and most probable values."""
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from stanlib.discrete.asking import Question, asking
from stanlib.discrete.problem import Variable
from stanlib.errors import StanError

from ..density.posterior import Posterior, condition, is_term, log_prob
from ..density.quantities import Batched
from ..modules import anew, for_numpyro
from ..options import suggestion
from ..precision import TRACING, double_precision, random_keys

if TYPE_CHECKING:
    from stanlib.program import Module

    from .result import Result


def probabilities(fit: Result, name: str) -> np.ndarray:
    """The marginal probabilities of a discrete parameter, the mean over a fit's draws; see `Fit`."""
    posterior, draws = _given(fit, name)
    variable = _seen(posterior, draws, name)
    zeros = np.zeros((variable.lower.size, variable.values))

    def marginal(key: jax.Array, draw: Mapping[str, object]) -> dict[str, object]:
        return {name: jax.grad(lambda added: _density(posterior, draw, {name: added}))(zeros)}

    found = _of_draws(marginal, draws)[name].mean(axis=0)
    return np.asarray(found.reshape(*variable.shape, variable.values))


def modes(fit: Result, name: str) -> np.ndarray:
    """The values of a discrete parameter in the most probable joint assignment, for each draw; see `Fit`."""
    posterior, draws = _given(fit, name)

    def mode(key: jax.Array, draw: dict[str, Any]) -> dict[str, object]:
        with asking(Question(mode=True)):
            return {name: posterior.generate(key, draw)[name]}

    return np.asarray(_of_draws(mode, draws)[name])


def observing(
    module: Module, inputs: Mapping[str, object], draws: Mapping[str, np.ndarray], seed: int
) -> tuple[Posterior, dict[str, np.ndarray]]:
    """A posterior whose model observes the data given discrete parameters, and the draws of these.

    Args:
        module: on NumPyro.
        inputs: data, and transformed data.
        draws: of all variables of a fit, (chains, draws, ...) each.
        seed: of random transformed data that there are no inputs for.

    Raises:
        StanError: where draws are missing, or statements about discrete parameters are no laws.
    """
    names = [v.name for v in module.stan.discrete_parameters]
    if not names:
        return Posterior(module, inputs), {}
    if missing := [n for n in names if n not in draws]:
        raise StanError(f"{module.stan.name} predicts no data: there are no draws of {', '.join(missing)}")
    drawing = anew(module, backend="numpyro", scheme="simulation")
    known = condition(drawing, {n: inputs[n] for n in drawing.stan.names("data") if n in inputs}, seed).inputs
    own = {n: inputs.get(n, v) for n, v in known.items()}
    return Posterior(drawing, own), {n: np.asarray(draws[n]).astype(int) for n in names}


def _given(fit: Result, name: str) -> tuple[Posterior, dict[str, np.ndarray]]:
    """The posterior that a fit is of, and the draws of its parameters, (draws, ...) each."""
    known = [v.name for v in fit.program.discrete_parameters]
    if name not in known:
        raise ValueError(f"there is no discrete parameter {name!r}{suggestion(name, known)}")
    fit.require_draws()
    fit.require_data()
    module = for_numpyro(fit.module)
    data = {n: fit.data[n] for n in module.stan.names("data") if n in fit.data}
    posterior = condition(module, data, fit.seed)
    draws = posterior.of_draws(fit.variables)
    return posterior, {n: v.reshape(v.shape[0] * v.shape[1], *v.shape[2:]) for n, v in draws.items()}


def _density(posterior: Posterior, draw: Mapping[str, object], added: Mapping[str, object]) -> jax.Array:
    """The log density at a draw, with numbers added to the terms of single elements."""
    with asking(Question(added)):
        trace = posterior.at(draw)
    return sum((jnp.sum(log_prob(site)) for site in trace.values() if is_term(site)), start=jnp.zeros(()))


def _seen(posterior: Posterior, draws: dict[str, np.ndarray], name: str) -> Variable:
    """The parameter as its elements are summed out."""
    question = Question()
    with TRACING, double_precision(), asking(question):
        jax.eval_shape(lambda d: posterior.at(d) and None, {n: v[0] for n, v in draws.items()})
    return question.seen[name]


def _of_draws(function: Any, draws: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    count = len(next(iter(draws.values()))) if draws else 0
    run = Batched(function, {n: v[0] for n, v in draws.items()}, count)
    return run(random_keys(0, 3, count=count), draws)

