"""Totals over rows, block after block: each block is read, computed and added while it is in the cache."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh

from . import meshes
from .flat import is_literal
from .holding import Held, narrowed
from .plan import ALL, Cone, Demand, Plan, Root, Sweep
from .regions import Region, regions_of
from .steps import Each, Moved, Recurrence, Total, joined, nothing

CACHE = 2**19  # bytes of what is read and carried for one block, about
FEWEST, MOST = 64, 2**14  # rows of a block


class Block:
    """Rows that are computed together.

    Args:
        plan: of the program.
        whole: the values of other variables.
        region: the rows over which the block roams.
        start: where it begins.
        states: of recurrences, before these rows.
        own: on one of several devices, the rows that it has of data, by variable and shift, and where the block begins
            among them.
    """

    def __init__(self, plan: Plan, whole: Mapping[Any, Any], region: Region, start: Any, states: Mapping[int, Any],
                 own: tuple[Mapping[Any, Any], Any] = ({}, 0)):  # fmt: skip
        self.plan, self.whole, self.region, self.start = plan, whole, region, start
        self.states, self.own = dict(states), own
        self.within = region.start, region.stop
        self.made: dict[Any, Sequence[Any]] = {}

    def compute(self, targets: Sequence[Demand], recurrences: Sequence[int]) -> None:
        """Make these rows, and the rows that recurrences run over; these then have their next states."""
        waiting, needed = list(targets), set[Any]()
        for i in recurrences:
            waiting += self._inputs(i)
            needed.add((i, 0, 0, 0, 0))
        seen = set[Demand]()
        while waiting:
            demand = waiting.pop()
            if not self.plan.is_made(demand.variable) or demand in seen:
                continue
            seen.add(demand)
            needed.add(self._key(demand))
            waiting += self.plan.demands(demand, self.within)
        for key in sorted(needed):
            self.made[key] = self._run(*key)

    def _inputs(self, i: int) -> list[Demand]:
        """The rows that an equation takes in this block, if it is a recurrence."""
        shift, start, stop = self.plan.span(i, self.within)
        return [Demand(v, shift, start, stop) for v, _ in self.plan.read_rows(i)] if start < stop else []

    def _key(self, demand: Demand) -> tuple[int, int, int, int, int]:
        """The equation, what is computed of it alone, and the rows."""
        i, at = self.plan.flat.makers[demand.variable]
        if isinstance(self.plan.steps[i], Recurrence):
            return i, 0, 0, 0, 0  # which runs once in every block
        return i, at if isinstance(self.plan.steps[i], Moved) else 0, demand.shift, demand.start, demand.stop

    def rows(self, demand: Demand, axis: int) -> Any:
        """Rows of a value, computed before or taken from the whole."""
        v = demand.variable
        if not self.plan.is_made(v):
            return self._taken(v, demand, axis)
        i, at = self.plan.flat.makers[v]
        found = self.made[self._key(demand)][0 if isinstance(self.plan.steps[i], Moved) else at]
        if isinstance(self.plan.steps[i], Recurrence) and not self.region.blocks:
            _, first, _ = self.plan.span(i, self.within)
            return lax.slice_in_dim(found, demand.start - first, demand.stop - first, axis=axis)
        return found

    def _taken(self, v: Any, demand: Demand, axis: int) -> object:
        """Rows of a value that is not computed by rows: of a device's own part of it, or of the whole."""
        parts, at = self.own
        if not is_literal(v) and (v, demand.shift) in parts:
            own = lax.dynamic_slice_in_dim(parts[v, demand.shift], at, self.region.rows, axis)
            return lax.convert_element_type(own, v.aval.dtype)
        value = v.val if is_literal(v) else self.whole[v]
        if isinstance(value, np.ndarray):
            rows = slice(demand.start + demand.shift, demand.stop + demand.shift)
            return jnp.asarray(value[(slice(None),) * axis + (rows,)])
        if isinstance(value, Held):
            if not self.region.blocks:
                return value.rows(demand.start + demand.shift, demand.stop + demand.shift)
            is_apart = self.region.stop + demand.shift <= value.first
            return value.block(self.start + demand.shift, self.region.rows, is_apart)
        if not self.region.blocks:
            return lax.slice_in_dim(value, demand.start + demand.shift, demand.stop + demand.shift, axis=axis)
        return lax.dynamic_slice_in_dim(value, self.start + demand.shift, self.region.rows, axis)

    def count(self, demand: Demand) -> int:
        return self.region.rows if self.region.blocks else demand.stop - demand.start

    def inputs(self, i: int, demand: Demand) -> list[Any]:
        """The inputs of an equation, those with rows by the rows of a demand."""
        e, step = self.plan.flat.equations[i], self.plan.steps[i]
        return [self._single(v) if axis is None else self.rows(_of(demand, v), axis)
                for v, axis in zip(e.invars, step.axes)]  # fmt: skip

    def _single(self, v: Any) -> Any:
        return v.val if is_literal(v) else self.whole[v]

    def _run(self, i: int, at: int, shift: int, start: int, stop: int) -> Sequence[Any]:
        step = self.plan.steps[i]
        demand = Demand(self.plan.flat.equations[i].outvars[at], shift, start, stop)
        if isinstance(step, Recurrence):
            return self._recur(i, step)
        if isinstance(step, Moved):
            return [self._moved(i, step, at, demand)]
        return cast(Each, step).run(self.inputs(i, demand), self.count(demand))

    def _recur(self, i: int, step: Recurrence) -> Sequence[object]:
        shift, start, stop = self.plan.span(i, self.within)
        demand = Demand(None, shift, start, stop)
        if start >= stop:
            return []
        self.states[i], outs = step.run(self.states[i], self.inputs(i, demand), self.count(demand))
        return [None] * step.state + outs

    def _moved(self, i: int, step: Moved, at: int, demand: Demand) -> Any:
        """The rows asked for of one that moves rows, put together from its parts."""
        e, pieces = self.plan.flat.equations[i], []
        for part, found in self.plan.parts(demand):
            along = step.axes[part.input]
            given = self._single(found.variable) if along is None else self.rows(found, along)
            value = self._single(e.invars[1]) if len(e.invars) > 1 and step.axes[1] is None else None
            pieces.append(step.run(given, value, self.count(found)))
        axis = step.outs[at]
        assert len(pieces) == 1 or not self.region.blocks, "a part begins or ends inside of blocks"
        return pieces[0] if len(pieces) == 1 else lax.concatenate(pieces, axis)


