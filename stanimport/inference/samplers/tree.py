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
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from . import uniforms
from .metric import Metric

LARGEST_ERROR = 1000.0  # of the energy: beyond it a trajectory diverges


class State(NamedTuple):
    """A point of a chain: where it is, the log density there and its gradient."""

    point: Any
    density: Any
    gradient: Any


class End(NamedTuple):
    """The momentum at an end of a subtree, and the velocity that belongs to it."""

    momentum: Any
    velocity: Any


class Subtree(NamedTuple):
    """A stretch of a trajectory: its ends in the order of integration, and the sum of its momenta."""

    first: End
    last: End
    total: Any


class Leaf(NamedTuple):
    """A state of a trajectory with its momentum: where integration goes on."""

    state: State
    end: End


class Growth(NamedTuple):
    """A subtree that is being built.

    Attributes:
        leaf: the last one.
        newest: the largest complete subtree that ends there.
        waiting: complete subtrees without a right sibling, one place for each size.
        count: of leaves.
        chosen, energy: the state sampled from all leaves so far, and its energy.
        log_weight: of all leaves together, relative to the trajectory's start.
        acceptance: the sum of their probabilities of acceptance.
        valid, diverged: whether no subtree turned and the energy stayed; whether it is the energy that did not.
    """

    random: Any
    leaf: Leaf
    newest: Subtree
    waiting: Subtree
    count: Any
    chosen: State
    energy: Any
    log_weight: Any
    acceptance: Any
    valid: Any
    diverged: Any


class Trajectory(NamedTuple):
    """What a transition has built: `ends` are its leaves backward and forward in time, stacked."""

    random: Any
    ends: Leaf
    latest: State
    total: Any
    waiting: Subtree
    chosen: State
    energy: Any
    log_weight: Any
    depth: Any
    steps: Any
    acceptance: Any
    grows: Any
    diverged: Any


class Record(NamedTuple):
    """What is known of a transition.

    Attributes:
        acceptance: the mean over all states but the first of their probabilities of acceptance.
        depth: how often the trajectory doubled.
        steps: how many leapfrog steps were made.
        diverged: whether the last of them left the level of the energy.
        energy: of the state chosen, with its momentum.
        latest: the last state that was visited.
    """

    acceptance: Any
    depth: Any
    steps: Any
    diverged: Any
    energy: Any
    latest: State


def room(depth: int, size: int) -> Subtree:
    """An empty stack for trajectories of at most 2^depth states."""
    blank = jnp.zeros((depth, size))
    return Subtree(End(blank, blank), End(blank, blank), blank)


def transition(
    density: Callable[[Any], tuple[Any, Any]], metric: Metric, random: Any, state: State, waiting: Subtree,
    step_size: Any, max_depth: Any,
) -> tuple[Any, State, Subtree, Record]:  # fmt: skip
    """The next state of a chain.

    Args:
        density: from a point, (size,), to the log density and its gradient.
        metric: of the kinetic energy.
        random: the state of the random numbers.
        state: where the chain is.
        waiting: room for subtrees; what it holds does not matter, and it is given back so that it can be used again.
        step_size, max_depth: numbers, which may be traced.
    """
    random, momentum = metric.momentum(random)
    velocity = metric.velocity(momentum)
    start = Leaf(state, End(momentum, velocity))
    energy = 0.5 * jnp.dot(momentum, velocity) - state.density
    both = jax.tree.map(lambda a: jnp.stack([a, a]), start)
    zero = jnp.zeros((), int)
    begun = Trajectory(random, both, state, momentum, waiting, state, energy, jnp.zeros(()), zero, zero, jnp.zeros(()),
                       jnp.array(True), jnp.array(False))  # fmt: skip

    def grows(t: Trajectory) -> Any:
        return t.grows & (t.depth < max_depth)

    def doubled(t: Trajectory) -> Trajectory:
        return _doubled(density, metric, t, energy, step_size)

    t = lax.while_loop(grows, doubled, begun)
    acceptance = t.acceptance / jnp.maximum(t.steps, 1)
    return t.random, t.chosen, t.waiting, Record(acceptance, t.depth, t.steps, t.diverged, t.energy, t.latest)


def _doubled(density: Any, metric: Metric, t: Trajectory, start_energy: Any, step_size: Any) -> Trajectory:
    """The trajectory with a subtree of its own size at one of its ends."""
    random, drawn = uniforms.uniforms(t.random, 2)
    at = (drawn[0] < 0.5).astype(int)
    near, far = (_at(t.ends, i) for i in (at, 1 - at))
    signed = jnp.where(at == 1, step_size, -step_size)
    size = jnp.left_shift(1, t.depth)
    new = _grown(density, metric, random, near, t.waiting, start_energy, signed, size)
    takes = new.valid & (jnp.log(drawn[1]) < new.log_weight - t.log_weight)
    chosen, energy = _either(takes, (new.chosen, new.energy), (t.chosen, t.energy))
    old = Subtree(far.end, near.end, t.total)
    goes_on = new.valid & ~_turns(old, new.newest)
    ends = jax.tree.map(lambda a, b: lax.dynamic_update_index_in_dim(a, b, at, 0), t.ends, new.leaf)
    return Trajectory(
        new.random, ends, new.leaf.state, t.total + new.newest.total, new.waiting, chosen, energy,
        jnp.logaddexp(t.log_weight, new.log_weight), t.depth + new.valid, t.steps + new.count,
        t.acceptance + new.acceptance, goes_on, new.diverged,
    )  # fmt: skip


