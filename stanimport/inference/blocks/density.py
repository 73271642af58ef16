"""A log density over many rows of data in blocks, with its gradient."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from itertools import groupby
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh

from . import arrangement, planning, steps
from .flat import flattened, is_literal
from .holding import Held, held
from .plan import Plan, Sweep
from .sweeps import FEWEST, Sweeper

ROWS = 2**17  # of data, from which on they are computed in blocks


class Sequential(Exception):
    """Rows need the ones before: they can't be divided between devices."""


class Printing(Exception):
    """The density prints, in an order: its rows can't be divided between devices."""


class Blocks:
    """A function of arrays whose rows of data are computed in blocks.

    Args:
        plan: of the function that was traced.
        tree: the structure of its results.
        mesh: of devices that share the rows; None for one device.

    Raises:
        Sequential: if there is a mesh, and rows need the ones before.
    """

    def __init__(self, plan: Plan, tree: object, mesh: Mesh | None = None):
        self.plan, self.tree, self.mesh = plan, tree, mesh
        self.roots = {r.variable: r for part in plan.order if isinstance(part, Sweep) for r in part.roots}
        cones = {v: plan.cone(r) for v, r in self.roots.items()}
        self.rows, self.constants = self._divided() if mesh is not None else self._held()
        plan.flat.constants.clear()  # they are not held twice
        firsts = {v: a.first for v, a in self.constants.items() if isinstance(a, Held)}
        self.sweepers = {
            k: Sweeper(plan, p, cones, mesh, self.rows.get(p.group) if mesh is not None else None,
                       firsts | {v: a.first for v, a in self.rows.get(p.group, {}).items() if isinstance(a, Held)})
            for k, p in enumerate(plan.order) if isinstance(p, Sweep)
        }  # fmt: skip
        if mesh is not None and any(s.is_sequential for s in self.sweepers.values()):
            raise Sequential

    def _held(self) -> tuple[dict[Any, dict[Any, Any]], dict[Any, Any]]:
        """By class, data in another order of rows; and the data as they are, by rows if nothing else is asked for."""
        plan, data = self.plan, self.plan.flat.constants
        orders, whole, rows = arrangement.orders(plan), self._whole(), dict[Any, dict[Any, Any]]()
        axes = dict[Any, set[int]]()
        for group in self._groups():
            found = arrangement.sources(plan, group)
            if group in orders:
                order = orders.pop(group)
                rows[group] = {v: held(data[v], a, v.aval.dtype, order) for v, a in found.items()}
                continue
            for v, axis in found.items():
                axes.setdefault(v, set()).add(axis)
        constants = dict[Any, Any]()
        for v in [v for v in data if v in whole or v in axes]:
            array = data.pop(v)
            is_by_rows = v not in whole and len(axes[v]) == 1
            constants[v] = held(array, min(axes[v]), v.aval.dtype) if is_by_rows else jnp.asarray(array)
        return rows, constants

    def _divided(self) -> tuple[dict[Any, dict[Any, Any]], dict[Any, Any]]:
        """By class, the data of which each device is to have its rows; and the other data."""
        plan, data = self.plan, self.plan.flat.constants
        orders, used, rows = arrangement.orders(plan), self._whole(), dict[Any, dict[Any, Any]]()
        for group in self._groups():
            found = {v: axis for v, axis in arrangement.sources(plan, group).items() if v in data}
            order = orders.get(group)
            rows[group] = {v: data[v] if order is None else np.take(data[v], order, a) for v, a in found.items()}
        return rows, {v: jnp.asarray(c) for v, c in data.items() if v in used}

    def _groups(self) -> list[object]:
        return list(dict.fromkeys(part.group for part in self.plan.order if isinstance(part, Sweep)))

    def _whole(self) -> set[Any]:
        """Values that something needs as they are."""
        plan = self.plan
        used = {v for i in range(len(plan.flat.equations)) for v in plan.read_whole(i)}
        return used | {v for v in plan.flat.outputs if not is_literal(v)}

    def __call__(self, *arguments: Any) -> Any:
        # arrays of NumPy are data of which a device has its own rows
        given = dict(zip(self.plan.flat.inputs, map(jnp.asarray, jax.tree.leaves(arguments))))
        guesses = [jnp.asarray(self._step(r).join == "and") for r in self.plan.guesses]
        if not guesses:
            return self._results(given, [])[0]

        def again(state: Any) -> Any:
            (guessed, _), _, count = state
            out, found = self._results(given, guessed)
            return (found, jnp.all(jnp.stack([a == b for a, b in zip(guessed, found)]))), out, count + 1

        # a guess that was wrong may make others wrong: each is right once those before it are
        start = (guesses, jnp.asarray(False)), jax.eval_shape(lambda g: self._results(given, g)[0], guesses), 0
        blank = jax.tree.map(lambda s: jnp.zeros(s.shape, s.dtype), start[1])
        most = len(guesses) + 1
        _, out, _ = lax.while_loop(lambda s: ~s[0][1] & (s[2] < most), again, (start[0], blank, jnp.asarray(0)))
        return out

    def _step(self, root: Any) -> Any:
        return self.plan.steps[root.equation]

    def _results(self, given: Mapping[object, object], guesses: list[Any]) -> tuple[object, list[object]]:
        """The function's results, and what was guessed as it really is."""
        whole = {**self.constants, **given, **{r.variable: g for r, g in zip(self.plan.guesses, guesses)}}
        found: dict[Any, Any] = {}
        for k, part in enumerate(self.plan.order):
            if isinstance(part, Sweep):
                made = self.sweepers[k].run({**whole, **self.rows.get(part.group, {})})
                made |= {v: self._finished(v, made[v]) for v in made}
                found |= made
                whole |= {v: a for v, a in made.items() if v not in {r.variable for r in self.plan.guesses}}
            else:
                e = self.plan.flat.equations[part]
                inputs = [v.val if is_literal(v) else whole[v] for v in e.invars]
                out = e.primitive.bind(*inputs, **e.params)
                whole |= dict(zip(e.outvars, out if e.primitive.multiple_results else [out]))
        leaves = [v.val if is_literal(v) else whole[v] for v in self.plan.flat.outputs]
        return jax.tree.unflatten(self.tree, leaves), [found[r.variable] for r in self.plan.guesses]

    def _finished(self, v: object, value: object) -> object:
        step = self._step(self.roots[v])
        return step.rest(value) if isinstance(step, steps.Picked) else value


