"""What holds of a program's functions because of what they call."""
from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import TypeVar

from ..ir import gprob, traversal

T = TypeVar("T")


def reached(first: Iterable[T], calls: Mapping[T, Iterable[T]], without: Container[T] = ()) -> list[T]:
    """What calls get to from `first`, these included, by way of none of some others."""
    found = dict.fromkeys(n for n in first if n not in without)
    waiting = list(found)
    for one in waiting:  # which grows
        new = [n for n in dict.fromkeys(calls.get(one, ())) if n not in found and n not in without]
        found.update(dict.fromkeys(new))
        waiting += new
    return waiting


def circles(calls: Mapping[T, Iterable[T]]) -> list[set[T]]:
    """The groups that call each other, or the one that calls itself, in time linear in the calls (Sharir 1981)."""
    callers: dict[T, list[T]] = {}
    for one, called in calls.items():
        for n in called:
            callers.setdefault(n, []).append(one)
    found: list[set[T]] = []
    grouped: set[T] = set()
    for one in reversed(_last_returned(calls)):
        if one not in grouped:
            group = set(reached([one], callers, grouped))
            grouped |= group
            found += [group] if len(group) > 1 or one in calls.get(one, ()) else []
    return found


def _last_returned(calls: Mapping[T, Iterable[T]]) -> list[T]:
    """All that call or are called, each after what it calls, but for circles."""
    returned: list[T] = []
    entered: set[T] = set()
    for first in calls:
        waiting = [(first, iter(calls[first]))] if first not in entered else []
        entered.add(first)
        while waiting:
            one, left = waiting[-1]
            new = next((n for n in left if n not in entered), None)
            if new is None:
                returned.append(one)
                waiting.pop()
            else:
                entered.add(new)
                waiting.append((new, iter(calls.get(new, ()))))
    return returned


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