def _grown(
    density: Any, metric: Metric, random: Any, start: Leaf, waiting: Subtree, start_energy: Any, step_size: Any,
    size: Any,
) -> Growth:  # fmt: skip
    """A subtree of `size` leaves from a leaf on; fewer if it turns or diverges."""
    blank = Subtree(start.end, start.end, jnp.zeros_like(start.end.momentum))
    zero, false = jnp.zeros(()), jnp.array(False)
    begun = Growth(random, start, blank, waiting, jnp.zeros((), int), start.state, zero, -jnp.inf * jnp.ones(()), zero,
                   ~false, false)  # fmt: skip

    def continues(g: Growth) -> Any:
        return g.valid & (g.count < size)

    def extended(g: Growth) -> Growth:
        return _extended(density, metric, g, start_energy, step_size)

    return lax.while_loop(continues, extended, begun)


def _extended(density: Any, metric: Metric, g: Growth, start_energy: Any, step_size: Any) -> Growth:
    """The subtree with one more leaf."""
    leaf, energy = leapfrog(density, metric, g.leaf, step_size)
    gained = jnp.where(jnp.isnan(energy), -jnp.inf, start_energy - energy)
    diverged = -gained > LARGEST_ERROR
    log_weight = jnp.logaddexp(g.log_weight, gained)
    random, drawn = uniforms.uniforms(g.random, 1)
    takes = jnp.log(drawn[0]) < gained - log_weight
    chosen, chosen_energy = _either(takes, (leaf.state, energy), (g.chosen, g.energy))
    newest, place, turned = _merged(g.waiting, Subtree(leaf.end, leaf.end, leaf.end.momentum), g.count)
    waiting = jax.tree.map(lambda w, a: lax.dynamic_update_index_in_dim(w, a, place, 0), g.waiting, newest)
    return Growth(random, leaf, newest, waiting, g.count + 1, chosen, chosen_energy, log_weight,
                  g.acceptance + jnp.exp(jnp.minimum(gained, 0.0)), ~(diverged | turned), diverged)  # fmt: skip


def _merged(waiting: Subtree, leaf: Subtree, count: Any) -> tuple[Subtree, Any, Any]:
    """The largest subtree that the leaf after `count` others completes, its place, and whether one of them turns."""

    def has_sibling(carry: tuple[Subtree, Any, Any]) -> Any:
        _, place, turned = carry
        return (jnp.right_shift(count, place) & 1 == 1) & ~turned

    def joined(carry: tuple[Subtree, Any, Any]) -> tuple[Subtree, Any, Any]:
        right, place, _ = carry
        left = _at(waiting, place)
        return Subtree(left.first, right.last, left.total + right.total), place + 1, _turns(left, right)

    return lax.while_loop(has_sibling, joined, (leaf, jnp.zeros((), int), jnp.array(False)))


def leapfrog(density: Any, metric: Metric, leaf: Leaf, step_size: Any) -> tuple[Leaf, Any]:
    """The leaf one step on, and its energy."""
    half = leaf.end.momentum + 0.5 * step_size * leaf.state.gradient
    point = leaf.state.point + step_size * metric.velocity(half)
    value, gradient = density(point)
    momentum = half + 0.5 * step_size * gradient
    velocity = metric.velocity(momentum)
    state = State(point, value, gradient)
    return Leaf(state, End(momentum, velocity)), 0.5 * jnp.dot(momentum, velocity) - value


def _turns(left: Subtree, right: Subtree) -> Any:
    """Whether two stretches that follow each other turn: the whole, or either with its neighbour's nearest state."""
    stretches = (
        (left.first, right.last, left.total + right.total),
        (left.first, right.first, left.total + right.first.momentum),
        (left.last, right.last, left.last.momentum + right.total),
    )
    straight = [(jnp.dot(a.velocity, total) > 0) & (jnp.dot(b.velocity, total) > 0) for a, b, total in stretches]
    return ~(straight[0] & straight[1] & straight[2])


def _either(condition: Any, one: Any, other: Any) -> Any:
    return jax.tree.map(lambda a, b: jnp.where(condition, a, b), one, other)


def _at(stacked: Any, index: Any) -> Any:
    return jax.tree.map(lambda a: lax.dynamic_index_in_dim(a, index, 0, keepdims=False), stacked)
