"""`variational`: stochastic variational inference with NumPyro's automatic guides, or a guide that is given."""
from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
from numpyro import distributions as dist
from numpyro import handlers
from numpyro.infer import SVI, Trace_ELBO, autoguide, init_to_value

from stanlib.errors import StanTracingError
from stanlib.extras import require
from stanlib.ppl.networks_numpyro import with_weights

from . import initial, interrupts, options, tuples
from .data import read_data
from .fit import Fit
from .labels import labelled
from .modules import module_of, with_networks
from .optimization import ConvergenceWarning
from .posterior import Posterior, condition, transformed_data
from .precision import TRACING, double_precision, new_seed, random_keys
from .programs import Program
from .progress import Progress
from .quantities import Batched, DrawProcessor

GUIDES = {
    "meanfield": autoguide.AutoDiagonalNormal, "fullrank": autoguide.AutoMultivariateNormal,
    "lowrank": autoguide.AutoLowRankMultivariateNormal,
}  # fmt: skip
PIECE = 100  # steps of one call of the compiled program


@labelled
@options.suggesting
def variational(
    module: Any, data: Any = None, *, seed: int | None = None, inits: Any = None, algorithm: str | None = None,
    guide: Any = None, iter: int = 10000, grad_samples: int = 1, eta: float = 0.1, tol_rel_obj: float = 0.01,
    draws: int = 1000, require_converged: bool = True, show_progress: bool = False,
    networks: Mapping[str, Any] | None = None,
) -> Fit:  # fmt: skip
    """Fit an approximation to the posterior by maximizing the evidence lower bound, and draw from it.

    Args:
        module, data, seed, inits: as for `sample`. For a module of the Pyro backend, Pyro fits it.
        algorithm: "meanfield", "fullrank" or "lowrank": a normal law of the unconstrained parameters; "guide": the
            program's own `guide` block. If None, "guide" where there is such a block, else "meanfield".
        guide: a guide function, taking what `module.transformed_data` returns, instead of an algorithm.
        iter: steps.
        grad_samples: draws for each gradient.
        eta: Adam's step size at the start; it falls to a hundredth of that.
        tol_rel_obj: the fit has converged if the bound's mean over the last tenth of the steps differs from that
            over the tenth before by less than this, relatively.
        draws: from the approximation.
        require_converged: raise an error if it has not; else warn.
        show_progress: draw a progress bar.
        networks: those that the program declares, by name. Their weights are trained, from where they are.

    Returns:
        The fit: independent draws. `fit.info` holds "converged", the "elbo" of every hundred steps, for an algorithm
        the variables at the "center" of the normal law, and for an explicit guide its parameters "params".
        `fit.networks` are the trained networks.

    Raises:
        StanDataError, InitialValueError, OptionError: as for `sample`.
        RuntimeError: without convergence, unless `require_converged` is false.

    Source: Kucukelbir, Tran, Ranganath, Gelman and Blei (2017), "Automatic Differentiation Variational Inference",
    Journal of Machine Learning Research 18.

    Examples:
        >>> coin = stanimport.load("models/coin.stan")
        >>> data = {"flips": 8, "heads": [1, 1, 0, 1, 1, 0, 1, 1]}
        >>> approximation = stanimport.variational(coin, data, seed=1)
        >>> round(float(approximation.stan_variable("bias").mean()), 1)
        0.7
    """
    options.at_least(1, iter=iter, grad_samples=grad_samples, draws=draws)
    translated, given = module_of(module, networks), read_data(data)
    chosen = new_seed() if seed is None else int(seed)
    own: Any = getattr(translated, "guide", None)
    algorithm = algorithm or ("guide" if guide is not None or own is not None else "meanfield")
    options.one_of("algorithm", algorithm, (*GUIDES, "guide"))
    settings = dict(seed=chosen, algorithm=algorithm, iter=iter, grad_samples=grad_samples, eta=eta, draws=draws,
                    tol_rel_obj=tol_rel_obj)  # fmt: skip
    if algorithm == "guide" and guide is None and own is None:
        raise options.OptionError("the program has no guide block: choose another algorithm, or give a guide")
    if translated.stan.backend == "pyro":
        require("torch", "pyro", extra="pyro")
        from .pyro_methods import variational as variational_by_pyro

        with interrupts.immediate():
            fit = variational_by_pyro(translated, given, guide or own, settings, show_progress)
    elif algorithm == "guide":
        fit = _explicit(translated, transformed_data(translated, given, chosen), guide or own, settings, show_progress)
    else:
        fit = _automatic(condition(translated, given, chosen), inits, settings, show_progress)
    _require(fit, require_converged)
    return fit


