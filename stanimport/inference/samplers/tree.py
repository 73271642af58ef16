"""One transition of the no-U-turn sampler: a trajectory that doubles until it turns, one of its states the next draw.

A subtree is built leaf by leaf. The completed subtrees that wait for their right siblings stand on a stack with one
place for each size, as the digits of a binary counter do: leaf n completes as many subtrees as n has trailing ones.
Each is tested when it is complete, as a recursive construction would, with both tests across its halves.

Source: Hoffman and Gelman (2014), "The No-U-Turn Sampler", Journal of Machine Learning Research 15; Betancourt (2017),
"A Conceptual Introduction to Hamiltonian Monte Carlo", arXiv:1701.02434, appendix A, for multinomial sampling and the
generalized criterion; Stan Development Team, "Stan Reference Manual", "MCMC Sampling using Hamiltonian Monte Carlo".
"""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from . import uniforms
from .metric import Metric
from .states import State

if TYPE_CHECKING:
    from .states import Numbers

LARGEST_ERROR = 1000.0  # of the energy: beyond it a trajectory diverges
MANY = 1000  # parameters whose vectors take memory worth a multiplication
Density = Callable[[Array], tuple[Array, Array]]  # from a point to the log density and its gradient
Tree = TypeVar("Tree")


class End(NamedTuple):
    """The momentum at an end of a subtree, and the velocity that belongs to it."""

    momentum: Array
    velocity: Array


class Subtree(NamedTuple):
    """A stretch of a trajectory: its ends in the order of integration, and the sum of its momenta."""

    first: Any
    last: Any
    total: Array


class Leaf(NamedTuple):
    """A state of a trajectory with its momentum: where integration goes on."""

    state: State
    end: Any


class Step(NamedTuple):
    """What leads from one leaf to the next.

    Attributes:
        leaf, energy: the next leaf, and its energy.
        acceptance: the statistic that the step size is adapted by.
        count: of leapfrog steps that were made.
        valid: whether the leaf may be part of the trajectory.
        diverged: whether it may not since the energy did not stay.
    """

    leaf: Leaf
    energy: Array
    acceptance: Array
    count: Any  # a method of tuples has this name
    valid: Array
    diverged: Array


class Integrator(Protocol):
    """How trajectories go on, and when they turn.

    Attributes:
        metric: of the kinetic energy.
    """

    metric: Metric

    def leaf(self, state: State, momentum: Array) -> tuple[Leaf, Array]:
        """The leaf of a state with a momentum, and its energy."""

    def step(self, leaf: Leaf, size: Array, start_energy: Array) -> Step:
        """The next leaf; backward in time if the size is negative."""

    def turns(self, left: Subtree, right: Subtree, size: Array) -> Array:
        """Whether two stretches that follow each other, made with steps of this sign, turn."""

    def waiting(self, tree: Subtree) -> Subtree:
        """What of a subtree is kept until its right sibling is complete: vectors take memory for each depth."""

    def sibling(self, kept: Subtree) -> Subtree:
        """The subtree again, with all that is asked of a left one."""


class Growth(NamedTuple):
    """A subtree that is being built.

    Attributes:
        leaf: the last one.
        newest: the largest complete subtree that ends there.
        waiting: complete subtrees without a right sibling, one place for each size.
        count, steps: of leaves, and of leapfrog steps.
        chosen, energy: the state sampled from all leaves so far, and its energy.
        log_weight: of all leaves together, relative to the trajectory's start.
        acceptance: the sum of their probabilities of acceptance.
        valid, diverged: whether no subtree turned and the energy stayed; whether it is the energy that did not.
    """

    random: Array
    leaf: Leaf
    newest: Subtree
    waiting: Subtree
    count: Any  # a method of tuples has this name
    steps: Array
    chosen: State
    energy: Array
    log_weight: Array
    acceptance: Array
    valid: Array
    diverged: Array


class Trajectory(NamedTuple):
    """What a transition has built: `ends` are its leaves backward and forward in time, stacked."""

    random: Array
    ends: Leaf
    latest: State
    total: Array
    waiting: Subtree
    chosen: State
    energy: Array
    log_weight: Array
    depth: Array
    count: Any  # a method of tuples has this name
    steps: Array
    acceptance: Array
    grows: Array
    diverged: Array


class Record(NamedTuple):
    """What is known of a transition.

    Attributes:
        acceptance: the mean over all steps of their statistics, for `Leapfrog` the probabilities of acceptance.
        depth: how often the trajectory doubled.
        steps: how many leapfrog steps were made.
        diverged: whether the last of them left the level of the energy.
        energy: of the state chosen, with its momentum.
        latest: the last state that was visited.
    """

    acceptance: Array
    depth: Array
    steps: Array
    diverged: Array
    energy: Array
    latest: State


