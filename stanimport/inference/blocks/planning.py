"""How to compute a program by blocks of rows: which values have rows, where these lie, and in what order all goes."""
from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np

from .flat import Flat, is_literal
from .plan import Cone, Misplaced, Plan, Root, Sweep
from .rules import step_of
from .steps import Added, Each, Input, Moved, Picked, Recurrence, Step, Total

PARAMETERS = 2**14  # of one size, from which on they have rows, too
NUMBERS, _WIDEST = 2**20, 2**8  # of data, and of one row of these, that are read by rows
_ROUNDS = 10


def plan_of(flat: Flat, least: int, are_divided: bool = False) -> Plan | None:
    """How to compute a program by blocks, if it has data of at least so many rows; None if there is no use.

    Where rows are not divided between devices, many parameters of one size, as those of groups, have rows, too.
    """
    lengths = {n for c in flat.constants.values() for n in long_axes(c.shape, least)}
    own = _parameters(flat)
    if lengths and own and not are_divided and (plan := _planned(flat, lengths | own)) is not None:
        return plan
    return _planned(flat, lengths)


def long_axes(shape: Sequence[int], least: int) -> list[int]:
    """The axes of an array that are as long as that; of very many numbers one whose rows are not wide, too."""
    size = math.prod(shape)
    return [n for n in shape if n >= least or size >= NUMBERS and size // n <= _WIDEST]


def _parameters(flat: Flat) -> set[int]:
    """The sizes of a point, of its parts and of these as arrays, where they are many."""
    found = set(flat.inputs)
    for e in flat.equations:
        if e.primitive.name in ("slice", "reshape") and not is_literal(e.invars[0]) and e.invars[0] in found:
            found |= set(e.outvars)
    return {n for v in found for n in v.aval.shape if n >= PARAMETERS}


def _planned(flat: Flat, lengths: set[int]) -> Plan | None:
    """How to compute a program by blocks of rows, of which there are as many as one of `lengths`."""
    whole = set[int]()
    for _ in range(_ROUNDS if lengths else 0):
        plan = _classified(flat, set(lengths), whole)
        try:
            _place(plan)
            return plan if _ordered(plan) else None
        except Misplaced as e:
            whole.add(e.equation)
    return None


# --- which values have rows ------------------------------------------------------------------------------------------


def _classified(flat: Flat, lengths: set[int], whole: Collection[int]) -> Plan:
    """Values with rows, as far as that goes; equations in `whole` are none."""
    while True:
        plan, before = Plan(flat, {}, {}), len(lengths)
        for i, e in enumerate(flat.equations):
            inputs = [_input(v, plan.axes, lengths) for v in e.invars]
            step = step_of(e, inputs, lengths) if i not in whole else None
            outs = [axis for axis in getattr(step, "outs", ()) if axis is not None]
            if step is None or not outs and not _takes_made(e, step, plan.axes):
                continue
            plan.steps[i] = step
            for v, axis in zip(e.outvars, getattr(step, "outs", ())):
                if axis is not None:
                    plan.axes[v] = axis
                    lengths |= {v.aval.shape[axis]} if v.aval.shape[axis] > max(lengths) // 2 else set()
        if len(lengths) == before:
            return plan


def _takes_made(e: Any, step: Step, axes: dict[Any, int]) -> bool:
    return any(axis is not None and not is_literal(v) and v in axes for v, axis in zip(e.invars, step.axes))


def _input(v: Any, axes: dict[Any, int], lengths: Collection[int]) -> Input:
    shape = tuple(np.shape(v.val) if is_literal(v) else v.aval.shape)
    if not is_literal(v) and v in axes:
        return Input(shape, axes[v], True)
    long = [d for d, n in enumerate(shape) if n in lengths]
    return Input(shape, long[0] if len(long) == 1 else None, False)


# --- where rows lie --------------------------------------------------------------------------------------------------


class _Offsets:
    """Values whose rows belong together, and where in their class each begins: disjoint sets with distances."""

    def __init__(self, values: Iterable[object]):
        self.parents: dict[Any, tuple[Any, int]] = {v: (v, 0) for v in values}

    def find(self, v: object) -> tuple[Any, int]:
        """The value that stands for the class, and the row of it at which this one begins."""
        at = 0
        while self.parents[v][0] is not v:
            v, by = self.parents[v]
            at += by
        return v, at

    def join(self, a: object, b: object, later: int) -> None:
        """Row 0 of b lies where row `later` of a does."""
        (root_a, at_a), (root_b, at_b) = self.find(a), self.find(b)
        if root_a is not root_b:
            self.parents[root_b] = root_a, at_a + later - at_b


def _place(plan: Plan) -> None:
    """Classes of values whose rows belong together, and where in their class each begins."""
    offsets = _Offsets(plan.axes)
    for i, step in plan.steps.items():
        e = plan.flat.equations[i]
        if isinstance(step, Moved):
            for v, parts in zip(e.outvars, step.parts):
                for part in parts:
                    if plan.is_made(e.invars[part.input]):
                        offsets.join(v, e.invars[part.input], part.start - part.row)
        else:
            rows = [v for v, _ in plan.read_rows(i) if plan.is_made(v)] + [v for v in e.outvars if v in plan.axes]
            for other in rows[1:]:
                offsets.join(rows[0], other, 0)
    plan.offsets = {v: offsets.find(v) for v in plan.axes}


# --- in what order ---------------------------------------------------------------------------------------------------


def _ordered(plan: Plan) -> bool:
    """Find an order of equations and sweeps; whether sweeps take totals at all."""
    _demote_cheap(plan)
    roots = _roots(plan)
    if not any(r.kind in ("total", "added") for r in roots):
        return False
    cones = {r.variable: plan.cone(r) for r in roots}
    _verify_directions(plan, roots, cones)
    plan.guesses = _guesses(plan, roots, cones)
    known = set(plan.flat.inputs) | set(plan.flat.constants) | {r.variable for r in plan.guesses}
    pending = [i for i in range(len(plan.flat.equations)) if i not in plan.steps]
    waiting = roots
    while pending or waiting:
        left = _without_computed(plan, pending, known)
        ready = [r for r in waiting if all(v in known for v in cones[r.variable].whole)]
        if not ready and len(left) == len(pending):
            raise Misplaced(min([*pending, *(r.equation for r in waiting)]))
        if len(left) == len(pending):
            group = plan.group_of(ready[0])
            together = [r for r in ready if plan.group_of(r) is group]
            plan.order.append(Sweep(group, together))
            known |= {r.variable for r in together}
            waiting = [r for r in waiting if r not in together]
        pending = left
    return True


def _without_computed(plan: Plan, pending: Sequence[int], known: set[object]) -> list[int]:
    """The equations that need values that are not known yet; the others come next, and what they compute is known."""
    left = []
    for i in pending:
        if all(v in known for v in plan.read_whole(i)):
            plan.order.append(i)
            known |= set(plan.flat.equations[i].outvars)
        else:
            left.append(i)
    return left


def _demote_cheap(plan: Plan) -> None:
    """Rows that all are one value, or a part of what is there, and are needed as a whole, are made as a whole."""
    for v in _whole_rows(plan):
        i, _ = plan.flat.makers[v]
        if isinstance(plan.steps[i], Each) and not plan.read_rows(i):
            raise Misplaced(i)
        e = plan.flat.equations[i]
        if e.primitive.name == "slice" and not plan.is_made(e.invars[0]):
            raise Misplaced(i)


def _whole_rows(plan: Plan) -> list[object]:
    """Values with rows that something needs as a whole."""
    used = [v for i in range(len(plan.flat.equations)) for v in plan.read_whole(i)]
    used += [v for v in plan.flat.outputs if not is_literal(v)]
    return [v for v in dict.fromkeys(used) if v in plan.axes]


def _roots(plan: Plan) -> list[Root]:
    """All roots: totals, additions, few rows, states that something reads, and rows that are needed as a whole."""
    roots = []
    live = _live(plan)
    for i, step in plan.steps.items():
        e = plan.flat.equations[i]
        rows = tuple(v for v, _ in plan.read_rows(i))
        if isinstance(step, (Total, Added)):
            n = plan.rows_of(next(v for v in rows if plan.is_made(v)))
            roots.append(Root(e.outvars[0], i, "total" if isinstance(step, Total) else "added", rows, 0, n))
        elif isinstance(step, Picked):
            roots.append(Root(e.outvars[0], i, "rows", rows, step.start, step.stop))
        elif isinstance(step, Recurrence):
            n = rows[0].aval.shape[0]
            roots += [Root(v, i, "state", rows, 0, n) for v in e.outvars[: step.state] if v in live]
    for v in _whole_rows(plan):
        roots.append(Root(v, plan.flat.makers[v][0], "rows", (v,), 0, plan.rows_of(v)))
    return roots


def _live(plan: Plan) -> set[Any]:
    used = {v for e in plan.flat.equations for v in e.invars if not is_literal(v)}
    return used | {v for v in plan.flat.outputs if not is_literal(v)}


def _verify_directions(plan: Plan, roots: Sequence[Root], cones: dict[Any, Cone]) -> None:
    """Recurrences from the first row on must not need those from the last one on: both can't be had in one go."""
    for r in roots:
        for i in cones[r.variable].recurrences:
            if not plan.steps[i].reverse:  # type: ignore[union-attr]
                before = _recurrences_before(plan, i)
                if any(plan.steps[k].reverse for k in before):  # type: ignore[union-attr]
                    raise Misplaced(i)


def _recurrences_before(plan: Plan, i: int) -> Iterable[int]:
    """The numbers of the recurrences from which the rows that equation i takes are computed."""
    found, waiting, seen = set[int](), [v for v, _ in plan.read_rows(i)], set[Any]()
    while waiting:
        v = waiting.pop()
        if not plan.is_made(v) or v in seen:
            continue
        seen.add(v)
        k, _ = plan.flat.makers[v]
        if isinstance(plan.steps[k], Recurrence):
            found.add(k)
        waiting += [u for u, _ in plan.read_rows(k)]
    return found


def _guesses(plan: Plan, roots: Sequence[Root], cones: dict[Any, Cone]) -> list[Root]:
    """Totals of truth values on which cones of roots depend."""
    logical = {r.variable: r for r in roots if r.kind == "total" and _is_logical(plan, r)}
    needed, waiting = set[Any](), [v for c in cones.values() for v in c.whole]
    while waiting:
        v = waiting.pop()
        if v in needed or v not in plan.flat.makers:
            continue
        needed.add(v)
        i, _ = plan.flat.makers[v]
        if i not in plan.steps:
            waiting += plan.read_whole(i)
    return [r for v, r in logical.items() if v in needed]


def _is_logical(plan: Plan, root: Root) -> bool:
    step = plan.steps[root.equation]
    return isinstance(step, Total) and step.join in ("and", "or") and not root.variable.aval.shape
