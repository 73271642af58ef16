"""What holds of a program's functions because of what they call."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from ..ir import gprob, traversal

T = TypeVar("T")


def reached(first: Iterable[T], calls: Mapping[T, Iterable[T]]) -> list[T]:
    """What calls get to from `first`, these included."""
    found = list(dict.fromkeys(first))
    for one in found:  # which grows
        found += [n for n in calls.get(one, ()) if n not in found]
    return found


def closure(
    functions: Sequence[gprob.FunDef], holds: Callable[[object], bool],
    also: Callable[[gprob.FunDef], bool] = lambda f: False,
) -> frozenset[str]:  # fmt: skip
    """The functions of which something holds: for a node inside of them, by themselves, or for a function they call."""
    callers: dict[str, list[str]] = {}
    known: dict[str, None] = {}
    for f in functions:
        if also(f):
            known[f.name] = None
        for node in traversal.walk(f.body):
            if isinstance(node, gprob.CallUser):
                callers.setdefault(node.function, []).append(f.name)
            elif holds(node):
                known[f.name] = None
    waiting = list(known)
    while waiting:
        new = [c for c in callers.pop(waiting.pop(), ()) if c not in known]
        known.update(dict.fromkeys(new))
        waiting += new
    return frozenset(known)
