"""What is around a statement: loops of lanes and others, and for how many of them a variable lives."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace

from stanlib.dataclass import dataclass

from ...ir import gprob
from ...ir.uses import mentions, written


@dataclass(frozen=True)
class Scope:
    """The loops of lanes around a statement, and for every variable inside of how many of them it lives."""

    loops: tuple[str, ...] = ()
    home: Mapping[str, int] = field(default_factory=dict)
    sequential: frozenset[str] = frozenset()  # the indices of the other loops around
    changing: frozenset[str] = frozenset()  # what those loops write, and indices that move with theirs

    def lives(self, name: str) -> int:
        return self.home.get(name, 0)

    def over(self, name: str) -> str | None:
        """The outermost loop whose lanes share a variable."""
        depth = self.lives(name)
        return self.loops[depth] if depth < len(self.loops) else None

    def inside(self, s: gprob.For, private: set[str]) -> "Scope":
        """The scope inside of a loop of lanes, whose index changes with what its lower bound depends on."""
        depth, moves = len(self.loops) + 1, mentions(s.lower, self.changing | self.sequential)
        home = {**self.home, **dict.fromkeys(private, depth)}
        changing = self.changing | {s.name} if moves else self.changing
        return replace(self, loops=(*self.loops, s.name), home=home, changing=changing)

    def declaring(self, name: str) -> "Scope":
        return replace(self, home={**self.home, name: len(self.loops)})

    def repeating(self, s: gprob.For) -> "Scope":
        """The scope inside of a loop whose iterations run one after the other."""
        return replace(self, sequential=self.sequential | {s.name}, changing=self.changing | written(s.body))

    def without_last(self) -> "Scope":
        """The scope of one iteration of the innermost loop."""
        most = len(self.loops) - 1
        return replace(self, loops=self.loops[:-1], home={n: min(d, most) for n, d in self.home.items()})

    def varying(self) -> set[str]:
        """The variables that may differ between lanes."""
        return set(self.loops) | {n for n, d in self.home.items() if d}


def declaring(scope: Scope, t: gprob.Stmt) -> Scope:
    return scope.declaring(t.name) if isinstance(t, gprob.Declare) else scope
