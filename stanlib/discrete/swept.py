"""Sums along sweeps, and draws backwards along them."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..arrays.base import Array, Namespace, Real
from ..dataclass import dataclass
from .problem import Rows, aligned, permuted
from .sweeps import Step, Sweep

Reduce = Callable[[Namespace, Any], Any]
Choose = Callable[[Namespace, Any, Any], Any]


@dataclass(frozen=True)
class SummedSweep:
    """A sweep that was summed out, with the joint tables of its steps by block, (times, components, K, K1, ..., Kq)."""

    sweep: Sweep
    tables: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class _Given:
    """What a step is told: its table of single terms, and those of its factors, where the same each time without it."""

    step: Step
    single: Any  # (times, components, K)
    tables: tuple[Any, ...]  # (times, components, ...) or (1, ...), with the axes of the joint table
    shared: tuple[bool, ...]

    @property
    def own(self) -> list[Any]:
        """What differs from one repetition to the next."""
        return [self.single, *(t for t, shared in zip(self.tables, self.shared) if not shared)]

    def joint(self, xp: Namespace, own: list[Any], carry: Array) -> Array:
        """The joint table of one repetition, taking its part of `own` away."""
        count = self.step.neighbours.shape[2] + 1
        single = own.pop(0)
        total = xp.reshape(single, (*xp.shape(single), *(1,) * (count - 1)))
        for table, shared in zip(self.tables, self.shared):
            total = _sum(xp, total, table if shared else own.pop(0))
        if self.step.carried is not None:
            total = _sum(xp, total, aligned(xp, carry, self.step.carried, count))
        return total


def _sum(xp: Namespace, a: Real, b: Real) -> Any:
    a, b = xp.convert((a, b))
    return a + b


def sum_out(
    xp: Namespace, sweep: Sweep, tables: Sequence[Rows], single: Callable[[np.ndarray], Any], reduce: Reduce
) -> tuple[SummedSweep, Any]:  # fmt: skip
    """What draws need, and the sum of each component; `single` gives the terms of single elements."""
    carry: Any = None
    joints = []
    for block in sweep.blocks:
        given = [_given(xp, step, tables, single) for step in block]

        def run(carry: Any, x: Any, given: Sequence[_Given] = tuple(given)) -> Any:
            own, found = list(x), []
            for g in given:
                found.append(g.joint(xp, own, carry))
                carry = reduce(xp, found[-1])
            return carry, tuple(found)

        xs = [x for g in given for x in g.own]
        if len(block[0].elements) == 1:
            carry, found = run(carry, [x[0] for x in xs])
            found = tuple(f[None] for f in found)
        else:
            carry, *parts = xp.convert((carry, *xs))
            carry, found = xp.scan(run, carry, tuple(parts))
        joints.append(found)
    return SummedSweep(sweep, tuple(joints)), carry


def _given(xp: Namespace, step: Step, tables: Sequence[Rows], single: Callable[[np.ndarray], Any]) -> _Given:
    """What a step is told, from the tables by slot and from `single`, which gives the terms, (n, K), of n elements."""
    times, count = step.elements.shape
    axes = step.neighbours.shape[2] + 1
    found = []
    for use in step.uses:
        table = aligned(xp, tables[use.slot].take(xp, use.rows.reshape(-1)), use.axes, axes)
        shared = xp.shape(table)[0] == 1
        found.append(table if shared else xp.reshape(table, (times, count, *xp.shape(table)[1:])))
    of_one = single(step.elements.reshape(-1))
    of_one = xp.reshape(of_one, (times, count, xp.shape(of_one)[-1]))
    shared_ = tuple(xp.ndim(t) == axes + 1 for t in found)
    return _Given(step, of_one, tuple(found), shared_)


def positions(xp: Namespace, s: SummedSweep, choose: Choose, uniform: Callable[[tuple[int, ...]], Any]) -> list[Any]:
    """For every step the positions of its elements, (times, components), each given those of its neighbours."""
    values: tuple[Any, ...] = ()
    out: list[Any] = []
    for block, joints in zip(reversed(s.sweep.blocks), reversed(s.tables)):

        def run(values: Any, x: Any, block: Sequence[Step] = block) -> tuple[Any, tuple[Any, ...]]:
            found: list[Any] = []
            for step, joint, u in zip(reversed(block), reversed(x[: len(block)]), reversed(x[len(block) :])):
                table = permuted(xp, joint, (0, *range(2, xp.ndim(joint)), 1))
                if values:
                    table = xp.get(table, (np.arange(step.elements.shape[1]), *values))
                one = choose(xp, table, u)
                found.insert(0, one)
                values = tuple((one, *values)[a] for a in step.carried or ())
            return values, tuple(found)

        xs = (*joints, *(uniform(step.elements.shape) for step in block))
        if len(block[0].elements) == 1:
            values, found = run(values, [x[0] for x in xs])
            found = tuple(f[None] for f in found)
        else:
            values, found = xp.scan(run, values, tuple(xs), reverse=True)
        out = [*found, *out]
    return out
