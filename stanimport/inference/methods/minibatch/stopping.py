"""When the parameters of an approximation have arrived: R-hat of the iterates, and the error of their mean.

With a step size that stays the same the iterates of stochastic optimization become a stationary process around the
optimum. Whether they have is told as for Markov chains, by R-hat of two halves; their mean is then a better estimate
than the last of them, and its Monte Carlo error tells how good. Then the step size is made smaller, and it begins anew.

Source: Dhaka, Catalina, Andersen, Magnusson, Huggins and Vehtari (2020), "Robust, accurate stochastic optimization for
variational inference", Advances in Neural Information Processing Systems 33; for smaller and smaller step sizes
Welandawe, Andersen, Vehtari and Huggins (2022), "Robust, automated, and accurate black-box variational inference".
"""
from __future__ import annotations

from dataclasses import field
from typing import NamedTuple

import numpy as np

from stanlib.dataclass import dataclass

LARGEST_RHAT = 1.1
LARGEST_ERROR = 0.1  # of the mean of iterates, in units of the parameters
LARGEST_SPREAD = 1.0  # of the iterates, in the same units, for step sizes that are small enough
FEWEST = 400  # steps of a stage
STAGES = 6  # at most: the last one has a 300th of the first one's step size
SMALLER = 10**-0.5
SHARES = 8  # a stage takes no more than this part of all steps
_MOST_BLOCKS = 32
_GROWTH = 1.2  # of a stage between two looks at it


class Block(NamedTuple):
    """Consecutive iterates: how many, their mean, and the sum of the squared deviations from it."""

    length: int
    mean: np.ndarray
    squares: np.ndarray


def merged(blocks: list[Block]) -> Block:
    """Several blocks as one."""
    total = sum(b.length for b in blocks)
    mean = sum((b.length / total * b.mean for b in blocks), start=np.zeros_like(blocks[0].mean))
    squares = sum((b.squares + b.length * np.square(b.mean - mean) for b in blocks), start=np.zeros_like(mean))
    return Block(total, mean, squares)


class Look(NamedTuple):
    """What the second half of a stage's iterates shows.

    Attributes:
        rhat, error, drift, spread: the largest of all parameters: R-hat of its two halves, the Monte Carlo error of the
            mean, the difference of the halves' means, and the standard deviation, all but the first in units.
        mean: of the iterates.
    """

    rhat: float
    error: float
    drift: float
    spread: float
    mean: np.ndarray

    def has_arrived(self, hurried: bool) -> bool:
        """Whether the iterates move no more, as far as that can be told, or matters.

        Args:
            hurried: whether an earlier stage had no time to arrive: then what hardly moves may be far away.
        """
        return self.rhat < LARGEST_RHAT or self.drift < LARGEST_ERROR and not hurried


@dataclass
class Iterates:
    """The iterates of one stage, as blocks of about the same length, the last of which may still grow.

    Attributes:
        least: how many iterates a block has at least, before another one begins.
        looked: how many there were at the latest look.
    """

    blocks: list[Block] = field(default_factory=list)
    least: int = 1
    looked: int = 0

    @property
    def count(self) -> int:
        return sum(b.length for b in self.blocks)

    def add(self, block: Block) -> None:
        if self.blocks and self.blocks[-1].length < self.least:
            self.blocks[-1] = merged([self.blocks[-1], block])
        else:
            self.blocks.append(block)
        if len(self.blocks) > _MOST_BLOCKS:
            self.blocks = [merged(self.blocks[i : i + 2]) for i in range(0, len(self.blocks), 2)]
            self.least = max(b.length for b in self.blocks)

    def is_due(self) -> bool:
        """Whether it is time for another look."""
        return len(self.blocks) >= 8 and self.count >= max(FEWEST, _GROWTH * self.looked)

    def look(self, units: np.ndarray) -> Look:
        """Judge the second half of the iterates; `units` are what differences of each parameter are measured in."""
        self.looked = self.count
        half = self.blocks[len(self.blocks) // 2 :]
        first, last, every = merged(half[: len(half) // 2]), merged(half[len(half) // 2 :]), merged(half)
        within = (first.squares / max(first.length - 1, 1) + last.squares / max(last.length - 1, 1)) / 2
        between = np.square(first.mean - last.mean) / 2
        with np.errstate(all="ignore"):
            ratio = np.where(between > 0, between / within, 0.0)
        deviations = sum(b.length * np.square(b.mean - every.mean) for b in half)
        error = np.sqrt(deviations / ((len(half) - 1) * every.length))
        spread = np.sqrt(every.squares / max(every.length - 1, 1))
        rhat, drift = np.sqrt(1 + ratio.max(initial=0.0)), np.abs(first.mean - last.mean)
        largest = [_largest(v / units) for v in (error, drift, spread)]
        return Look(float(rhat), largest[0], largest[1], largest[2], every.mean)

    def latest(self) -> np.ndarray:
        """The mean of the last quarter of the iterates."""
        return merged(self.blocks[-max(len(self.blocks) // 4, 1) :]).mean


def _largest(values: np.ndarray) -> float:
    return float(values.max(initial=0.0))
