"""Where a random program's choices come from: a seed, or a list of earlier ones, which can be shortened to shrink it.

A program is a function of whole numbers, each below some bound. Those that a seed gave are recorded; given back
shortened or lowered they make a smaller program: 0 is always the simplest choice, and stands for what is missing. The
programs of a seed are numbered and independent of each other, so a run of millions can stop and go on.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")


class Choices:
    """Choices by `source`, or those of `given`, with zeros after them.

    Attributes:
        taken: what was chosen.
        spans: (start, end) of the choices that made one thing: an expression, a statement, a function.
    """

    def __init__(self, source: random.Random | None = None, given: Sequence[int] = ()):
        self.source, self.given = source, given
        self.taken: list[int] = []
        self.spans: list[tuple[int, int]] = []

    def below(self, n: int) -> int:
        """A whole number in [0, n)."""
        at = len(self.taken)
        if self.source is not None:
            value = self.source.randrange(n)
        else:
            value = min(self.given[at], n - 1) if at < len(self.given) else 0
        self.taken.append(value)
        return value

    def chance(self, percent: int) -> bool:
        """True in so many of a hundred cases; False is the simple one."""
        return self.below(100) >= 100 - percent

    def between(self, low: int, high: int) -> int:
        return low + self.below(high - low + 1)

    def pick(self, options: Sequence[T]) -> T:
        """One of them, the first being the simplest."""
        return options[self.below(len(options))]

    def weighted(self, options: Sequence[tuple[int, T]]) -> T:
        """One of (weight, option), the first being the simplest."""
        at = self.below(sum(w for w, _ in options))
        for weight, option in options:
            at -= weight
            if at < 0:
                return option
        raise AssertionError("no weights")

    @contextmanager
    def span(self) -> Iterator[None]:
        """What is chosen inside makes one thing: it can be left out as a whole."""
        start = len(self.taken)
        yield
        if len(self.taken) > start:
            self.spans.append((start, len(self.taken)))


def numbered(seed: int, number: int) -> Choices:
    """The choices of program `number` of a seed."""
    return Choices(random.Random(f"{seed}-{number}"))
