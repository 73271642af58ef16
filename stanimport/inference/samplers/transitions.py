"""Transitions of one chain, or of several, as XLA compiles them: one program for all options that are not its shape."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from stanlib.dataclass import dataclass

from ..traced import Traced
from . import tree, walnuts
from .calls import Calls
from .metric import Metric
from .states import NUMBERS, Chain, Controls, StepSize

INTEGRATORS: Mapping[str, type[tree.Leapfrog] | type[walnuts.AdaptiveLeapfrog]] = {  # by the method
    "nuts": tree.Leapfrog, "walnuts": walnuts.AdaptiveLeapfrog,
}  # fmt: skip
_SHRINKAGE, _DELAY, _DECAY = 0.05, 10.0, 0.75


def traced(density: Callable[[Any, Any], object], point: Array | np.ndarray, varying: object, device: object) -> Traced:
    """Value and gradient of a density, a function of a point and of a chain's own data, as they are at these."""
    return Traced(jax.value_and_grad(density), point, varying, device=device)


@dataclass(frozen=True)
class Transitions:
    """The program's function.

    Args:
        density: value and gradient of the log density.
        method: by which trajectories are integrated.
        lanes: how many chains; 0 for one without an axis of chains.
        in_turn: whether chains run one after the other, and not at the same time.
        depth: of the trees that there is room for.
        room: for so many transitions.
        with_gradients: whether those are wanted beside the points.
    """

    density: Traced
    method: str
    lanes: int
    in_turn: bool
    depth: int
    room: int
    with_gradients: bool

    def __call__(self, constants: Any, varying: Any, chain: Chain, metric: Metric, controls: Controls,
                 count: Any) -> tuple[Chain, Any, Any]:  # fmt: skip
        """The chain after `count` transitions, where it was, and the numbers of each transition, (room, 7).

        Where it was are the points, (room, size), with their gradients behind them if those are wanted.
        """
        if not (self.lanes and self.in_turn):
            return self._several(constants, varying, chain, metric, controls, count, self.lanes)

        def alone(own: tuple[Any, Chain, Metric]) -> tuple[Chain, object, object]:
            return self._several(constants, *own, controls, count, 0)

        made, *records = lax.map(alone, (varying, chain, metric))
        points, numbers = (jnp.moveaxis(a, 0, 1) for a in records)
        return made, points, numbers

    def _several(self, constants: Any, varying: Any, chain: Chain, metric: Metric, controls: Controls, count: Array,
                 lanes: int) -> tuple[Chain, Any, Any]:  # fmt: skip
        """The same of one chain, or of several at the same time."""

        def one(carry: object, varying: object, metric: Metric) -> Any:
            return self._one(partial(self.density, constants), carry, varying, metric, controls)

        size, shape = chain.state.point.shape[-1], (lanes,) if lanes else ()
        room = self._room(constants, metric, lanes)
        if lanes:
            one = jax.vmap(one)
        width = size * (1 + self.with_gradients)
        records = (jnp.zeros((self.room, *shape, width)), jnp.zeros((self.room, *shape, len(NUMBERS))))

        def body(i: Array, carry: Any) -> tuple[Any, tuple[Any, Any]]:
            carry, (points, numbers) = carry
            carry, new = one(carry, varying, metric)
            put = partial(lax.dynamic_update_index_in_dim, index=i, axis=0)
            state = carry[0].state
            here = jnp.concatenate([state.point, state.gradient], -1) if self.with_gradients else state.point
            return carry, (put(points, here), put(numbers, new))

        (chain, _), made = lax.fori_loop(0, count, body, ((chain, room), records))
        return chain, *made

    def _room(self, constants: object, metric: Metric, lanes: int) -> object:
        """For the subtrees of a trajectory, of each chain."""
        alone = jax.tree.map(lambda a: a[0], metric) if lanes else metric
        made = tree.room(self.depth, INTEGRATORS[self.method](partial(self.density, constants), alone))
        return jax.tree.map(lambda a: jnp.stack([a] * lanes), made) if lanes else made

    def _one(self, density: Any, carry: Any, varying: Any, metric: Metric, controls: Controls) -> Any:
        """Chain and room after one transition, in which the step size may adapt, and its numbers, (7,)."""
        chain, room = carry
        random, state, room, record = tree.transition(
            lambda point: density(point, varying), metric, chain.random, chain.state, room, chain.step.size,
            controls.max_depth, INTEGRATORS[self.method],
        )  # fmt: skip
        adapted = learned(chain.step, record.acceptance, controls.wanted)
        step = jax.tree.map(lambda a, b: jnp.where(controls.adapts, a, b), adapted, chain.step)
        numbers = (state.density, chain.step.size, record.acceptance, record.depth, record.steps, record.diverged,
                   record.energy)  # fmt: skip
        kept = jnp.stack([jnp.asarray(v, float) for v in numbers])
        return (Chain(random, state, step, record.latest), room), kept


@dataclass(frozen=True)
class Called:
    """Transitions as a function of the constants and of the few arrays that a call has."""

    transitions: Transitions
    calls: Calls

    def __call__(self, constants: Any, *given: Any) -> list[Any]:
        """The arrays that the chain travels as, where it was, and the numbers of each transition."""
        chain, *records = self.transitions(constants, *self.calls.arguments.opened(given))
        return [*self.calls.chain.traced(jnp, chain), *records]


def learned(step: StepSize, acceptance: Any, wanted: Any) -> StepSize:
    """The step size after a transition with this acceptance statistic.

    Source: Hoffman and Gelman (2014), "The No-U-Turn Sampler", Journal of Machine Learning Research 15, section 3.2.
    """
    count = step.count + 1
    share = 1 / (count + _DELAY)
    error = (1 - share) * step.error + share * (wanted - jnp.minimum(acceptance, 1.0))
    log_size = step.center - error * jnp.sqrt(count) / _SHRINKAGE
    weight = count**-_DECAY
    return StepSize(jnp.exp(log_size), weight * log_size + (1 - weight) * step.average, error, count, step.center)