def _automatic(posterior: Posterior, inits: Any, settings: Mapping[str, Any], show: bool) -> Fit:
    """A normal law of the point on the unconstrained scale."""
    options.require_parameters(posterior.program.name, posterior.size)
    start = initial.starting_points(posterior, inits, 1, settings["seed"])[0]

    def model() -> None:
        law = dist.ImproperUniform(dist.constraints.real, (), (posterior.size,))
        point = numpyro.sample("point", law)
        numpyro.factor("density", handlers.block(posterior.log_density, hide_fn=_is_no_weight)(point))

    guide = GUIDES[settings["algorithm"]](model, init_loc_fn=init_to_value(values={"point": start}))
    processor = DrawProcessor(posterior, settings["draws"]) if not posterior.program.networks else None
    params, losses = _train(model, guide, {}, settings, show)
    if processor is None:
        posterior = copy.copy(posterior)
        posterior.module = _with_weights(posterior.module, params)
        processor = DrawProcessor(posterior, settings["draws"])
    points, log_q = _drawn(guide, params, settings)
    log_p = np.asarray(Program(jax.vmap(posterior.log_density), points)(points))
    stats = {"lp__": log_p[None], "log_p__": log_p[None], "log_q__": log_q[None]}
    weights = {n: w for n, w in params.items() if n.removesuffix("$params") in posterior.program.networks}
    center = processor(np.asarray(params["auto_loc"], float)[None, None], settings["seed"])
    info = _info(losses, settings) | {"center": {n: v[0, 0] for n, v in center.items()}}
    info |= {"params": jax.tree.map(np.asarray, weights)} if weights else {}
    return Fit(posterior.program, "variational", processor(points[None], settings["seed"]), stats, posterior.inputs,
               settings, info, posterior.module)  # fmt: skip


def _is_no_weight(site: Mapping[str, Any]) -> bool:
    """Whether a site inside of the density is none of a network's weights, which are trained."""
    return site["type"] not in ("param", "mutable")


def _with_weights(module: ModuleType, params: Mapping[str, Any]) -> ModuleType:
    """The module with its networks as they were trained."""
    trained = {n: params.get(f"{n}$params") for n in module.model.networks}
    known = {n: with_weights(module.model.networks[n], w) for n, w in trained.items() if w is not None}
    return with_networks(module, known)


