"""The densities of a Pyro guide and of the posterior at what the guide draws."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from pyro import poutine
from pyro.distributions import Delta, Independent, MaskedDistribution
from torch.distributions import biject_to

from stanlib.errors import StanDataError
from stanlib.ppl.pyro.priors import log_share

from .guide_sites import Site, has_density, size_of
from .pyro_methods import Density, array


def sites_of(trace: Any) -> list[Site]:
    """The sample sites of a guide's trace, without the indices of subsamples."""
    sites = (s for s in trace.nodes.values() if s["type"] == "sample")
    return [_site(s) for s in sites if type(s["fn"]).__name__ != "_Subsample"]


def _site(site: Mapping[str, Any]) -> Site:
    law = site["fn"]
    while isinstance(law, (Independent, MaskedDistribution)):
        law = law.base_dist
    size = 0 if site["is_observed"] else size_of(biject_to(site["fn"].support).inverse_shape(site["fn"].shape()))
    return Site(site["name"], size, isinstance(law, Delta), site["is_observed"])


def constant(trace: Any) -> float:
    """What Stan's log density has beyond that of a model's trace, as priors are normalised: a constant of the data."""
    sites = [s for s in trace.nodes.values() if s["type"] == "sample" and not s["is_observed"]]
    return sum((float(s["scale"] * log_share(s["fn"])) for s in sites), start=0.0)


def known(model: Callable[..., Any], guide: Callable[..., Any], *inputs: Any) -> tuple[float, bool]:
    """What Stan's log density has beyond a model's, and whether the sites of its guide tell the guide's density."""
    drawn = poutine.trace(guide).get_trace(*inputs)
    trace = poutine.trace(poutine.replay(model, trace=drawn)).get_trace(*inputs)
    names = [n for n, s in trace.nodes.items() if s["type"] == "sample" and not s["is_observed"]]
    return constant(trace), has_density(sites_of(drawn), names)


def densities(trace: Any, density: Density) -> dict[str, np.ndarray]:
    """The log densities of posterior and guide at a draw, on the unconstrained scale, by their names in `stats`.

    Nothing where the guide's sites don't tell its density.
    """
    if not has_density(sites_of(trace), density.names):
        return {}
    trace.compute_log_prob()
    log_q = sum(float(s["log_prob_sum"]) for s in trace.nodes.values() if s["type"] == "sample")
    values = {n: array(trace.nodes[n]["value"]) for n in density.names}
    try:
        point = density.unconstrained(values, torch.zeros(density.size))
    except StanDataError:  # a draw outside of the domain
        return _named(-np.inf, log_q)
    log_p, log_jacobian = map(float, density.with_jacobian(point))
    return _named(log_p, log_q + log_jacobian)


def _named(log_p: float, log_q: float) -> dict[str, np.ndarray]:
    return {"lp__": np.asarray(log_p), "log_p__": np.asarray(log_p), "log_q__": np.asarray(log_q)}
