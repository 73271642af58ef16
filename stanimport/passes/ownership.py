"""Which arrays may be changed in place: those that nobody else holds, as values of Stan's variables never share memory.

NumPy's arrays are changed in place where they come from data alone. A backend that traces keeps the array that it was
given, not its value; a variable that takes its value from another one may be a view of it. So an array that anything
dynamic refers to is replaced as a whole when a part of it is assigned, and what takes its value from one that is
changed in place is a copy.
"""
from __future__ import annotations

from collections.abc import Sequence

from stanlib.dataclass import dataclass

from ..ir import gprob, traversal
from ..ir.uses import names_in, reads, walk_statements, writes
from .binding_times import BindingTimes

ALIKE = "discrete_alike__"
_FRESH = (gprob.Const, gprob.MakeArray, gprob.MakeRow)
_KEEPING = (gprob.Observe, gprob.Factor, gprob.Sample, gprob.Param, gprob.Deterministic)


@dataclass(frozen=True)
class Ownership:
    """Of one body: the variables whose arrays are changed in place, and those that may share memory with them."""

    changed: frozenset[str] = frozenset()
    shared: frozenset[str] = frozenset()

    def needs_copy(self, name: str, value: gprob.Expr) -> bool:
        """Whether a variable's new value must be an array of its own."""
        if isinstance(value, _FRESH):
            return False
        return name in self.changed or any(n in self.shared for n in names_in(value))


def analyse(body: Sequence[gprob.Stmt], times: BindingTimes) -> Ownership:
    """The ownership of arrays in a body, by its binding times."""
    assigned: set[str] = set()
    held: set[str] = set()
    calls: list[gprob.Bind] = []
    for s in walk_statements(body):
        if isinstance(s, gprob.Assign) and s.place.steps and not any(p.item for p in s.place.steps):
            assigned.add(s.place.name)
        if isinstance(s, gprob.Bind):
            calls.append(s)
        if isinstance(s, gprob.Recur):  # all iterations may be given the same array
            held.update((*s.inputs, *s.given))
        if _is_kept(s, times) or _is_about_rows(s):
            held |= reads(s)
    changed = assigned - held - times.dynamic
    shared = set(changed)
    for s in calls:  # a function may return what it is given
        if s.name is not None and shared.intersection(names_in(s.call)):
            shared.add(s.name)
    return Ownership(frozenset(changed), frozenset(shared))


def _is_kept(s: gprob.Stmt, times: BindingTimes) -> bool:
    """Whether a backend may keep the values that a statement refers to."""
    if isinstance(s, _KEEPING) or any(map(times.is_dynamic, _parts(s))):
        return True
    return not times.dynamic.isdisjoint({*writes(s), *reads(s)})


def _is_about_rows(s: gprob.Stmt) -> bool:
    """Whether it asks which ints of data are the same: those of a minibatch are traced, and change no NumPy array."""
    return any(isinstance(n, gprob.Apply) and n.function.name == ALIKE for p in _parts(s) for n in traversal.walk(p))


def _parts(s: gprob.Stmt) -> list[object]:
    """The nodes of a statement without the statements inside it."""
    return [p for p in traversal.children(s) if not isinstance(p, gprob.Stmt)]
