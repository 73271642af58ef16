"""Fits by NumPyro's stochastic variational inference of guides that train networks, or are given."""
from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpyro import handlers
from numpyro.infer import SVI, init_to_value

from stanlib.errors import StanTracingError
from stanlib.random.streams import key_of

from .. import options
from ..density import initial
from ..density.posterior import Posterior, transformed_data
from ..density.quantities import Batched
from ..density.seeding import seeded
from ..fits.fit import Fit
from ..modules import with_weights
from ..precision import TRACING, double_precision, is_key, numbers_of, random_keys
from ..programs import Program
from .automatic import fit_of, info_of, taken
from .automatic_steps import advanced, drawn, of_point, svi_of
from .guide_sites import require_drawn
from .numpyro_densities import constant, densities, sites_of
from .numpyro_guides import guide_class

_CONSTANT = "constant__"


def of_networks(posterior: Posterior, inits: Any, settings: Mapping[str, Any], show: bool) -> Fit:
    """An automatic guide of the point on the unconstrained scale, for a density whose networks are trained with it."""
    options.require_parameters(posterior.program.name, posterior.size)
    options.require_several(settings["algorithm"], posterior.size)
    start = initial.starting_points(posterior, inits, 1, settings["seed"])[0]
    # the weights of networks are parameters inside of the density, which are trained
    model = partial(of_point, posterior.size, posterior.log_density)
    guide = guide_class(settings["algorithm"])(model, init_loc_fn=init_to_value(values={"point": start}))
    params, losses = _train(model, guide, {}, settings, show)
    trained = copy.copy(posterior)
    trained.module, trained.made = with_weights(posterior.module, params), {}
    key = random_keys(settings["seed"], 7, count=1)[0]
    draw = partial(drawn, guide, settings["draws"])
    points, log_q = (np.asarray(v) for v in Program(draw, key, params, hasty=True)(key, params))
    log_p = np.asarray(Program(jax.vmap(trained.log_density), points)(points))
    weights = {n: w for n, w in params.items() if n.removesuffix("$params") in posterior.program.networks}
    info = {"params": _in_numpy(weights)} if weights else {}
    return fit_of(trained, points, (log_p, log_q), params.get("auto_loc"), losses, settings, info)


def explicit(module: Any, data: Mapping[str, Any], guide: Callable[..., Any], settings: Mapping[str, Any],
             show: bool, khat: bool) -> Fit:  # fmt: skip
    """A guide with parameters of its own, perhaps networks.

    Args:
        khat: whether to evaluate the densities of posterior and guide at the draws.
    """
    inputs = transformed_data(module, data, settings["seed"])
    params, losses = _train(module.model, guide, inputs, settings, show)
    trained = with_weights(module, params)
    posterior = Posterior(trained, inputs)

    def one(key: jax.Array, _: Any) -> dict[str, Any]:
        keys = [key_of(key, i) for i in range(2)]
        given = jax.tree.map(jnp.asarray, params)  # states of networks change in place
        fixed = handlers.substitute(partial(guide, **inputs), data=given)
        trace = handlers.trace(seeded(fixed, keys[0])).get_trace()
        parameters = _parameters(trace, posterior)
        made = parameters | {_CONSTANT: constant(posterior.at(parameters))}
        made |= densities(trace, posterior) if khat else {}
        with handlers.substitute(data=given):  # networks that are functions with parameters of their own
            return made | posterior.generate(keys[1], parameters)

    count = settings["draws"]
    made = Batched(one, np.zeros(()), count).told_of(random_keys(settings["seed"], 8, count=count), np.zeros(count))
    stats: dict[str, np.ndarray] = {n: made.pop(n)[None] for n in ("lp__", "log_p__", "log_q__") if n in made}
    losses = losses - made.pop(_CONSTANT)[0]
    variables = {n: v[None] for n, v in made.items()}
    info = info_of(losses, settings) | {"params": _in_numpy(params)}
    return Fit(module.stan, "variational", variables, stats, inputs, settings, info, trained)


def _parameters(trace: Mapping[str, Any], posterior: Posterior) -> dict[str, Any]:
    """The parameters that a guide has drawn, by site. Raises StanError where it leaves some out."""
    require_drawn(sites_of(trace), posterior.names)
    return {n: trace[n]["value"] for n in posterior.names}


def _train(model: Any, guide: Any, inputs: Mapping[str, Any], settings: Mapping[str, Any],
           show: bool) -> tuple[Any, np.ndarray]:  # fmt: skip
    """The guide's parameters and the losses of all steps."""
    svi = svi_of(partial(model, **inputs), partial(guide, **inputs), settings)
    state = _initialized(svi, random_keys(settings["seed"], 9, count=1)[0])
    program = Program(partial(advanced, svi), state, np.int64(1), hasty=True)
    state, losses = taken(program, state, settings, show)
    with double_precision():
        found = {**svi.get_params(state), **(state.mutable_state or {})}
        return jax.tree.map(lambda x: x if is_key(x) else np.asarray(x), found), losses


def _in_numpy(params: Any) -> Any:
    """Weights and states as NumPy's arrays, random keys as the numbers in them."""
    return jax.tree.map(lambda x: np.asarray(numbers_of(x)), params)


def _initialized(svi: SVI, key: np.ndarray) -> object:
    """The state before the first step, by one compiled program where the model and the guide can be traced."""
    try:
        return Program(lambda key: svi.init(key), key, hasty=True)(key)
    except (jax.errors.JAXTypeError, StanTracingError):
        with TRACING, double_precision():
            return svi.init(key)
