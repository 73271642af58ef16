"""WALNUTS: a no-U-turn sampler whose steps are divided wherever the energy would not stay within a bound.

A step of the trajectory, the macro step, is always as long; it is made of 1, 2, 4, ... leapfrog steps, as few as keep
the energy within the bound all along. So narrow places get small steps, and wide ones large steps, on one trajectory. A
trajectory must be the same from whichever of its states it is built: where the way back would be made of fewer steps
than the way there, as fewer keep the energy from there, the subtree ends as it does where it turns, and none of its
states is taken.

Source: Bou-Rabee, Carpenter, Kleppe and Liu (2025), "The Within-Orbit Adaptive Leapfrog No-U-Turn Sampler",
arXiv:2506.18746.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import jax.numpy as jnp
from jax import Array, lax

from .metric import Metric
from .states import State
from .tree import Density, Leaf, Step, Subtree, either, leapfrog

if TYPE_CHECKING:
    from .states import Numbers

LARGEST_ERROR = 0.5  # between the energies of two states on a macro step
HALVINGS = 10  # of a macro step: if that is not enough, it diverges


class Place(NamedTuple):
    """The momentum at an end of a subtree, and the point there."""

    momentum: Array
    point: Numbers


class Stand(NamedTuple):
    """Where an attempt begins or ends: a state, its momentum and energy."""

    state: State
    momentum: Array
    energy: Array


class Search(NamedTuple):
    """The search for the number of leapfrog steps, one of which is made at a time.

    Attributes:
        here: where the attempt is.
        low, high: the least and the greatest energy of the attempt.
        count, number: leapfrog steps made in the attempt, and those it takes.
        size: of each, negative backward in time.
        found: where the macro step leads, once that is known.
        returns: whether that is known, and attempts lead back from there.
        goes_on, valid, diverged: whether the search does; what it has found.
        steps: leapfrog steps of all attempts.
        acceptance: exp(-error) of the energy after the whole macro step as one.
    """

    here: Stand
    low: Array
    high: Array
    count: Any  # a method of tuples has this name
    number: Array
    size: Array
    found: Stand
    returns: Array
    goes_on: Array
    valid: Array
    diverged: Array
    steps: Array
    acceptance: Array


class AdaptiveLeapfrog:
    """Macro steps of leapfrog steps, and the criterion of a trajectory's ends.

    Args:
        density: from a point to the log density and its gradient.
        metric: of the kinetic energy.
    """

    def __init__(self, density: Density, metric: Metric):
        self.density, self.metric = density, metric

    def leaf(self, state: State, momentum: Array) -> tuple[Leaf, Array]:
        return Leaf(state, Place(momentum, state.point)), self._energy(state, momentum)

    def step(self, leaf: Leaf, size: Array, start_energy: Array) -> Step:
        """The leaf a macro step on; its acceptance is that of the undivided step, relative to the leaf before."""
        origin = Stand(leaf.state, leaf.end.momentum, self._energy(leaf.state, leaf.end.momentum))
        one, false = jnp.ones((), int), jnp.array(False)
        begun = Search(origin, origin.energy, origin.energy, 0 * one, one, size, origin, false, ~false, false, false,
                       0 * one, jnp.zeros(()))  # fmt: skip
        s = lax.while_loop(lambda s: s.goes_on, lambda s: self._searched(s, origin), begun)
        return Step(self.leaf(s.found.state, s.found.momentum)[0], s.found.energy, s.acceptance, s.steps, s.valid,
                    s.diverged)  # fmt: skip

    def turns(self, left: Subtree, right: Subtree, size: Array) -> Array:
        """Whether the ends of the whole approach each other."""
        ahead = jnp.where(size < 0, -1.0, 1.0) * (right.last.point - left.first.point)
        return (jnp.dot(left.first.momentum, ahead) < 0) | (jnp.dot(right.last.momentum, ahead) < 0)

    def waiting(self, tree: Subtree) -> Subtree:
        """Where a left subtree ends is not asked."""
        return Subtree(tree.first, None, tree.total)

    def sibling(self, kept: Subtree) -> Subtree:
        return kept

    def _energy(self, state: State, momentum: Array) -> Array:
        return 0.5 * jnp.dot(momentum, self.metric.velocity(momentum)) - state.density

    def _searched(self, s: Search, origin: Stand) -> Search:
        """The search after one more leapfrog step."""
        state, momentum = leapfrog(self.density, self.metric, s.here.state, s.here.momentum, s.size)
        made = Stand(state, momentum, self._energy(state, momentum))
        low, high, count = jnp.minimum(s.low, made.energy), jnp.maximum(s.high, made.energy), s.count + 1
        keeps = high - low <= LARGEST_ERROR  # not so for no number
        arrives = keeps & (count == s.number)
        found = either(arrives & ~s.returns, made, s.found)
        refines, coarsens = ~keeps & ~s.returns, ~keeps & s.returns | arrives & ~s.returns
        ended = refines | coarsens | arrives
        is_whole = s.number == 1
        fails = refines & (s.number == 2**HALVINGS)
        here = either(ended, either(refines, origin, found), made)
        return Search(
            here, jnp.where(ended, here.energy, low), jnp.where(ended, here.energy, high), jnp.where(ended, 0, count),
            jnp.where(refines, 2 * s.number, jnp.where(coarsens, s.number // 2, s.number)),
            s.size * jnp.where(refines, 0.5, jnp.where(coarsens, 2.0, 1.0)) * jnp.where(arrives, -1.0, 1.0),
            either(fails, made, found), s.returns | arrives, ~(fails | coarsens & is_whole | arrives & s.returns),
            coarsens & is_whole, fails, s.steps + 1,
            jnp.where(s.steps == 0, _probability(made.energy - origin.energy), s.acceptance),
        )  # fmt: skip


def _probability(error: Array) -> Array:
    """exp(-|error|), 0 if it is no number."""
    return jnp.where(jnp.isnan(error), 0.0, jnp.exp(-jnp.abs(error)))
