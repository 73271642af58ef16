"""What statements read and write, and the order in which that lets them stand."""
from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import field

from stanlib.dataclass import dataclass

from ..ir import gprob
from ..ir.uses import counts, reads, walk_statements, writes

Edges = list[set[int]]


@dataclass
class Access:
    """The variables that a statement reads and writes, those inside of it included."""

    reads: set[str] = field(default_factory=set)
    writes: set[str] = field(default_factory=set)


def access(s: gprob.Stmt) -> Access:
    """What a statement reads and writes, nested statements included."""
    out = Access()
    for inner in walk_statements((s,)):
        out.reads |= reads(inner)
        out.writes.update((*counts(inner), *writes(inner)))
        if isinstance(inner, gprob.Message):
            out.writes.add("print")  # messages keep their order
    return out


def arrange(
    statements: Sequence[gprob.Stmt], merged: Mapping[int, frozenset[str]], priority: Sequence[float] | None = None
) -> tuple[gprob.Stmt, ...] | None:
    """The statements in an order in which all of them compute what they compute as they stand, or None.

    `merged` holds, by position, what statements sample: all that reads it comes after them, wherever they stand. Among
    the statements that can come next the one with the least `priority` does.
    """
    order = _sorted(_edges([access(s) for s in statements], merged), priority or range(len(statements)))
    return None if order is None else tuple(statements[i] for i in order)


def _edges(accesses: Sequence[Access], merged: Mapping[int, frozenset[str]]) -> Edges:
    """For every statement those that must come after it."""
    after: Edges = [set() for _ in accesses]
    source = {name: i for i, names in merged.items() for name in names}
    last_write: dict[str, int] = {}
    readers: dict[str, list[int]] = {}
    for i, a in enumerate(accesses):
        for name in (a.reads | a.writes) - merged.get(i, frozenset()):
            before = source.get(name, last_write.get(name))
            if before is not None and before != i:
                after[before].add(i)
        for name in a.writes - source.keys():
            for reader in readers.pop(name, ()):
                if reader != i:
                    after[reader].add(i)
            last_write[name] = i
        for name in a.reads - source.keys():
            readers.setdefault(name, []).append(i)
    return after


def _sorted(after: Edges, priority: Sequence[float]) -> list[int] | None:
    """A topological order, None if there is a cycle."""
    waiting = [0] * len(after)
    for targets in after:
        for t in targets:
            waiting[t] += 1
    ready = [(priority[i], i) for i, n in enumerate(waiting) if n == 0]
    heapq.heapify(ready)
    order: list[int] = []
    while ready:
        _, i = heapq.heappop(ready)
        order.append(i)
        for t in after[i]:
            waiting[t] -= 1
            if waiting[t] == 0:
                heapq.heappush(ready, (priority[t], t))
    return order if len(order) == len(after) else None
