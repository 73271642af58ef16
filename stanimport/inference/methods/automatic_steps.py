"""NumPyro's stochastic variational inference of automatic guides, as functions to compile: see `automatic.py`."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
from numpyro import distributions as dist
from numpyro import handlers
from numpyro.infer import SVI, Trace_ELBO, init_to_value

from ..programs import Program
from ..traced import Called
from .convergence import PIECE
from .numpyro_guides import guide_class

if TYPE_CHECKING:
    from ..density.posterior import Posterior

_KEY = np.zeros(2, np.uint32)


class Automatic:
    """The steps of a fit, on a state that is told by its leaves.

    Args:
        posterior: whose point has an automatic guide.
        settings: as `variational` has them.
    """

    def __init__(self, posterior: Posterior, settings: Mapping[str, Any]):
        self._density, self._start = Called(posterior.log_density, posterior.blank), posterior.blank
        self._settings, self._model = settings, partial(of_point, posterior.size, self._density)
        self._guide = self._guide_from(self._start)
        self._svi = svi_of(self._model, self._guide, settings)
        Program.shapes(self._svi.init, _KEY)  # from which the guide learns its sites
        self._state = Program.shapes(self.begun, _KEY, self._start)
        self._params = Program.shapes(self.params, self._state)

    def _guide_from(self, start: Any) -> Any:
        """A guide that begins around a point, if it is a normal law."""
        return guide_class(self._settings["algorithm"])(self._model, init_loc_fn=init_to_value(values={"point": start}))

    def compiled(self, what: str) -> Program:
        """The program of one of the functions below, whose compilation begins."""
        examples = {"begun": (_KEY, self._start), "advanced": (self._state, np.int64(1)), "params": (self._state,),
                    "drawn": (_KEY, self._params)}  # fmt: skip
        return Program(getattr(self, what), *examples[what], calls=self._density, hasty=True)

    def begun(self, key: jax.Array, start: object) -> tuple[Any, ...]:
        """The state before the first step."""
        svi = svi_of(self._model, self._guide_from(start), self._settings)
        leaves, self._tree = jax.tree.flatten(svi.init(key))
        return tuple(leaves)

    def advanced(self, state: Any, count: object) -> tuple[tuple[Any, ...], Any]:
        """The state after so many steps, and their losses."""
        after, losses = advanced(self._svi, jax.tree.unflatten(self._tree, state), count)
        return tuple(jax.tree.leaves(after)), losses

    def params(self, state: Any) -> Any:
        """The guide's parameters, by name."""
        return self._svi.get_params(jax.tree.unflatten(self._tree, state))

    def drawn(self, key: jax.Array, params: Any) -> tuple[Any, Any, Any]:
        """Draws, and the log densities of the posterior and of the guide there."""
        points, log_q = drawn(self._guide, self._settings["draws"], key, params)
        return points, jax.vmap(self._density)(points), log_q


def svi_of(model: object, guide: object, settings: Mapping[str, Any]) -> SVI:
    """The optimization of a guide by Adam, whose steps become smaller."""
    steps = settings["iter"]
    optimizer = numpyro.optim.Adam(lambda i: settings["eta"] * 0.01 ** jnp.minimum(i / steps, 1.0))
    return SVI(model, guide, optimizer, Trace_ELBO(num_particles=settings["grad_samples"]))


def of_point(size: int, density: Callable[[Any], object]) -> None:
    """The model of a posterior whose only site is the point."""
    point = numpyro.sample("point", dist.ImproperUniform(dist.constraints.real, (), (size,)))
    numpyro.factor("density", handlers.block(density, hide_fn=_is_no_weight)(point))


def _is_no_weight(site: Mapping[str, object]) -> bool:
    """Whether a site inside of the density is none of a network's weights, which are trained."""
    return site["type"] not in ("param", "mutable")


def drawn(guide: Any, count: int, key: jax.Array, params: Any) -> tuple[Any, Any]:
    """Draws from an automatic guide, (count, size), and their log densities."""
    law = guide.get_posterior(params)
    points, steps = law.sample_with_intermediates(key, (count,))  # some flows have no inverse
    densities = law.log_prob(points, steps) if steps else law.log_prob(points)  # of mean-field guides one each
    return points, densities if law.event_shape else densities.sum(axis=-1)


def advanced(svi: SVI, state: Any, count: object) -> tuple[Any, Any]:
    """The state after so many steps, and their losses."""

    def body(i: Any, carry: tuple[Any, Any]) -> tuple[Any, Any]:
        state, loss = svi.update(carry[0])
        return state, carry[1].at[i].set(loss)

    made: tuple[Any, Any] = jax.lax.fori_loop(0, count, body, (state, jnp.zeros(PIECE)))
    return made
