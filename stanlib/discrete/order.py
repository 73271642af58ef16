"""An order in which elements are summed out, found from what is known before any density: who stands with whom.

Elements are eliminated in rounds. In each round elements of which no two stand in one factor go at the same time, those
with small tables first; elements that stand in factors alike form a class, whose tables are computed as one array.
So a star or a tree takes as many rounds as it is deep. Chains, and what else is long and thin, are summed out along
their length.
"""
from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from typing import Any

import numpy as np

from ..dataclass import dataclass
from ..errors import StanUnsupportedError
from .cases import STANDING, Cases, cases
from .chains import Chains, chains
from .compounds import Compounds, Table, compounds
from .problem import Factor, Problem, Rows, limit
from .sweeps import Sweep, sweeps
from .wholes import wholes

AROUND = 6  # others that an element of compounds may stand with, of which some are around
CHEAP = 4096  # entries of a table that is not worth looking for a smaller one


@dataclass(frozen=True)
class Use:
    """Rows of a slot as factors of a class of elements; `axes` are the axes of the joint table that theirs become."""

    slot: int
    rows: np.ndarray
    axes: tuple[int, ...]


@dataclass(frozen=True)
class Class:
    """Elements that are eliminated alike, and their neighbours, which the tables that are left behind are over.

    The first axis of a joint table is that of the element, the others are those of its neighbours; `result` is the
    slot of what is left.
    """

    elements: np.ndarray
    neighbours: np.ndarray
    uses: tuple[Use, ...] = ()
    result: int = -1


@dataclass(frozen=True)
class Join:
    """Rows of several slots as one slot."""

    slot: int
    pieces: tuple[tuple[int, np.ndarray], ...]


@dataclass(frozen=True)
class Plan:
    """Steps in their order. A `largest` joint table, of `element`, is what the plan needs most room for."""

    steps: tuple[Class | Join | Compounds | Cases | Chains | Sweep, ...]
    largest: int = 0
    element: int = -1


def too_large(problem: Problem, factors: Sequence[Factor], plan: Plan) -> StanUnsupportedError:
    """Names the element whose table would be too large, and the statements that couple it with others."""
    with_it = [f for f in factors if (f.elements == plan.element).any()]
    labels = ", ".join(dict.fromkeys(f.label for f in with_it))
    return StanUnsupportedError(
        f"summing out the {len(problem.kinds)} discrete variables needs a table of {plan.largest:.3g} entries for "
        f"{problem.name(plan.element)}, which these statements couple with others: {labels}; the limit is "
        f"{limit()}"
    )


class Kept:
    """Plans that were made before: programs are traced, and run, many times with the same data."""

    plans: "OrderedDict[bytes, Plan]" = OrderedDict()
    most = 16


def plan(
    kinds: np.ndarray, left: np.ndarray, scopes: Sequence[np.ndarray], limit: int, tables: Sequence[Table] = ()
) -> Plan:
    """The order for the elements that are left; the factors over more than one element are the first slots.

    All elements have axes of length `kinds`. `tables` are those of data that exclude something, by slot, as which
    entries they leave.

    Where a table would have more than `limit` entries, the plan ends there.
    """
    tables = tables or (None,) * len(scopes)
    shapes = repr([s.shape for s in scopes]).encode()
    key = b"|".join([shapes, kinds.tobytes(), left.tobytes(), *(s.tobytes() for s in scopes), str(limit).encode(),
                     *(b"" if t is None else _bytes(t) for t in tables)])  # fmt: skip
    if key not in Kept.plans:
        Kept.plans[key] = _Planner(kinds, left, scopes, limit, tables).plan()
        while len(Kept.plans) > Kept.most:
            Kept.plans.popitem(last=False)
    Kept.plans.move_to_end(key)
    return Kept.plans[key]


def _bytes(given: Rows) -> bytes:
    codes = np.zeros(0, int) if given.codes is None else given.codes
    return repr(np.shape(given.table)).encode() + np.asarray(given.table).tobytes() + codes.tobytes()


_Member = tuple[int, list[int], list[tuple[int, int]]]  # an element, its neighbours, the factors in which it stands


@dataclass
class _Slot:
    """Factors whose elements have axes of the same lengths, by row; `live` are those not used up."""

    scopes: list[tuple[int, ...]]
    live: dict[int, None] = field(default_factory=dict)


