"""Chains: components of the graph of factors in which every element stands with the one before and the one after it.

They are summed out along the chain, many chains side by side, which takes fewer operations than any other order.
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ..dataclass import dataclass

SHORT = 3  # elements of a chain that is worth a loop,
TOGETHER = 16  # and of the longest one in a group of which the others may be of any length


@dataclass(frozen=True)
class Link:
    """The factors of one slot between neighbours: the row for each link, -1 where there is none, (chains, length - 1).

    The first axis of a `swapped` one is that of the later element.
    """

    slot: int
    rows: np.ndarray
    swapped: bool


@dataclass(frozen=True)
class Chains:
    """Chains side by side: their elements, -1 behind the end of those that are shorter, (chains, length)."""

    elements: np.ndarray
    links: tuple[Link, ...]

    @property
    def linked(self) -> np.ndarray:
        """Which links there are, (chains, length - 1)."""
        return self.elements[:, 1:] >= 0


Neighbours = Mapping[int, set[int]]
Standing = Mapping[int, Mapping[tuple[int, int], None]]


def chains(neighbours: Neighbours, kinds: Sequence[int], scopes: Sequence[Sequence[tuple[int, ...]]],
           standing: Standing) -> Iterator[Chains]:  # fmt: skip
    """The chains among the components, those of one length of axes and similar lengths together."""
    groups: dict[tuple[int, int], list[list[int]]] = {}
    for path in paths_of(neighbours):
        same = len({kinds[e] for e in path}) == 1
        if same and all(len(scopes[s][r]) == 2 for e in path for s, r in standing[e]):
            length = 0 if len(path) <= TOGETHER else len(path).bit_length()
            groups.setdefault((kinds[path[0]], length), []).append(path)
    for _, paths in sorted(groups.items()):
        if max(map(len, paths)) >= SHORT:
            yield together(paths, scopes, standing)


def paths_of(neighbours: Neighbours) -> Iterator[list[int]]:
    """Components that are paths, from the end with the lower number."""
    seen: set[int] = set()
    for start in sorted(e for e, around in neighbours.items() if len(around) == 1):
        if start in seen:
            continue
        path, here = [start], start
        while True:
            after = [n for n in neighbours[here] if len(path) < 2 or n != path[-2]]
            if len(after) != 1:
                break
            here = after[0]
            path.append(here)
        seen.update((path[0], path[-1]))
        if not after and len(neighbours[here]) == 1:
            yield path


def together(paths: list[list[int]], scopes: Sequence[Sequence[tuple[int, ...]]], standing: Standing) -> Chains:
    """Paths side by side as chains, (paths, longest), with links by slot and order of axes between neighbours."""
    elements = np.full((len(paths), max(map(len, paths))), -1)
    found: dict[tuple[int, bool, int], np.ndarray] = {}
    for i, path in enumerate(paths):
        elements[i, : len(path)] = path
        for t, (a, b) in enumerate(zip(path, path[1:])):
            count: dict[tuple[int, bool], int] = {}
            for s, r in standing[a]:
                if b in scopes[s][r]:
                    kind = (s, scopes[s][r][0] == b)
                    number = count[kind] = count.get(kind, -1) + 1  # several factors of one slot between two elements
                    rows = found.setdefault((*kind, number), np.full((len(paths), elements.shape[1] - 1), -1))
                    rows[i, t] = r
    return Chains(elements, tuple(Link(s, rows, swapped) for (s, swapped, _), rows in sorted(found.items(), key=_key)))


def _key(item: tuple[tuple[int, bool, int], np.ndarray]) -> tuple[int, bool, int]:
    return item[0]