def room(depth: int, way: Integrator) -> Subtree:
    """An empty stack for trajectories of at most 2^depth states."""
    blank = jnp.zeros(way.metric.size)
    leaf, _ = way.leaf(State(blank, jnp.zeros(()), blank), blank)
    kept = way.waiting(Subtree(leaf.end, leaf.end, blank))
    made: Subtree = jax.tree.map(lambda a: jnp.zeros((depth, *a.shape), a.dtype), kept)
    return made


def transition(
    density: Density, metric: Metric, random: Array, state: State, waiting: Subtree,
    step_size: Numbers, max_depth: Numbers | np.int64,
    integrator: Callable[[Density, Metric], Integrator] | None = None,
) -> tuple[Array, State, Subtree, Record]:  # fmt: skip
    """The next state of a chain.

    Args:
        density: from a point, (size,), to the log density and its gradient.
        metric: of the kinetic energy.
        random: the state of the random numbers.
        state: where the chain is.
        waiting: room for subtrees; what it holds does not matter, and it is given back so that it can be used again.
        step_size, max_depth: numbers, which may be traced.
        integrator: from density and metric to what makes the steps; `Leapfrog` if None.
    """
    random, momentum = drawn(metric, random)
    way = (integrator or Leapfrog)(density, metric)
    start, energy = way.leaf(state, momentum)
    both = jax.tree.map(lambda a: jnp.stack([a, a]), start)
    zero = jnp.zeros((), int)
    begun = Trajectory(random, both, state, momentum, waiting, state, energy, jnp.zeros(()), zero, zero, zero,
                       jnp.zeros(()), jnp.array(True), jnp.array(False))  # fmt: skip

    def grows(t: Trajectory) -> Array:
        return t.grows & (t.depth < max_depth)

    def doubled(t: Trajectory) -> Trajectory:
        return _doubled(way, t, energy, step_size)

    t = lax.while_loop(grows, doubled, begun)
    acceptance = t.acceptance / jnp.maximum(t.count, 1)
    return t.random, t.chosen, t.waiting, Record(acceptance, t.depth, t.steps, t.diverged, t.energy, t.latest)


def drawn(metric: Metric, random: Array) -> tuple[Array, Array]:
    """The next state of the random numbers, and a momentum drawn from its normal law."""
    random, normal = uniforms.normals(random, metric.size)
    return random, metric.shaped(normal)


def _doubled(way: Integrator, t: Trajectory, start_energy: Array, step_size: Numbers) -> Trajectory:
    """The trajectory with a subtree of its own size at one of its ends."""
    random, drawn = uniforms.uniforms(t.random, 2)
    at = (drawn[0] < 0.5).astype(int)
    near, far = (_at(t.ends, i) for i in (at, 1 - at))
    signed = jnp.where(at == 1, step_size, -step_size)
    size = jnp.left_shift(1, t.depth)
    new = _grown(way, random, near, t.waiting, start_energy, signed, size)
    takes = new.valid & (jnp.log(drawn[1]) < new.log_weight - t.log_weight)
    chosen, energy = either(takes, (new.chosen, new.energy), (t.chosen, t.energy))
    old = Subtree(far.end, near.end, t.total)
    goes_on = new.valid & ~way.turns(old, new.newest, signed)
    ends = jax.tree.map(lambda a, b: lax.dynamic_update_index_in_dim(a, b, at, 0), t.ends, new.leaf)
    return Trajectory(
        new.random, ends, new.leaf.state, t.total + new.newest.total, new.waiting, chosen, energy,
        jnp.logaddexp(t.log_weight, new.log_weight), t.depth + new.valid, t.count + new.count,
        t.steps + new.steps, t.acceptance + new.acceptance, goes_on, new.diverged,
    )  # fmt: skip


def _grown(
    way: Integrator, random: Array, start: Leaf, waiting: Subtree, start_energy: Array, step_size: Array, size: Array
) -> Growth:
    """A subtree of `size` leaves from a leaf on; fewer if it turns or a step is not valid."""
    blank = Subtree(start.end, start.end, jnp.zeros_like(start.end.momentum))
    zero, none, false = jnp.zeros(()), jnp.zeros((), int), jnp.array(False)
    begun = Growth(random, start, blank, waiting, none, none, start.state, zero, -jnp.inf * jnp.ones(()), zero,
                   ~false, false)  # fmt: skip

    def continues(g: Growth) -> object:
        return g.valid & (g.count < size)

    def extended(g: Growth) -> Growth:
        return _extended(way, g, start_energy, step_size)

    return lax.while_loop(continues, extended, begun)


