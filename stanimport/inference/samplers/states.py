"""What a chain carries from one transition to the next: all that enters the compiled program, and leaves it."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from jax import Array

    Numbers = Array | np.ndarray  # inside of the compiled program, and outside of it

# What is told of a transition, in the order in which the program tells it.
NUMBERS = ("lp__", "stepsize__", "accept_stat__", "treedepth__", "n_leapfrog__", "divergent__", "energy__")


class State(NamedTuple):
    """A point of a chain: where it is, the log density there and its gradient."""

    point: Numbers
    density: Numbers
    gradient: Numbers


class StepSize(NamedTuple):
    """The step size and the state of its dual averaging.

    Attributes:
        size: the one to use now.
        average: the logarithm of the one that adaptation will settle for.
        error: the mean of the wanted minus the reached acceptance statistic.
        count: of updates.
        center: the logarithm that sizes are drawn towards.
    """

    size: Numbers
    average: Numbers
    error: Numbers
    count: Any  # a method of tuples has this name
    center: Numbers

    @staticmethod
    def starting(size: Numbers | float) -> "StepSize":
        """Adaptation that begins, or begins anew, at a size."""
        size = np.asarray(size, float)
        blank = np.zeros_like(size)
        return StepSize(size, blank, blank, blank, np.log(10 * size))

    def settled(self) -> "StepSize":
        """The size that adaptation ends with; the one it began with if it learned nothing."""
        size = np.where(np.asarray(self.count) > 0, np.exp(self.average), self.size)
        return StepSize.starting(size)


class Chain(NamedTuple):
    """What a chain carries from one transition to the next, and where it last evaluated the density."""

    random: Numbers | np.uint64
    state: State
    step: StepSize
    latest: State

    @staticmethod
    def blank(size: int) -> "Chain":
        """One of so many parameters that is nowhere yet."""
        state = State(np.zeros(size), np.zeros(()), np.zeros(size))
        return Chain(np.uint64(0), state, StepSize.starting(1.0), state)


class Controls(NamedTuple):
    """The options of transitions: whether the step size adapts, the acceptance wanted, the depth of trees."""

    adapts: Numbers | np.bool_
    wanted: Numbers | np.float64
    max_depth: Numbers | np.int64
