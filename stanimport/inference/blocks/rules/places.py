"""Rules for equations that put rows into other places."""
from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from jax import lax

from ..steps import Each, Input, Moved, Part, Picked, Step
from .equations import Equation, function_of, shape_of, with_size


def concatenate(e: Equation, inputs: Sequence[Input], lengths: Collection[int]) -> Step | None:
    """The rows of one array after those of another; along any other axis each row by itself."""
    along = e.params["dimension"]
    if all(i.axis is not None and i.axis != along for i in inputs):
        return _elementwise_but(e, inputs, along)
    if shape_of(e)[along] not in lengths and not any(i.is_made for i in inputs):
        return None
    if any(i.is_made and i.axis != along for i in inputs):
        return None
    starts = np.cumsum([0, *(i.shape[along] for i in inputs)])
    parts = [Part(int(a), int(b), k, 0) for k, (a, b) in enumerate(zip(starts, starts[1:]))]
    return _moved((along,) * len(inputs), along, (tuple(p for p in parts if p.stop > p.start),))


def _elementwise_but(e: Equation, inputs: Sequence[Input], along: int) -> Step | None:
    """Arrays whose shapes differ along one axis only, which is not that of the rows."""
    axes = {i.axis for i in inputs}
    shapes = {with_size(i.shape, along, 0) for i in inputs}
    if len(axes) != 1 or len(shapes) != 1:
        return None
    axis, run = inputs[0].axis, function_of(e)
    assert axis is not None
    return Each((axis,) * len(inputs), (axis,), lambda v, _: run(*v))


def _moved(axes: tuple[int | None, ...], axis: int, parts: tuple[tuple[Part, ...], ...]) -> Moved:
    return Moved(axes, (axis,) * len(parts), parts, lambda rows, _, n: rows)


def split(e: Equation, inputs: Sequence[Input], lengths: Collection[int]) -> Step | None:
    """The rows of each part from where it begins; along any other axis than theirs each row by itself."""
    axis, (given,) = e.params["axis"], inputs
    if given.axis is None:
        return None
    if given.axis != axis:
        run = function_of(e)
        return Each((given.axis,), (given.axis,) * len(e.outvars), lambda v, _: run(*v))
    if not given.is_made:
        return None
    starts = np.cumsum([0, *e.params["sizes"]])
    return _moved((axis,), axis, tuple((Part(0, int(b - a), 0, int(a)),) for a, b in zip(starts, starts[1:])))


def slice_(e: Equation, inputs: Sequence[Input], lengths: Collection[int]) -> Step | None:
    """Each row's part if all rows are taken; else rows in other places, or few rows if they are less than half."""
    given, starts, stops = inputs[0], list(e.params["start_indices"]), list(e.params["limit_indices"])
    strides = list(e.params["strides"] or (1,) * len(starts))
    axis = given.axis
    if axis is None or strides[axis] != 1:
        return None
    start, stop = int(starts[axis]), int(stops[axis])

    def rest(rows: Any, n: int) -> Any:
        return lax.slice(rows, with_size(starts, axis, 0), with_size(stops, axis, n), with_size(strides, axis, 1))

    if (start, stop) == (0, given.rows):
        return Each((axis,), (axis,), lambda v, n: [rest(v[0], n)])
    if stop - start > given.rows // 2 or not given.is_made and stop - start in lengths:
        return Moved((axis,), (axis,), ((Part(0, stop - start, 0, start),),), lambda rows, _, n: rest(rows, n))
    if not given.is_made or stop <= start:
        return None
    return Picked((axis,), start, stop, lambda rows: rest(rows, stop - start))


def pad(e: Equation, inputs: Sequence[Input], lengths: Collection[int]) -> Step | None:
    """Rows with rows of one value before and behind them; along any other axis each row by itself."""
    (given, _), config = inputs, e.params["padding_config"]
    axis, shape = given.axis, shape_of(e)
    if axis is None:  # few rows among many
        axis = next((d for d, (n, m) in enumerate(zip(shape, given.shape)) if n in lengths and n != m), None)
    if axis is None:
        return None
    low, high, inner = (int(n) for n in config[axis])
    others = [(0, 0, 0) if d == axis else c for d, c in enumerate(config)]
    if (low, high, inner) == (0, 0, 0):
        return Each((axis, None), (axis,), lambda v, _: [lax.pad(v[0], v[1], others)])
    if inner or low < 0 or high < 0:
        return None
    size = given.shape[axis]
    parts = [Part(0, low, 1, 0), Part(low, low + size, 0, 0), Part(low + size, low + size + high, 1, 0)]

    def run(rows: Any, value: Any, n: int) -> Any:
        return lax.broadcast(rows, with_size(shape, axis, n)) if not rows.shape else lax.pad(rows, value, others)

    return Moved((axis, None), (axis,), (tuple(p for p in parts if p.stop > p.start),), run)
