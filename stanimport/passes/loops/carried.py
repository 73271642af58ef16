"""What recurrences carry from one iteration to the next of the arrays that they write."""
from __future__ import annotations

from dataclasses import field

from stanlib.dataclass import dataclass
from stanlib.types import Type

from ...ir import gprob


class NotCarried(Exception):
    """The statements need more of the past than the last few iterations."""


@dataclass
class Carried:
    """One array of a recurrence: where it is written and how far back it is read.

    `prefix` and `suffix` are the indices around the one that moves with the loop; they are the same everywhere.
    """

    name: str
    type: Type
    prefix: tuple[gprob.IndexExpr, ...]
    current: gprob.Expr  # the index that an iteration writes
    suffix: tuple[gprob.IndexExpr, ...]
    row: str
    distance: int = 0
    before: list[str] = field(default_factory=list)
    reached: str = ""  # whether an iteration reads or writes its row, where there are some that may not
    function: str = ""  # what takes the carried values to those of the array,
    inverse: str = ""  # and those back
    loop: str = ""  # where it is given, values are NaN behind the first iteration of it that carries a negative one

    @property
    def depth(self) -> int:
        """How many indices select what an iteration writes."""
        return len(self.prefix) + 1 + len(self.suffix)

    def indices(self, moving: gprob.Expr) -> tuple[gprob.IndexExpr, ...]:
        return (*self.prefix, gprob.Single(moving), *self.suffix)