def _of(demand: Demand, variable: object) -> Demand:
    return Demand(variable, demand.shift, demand.start, demand.stop)


def width_of(plan: Plan, sweep: Sweep, cones: Mapping[object, Cone]) -> int:
    """Bytes for one row, of what the roots of a sweep read and of what is carried from row to row, about."""
    total = 0
    for v in {v for r in sweep.roots for v in cones[r.variable].whole}:
        long = max(v.aval.shape, default=0)
        if long and long >= min(r.stop - r.start for r in sweep.roots):
            total += v.aval.size // long * v.aval.dtype.itemsize
    return total + 16 * sum(1 for r in sweep.roots if r.kind != "total")


class _Asked(dict[Any, Any]):
    """Stands for the rows that a device has of data, and notes which are asked for: variables and shifts."""

    def __init__(self, data: Mapping[Any, np.ndarray]):
        super().__init__()
        self.data, self.keys_read = data, dict[Any, None]()

    def __contains__(self, key: object) -> bool:
        return isinstance(key, tuple) and key[0] in self.data

    def __missing__(self, key: Any) -> jax.Array:
        self.keys_read[key] = None
        return jnp.zeros(self.data[key[0]].shape, self.data[key[0]].dtype)


class Sweeper:
    """The computation of a sweep.

    Args:
        cones: of its roots.
        mesh: of devices that share the rows; None for one device.
        data: with a mesh, what the sweep reads by rows.
        firsts: the number of rows that are held apart, by variable.

    Attributes:
        is_sequential: whether rows need the ones before.
    """

    def __init__(self, plan: Plan, sweep: Sweep, cones: Mapping[Any, Cone], mesh: Mesh | None = None,
                 data: Mapping[Any, np.ndarray] | None = None, firsts: Mapping[Any, int] = MappingProxyType({})
                 ):  # fmt: skip
        self.plan, self.roots, self.mesh, self.data = plan, sweep.roots, mesh, data or {}
        self.read = {v: None for r in self.roots for v in cones[r.variable].whole if v not in self.data}
        self.parts: dict[Region, dict[Any, jax.Array]] = {}
        found = sorted({i for r in self.roots for i in cones[r.variable].recurrences})
        self.backward = [i for i in found if plan.steps[i].reverse]  # type: ignore[union-attr]
        self.forward = [i for i in found if i not in self.backward]
        breaks = {b for r in self.roots for b in cones[r.variable].breaks}
        breaks |= {firsts[v] - shift for r in self.roots for v, shift in cones[r.variable].reads if firsts.get(v)}
        for i in found:
            _, start, stop = plan.span(i, ALL)
            breaks |= {start, stop}
        most = int(np.clip(CACHE // max(width_of(plan, sweep, cones), 1), FEWEST, MOST))
        self.regions = regions_of(sorted(breaks), most, mesh.size if mesh is not None else 1)
        self.is_sequential = bool(found)

    def run(self, whole: Mapping[Any, object]) -> dict[Any, Any]:
        """The values of the roots."""
        states = {i: self._begin(i, whole) for i in (*self.forward, *self.backward)}
        starts = self._starts(whole, states) if self.forward and self.backward else {}
        totals = [self._empty(r, whole) for r in self.roots]
        carried = self.backward or self.forward
        state = {i: states[i] for i in carried}
        regions = list(enumerate(self.regions))
        for k, region in reversed(regions) if self.backward else regions:
            totals, state = self._region(whole, region, totals, state, starts.get(k, {}))
        states |= state
        if starts:
            states |= starts[-1]
        return {
            r.variable: states[r.equation][self.plan.flat.makers[r.variable][1]] if r.kind == "state" else total
            for r, total in zip(self.roots, totals)
        }

    def _begin(self, i: int, whole: Mapping[object, object]) -> Any:
        step, e = self.plan.steps[i], self.plan.flat.equations[i]
        assert isinstance(step, Recurrence)
        given = [v.val if is_literal(v) else whole[v] if axis is None else None for v, axis in zip(e.invars, step.axes)]
        return [jnp.asarray(v) for v in step.begin(given)]

    def _region(self, whole: Mapping[Any, Any], region: Region, totals: list[Any], state: dict[int, Any],
                starts: Any) -> tuple[list[Any], dict[int, Any]]:  # fmt: skip
        """The totals with the rows of a region, and the state of recurrences after them."""
        if not region.blocks:
            return self._block(whole, region, region.start, (totals, state), starts)
        if self.mesh is not None:
            return self._spread(self.mesh, whole, region, totals), state

        def body(k: Any, carry: Any) -> tuple[list[Any], dict[int, Any]]:
            at = region.blocks - 1 - k if self.backward else k
            before = {i: [lax.dynamic_index_in_dim(v, at, keepdims=False) for v in s] for i, s in starts.items()}
            return self._block(whole, region, region.start + at * region.rows, carry, before)

        made: tuple[list[Any], dict[int, Any]] = lax.fori_loop(0, region.blocks, body, (totals, state))
        return made

    def _block(self, whole: Mapping[Any, object], region: Region, start: object,
               carry: tuple[Sequence[object], Mapping[int, object]], before: Mapping[int, object],
               own: tuple[Mapping[Any, object], object] = ({}, 0)
               ) -> tuple[list[Any], dict[int, Any]]:  # fmt: skip
        """The totals with the rows of one block, and the state of recurrences after them."""
        totals, state = carry
        block = Block(self.plan, whole, region, start, {**state, **before}, own)
        demands = [self._demand(r, region) for r in self.roots]
        targets = [_of(d, v) for r, d in zip(self.roots, demands) if d is not None and r.kind != "state"
                   for v in r.reads]  # fmt: skip
        block.compute(targets, list(state))
        totals = [t if d is None or r.kind == "state" else self._with(block, r, d, t)
                  for r, d, t in zip(self.roots, demands, totals)]  # fmt: skip
        return totals, {i: block.states[i] for i in state}

    def _demand(self, root: Root, region: Region) -> Demand | None:
        """The rows of a region that a root takes."""
        shift, start, stop = self.plan.root_span(root)
        start, stop = max(start, region.start), min(stop, region.stop)
        assert start >= stop or not region.blocks or (start, stop) == (region.start, region.stop)
        return Demand(None, shift, start, stop) if start < stop else None

    def _empty(self, root: Root, whole: Mapping[object, object]) -> Any:
        """What a root has before the first block: what no rows make, the array to add to, zeros; None for a state."""
        e, step = self.plan.flat.equations[root.equation], self.plan.steps[root.equation]
        if root.kind == "total":
            assert isinstance(step, Total)
            return nothing(step.join, root.variable.aval)
        if root.kind == "added":
            return e.invars[0].val if is_literal(e.invars[0]) else jnp.asarray(whole[e.invars[0]])
        if root.kind == "state":
            return None
        (v,) = root.reads
        shape, axis = list(v.aval.shape), self.plan.axes[v]
        shape[axis] = root.stop - root.start
        return jnp.zeros(shape, v.aval.dtype)

    def _with(self, block: Block, root: Root, demand: Demand, total: Any) -> object:
        """What a root has after a block."""
        e, step = self.plan.flat.equations[root.equation], self.plan.steps[root.equation]
        if root.kind == "rows":
            (v,) = root.reads
            axis = self.plan.axes[v]
            # a place that XLA knows makes it pad the rows instead, for which it may read far beyond them
            start = block.start if block.region.blocks else lax.optimization_barrier(jnp.asarray(demand.start))
            place = start + demand.shift - root.start
            return lax.dynamic_update_slice_in_dim(total, block.rows(_of(demand, v), axis), place, axis)
        if root.kind == "added":
            taken = zip(e.invars[1:], step.axes[1:])
            given = [block.rows(_of(demand, v), axis) for v, axis in taken if axis is not None]
            return e.primitive.bind(total, *given, **e.params)
        assert isinstance(step, Total)
        return joined(step.join, total, e.primitive.bind(*block.inputs(root.equation, demand), **e.params))

    def _spread(self, mesh: Mesh, whole: Mapping[Any, Any], region: Region, totals: list[Any]) -> list[Any]:
        """The totals with the rows of a region, of which every device of a mesh has as many."""
        each = region.blocks // mesh.size
        joins = [self._join(r) for r in self.roots]
        if region not in self.parts:
            self.parts[region] = self._divided(mesh, whole, region, totals)
        parts = self.parts[region]

        def local(device: Any, values: list[Any], own: Mapping[Any, Any]) -> list[Any]:
            given = dict(zip(self.read, values))

            def body(k: Any, found: list[Any]) -> list[Any]:
                start = region.start + (device * each + k) * region.rows
                return self._block(given, region, start, (found, {}), {}, (own, k * region.rows))[0]

            blank = [nothing(join, t) for join, t in zip(joins, totals)]
            found = lax.fori_loop(0, each, body, blank)
            return [meshes.total(mesh, t, join) for t, join in zip(found, joins)]

        axes = {key: self._axis_of(key[0]) for key in parts}
        made = meshes.on_each(mesh, local, [whole[v] for v in self.read], parts, axes)
        return [joined(join, t, m) for join, t, m in zip(joins, totals, made)]

    def _join(self, root: Root) -> str:
        step = self.plan.steps[root.equation]
        if root.kind == "total" and isinstance(step, Total):
            return step.join
        return "or" if root.variable.aval.dtype == bool else "add"

    def _axis_of(self, v: object) -> int:
        return next(axis for i in self.plan.steps for u, axis in self.plan.read_rows(i) if u is v)

    def _divided(self, mesh: Mesh, whole: Mapping[object, object], region: Region, totals: Sequence[object]
                 ) -> dict[Any, jax.Array]:  # fmt: skip
        """The rows of data that a region reads, over the devices."""
        asked = _Asked(self.data)
        given = {v: whole[v] for v in self.read}
        jax.eval_shape(lambda t: self._block(given, region, region.start, (t, {}), {}, (asked, 0))[0], totals)
        out = {}
        for v, shift in asked.keys_read:
            axis = self._axis_of(v)
            rows = slice(region.start + shift, region.stop + shift)
            out[v, shift] = meshes.spread(mesh, narrowed(self.data[v][(slice(None),) * axis + (rows,)]), axis)
        return out

    def _starts(self, whole: Mapping[Any, Any], states: Mapping[int, Any]) -> dict[int, Any]:
        """The states of recurrences from the first row on, before every block; by region, and at last by -1."""
        out: dict[int, Any] = {}
        state = {i: states[i] for i in self.forward}
        for k, region in enumerate(self.regions):
            if not region.blocks:
                out[k], state = state, self._passed(whole, region, region.start, state)
                continue
            saved = {i: [jnp.zeros((region.blocks, *v.shape), v.dtype) for v in s] for i, s in state.items()}

            def body(at: Any, carry: Any, region: Region = region) -> tuple[dict[Any, Any], dict[Any, Any]]:
                now, kept = carry
                kept = {i: [lax.dynamic_update_index_in_dim(a, v, at, 0) for a, v in zip(kept[i], now[i])] for i in now}
                return self._passed(whole, region, region.start + at * region.rows, now), kept

            state, out[k] = lax.fori_loop(0, region.blocks, body, (state, saved))
        out[-1] = state
        return out

    def _passed(self, whole: Mapping[Any, Any], region: Region, start: Any, state: Any) -> dict[Any, Any]:
        block = Block(self.plan, whole, region, start, state)
        block.compute([], list(state))
        return {i: block.states[i] for i in state}
