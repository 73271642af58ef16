"""`variational` for modules of the Pyro backend: Pyro's SVI of automatic guides and of explicit ones."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyro
import torch
from pyro import poutine
from pyro.distributions import transforms
from pyro.infer import SVI, Trace_ELBO, autoguide

from stanlib.ppl.pyro.unchanging import evaluating

from .. import options
from ..fits.fit import Fit
from ..io.data import read_data
from ..modules import keeping_weights
from ..running.progress import Progress
from .convergence import PIECE, has_converged
from .guide_sites import require_drawn
from .pyro_densities import densities, known, sites_of
from .pyro_methods import Density, double_precision, learned, starts

if TYPE_CHECKING:
    from stanlib.program import Module

GUIDES = {
    "meanfield": autoguide.AutoDiagonalNormal, "fullrank": autoguide.AutoMultivariateNormal,
    "lowrank": autoguide.AutoLowRankMultivariateNormal,
}  # fmt: skip


def flow(kind: str) -> Callable[..., Any]:
    """The guide of a normalizing flow. Its constructor takes a model, and where to start, which a flow knows not."""
    makers = {"iaf": transforms.affine_autoregressive, "bnaf": transforms.block_autoregressive,
              "spline": transforms.spline_coupling}  # fmt: skip

    def made(model: object, init_loc_fn: object = None) -> Any:
        return autoguide.AutoNormalizingFlow(model, partial(transforms.iterated, 1, makers[kind]))

    return made


def guide_of(algorithm: str) -> Callable[..., Any]:
    """What makes the automatic guide of an algorithm."""
    found: Callable[..., Any] = GUIDES[algorithm] if algorithm in GUIDES else flow(algorithm)
    return found


def variational(
    module: Module, data: Any, guide: Any, inits: Any, settings: Mapping[str, Any], show: bool, khat: bool
) -> Fit:  # fmt: skip
    """Stochastic variational inference by Pyro, with an automatic guide or an explicit one.

    Args:
        khat: whether to evaluate the densities of posterior and guide at the draws of an explicit guide.
    """
    with double_precision(settings["seed"]), pyro.get_param_store().scope() as store:
        density = Density(module, read_data(data))
        if settings["algorithm"] == "guide":
            losses = _train(module.model, guide, density.inputs, settings, show)
            with evaluating(module.model.networks.values()):
                variables = density.told.stacked([_guided(density, guide, khat) for _ in range(settings["draws"])])
                losses = losses - _constant(density, guide)
            stats = {n: variables.pop(n) for n in ("lp__", "log_p__", "log_q__") if n in variables}
        else:
            points, log_q, losses = _automatic(density, inits, settings, show)
            with torch.no_grad(), evaluating(module.model.networks.values()):
                variables = density.variables(points)
                log_p = np.asarray([float(density(p)) for p in points])
            stats = {"lp__": log_p, "log_p__": log_p, "log_q__": log_q}
        params = learned()
    del store
    density.told.warn()
    info = {"converged": has_converged(losses, settings["tol_rel_obj"]), "params": params,
            "elbo": -np.asarray([losses[i : i + PIECE].mean() for i in range(0, len(losses), PIECE)])}  # fmt: skip
    return Fit(module.stan, "variational", {n: v[None] for n, v in variables.items()},
               {n: v[None] for n, v in stats.items()}, density.inputs, settings, info,
               keeping_weights(module, params))  # fmt: skip


def _automatic(
    density: Density, inits: Any, settings: Mapping[str, Any], show: bool
) -> tuple[torch.Tensor, np.ndarray, np.ndarray]:  # fmt: skip
    """Draws of the unconstrained vector from a normal law, their log densities, and the losses."""
    options.require_parameters(density.program.name, density.size)
    start = density.start(starts(inits, 1, settings["seed"])[0])
    density.verify_quantities(start)

    def model() -> None:
        law = pyro.distributions.Normal(torch.zeros(density.size), 1.0).mask(False).to_event(1)
        point = pyro.sample("point", law)
        pyro.factor("density", density(point))

    options.require_several(settings["algorithm"], density.size)
    guide = guide_of(settings["algorithm"])(model, init_loc_fn=autoguide.init_to_value(values={"point": start}))
    losses = _train(model, guide, {}, settings, show)
    with torch.no_grad():
        law = guide.get_posterior()
        points = law.sample((settings["draws"],))
        return points, law.log_prob(points).numpy(), losses


def _guided(density: Density, guide: Any, khat: bool) -> dict[str, object]:
    """All variables of one draw from an explicit guide, and densities there. Raises StanError if it draws not all."""
    with torch.no_grad():
        trace = poutine.trace(partial(guide, **density.inputs)).get_trace()
        require_drawn(sites_of(trace), density.names)
        made = density.everything({n: trace.nodes[n]["value"] for n in density.names})
        return made | (densities(trace, density) if khat else {})


def _constant(density: Density, guide: Any) -> float:
    """What Stan's log density has beyond the model's."""
    with torch.no_grad():
        return known(partial(density.module.model, **density.inputs), partial(guide, **density.inputs))[0]


def _train(model: Any, guide: Any, inputs: Mapping[str, Any], settings: Mapping[str, Any], show: bool) -> np.ndarray:
    """Fit the guide's parameters; the losses of all steps."""
    steps = settings["iter"]
    optimizer = pyro.optim.ExponentialLR({
        "optimizer": torch.optim.Adam, "optim_args": {"lr": settings["eta"]}, "gamma": 0.01 ** (1 / steps),
    })  # fmt: skip
    bound = Trace_ELBO(num_particles=settings["grad_samples"])
    svi = SVI(partial(model, **inputs), partial(guide, **inputs), optimizer, bound)
    losses = np.empty(steps)
    with Progress(steps, show) as progress:
        for i in range(steps):
            losses[i] = svi.step()
            optimizer.step()
            progress.advance(1, "optimizing the bound")
    return losses
