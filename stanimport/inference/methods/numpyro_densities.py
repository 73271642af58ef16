"""The densities of a NumPyro guide and of the posterior at what the guide draws."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
from numpyro.distributions import Delta, Independent, MaskedDistribution, biject_to

from stanlib.ppl.numpyro.priors import log_share

from ..density.posterior import Posterior, is_term
from .guide_sites import Site, has_density, size_of


def sites_of(trace: Mapping[str, Any]) -> list[Site]:
    """The sample sites of a guide's trace."""
    return [_site(s) for s in trace.values() if s["type"] == "sample"]


def _site(site: Mapping[str, Any]) -> Site:
    law = site["fn"]
    while isinstance(law, (Independent, MaskedDistribution)):
        law = law.base_dist
    is_point = isinstance(law, Delta)
    return Site(site["name"], 0 if site["is_observed"] else _size(site), is_point, site["is_observed"])


def _size(site: Mapping[str, Any]) -> int:
    """How many unconstrained numbers a site draws."""
    return size_of(biject_to(site["fn"].support).inverse_shape(site["fn"].shape()))


def log_density(trace: Mapping[str, Any]) -> Any:
    """The log density of the values in a trace, by what their sampling left: not every flow can be inverted."""
    total = jnp.zeros(())
    for site in trace.values():
        if site["type"] == "sample":
            left = site["intermediates"]
            terms = site["fn"].log_prob(site["value"], left) if left else site["fn"].log_prob(site["value"])
            total = total + jnp.sum(terms) * (1.0 if site["scale"] is None else site["scale"])
    return total


def densities(trace: Mapping[str, Any], posterior: Posterior) -> dict[str, Any]:
    """The log densities of posterior and guide at a draw, on the unconstrained scale, by their names in `stats`.

    Nothing where the guide's sites don't tell its density.
    """
    if not has_density(sites_of(trace), posterior.names):
        return {}
    point, inside = posterior.unconstrain({n: trace[n]["value"] for n in posterior.names}, posterior.blank)
    allowed = jnp.stack([jnp.ones((), bool), *inside.values()]).all()
    point = jnp.where(allowed, point, posterior.blank)
    log_p = jnp.where(allowed, posterior.log_density(point), -jnp.inf)
    jacobian = jnp.where(allowed, posterior.trace(point)[1], 0.0)
    return {"lp__": log_p, "log_p__": log_p, "log_q__": log_density(trace) + jacobian}


def constant(trace: Mapping[str, Any]) -> Any:
    """What Stan's log density has beyond that of a model's trace, as priors are normalised: a constant of the data."""
    total = jnp.zeros(())
    for site in trace.values():
        if site["type"] == "sample" and not site["is_observed"]:
            law = site["fn"]
            own = jnp.broadcast_to(log_share(law), law.batch_shape) if is_term(site) else -law.log_prob(site["value"])
            total = total + jnp.sum(own) * (1.0 if site["scale"] is None else site["scale"])
    return total
