"""Draws of parameters from their priors: by the laws that the scheme "simulation" finds for them."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import numpy as np
from numpyro.distributions import LKJ, Dirichlet, Distribution, ProjectedNormal, Unit

from stanlib.errors import StanError
from stanlib.ppl.numpyro.distributions import Improper
from stanlib.program import Program

from ..density.posterior import Posterior, is_parameter
from ..density.quantities import Batched
from ..modules import drawn_integers
from ..precision import random_keys


class NoPriorError(StanError):
    """A program has no prior that can be drawn from; the message names the parameter or statement."""


def prior_draws(posterior: Posterior, count: int, seed: int) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Draws of the parameters by their laws, and of the discrete ones that they came with, (1, draws, ...) each.

    A law may depend on discrete parameters, which the model draws: both are of one run of it.

    Raises:
        NoPriorError: where a parameter has no law that can be drawn from, and for terms that are none of a law.
    """
    program, whole = posterior.program, drawn_integers(posterior.program)

    def one(key: Any, _: Any) -> dict[str, Any]:
        drawn: dict[str, Any] = {}

        def draw(site: dict[str, Any]) -> Any:
            if not is_parameter(site):
                return None
            drawn[site["name"]] = _drawn(site, jax.random.fold_in(key, len(drawn)), program)
            return drawn[site["name"]]

        trace = posterior.with_values(draw, key)
        _require_laws(trace, program)
        return drawn | {n: trace[n]["value"] for n in whole}

    made = Batched(one, np.zeros(()), count)(random_keys(seed, 5, count=count), np.zeros(count))
    discrete = {n: made.pop(n)[None] for n in whole}
    return {n: v[None] for n, v in made.items()}, discrete


def _drawn(site: Mapping[str, Any], key: Any, program: Program) -> Any:
    """A draw from the law of a parameter. Raises NoPriorError, with the reason, where it has none to draw from."""
    law = site["fn"]
    try:
        if not isinstance(law, Improper) or law.drawn is not None:
            return law.sample(key)
    except NotImplementedError:
        pass
    if isinstance(law, Improper) and (uniform := _uniform_on(law)) is not None:
        return uniform.sample(key)
    if not isinstance(law, Improper):
        reason = f"has a prior ({type(law).__name__}) without draws"
    elif law.undrawn is not None:
        reason = f"has no proper prior: its law {law.undrawn}"
    else:
        reason = "has no proper prior"
    raise NoPriorError(f"{program.name} can't be drawn from its prior: parameter {site['name']} {reason}")


def _uniform_on(law: Improper) -> Distribution | None:
    """The uniform law on a domain of finite volume that is no interval; None for other domains."""
    kind, shape = getattr(getattr(law.support, "record", None), "name", None), law.shape()
    if kind == "simplex":
        return Dirichlet(np.ones(shape))
    if kind == "unit_vector":
        return ProjectedNormal(np.zeros(shape))
    return LKJ(shape[-1]).expand(shape[:-2]) if kind == "corr_matrix" and shape[-1] > 1 else None


def _require_laws(trace: Mapping[str, Any], program: Program) -> None:
    """Raise NoPriorError for a factor, which may tie parameters beyond their laws."""
    laws = {n for site in trace.values() if isinstance(site.get("fn"), Improper) for n in site["fn"].laws}
    for name, site in trace.items():
        if site["type"] == "sample" and isinstance(site["fn"], Unit) and name not in laws:
            raise NoPriorError(f"{program.name} can't be drawn from its prior: the statement of site {name!r} adds to "
                               "the log density without being a law of one parameter or of data")  # fmt: skip