def in_blocks(function: Callable[[Any], Any], split: Callable[[Any], dict[str, Any]], example: object,
              mesh: Mesh | None = None) -> Callable[[Any], Any] | None:  # fmt: skip
    """The density of a point, computed in blocks of rows; None if there are few rows, or what needs them all at once.

    Args:
        function: the density, of the parts of a point.
        split: makes the parts of a point, which stand there in this order.
        example: a point.
        mesh: of devices that share the rows; then few rows will do.

    Returns:
        A function with derivatives of all orders: value and gradient are computed in one go over the data.
    """
    def both(point: object) -> Any:
        parts = split(point)
        out, slopes = jax.value_and_grad(function)(parts)
        return out, _joined([jnp.ravel(slopes[n]) for n in parts])

    blocks = _blocks(both, example, mesh)
    if blocks is None:
        return None
    value = cache(lambda: _blocks(lambda p: function(split(p)), example, mesh) or (lambda p: function(split(p))))

    @jax.custom_jvp
    def density(point: object) -> Any:
        return value()(point)  # few methods take the value alone

    @density.defjvp
    def _(points: Any, tangents: Any) -> Any:
        out, gradient = blocks(points[0])
        return out, jnp.vdot(gradient, tangents[0])

    return density


def _joined(slopes: list[Any]) -> jax.Array:
    """The gradient of its parts: what is few is put in at last, as it takes sums over what is many."""
    is_many = [len(v) >= planning.PARAMETERS for v in slopes]
    if not any(is_many):
        return jnp.concatenate(slopes)
    out, at = jnp.concatenate([v if many else jnp.zeros_like(v) for v, many in zip(slopes, is_many)]), 0
    for many, run in groupby(zip(slopes, is_many), lambda pair: pair[1]):
        part = [v for v, _ in run]
        if not many:
            out = lax.dynamic_update_slice_in_dim(out, jnp.concatenate(part), at, 0)
        at += sum(map(len, part))
    return out


def _blocks(function: Callable[[Any], object], example: object, mesh: Mesh | None = None) -> Blocks | None:
    """A function in blocks of rows, planned from its trace at an example; None if that is of no use."""
    traced, shapes = jax.make_jaxpr(function, return_shape=True)(example)
    least = ROWS if mesh is None else FEWEST * mesh.size
    if traced.effects and mesh is not None:
        raise Printing
    if traced.effects:  # what is printed is printed in order
        return None
    flat = flattened(traced)
    del traced  # with the arrays that were made for it
    plan = planning.plan_of(flat, least, mesh is not None)
    return Blocks(plan, jax.tree.structure(shapes), mesh) if plan is not None else None


def has_many_rows(data: Mapping[str, object]) -> bool:
    """Whether some data are so many, and none are traced, that blocks may be of use."""
    arrays = list(data.values())
    if any(isinstance(a, jax.core.Tracer) for a in arrays):
        return False
    return any(_has_many_rows(np.shape(a)) for a in arrays if isinstance(a, (np.ndarray, jax.Array)))


def _has_many_rows(shape: tuple[int, ...]) -> bool:
    """Whether an array has them along some axis, or very many numbers by its first one."""
    return max(shape, default=0) >= ROWS or bool(shape) and shape[0] in planning.long_axes(shape, ROWS)
