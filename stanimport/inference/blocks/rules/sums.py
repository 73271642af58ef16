"""Rules for equations that put rows together: sums over all of them, and what goes from one row to the next."""
from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import jax.numpy as jnp
from jax import lax

from stanlib.ppl.numpyro.scans import counts

from ..steps import Arrays, Each, Input, Recurrence, Step, Total
from .alone import elementwise
from .equations import Equation, Rule, function_of, kind_of, with_size


def reduction(join: str) -> Rule:
    """A total over the axis of the rows, put together by `join`; along other axes each row by itself."""

    def rule(e: Equation, inputs: Sequence[Input], lengths: Collection[int]) -> Step | None:
        axis, gone = inputs[0].axis, e.params["axes"]
        if axis is None:
            return None
        run = function_of(e)
        if axis not in gone:
            return Each((axis,), (axis - sum(d < axis for d in gone),), lambda v, _: run(*v))
        return None if join in ("and", "or") and kind_of(e) != "b" else Total((axis,), join)

    return rule


def product(e: Equation, inputs: Sequence[Input], lengths: Collection[int]) -> Step | None:
    """A total where rows are summed over; each row by itself where it is of a batch, or one factor alone has rows."""
    (left, right), ((summed_left, summed_right), (batch_left, batch_right)) = inputs, e.params["dimension_numbers"]
    run = function_of(e)
    if left.axis in summed_left or right.axis in summed_right:
        together = left.axis is not None and right.axis is not None and (left.axis, right.axis) in zip(
            summed_left, summed_right)  # fmt: skip
        return Total((left.axis, right.axis), "add") if together else None
    if left.axis in batch_left or right.axis in batch_right:
        if left.axis is None or right.axis is None or (left.axis, right.axis) not in zip(batch_left, batch_right):
            return None
        return Each((left.axis, right.axis), (list(batch_left).index(left.axis),), lambda v, _: run(*v))
    taken = [i.axis is not None and (i.is_made or not o.is_made) for i, o in ((left, right), (right, left))]
    if sum(taken) != 1 or left.is_made and right.is_made:
        return None
    before = len(batch_left)
    if taken[0]:
        at = before + _free(left, (*summed_left, *batch_left))
        return Each((left.axis, None), (at,), lambda v, _: run(*v))
    before += len(left.shape) - len(summed_left) - len(batch_left)
    at = before + _free(right, (*summed_right, *batch_right))
    return Each((None, right.axis), (at,), lambda v, _: run(*v))


def _free(given: Input, gone: Collection[int]) -> int:
    """The number of the axis of the rows among those that stay."""
    return [d for d in range(len(given.shape)) if d not in gone].index(given.axis or 0)


def scan(e: Equation, inputs: Sequence[Input], lengths: Collection[int]) -> Step | None:
    """A loop over rows: what it carries along is the state, what it stacks has rows."""
    fixed, state = counts(e.params)
    given = inputs[fixed + state :]
    if e.params["length"] not in lengths or not any(i.is_made or i.axis == 0 for i in given):
        return None
    if any(i.axis != 0 for i in given) or any(i.is_made for i in inputs[: fixed + state]):
        return None

    def run(carry: Sequence[object], values: Arrays, n: int) -> tuple[list[Any], list[Any]]:
        extra = {"linear": (False,) * len(values)} if "linear" in e.params else {}
        unroll = min(e.params["unroll"], max(n, 1))
        out = list(function_of(e, length=n, unroll=unroll, **extra)(*values[:fixed], *carry, *values[fixed + state :]))
        return out[:state], out[state:]

    axes = (None,) * (fixed + state) + (0,) * len(given)
    outs = (None,) * state + (0,) * (len(e.outvars) - state)
    return Recurrence(axes, outs, state, e.params["reverse"], lambda v: list(v[fixed : fixed + state]), run)


def running(e: Equation, inputs: Sequence[Input], lengths: Collection[int]) -> Step | None:
    """Sums of all rows so far."""
    axis, reverse = e.params["axis"], e.params["reverse"]
    if inputs[0].axis != axis:
        return elementwise(e, inputs, lengths)
    aval, bound = e.outvars[0].aval, function_of(e)

    def begin(_: Arrays) -> list[Any]:
        return [jnp.zeros(with_size(aval.shape, axis, 1), aval.dtype)]

    def run(carry: Sequence[object], values: Arrays, n: int) -> tuple[list[Any], list[Any]]:
        sums = bound(*values)[0] + carry[0]
        at = 0 if reverse else n - 1
        return [lax.slice_in_dim(sums, at, at + 1, axis=axis)], [sums]

    return Recurrence((axis,), (axis,), 0, reverse, begin, run)
