"""Rules for equations that compute each row by itself."""
from __future__ import annotations

import math
from collections.abc import Collection, Sequence

import jax.numpy as jnp
from jax import lax

from ..steps import Arrays, Each, Input, Step
from .equations import Equation, Rule, function_of, shape_of, with_size


def elementwise(e: Equation, inputs: Sequence[Input], lengths: Collection[int]) -> Step | None:
    """Arrays of one rank, of which some may have one component where others have many, and numbers."""
    axis = next((i.axis for i in sorted(inputs, key=lambda i: not i.is_made) if i.axis is not None), None)
    taken = [_taken(i, axis, shape_of(e)) for i in inputs]
    if axis is None or None in taken:
        return None
    run = function_of(e)
    axes = tuple(axis if t == "rows" else None for t in taken)
    return Each(axes, (axis,) * len(e.outvars), lambda v, _: run(*v))


def _taken(given: Input, axis: int | None, shape: tuple[int, ...]) -> str | None:
    """Whether an elementwise operation takes an input by rows or as a whole; None if it can't have it."""
    if axis is None or given.shape and len(given.shape) != len(shape):
        return None
    if not given.shape or given.shape[axis] == 1 and not given.is_made:
        return "whole"
    return "rows" if given.axis == axis and given.rows == shape[axis] else None


def broadcast(e: Equation, inputs: Sequence[Input], lengths: Collection[int]) -> Step | None:
    """Rows that are there, or one value in all rows."""
    (given, *_), shape, to = inputs, e.params["shape"], e.params["broadcast_dimensions"]
    if given.axis is not None and shape[to[given.axis]] == given.rows:
        axis, taken = to[given.axis], given.axis
    else:
        kept = {d for d, n in zip(to, given.shape) if n != 1}
        new = [d for d, n in enumerate(shape) if n in lengths and d not in kept]
        if given.is_made or len(new) != 1:
            return None
        axis, taken = new[0], None

    def run(values: Arrays, n: int) -> Arrays:
        return [lax.broadcast_in_dim(values[0], with_size(shape, axis, n), to)]

    return Each((taken,), (axis,), run) if len(inputs) == 1 else None


def reshape(e: Equation, inputs: Sequence[Input], lengths: Collection[int]) -> Step | None:
    given, shape = inputs[0], shape_of(e)
    if given.axis is None or len(inputs) != 1 or e.params["dimensions"] is not None:
        return None
    before = math.prod(given.shape[: given.axis])
    found = [d for d, n in enumerate(shape) if n == given.rows and math.prod(shape[:d]) == before]
    if len(found) != 1:
        return None
    return Each((given.axis,), (found[0],), lambda v, n: [jnp.reshape(v[0], with_size(shape, found[0], n))])


def squeeze(e: Equation, inputs: Sequence[Input], lengths: Collection[int]) -> Step | None:
    gone, axis = e.params["dimensions"], inputs[0].axis
    if axis is None or axis in gone:
        return None
    run = function_of(e)
    return Each((axis,), (axis - sum(d < axis for d in gone),), lambda v, _: run(*v))


def transpose(e: Equation, inputs: Sequence[Input], lengths: Collection[int]) -> Step | None:
    axis = inputs[0].axis
    run = function_of(e)
    return None if axis is None else Each((axis,), (e.params["permutation"].index(axis),), lambda v, _: run(*v))


def along(parameter: str) -> Rule:
    """What works along one axis, or several: on another one than that of the rows."""

    def rule(e: Equation, inputs: Sequence[Input], lengths: Collection[int]) -> Step | None:
        at = e.params[parameter]
        if inputs[0].axis in (at if isinstance(at, (tuple, list)) else (at,)):
            return None
        return elementwise(e, inputs, lengths)

    return rule


def stack(e: Equation, inputs: Sequence[Input], lengths: Collection[int]) -> Step | None:
    axes, new = {i.axis for i in inputs}, e.params["axis"]
    axis, run = inputs[0].axis, function_of(e)
    if axis is None or len(axes) > 1:
        return None
    return Each((axis,) * len(inputs), (axis + (new <= axis),), lambda v, _: run(*v))


def unstack(e: Equation, inputs: Sequence[Input], lengths: Collection[int]) -> Step | None:
    axis, gone, run = inputs[0].axis, e.params["axis"], function_of(e)
    if axis is None or axis == gone:
        return None
    return Each((axis,), (axis - (gone < axis),) * len(e.outvars), lambda v, _: run(*v))


def triangular(e: Equation, inputs: Sequence[Input], lengths: Collection[int]) -> Step | None:
    """One system for each row, or one for all of them with a right hand side for each."""
    factor, right = inputs
    columns = len(right.shape) - (1 if e.params["left_side"] else 2)
    if factor.is_made or right.axis != columns:
        return linear_algebra(e, inputs, lengths)
    run = function_of(e)
    return Each((None, columns), (columns,), lambda v, _: run(*v))


def linear_algebra(e: Equation, inputs: Sequence[Input], lengths: Collection[int]) -> Step | None:
    """One matrix for each row."""
    rank = len(inputs[0].shape)
    axis = inputs[0].axis
    if axis is None or any(i.axis != axis or len(i.shape) != rank for i in inputs) or axis >= rank - 2:
        return None
    run = function_of(e)
    return Each((axis,) * len(inputs), (axis,) * len(e.outvars), lambda v, _: run(*v))
