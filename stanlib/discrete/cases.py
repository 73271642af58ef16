"""Cases: chains whose elements all stand with the same few others, such as the class of an animal of hidden states.

Given those they are chains like others. So they are summed out once in each case, which is an assignment to the
elements around them, all cases side by side; what they come to is a term of those.
"""
from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import field

import numpy as np

from ..dataclass import dataclass
from . import chains
from .chains import Chains, Neighbours, Standing, paths_of
from .sweeps import Scopes

STANDING = (3, 4, 5)  # others that an element of a chain may stand with, of which two are its neighbours there
WORTH = 4  # entries of tables between copies for each of those of factors


@dataclass(frozen=True)
class Terms:
    """Rows of a slot, (n,), as terms of one element of chains, or of two: columns of members, (n, 1 or 2).

    The axes of the slot's tables are, by their numbers, those of the elements around, then those of the chain's.
    """

    slot: int
    rows: np.ndarray
    columns: np.ndarray
    axes: tuple[int, ...]


@dataclass(frozen=True)
class Cases:
    """Elements of chains, the `members`, place by place, and their `copies`, (cases, members).

    `around` has the elements around each member, (members, q), with axes of the lengths `sizes`; an element of a chain
    has one of length `kind`. `single` are terms of one copy, `links` those of two, each of which is a slot of its own.
    The `chains` of copies have all cases of some chains, one after the other, each with the same elements around.
    Where they are `closing`, the elements around each stand with nothing else any more.
    """

    kind: int
    sizes: tuple[int, ...]
    members: np.ndarray
    copies: np.ndarray
    around: np.ndarray
    single: tuple[Terms, ...]
    links: tuple[Terms, ...]
    chains: list[Chains] = field(default_factory=list)
    closing: bool = False

    @property
    def count(self) -> int:
        """How many cases there are."""
        return math.prod(self.sizes)

    def ends(self, c: Chains) -> np.ndarray:
        """The elements around chains, (chains, q), once for all cases of each."""
        column = np.zeros(self.copies.size, int)
        column[self.copies - self.copies.min()] = np.arange(len(self.members))
        first = c.elements[: len(c.elements) // self.count, 0]
        found: np.ndarray = self.around[column[first - self.copies.min()]]
        return found


_Path = list[int]
_Found = list[tuple[tuple[int, ...], _Path]]  # the elements around, and those of the chain


def cases(
    neighbours: Neighbours, kinds: Sequence[int], scopes: Scopes, standing: Standing, most: int, limit: int
) -> Iterator[Cases]:  # fmt: skip
    """The steps for chains, of elements that stand with `most` others; each step's copies begin where kinds end."""
    few = {e for e, around in neighbours.items() if len(around) <= most}
    groups: dict[tuple[tuple[int, ...], int], _Found] = {}
    for path in paths_of({e: neighbours[e] & few for e in neighbours if e in few}):
        around = tuple(sorted({n for e in path for n in neighbours[e] if n not in few}))
        if len(path) >= chains.SHORT and around and _is_worth(path, around, kinds, scopes, standing):
            groups.setdefault((tuple(kinds[e] for e in around), kinds[path[0]]), []).append((around, path))
    for (sizes, kind), found in sorted(groups.items()):
        if math.prod(sizes) * kind**2 * sum(len(path) for _, path in found) <= limit:
            yield _together(kind, sizes, found, len(kinds), scopes, standing)


def _is_worth(
    path: _Path, around: Sequence[int], kinds: Sequence[int], scopes: Scopes, standing: Standing
) -> bool:  # fmt: skip
    """Whether tables between copies have not many more entries than factors; of axes of one length alone."""
    factors = {f for e in path for f in standing[e]}
    size = sum(math.prod(kinds[e] for e in scopes[s][r]) for s, r in factors)
    copied = math.prod(kinds[e] for e in around) * kinds[path[0]] ** 2 * (len(path) - 1)
    return len({kinds[e] for e in path}) == 1 and copied <= WORTH * size


def _together(
    kind: int, sizes: tuple[int, ...], found: _Found, first: int, scopes: Scopes, standing: Standing
) -> Cases:  # fmt: skip
    """The step for some chains; copies at one place of all of them have numbers close together."""
    places = [[i for i, (_, path) in enumerate(found) if t < len(path)] for t in range(max(len(p) for _, p in found))]
    members = np.array([found[i][1][t] for t, here in enumerate(places) for i in here])
    around = np.array([found[i][0] for here in places for i in here])
    copies, count = [], math.prod(sizes)
    for here in places:
        copies.append(first + np.arange(count * len(here)).reshape(count, -1))
        first += count * len(here)
    terms = _terms(members, around, scopes, standing)
    single, links = (tuple(t for t in terms if t.columns.shape[1] == n) for n in (1, 2))
    return Cases(kind, sizes, members, np.concatenate(copies, axis=1), around, single, links)


def _terms(members: np.ndarray, around: np.ndarray, scopes: Scopes, standing: Standing) -> list[Terms]:
    """The terms of all factors, those of one slot and of the same axes together."""
    column = {e: i for i, e in enumerate(members.tolist())}
    outer = around.tolist()
    found: dict[tuple[int, int, tuple[int, ...]], list[tuple[int, ...]]] = {}
    for s, r in {f: None for e in column for f in standing[e]}:
        inside = sorted(column[e] for e in scopes[s][r] if e in column)
        axis = {e: i for i, e in enumerate([*outer[inside[0]], *(int(members[i]) for i in inside)])}
        axes = tuple(axis[e] for e in scopes[s][r])
        found.setdefault((s, len(inside), axes), []).append((r, *inside))
    out = []
    for (s, _, axes), rows in found.items():
        at = np.array(rows)
        out.append(Terms(s, at[:, 0], at[:, 1:], axes))
    return out