class _Planner:
    def __init__(
        self, kinds: np.ndarray, left: np.ndarray, scopes: Sequence[np.ndarray], limit: int, tables: Sequence[Table]
    ):
        self.kinds, self.left, self.limit, self.given = kinds.tolist(), left, limit, tables
        self.slots: list[_Slot] = []
        self.standing: dict[int, dict[tuple[int, int], None]] = {}  # the factors in which an element stands
        self.neighbours: dict[int, set[int]] = {}
        self.steps: list[Class | Join | Compounds | Cases | Chains | Sweep] = []
        self.largest, self.element = 0, -1
        for s in scopes:
            self._new_slot([tuple(row) for row in s.tolist()])

    def plan(self) -> Plan:
        """The steps: elements that stand alone, wholes, chains, also of compounds and by cases, sweeps, then rounds
        until none is left or a table too large."""
        self._those_alone()
        self._along_chains()
        self._as_wholes()
        self._compound(self.neighbours)
        self._along_chains()
        for most in STANDING:
            self._by_cases(most)
        few = {e for e, around in self.neighbours.items() if len(around) <= AROUND}
        self._compound({e: self.neighbours[e] & few for e in self.neighbours if e in few})
        for most in STANDING:
            self._by_cases(most)
        self._in_sweeps()
        while self.neighbours and self.largest <= self.limit:
            apart = self._chosen()
            self._eliminate(apart)
            if len(apart) >= 8:
                self._join()
        return Plan(tuple(self.steps), self.largest, self.element)

    def _those_alone(self) -> None:
        """Elements that stand with no other."""
        self._by_themselves(np.setdiff1d(self.left, np.fromiter(self.standing, int, len(self.standing))).tolist())

    def _by_themselves(self, elements: Sequence[int]) -> None:
        """The steps for elements without neighbours, one for those of each length of axes."""
        for kind in sorted({self.kinds[e] for e in elements}):
            chosen = np.array([e for e in elements if self.kinds[e] == kind], int)
            self.steps.append(Class(chosen, np.zeros((len(chosen), 0), int)))

    def _in_sweeps(self) -> None:
        scopes = [s.scopes for s in self.slots]
        for sweep in sweeps(self.neighbours, self.kinds, scopes, self.standing, self.limit):
            self.steps.append(sweep)
            self.largest = max(self.largest, sweep.largest)
            self._forget([e for step in sweep.steps for e in step.elements.reshape(-1).tolist()])

    def _along_chains(self) -> None:
        scopes = [s.scopes for s in self.slots]
        for found in list(chains(self.neighbours, self.kinds, scopes, self.standing)):
            self.steps.append(found)
            self._forget(found.elements[found.elements >= 0].tolist())

    def _as_wholes(self) -> None:
        """Compounds in place of components that one element's table would be over anyway."""
        scopes = [s.scopes for s in self.slots]
        given = (*self.given, *(None,) * (len(scopes) - len(self.given)))
        for c in wholes(self.neighbours, self.kinds, scopes, self.standing, given, self.limit):
            self._forget([e for g in c.groups for e in g.members.reshape(-1).tolist()])
            self.kinds += [c.kind] * c.count
            self.steps.append(c)
            self._by_themselves(range(c.first, c.first + c.count))

    def _compound(self, neighbours: dict[int, set[int]]) -> None:
        """Compounds in place of the elements of components that become chains so, given those without neighbours."""
        scopes = [s.scopes for s in self.slots]
        given = (*self.given, *(None,) * (len(scopes) - len(self.given)))
        for c in compounds(neighbours, self.kinds, scopes, self.standing, given, self.limit):
            self._part([e for g in c.groups for e in g.members.reshape(-1).tolist()])
            self.kinds += [c.kind] * c.count
            for link in c.links:
                self._new_slot(link.scopes)
            self.steps.append(c)

    def _by_cases(self, most: int) -> None:
        """Chains that stand with elements around them, once for each case of these."""
        scopes = [s.scopes for s in self.slots]
        for c in cases(self.neighbours, self.kinds, scopes, self.standing, most, self.limit):
            self._part(c.members.tolist())
            self.kinds += [c.kind] * c.copies.size
            for t in c.links:
                self._new_slot([tuple(c) for c in c.copies[:, t.columns].reshape(-1, 2).tolist()])
            near = {e: self.neighbours[e] for e in c.copies.reshape(-1).tolist()}
            c.chains.extend(chains(near, self.kinds, [s.scopes for s in self.slots], self.standing))
            self._forget(list(near))
            self._close(c)

    def _close(self, c: Cases) -> None:
        """The step, and what becomes of the elements around its chains."""
        around, ends = np.unique(c.around).tolist(), [c.ends(one) for one in c.chains]
        closing = sum(rows.size for rows in ends) == len(around) and not any(map(self.standing.get, around))
        self.steps.append(replace(c, closing=closing))
        if closing:
            self._forget(around)
            return
        for rows in ends if len(c.sizes) > 1 else ():
            self._new_slot([tuple(row) for row in rows.tolist()])
        self._forget_lonely(around)

    def _part(self, members: list[int]) -> None:
        """Elements that others stand around, and their factors: those stay."""
        used = {f for e in members for f in self.standing[e]}
        for other in {n for e in members for n in self.neighbours[e]}.difference(members):
            self.neighbours[other].difference_update(members)
            self.standing[other] = {f: None for f in self.standing[other] if f not in used}
        self._forget(members)

    def _forget(self, elements: list[int]) -> None:
        """Elements of whole components that are summed out, and the factors between them."""
        for e in elements:
            for s, r in self.standing[e]:
                self.slots[s].live.pop(r, None)
            del self.neighbours[e], self.standing[e]

    def _new_slot(self, scopes: list[tuple[int, ...]]) -> int:
        """The number of a new slot, of a factor for each scope; the elements of a scope become neighbours."""
        number = len(self.slots)
        self.slots.append(_Slot(scopes, dict.fromkeys(range(len(scopes)))))
        for row, scope in enumerate(scopes):
            for e in scope:
                self.standing.setdefault(e, {})[number, row] = None
                self.neighbours.setdefault(e, set()).update(scope)
        for scope in scopes:
            for e in scope:
                self.neighbours[e].discard(e)
        return number

    def _cost(self, e: int) -> int:
        size: int = math.prod((self.kinds[i] for i in self.neighbours[e]), start=self.kinds[e])
        return size

    def _chosen(self) -> list[int]:
        """Elements of which no two are neighbours, with joint tables about as small as can be."""
        costs = {e: self._cost(e) for e in self.neighbours}
        ordered = sorted(costs.values())
        most = ordered[0] * max(self.kinds[e] for e in costs)
        quarter = ordered[len(ordered) // 4]
        if quarter <= CHEAP:
            most = max(most, quarter)
        chosen = self._apart(e for e in sorted(costs) if costs[e] <= most)
        if sum(costs[e] for e in chosen) > self.limit:
            chosen = self._apart(e for e in sorted(costs) if costs[e] == ordered[0])
        total = sum(costs[e] for e in chosen)
        if total > self.largest:
            self.largest, self.element = total, max(chosen, key=lambda e: costs[e])
        return chosen

    def _apart(self, candidates: Iterator[int]) -> list[int]:
        chosen: list[int] = []
        blocked: set[int] = set()
        for e in candidates:
            if e not in blocked:
                chosen.append(e)
                blocked |= self.neighbours[e]
        return chosen

    def _eliminate(self, chosen: list[int]) -> None:
        """The steps for elements, no two of them neighbours; those with neighbours and factors alike are one class."""
        classes: dict[tuple[Any, Any, tuple[tuple[int, tuple[int, ...]], ...]], list[_Member]] = {}
        for e in chosen:
            around, factors = sorted(self.neighbours[e]), sorted(self.standing[e])
            axis = {n: i for i, n in enumerate([e, *around])}
            used = tuple((s, tuple(axis[i] for i in self.slots[s].scopes[r])) for s, r in factors)
            key = (self.kinds[e], tuple(self.kinds[n] for n in around), used)
            classes.setdefault(key, []).append((e, around, factors))
        for (_, _, stands), members in classes.items():
            self._remove(stands, members)

    def _remove(self, used: Sequence[tuple[int, tuple[int, ...]]], members: list[_Member]) -> None:
        """The step for a class, whose factors are used up; what it leaves on several neighbours is a new slot."""
        uses = [Use(s, np.array([m[2][i][1] for m in members]), axes) for i, (s, axes) in enumerate(used)]
        for e, around, factors in members:
            for s, r in factors:
                del self.slots[s].live[r]
                for other in self.slots[s].scopes[r]:
                    del self.standing[other][s, r]
            for n in around:
                self.neighbours[n].discard(e)
            del self.neighbours[e], self.standing[e]
        left = [tuple(around) for _, around, _ in members]
        elements, neighbours = np.array([e for e, _, _ in members]), np.array(left, int).reshape(len(members), -1)
        result = self._new_slot(left) if neighbours.shape[1] > 1 else -1
        self.steps.append(Class(elements, neighbours, tuple(uses), result))
        if neighbours.shape[1] == 1:
            self._forget_lonely(neighbours[:, 0].tolist())

    def _forget_lonely(self, elements: list[int]) -> None:
        """Elements that stand with no other any more."""
        lonely = sorted({e for e in elements if e in self.neighbours and not self.neighbours[e]})
        self._by_themselves(lonely)
        for e in lonely:
            del self.neighbours[e], self.standing[e]

    def _join(self) -> None:
        """What is left of slots of one form becomes one slot, so that classes stay few."""
        forms: dict[tuple[int, ...], list[int]] = {}
        for number, slot in enumerate(self.slots):
            if slot.live:
                first = slot.scopes[next(iter(slot.live))]
                forms.setdefault(tuple(self.kinds[e] for e in first), []).append(number)
        for numbers in forms.values():
            if len(numbers) > 1:
                self._joined(numbers)

    def _joined(self, numbers: list[int]) -> None:
        """The step that makes what is not used up of these slots a slot of its own."""
        pieces, scopes = [], []
        for s in numbers:
            kept = list(self.slots[s].live)
            pieces.append((s, np.array(kept)))
            for r in kept:
                scopes.append(self.slots[s].scopes[r])
                for e in self.slots[s].scopes[r]:
                    del self.standing[e][s, r]
            self.slots[s].live.clear()
        self.steps.append(Join(self._new_slot(scopes), tuple(pieces)))
