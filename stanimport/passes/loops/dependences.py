"""The dependence graph of a loop's body, and its strongly connected components.

Source: Allen and Kennedy (2002), "Optimizing Compilers for Modern Architectures", sections 2.2 and 3.
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field

from stanlib.dataclass import dataclass

from .accesses import Access
from .affine import difference

UNKNOWN = "unknown"


@dataclass
class Graph:
    """Statements by number; `edges[i]` are those that must come after i. `carried` are statements whose iterations
    depend on each other."""

    count: int
    edges: list[set[int]] = field(default_factory=list)
    carried: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.edges = [set() for _ in range(self.count)]

    def groups(self) -> list[list[int]]:
        """The strongly connected components in an order that respects the edges, else that of the text."""
        components = _Components(self).found()
        number = {i: k for k, c in enumerate(components) for i in c}
        after: list[set[int]] = [set() for _ in components]
        waiting = [0] * len(components)
        for i, targets in enumerate(self.edges):
            for j in targets:
                if number[i] != number[j] and number[j] not in after[number[i]]:
                    after[number[i]].add(number[j])
                    waiting[number[j]] += 1
        ready = {k for k, n in enumerate(waiting) if n == 0}
        out = []
        while ready:
            k = min(ready, key=lambda k: min(components[k]))
            ready.remove(k)
            out.append(sorted(components[k]))
            for j in after[k]:
                waiting[j] -= 1
                if not waiting[j]:
                    ready.add(j)
        return out

    def is_recurrence(self, group: Sequence[int]) -> bool:
        return len(group) > 1 or group[0] in self.carried


class _Components:
    """Tarjan's algorithm without recursion (Tarjan 1972, "Depth-first search and linear graph algorithms")."""

    def __init__(self, graph: Graph):
        self.graph = graph
        self.order: dict[int, int] = {}
        self.low: dict[int, int] = {}
        self.path: list[int] = []
        self.on_path: set[int] = set()
        self.todo: list[tuple[int, Iterator[int]]] = []
        self.out: list[list[int]] = []

    def found(self) -> list[list[int]]:
        """Each component in the order of its statements."""
        for start in range(self.graph.count):
            if start not in self.order:
                self._enter(start)
            while self.todo:
                self._go_on()
        return sorted(self.out)

    def _enter(self, i: int) -> None:
        self.order[i] = self.low[i] = len(self.order)
        self.path.append(i)
        self.on_path.add(i)
        self.todo.append((i, iter(self.graph.edges[i])))

    def _go_on(self) -> None:
        """One edge of the statement that was entered last, or its end."""
        i, following = self.todo[-1]
        j = next(following, None)
        if j is None:
            self._leave(i)
        elif j not in self.order:
            self._enter(j)
        elif j in self.on_path:
            self.low[i] = min(self.low[i], self.order[j])

    def _leave(self, i: int) -> None:
        """The end of a statement, and of its component if it was entered first of it."""
        self.todo.pop()
        if self.todo:
            before = self.todo[-1][0]
            self.low[before] = min(self.low[before], self.low[i])
        if self.low[i] == self.order[i]:
            cut = self.path.index(i)
            self.out.append(sorted(self.path[cut:]))
            self.on_path.difference_update(self.path[cut:])
            del self.path[cut:]


def build(
    accesses: Sequence[Sequence[Access]], index: str, inner: set[str], private: set[str], simple: Sequence[bool]
) -> Graph:
    """The graph of statements with these accesses in a loop over `index`.

    `inner` are the variables that change inside of the loop, `private` those of which every iteration has its own. In
    a `simple` statement all reads come before the one write.
    """
    graph = Graph(len(accesses))
    by_name: dict[str, list[tuple[int, Access]]] = {}
    for i, group in enumerate(accesses):
        for a in group:
            by_name.setdefault(a.name, []).append((i, a))
    for name, uses in by_name.items():
        if not any(a.writes for _, a in uses):
            continue
        for at, (i, a) in enumerate(uses):
            for j, b in uses if name not in private else uses[at:]:
                if i <= j and (a.writes or b.writes) and not (i == j and a is b and not a.writes):
                    _connect(graph, i, j, a, b, index, inner, private, simple[i])
    return graph


def _connect(
    graph: Graph, i: int, j: int, a: Access, b: Access, index: str, inner: set[str], private: set[str], simple: bool
) -> None:
    """The edges for a pair of accesses, of statement i and of a later one (or the same) j."""
    if a.name in private:
        if i != j:
            graph.edges[i].add(j)
        return
    distance = iterations_between(a, b, index, inner)
    if distance is None:
        return
    if distance == 0:
        if i != j:
            graph.edges[i].add(j)
    elif i != j:
        if isinstance(distance, str) or distance > 0:
            graph.edges[i].add(j)
        if isinstance(distance, str) or distance < 0:
            graph.edges[j].add(i)
    elif not (simple and _reads_ahead(a, b, distance)):
        graph.carried.add(i)


def _reads_ahead(a: Access, b: Access, distance: int | str) -> bool:
    """Whether one statement reads only what it will overwrite in a later iteration: then all reads may come first."""
    if isinstance(distance, str) or a.writes and b.writes:
        return False
    return distance > 0 if b.writes else distance < 0


def iterations_between(a: Access, b: Access, index: str, inner: set[str]) -> int | str | None:
    """How many iterations after a the same element is accessed by b: a number, UNKNOWN, or None if never."""
    found: int | str = UNKNOWN
    for f, g in zip(a.indices, b.indices):
        if f is None or g is None:
            continue
        coefficient = f.coefficient(index)
        rest, other = f.without(index), g.without(index)
        if coefficient != g.coefficient(index) or rest.mentions(inner | {index}) or other.mentions(inner | {index}):
            continue
        gap = difference(rest, other)
        if gap is None:
            continue
        if coefficient == 0:
            if gap:
                return None
            continue
        if gap % coefficient:
            return None
        distance = gap // coefficient
        if found not in (UNKNOWN, distance):
            return None
        found = distance
    return found