def _drawn(guide: Any, params: Mapping[str, Any], settings: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Draws from an automatic guide, and their log densities."""

    def draw(key: Any, params: Any) -> tuple[Any, Any]:
        law = guide.get_posterior(params)
        points = law.sample(key, (settings["draws"],))
        densities = law.log_prob(points)  # of a mean-field guide one for each component
        return points, densities if law.event_shape else densities.sum(axis=-1)

    key = random_keys(settings["seed"], 7, count=1)[0]
    points, log_q = Program(draw, key, params)(key, params)
    return np.asarray(points), np.asarray(log_q)


def _explicit(module: Any, inputs: Mapping[str, Any], guide: Callable[..., Any], settings: Mapping[str, Any],
              show: bool) -> Fit:  # fmt: skip
    """A guide with parameters of its own, perhaps networks."""
    params, losses = _train(module.model, guide, inputs, settings, show)
    names, quantities = tuples.leaf_names(module.stan.parameters), module.stan.names("generated_quantities")
    wanted = {*quantities, *module.stan.names("transformed_parameters")}

    def one(key: Any, _: Any) -> dict[str, Any]:
        keys = jax.random.split(key)
        fixed = handlers.substitute(partial(guide, **inputs), data=params)
        trace = handlers.trace(handlers.seed(fixed, keys[0])).get_trace()
        parameters = {n: trace[n]["value"] for n in names}
        if not wanted:
            return parameters
        draw = {v.name: tuples.pack(v, parameters) for v in module.stan.parameters}
        quantities_of = handlers.substitute(partial(module.generated_quantities, **inputs, **draw), data=params)
        made = handlers.seed(quantities_of, keys[1])()
        return parameters | tuples.unpack({k: v for k, v in made.items() if k in wanted})

    count = settings["draws"]
    drawn = Batched(one, np.zeros(()), count)(random_keys(settings["seed"], 8, count=count), np.zeros(count))
    variables = {n: v[None] for n, v in drawn.items()}
    info = _info(losses, settings) | {"params": jax.tree.map(np.asarray, params)}
    return Fit(module.stan, "variational", variables, {}, inputs, settings, info, _with_weights(module, params))


def _train(model: Any, guide: Any, inputs: Mapping[str, Any], settings: Mapping[str, Any],
           show: bool) -> tuple[Any, np.ndarray]:  # fmt: skip
    """The guide's parameters and the losses of all steps."""
    steps = settings["iter"]
    optimizer = numpyro.optim.Adam(lambda i: settings["eta"] * 0.01 ** jnp.minimum(i / steps, 1.0))
    bound = Trace_ELBO(num_particles=settings["grad_samples"])
    svi = SVI(partial(model, **inputs), partial(guide, **inputs), optimizer, bound)
    key = random_keys(settings["seed"], 9, count=1)[0]

    def advance(state: Any, count: Any) -> tuple[Any, Any]:
        def body(i: Any, carry: tuple[Any, Any]) -> tuple[Any, Any]:
            state, loss = svi.update(carry[0])
            return state, carry[1].at[i].set(loss)

        made: tuple[Any, Any] = jax.lax.fori_loop(0, count, body, (state, jnp.zeros(PIECE)))
        return made

    state = _initialized(svi, key)
    program = Program(advance, state, np.int64(1))
    losses = []
    with Progress(steps, show) as progress:
        for start in range(0, steps, PIECE):
            count = min(PIECE, steps - start)
            state, some = program(state, np.int64(count))
            losses.append(np.asarray(some)[:count])
            progress.advance(count, "optimizing the bound")
    with double_precision():
        return jax.tree.map(np.asarray, svi.get_params(state)), np.concatenate(losses)


def _initialized(svi: SVI, key: np.ndarray) -> Any:
    """The state before the first step, by one compiled program where the model and the guide can be traced."""
    try:
        return Program(lambda key: svi.init(key), key)(key)
    except (jax.errors.JAXTypeError, StanTracingError):
        with TRACING, double_precision():
            return svi.init(key)


def _info(losses: np.ndarray, settings: Mapping[str, Any]) -> dict[str, Any]:
    return {"converged": has_converged(losses, settings["tol_rel_obj"]),
            "elbo": -np.asarray([losses[i : i + PIECE].mean() for i in range(0, len(losses), PIECE)])}  # fmt: skip


def has_converged(losses: np.ndarray, tolerance: float) -> bool:
    """Whether the loss changed by less than the tolerance, relatively, over the last fifth of the steps.

    What three standard errors of the two means explain counts as no change.
    """
    tenth = len(losses) // 10
    if tenth < 2:
        return False
    last, before = losses[-tenth:], losses[-2 * tenth : -tenth]
    noise = 3 * np.sqrt((last.var() + before.var()) / tenth)
    change = abs(last.mean() - before.mean())
    return bool(np.isfinite(change) and change <= tolerance * max(abs(last.mean()), 1.0) + noise)


def _require(fit: Fit, required: bool) -> None:
    if fit.info["converged"]:
        return
    message = "the evidence lower bound had not converged when the steps were used up"
    if required:
        raise RuntimeError(f"{message}: increase iter, change eta, or accept it with require_converged=False")
    warnings.warn(message, ConvergenceWarning, stacklevel=5)