def _extended(way: Integrator, g: Growth, start_energy: Array, step_size: Array) -> Growth:
    """The subtree with one more leaf."""
    step = way.step(g.leaf, step_size, start_energy)
    leaf, energy = step.leaf, step.energy
    gained = _gained(start_energy, energy)
    log_weight = jnp.logaddexp(g.log_weight, gained)
    random, drawn = uniforms.uniforms(g.random, 1)
    takes = jnp.log(drawn[0]) < gained - log_weight
    chosen, chosen_energy = either(takes, (leaf.state, energy), (g.chosen, g.energy))
    newest, place, turned = _merged(
        way, g.waiting, Subtree(leaf.end, leaf.end, leaf.end.momentum), g.count, step_size
    )  # fmt: skip
    waiting = jax.tree.map(lambda w, a: lax.dynamic_update_index_in_dim(w, a, place, 0), g.waiting,
                           way.waiting(newest))  # fmt: skip
    return Growth(random, leaf, newest, waiting, g.count + 1, g.steps + step.count, chosen, chosen_energy, log_weight,
                  g.acceptance + step.acceptance, step.valid & ~turned, step.diverged)  # fmt: skip


def _gained(start_energy: Array, energy: Array) -> Array:
    """The logarithm of a leaf's weight relative to the start of its trajectory."""
    return jnp.where(jnp.isnan(energy), -jnp.inf, start_energy - energy)


def _merged(
    way: Integrator, waiting: Subtree, leaf: Subtree, count: Array, step_size: Array
) -> tuple[Subtree, Array, Array]:  # fmt: skip
    """The largest subtree that the leaf after `count` others completes, its place, and whether one of them turns."""

    def has_sibling(carry: tuple[Subtree, Array, Array]) -> Array:
        _, place, turned = carry
        return (jnp.right_shift(count, place) & 1 == 1) & ~turned

    def joined(carry: tuple[Subtree, Array, Array]) -> tuple[Subtree, Array, Array]:
        right, place, _ = carry
        left = way.sibling(_at(waiting, place))
        turns = way.turns(left, right, step_size)
        return Subtree(left.first, right.last, left.total + right.total), place + 1, turns

    return lax.while_loop(has_sibling, joined, (leaf, jnp.zeros((), int), jnp.array(False)))


class Leapfrog:
    """Leapfrog steps of one size, and the criterion of a trajectory's momenta.

    Args:
        density: from a point to the log density and its gradient.
        metric: of the kinetic energy.
    """

    def __init__(self, density: Density, metric: Metric):
        self.density, self.metric = density, metric

    @property
    def remakes(self) -> bool:
        """Whether velocities of subtrees that wait are made anew."""
        return self.metric.is_diagonal and self.metric.size >= MANY

    def leaf(self, state: State, momentum: Array) -> tuple[Leaf, Array]:
        velocity = self.metric.velocity(momentum)
        return Leaf(state, End(momentum, velocity)), 0.5 * jnp.dot(momentum, velocity) - state.density

    def step(self, leaf: Leaf, size: Array, start_energy: Array) -> Step:
        new, energy = self.leaf(*leapfrog(self.density, self.metric, leaf.state, leaf.end.momentum, size))
        gained = _gained(start_energy, energy)
        diverged = -gained > LARGEST_ERROR
        return Step(new, energy, jnp.exp(jnp.minimum(gained, 0.0)), 1, ~diverged, diverged)

    def turns(self, left: Subtree, right: Subtree, size: Array) -> Array:
        """Whether the whole turns, or either of the two with its neighbour's nearest state."""
        stretches = (
            (left.first, right.last, left.total + right.total),
            (left.first, right.first, left.total + right.first.momentum),
            (left.last, right.last, left.last.momentum + right.total),
        )
        straight = [
            (jnp.dot(a.velocity, total) > 0) & (jnp.dot(b.velocity, total) > 0) for a, b, total in stretches
        ]  # fmt: skip
        return ~(straight[0] & straight[1] & straight[2])

    def waiting(self, tree: Subtree) -> Subtree:
        """Its momenta alone where there are many, of which the metric makes velocities as fast as they are read."""
        if not self.remakes:
            return tree
        return Subtree(tree.first.momentum, tree.last.momentum, tree.total)

    def sibling(self, kept: Subtree) -> Subtree:
        if not self.remakes:
            return kept
        first, last = (End(p, self.metric.velocity(p)) for p in kept[:2])
        return Subtree(first, last, kept.total)


def leapfrog(density: Density, metric: Metric, state: State, momentum: Array, size: Array) -> tuple[State, Array]:
    """The state one step on, and the momentum there."""
    half = momentum + 0.5 * size * state.gradient
    point = state.point + size * metric.velocity(half)
    value, gradient = density(point)
    return State(point, value, gradient), half + 0.5 * size * gradient


def either(condition: Array, one: Tree, other: Tree) -> Tree:
    """One tree of arrays or another, as a condition tells."""
    made: Tree = jax.tree.map(lambda a, b: jnp.where(condition, a, b), one, other)
    return made


def _at(stacked: Tree, index: Array | int) -> Tree:
    made: Tree = jax.tree.map(lambda a: lax.dynamic_index_in_dim(a, index, 0, keepdims=False), stacked)
    return made
