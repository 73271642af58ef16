"""Calls of the compiled transitions: what chains carry goes in and out as few arrays.

XLA spends some six microseconds on each argument of a call, and a sampler of a small model makes hundreds of calls of
some twenty numbers each.
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from operator import getitem
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from stanlib.dataclass import dataclass

from .. import nested
from .metric import Metric
from .states import Chain, Controls, State

if TYPE_CHECKING:
    from ..executables import Executable
    from ..programs import Program

Arrays = Sequence[Any]  # that a tree travels as

SMALL = 4096  # numbers beyond which copying them costs more than a call has around it


class _Place(NamedTuple):
    """Where a leaf lies: whether among the real numbers, and there from where to where."""

    real: bool
    start: int
    end: int
    shape: tuple[int, ...]
    kind: Any


class Bundle:
    """The arrays of a tree as two: one of all real numbers, one of all others. Where they are large each is by itself.

    Args:
        example: a tree of this structure, with arrays of these shapes and types.
    """

    def __init__(self, example: object):
        self.example, self._places, self._sizes = example, list[_Place](), {True: 0, False: 0}
        self._paths, self._build = nested.paths(example), nested.builder(example)
        arrays = [np.asarray(leaf) for leaf in nested.leaves(example)]
        for a in arrays:
            real, start = a.dtype == float, self._sizes[a.dtype == float]
            self._places.append(_Place(real, start, start + a.size, a.shape, a.dtype))
            self._sizes[real] += a.size
        self._parts = [real for real in (True, False) if any(p.real is real for p in self._places)]
        self.is_small = sum(self._sizes.values()) <= SMALL and all(a.dtype.kind in "fbiu" for a in arrays)

    def closed(self, tree: Any) -> Arrays:
        """The arrays that a tree of NumPy's travels as."""
        leaves: list[Any] = [reduce(getitem, path, tree) for path in self._paths]
        if not self.is_small:
            return leaves
        made = {real: np.empty(self._sizes[real], float if real else np.uint64) for real in self._parts}
        for leaf, (real, start, end, shape, _) in zip(leaves, self._places, strict=True):
            if shape:
                made[real][start:end] = np.ravel(leaf)
            else:
                made[real][start] = leaf
        return list(made.values())

    def traced(self, xp: Any, tree: object) -> Arrays:
        """The same of a tree of another array library's."""
        leaves = nested.leaves(tree)
        if not self.is_small:
            return leaves
        flat = [xp.ravel(a) if p.real else xp.ravel(a).astype(np.uint64) for a, p in zip(leaves, self._places)]
        return [xp.concatenate([a for a, p in zip(flat, self._places) if p.real is real]) for real in self._parts]

    def number(self, *path: int) -> int:
        """Which of the leaves stands at a path of indices."""
        return self._paths.index(path)

    def changed(self, arrays: Arrays, number: int, leaf: np.ndarray) -> Arrays:
        """The arrays of a tree that has another leaf here, of real numbers."""
        made = list(arrays)
        if not self.is_small:
            made[number] = leaf
            return made
        _, start, end, _, _ = self._places[number]
        made[0] = made[0].copy()  # real numbers come first
        made[0][start:end] = np.ravel(leaf)
        return made

    def leaf(self, arrays: Arrays, number: int) -> np.ndarray:
        """One leaf of the tree that travels as these arrays, of real numbers."""
        if not self.is_small:
            return np.asarray(arrays[number])
        _, start, end, shape, _ = self._places[number]
        return np.asarray(arrays[0])[start:end].reshape(shape)

    def opened(self, arrays: Iterable[object]) -> Any:
        """The tree again."""
        leaves = self._leaves(dict(zip(self._parts, arrays))) if self.is_small else iter(arrays)
        return self._build(leaves)

    def _leaves(self, whole: Mapping[bool, Any]) -> Iterator[Any]:
        for real, start, end, shape, kind in self._places:
            part = whole[real][start:end].reshape(shape) if shape else whole[real][start]
            yield part if real else part.astype(kind)


@dataclass
class Calls:
    """What goes into a call of the transitions, and what of its results is a chain's."""

    arguments: Bundle
    chain: Bundle

    def __post_init__(self) -> None:
        self._point = self.arguments.number(1, 1, 0)
        self._latest = [self.chain.number(3, i) for i in range(len(State._fields))]

    def at(self, given: Arrays, points: np.ndarray) -> Arrays:
        """The arrays of a call that begins at other points, of what travels as these."""
        return self.arguments.changed(given, self._point, points)

    def latest(self, made: Arrays) -> State:
        """Where a call last evaluated the density, of the arrays that a chain travels as."""
        return State(*(self.chain.leaf(made, number) for number in self._latest))

    @staticmethod
    def of(own: object, chain: Chain, metric: Metric, controls: Controls) -> "Calls":
        """Those of a chain, or of several with an axis of chains, with data of their own."""
        return Calls(Bundle((own, chain, metric, controls, np.int64(1))), Bundle(chain))


@dataclass
class Bound:
    """A compiled program with the data that enter its arithmetic."""

    calls: Calls
    constants: Any
    program: Program | Executable

    def __post_init__(self) -> None:
        self.placed: Any = None  # the constants where the program runs

    @property
    def may_block(self) -> bool:
        return self.program.may_block

    def __call__(self, *given: object) -> tuple[Chain, Any, Any]:
        """The chain after transitions, where it was, and the numbers of each: of `Transitions`, with its arguments."""
        *chain, points, numbers = self._made(self.calls.arguments.closed(given))
        known = map(np.asarray, chain) if self.calls.chain.is_small else chain
        return self.calls.chain.opened(known), points, numbers

    def state_at(self, given: Arrays, points: np.ndarray) -> State:
        """The state at points, to which transitions of no length lead that travel as these arrays."""
        return self.calls.latest(self._made(self.calls.at(given, points)))

    def _made(self, arrays: Arrays) -> Arrays:
        if self.placed is None:
            self.placed = self.program.placed(self.constants)
        return cast(Arrays, self.program(self.placed, *arrays))
