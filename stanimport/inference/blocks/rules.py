"""How equations treat the rows of arrays.

A rule looks at one equation and at the axes on which its inputs have rows, and tells how to compute some rows of what
it makes from the same rows of those. There is none for what needs all rows at once.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from typing import Any, Union

import jax.numpy as jnp
import numpy as np
from jax import lax

from .steps import Added, Arrays, Each, Input, Moved, Part, Picked, Recurrence, Step, Total

Rule = Callable[[Any, Sequence[Input], Collection[int]], Union[Step, None]]


def step_of(equation: Any, inputs: Sequence[Input], lengths: Collection[int]) -> Step | None:
    """How an equation treats rows, of which there are as many as one of `lengths`; None for one that needs all."""
    rule = _RULES.get(equation.primitive.name)
    return rule(equation, inputs, lengths) if rule is not None else None


def _bound(e: Any, **changed: Any) -> Callable[..., Arrays]:
    """The function of an equation, with some of its parameters changed."""
    def run(*given: Any) -> Arrays:
        out = e.primitive.bind(*given, **{**e.params, **changed})
        return list(out) if e.primitive.multiple_results else [out]

    return run


def _shape(e: Any) -> tuple[int, ...]:
    shape: tuple[int, ...] = e.outvars[0].aval.shape
    return shape


def _kind(e: Any) -> str:
    return np.dtype(e.outvars[0].aval.dtype).kind


# --- each row by itself ----------------------------------------------------------------------------------------------


def _elementwise(e: Any, inputs: Sequence[Input], lengths: Collection[int]) -> Step | None:
    """Arrays of one rank, of which some may have one component where others have many, and numbers."""
    axis = next((i.axis for i in sorted(inputs, key=lambda i: not i.is_made) if i.axis is not None), None)
    taken = [_taken(i, axis, _shape(e)) for i in inputs]
    if axis is None or None in taken:
        return None
    run = _bound(e)
    axes = tuple(axis if t == "rows" else None for t in taken)
    return Each(axes, (axis,) * len(e.outvars), lambda v, _: run(*v))


def _taken(given: Input, axis: int | None, shape: tuple[int, ...]) -> str | None:
    """Whether an elementwise operation takes an input by rows or as a whole; None if it can't have it."""
    if axis is None or given.shape and len(given.shape) != len(shape):
        return None
    if not given.shape or given.shape[axis] == 1 and not given.is_made:
        return "whole"
    return "rows" if given.axis == axis and given.rows == shape[axis] else None


def _broadcast(e: Any, inputs: Sequence[Input], lengths: Collection[int]) -> Step | None:
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
        return [lax.broadcast_in_dim(values[0], _with(shape, axis, n), to)]

    return Each((taken,), (axis,), run) if len(inputs) == 1 else None


def _with(shape: Sequence[int], axis: int, n: int) -> tuple[int, ...]:
    return (*shape[:axis], n, *shape[axis + 1 :])


def _reshape(e: Any, inputs: Sequence[Input], lengths: Collection[int]) -> Step | None:
    given, shape = inputs[0], _shape(e)
    if given.axis is None or len(inputs) != 1 or e.params["dimensions"] is not None:
        return None
    before = math.prod(given.shape[: given.axis])
    found = [d for d, n in enumerate(shape) if n == given.rows and math.prod(shape[:d]) == before]
    if len(found) != 1:
        return None
    return Each((given.axis,), (found[0],), lambda v, n: [jnp.reshape(v[0], _with(shape, found[0], n))])


def _squeeze(e: Any, inputs: Sequence[Input], lengths: Collection[int]) -> Step | None:
    gone, axis = e.params["dimensions"], inputs[0].axis
    if axis is None or axis in gone:
        return None
    run = _bound(e)
    return Each((axis,), (axis - sum(d < axis for d in gone),), lambda v, _: run(*v))


def _transpose(e: Any, inputs: Sequence[Input], lengths: Collection[int]) -> Step | None:
    axis = inputs[0].axis
    run = _bound(e)
    return None if axis is None else Each((axis,), (e.params["permutation"].index(axis),), lambda v, _: run(*v))


def _along(parameter: str) -> Rule:
    """What works along one axis, or several: on another one than that of the rows."""

    def rule(e: Any, inputs: Sequence[Input], lengths: Collection[int]) -> Step | None:
        at = e.params[parameter]
        if inputs[0].axis in (at if isinstance(at, (tuple, list)) else (at,)):
            return None
        return _elementwise(e, inputs, lengths)

    return rule


def _stack(e: Any, inputs: Sequence[Input], lengths: Collection[int]) -> Step | None:
    axes, new = {i.axis for i in inputs}, e.params["axis"]
    axis, run = inputs[0].axis, _bound(e)
    if axis is None or len(axes) > 1:
        return None
    return Each((axis,) * len(inputs), (axis + (new <= axis),), lambda v, _: run(*v))


def _unstack(e: Any, inputs: Sequence[Input], lengths: Collection[int]) -> Step | None:
    axis, gone, run = inputs[0].axis, e.params["axis"], _bound(e)
    if axis is None or axis == gone:
        return None
    return Each((axis,), (axis - (gone < axis),) * len(e.outvars), lambda v, _: run(*v))


def _triangular(e: Any, inputs: Sequence[Input], lengths: Collection[int]) -> Step | None:
    """One system for each row, or one for all of them with a right hand side for each."""
    factor, right = inputs
    columns = len(right.shape) - (1 if e.params["left_side"] else 2)
    if factor.is_made or right.axis != columns:
        return _linear_algebra(e, inputs, lengths)
    run = _bound(e)
    return Each((None, columns), (columns,), lambda v, _: run(*v))


def _linear_algebra(e: Any, inputs: Sequence[Input], lengths: Collection[int]) -> Step | None:
    """One matrix for each row."""
    rank = len(inputs[0].shape)
    axis = inputs[0].axis
    if axis is None or any(i.axis != axis or len(i.shape) != rank for i in inputs) or axis >= rank - 2:
        return None
    run = _bound(e)
    return Each((axis,) * len(inputs), (axis,) * len(e.outvars), lambda v, _: run(*v))


# --- rows in other places --------------------------------------------------------------------------------------------


def _concatenate(e: Any, inputs: Sequence[Input], lengths: Collection[int]) -> Step | None:
    """The rows of one array after those of another; along any other axis each row by itself."""
    along = e.params["dimension"]
    if all(i.axis is not None and i.axis != along for i in inputs):
        return _elementwise_but(e, inputs, along)
    if _shape(e)[along] not in lengths and not any(i.is_made for i in inputs):
        return None
    if any(i.is_made and i.axis != along for i in inputs):
        return None
    starts = np.cumsum([0, *(i.shape[along] for i in inputs)])
    parts = [Part(int(a), int(b), k, 0) for k, (a, b) in enumerate(zip(starts, starts[1:]))]
    return _moved((along,) * len(inputs), along, (tuple(p for p in parts if p.stop > p.start),))


def _elementwise_but(e: Any, inputs: Sequence[Input], along: int) -> Step | None:
    """Arrays whose shapes differ along one axis only, which is not that of the rows."""
    axes = {i.axis for i in inputs}
    shapes = {_with(i.shape, along, 0) for i in inputs}
    if len(axes) != 1 or len(shapes) != 1:
        return None
    axis, run = inputs[0].axis, _bound(e)
    assert axis is not None
    return Each((axis,) * len(inputs), (axis,), lambda v, _: run(*v))


def _moved(axes: tuple[int | None, ...], axis: int, parts: tuple[tuple[Part, ...], ...]) -> Moved:
    return Moved(axes, (axis,) * len(parts), parts, lambda rows, _, n: rows)


def _split(e: Any, inputs: Sequence[Input], lengths: Collection[int]) -> Step | None:
    """The rows of each part from where it begins; along any other axis than theirs each row by itself."""
    axis, (given,) = e.params["axis"], inputs
    if given.axis is None:
        return None
    if given.axis != axis:
        run = _bound(e)
        return Each((given.axis,), (given.axis,) * len(e.outvars), lambda v, _: run(*v))
    if not given.is_made:
        return None
    starts = np.cumsum([0, *e.params["sizes"]])
    return _moved((axis,), axis, tuple((Part(0, int(b - a), 0, int(a)),) for a, b in zip(starts, starts[1:])))


def _slice(e: Any, inputs: Sequence[Input], lengths: Collection[int]) -> Step | None:
    """Each row's part if all rows are taken; else rows in other places, or few rows if they are less than half."""
    given, starts, stops = inputs[0], list(e.params["start_indices"]), list(e.params["limit_indices"])
    strides = list(e.params["strides"] or (1,) * len(starts))
    axis = given.axis
    if axis is None or strides[axis] != 1:
        return None
    start, stop = int(starts[axis]), int(stops[axis])

    def rest(rows: Any, n: int) -> Any:
        return lax.slice(rows, _with(starts, axis, 0), _with(stops, axis, n), _with(strides, axis, 1))

    if (start, stop) == (0, given.rows):
        return Each((axis,), (axis,), lambda v, n: [rest(v[0], n)])
    if stop - start > given.rows // 2:
        return Moved((axis,), (axis,), ((Part(0, stop - start, 0, start),),), lambda rows, _, n: rest(rows, n))
    if not given.is_made or stop <= start:
        return None
    return Picked((axis,), start, stop, lambda rows: rest(rows, stop - start))


def _pad(e: Any, inputs: Sequence[Input], lengths: Collection[int]) -> Step | None:
    """Rows with rows of one value before and behind them; along any other axis each row by itself."""
    (given, _), config = inputs, e.params["padding_config"]
    axis, shape = given.axis, _shape(e)
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
        return lax.broadcast(rows, _with(shape, axis, n)) if not rows.shape else lax.pad(rows, value, others)

    return Moved((axis, None), (axis,), (tuple(p for p in parts if p.stop > p.start),), run)


# --- sums ------------------------------------------------------------------------------------------------------------


def _reduction(join: str) -> Rule:
    """A total over the axis of the rows, put together by `join`; along other axes each row by itself."""

    def rule(e: Any, inputs: Sequence[Input], lengths: Collection[int]) -> Step | None:
        axis, gone = inputs[0].axis, e.params["axes"]
        if axis is None:
            return None
        run = _bound(e)
        if axis not in gone:
            return Each((axis,), (axis - sum(d < axis for d in gone),), lambda v, _: run(*v))
        return None if join in ("and", "or") and _kind(e) != "b" else Total((axis,), join)

    return rule


def _product(e: Any, inputs: Sequence[Input], lengths: Collection[int]) -> Step | None:
    """A total where rows are summed over; each row by itself where it is of a batch, or one factor alone has rows."""
    (left, right), ((summed_left, summed_right), (batch_left, batch_right)) = inputs, e.params["dimension_numbers"]
    run = _bound(e)

    def free(axis: int, rank: int, gone: Collection[int]) -> int:
        return [d for d in range(rank) if d not in gone].index(axis)

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
        assert left.axis is not None
        at = before + free(left.axis, len(left.shape), (*summed_left, *batch_left))
        return Each((left.axis, None), (at,), lambda v, _: run(*v))
    assert right.axis is not None
    before += len(left.shape) - len(summed_left) - len(batch_left)
    at = before + free(right.axis, len(right.shape), (*summed_right, *batch_right))
    return Each((None, right.axis), (at,), lambda v, _: run(*v))


# --- indices ---------------------------------------------------------------------------------------------------------


def _gather(e: Any, inputs: Sequence[Input], lengths: Collection[int]) -> Step | None:
    """For each row of indices a part of the whole array, or of each row of an array what the same indices select."""
    (array, indices), numbers = inputs, e.params["dimension_numbers"]
    if numbers.operand_batching_dims or numbers.start_indices_batching_dims:
        return None
    if indices.axis is not None and indices.axis < len(indices.shape) - 1:
        batch = [d for d in range(len(_shape(e))) if d not in numbers.offset_dims]
        run = _bound(e)
        return None if array.is_made else Each((None, indices.axis), (batch[indices.axis],), lambda v, _: run(*v))
    sizes, axis = e.params["slice_sizes"], array.axis
    if axis is None or axis in numbers.start_index_map or axis in numbers.collapsed_slice_dims:
        return None
    windows = [d for d in range(len(array.shape)) if d not in numbers.collapsed_slice_dims]
    out = numbers.offset_dims[windows.index(axis)]

    def some(values: Arrays, n: int) -> Arrays:
        return _bound(e, slice_sizes=_with(sizes, axis, n))(*values)

    return Each((axis, None), (out,), some) if sizes[axis] == array.rows and not indices.is_made else None


def _scatter(e: Any, inputs: Sequence[Input], lengths: Collection[int]) -> Step | None:
    """Rows of updates that are added to a whole array, or updates of each of its rows at the same indices."""
    (array, indices, updates), numbers = inputs, e.params["dimension_numbers"]
    if numbers.operand_batching_dims or numbers.scatter_indices_batching_dims:
        return None
    added = e.primitive.name == "scatter-add"
    if indices.axis is not None and indices.axis < len(indices.shape) - 1:
        batch = [d for d in range(len(updates.shape)) if d not in numbers.update_window_dims]
        fits = updates.axis == batch[indices.axis]
        return Added((None, indices.axis, updates.axis)) if added and fits else None
    axis = array.axis
    inserted = numbers.inserted_window_dims
    if axis is None or axis in inserted or axis in numbers.scatter_dims_to_operand_dims or indices.is_made:
        return None
    windows = [d for d in range(len(array.shape)) if d not in inserted]
    if updates.axis != numbers.update_window_dims[windows.index(axis)] or updates.rows != array.rows:
        return None
    run = _bound(e)
    return Each((axis, None, updates.axis), (axis,), lambda v, _: run(*v))


# --- one row after the other -----------------------------------------------------------------------------------------


def _scan(e: Any, inputs: Sequence[Input], lengths: Collection[int]) -> Step | None:
    """A loop over rows: what it carries along is the state, what it stacks has rows."""
    fixed, state = e.params["num_consts"], e.params["num_carry"]
    given = inputs[fixed + state :]
    if e.params["length"] not in lengths or not any(i.is_made or i.axis == 0 for i in given):
        return None
    if any(i.axis != 0 for i in given) or any(i.is_made for i in inputs[: fixed + state]):
        return None

    def run(carry: list[Any], values: Arrays, n: int) -> tuple[list[Any], list[Any]]:
        extra = {"linear": (False,) * len(values)} if "linear" in e.params else {}
        unroll = min(e.params["unroll"], max(n, 1))
        out = list(_bound(e, length=n, unroll=unroll, **extra)(*values[:fixed], *carry, *values[fixed + state :]))
        return out[:state], out[state:]

    axes = (None,) * (fixed + state) + (0,) * len(given)
    outs = (None,) * state + (0,) * (len(e.outvars) - state)
    return Recurrence(axes, outs, state, e.params["reverse"], lambda v: list(v[fixed : fixed + state]), run)


def _running(e: Any, inputs: Sequence[Input], lengths: Collection[int]) -> Step | None:
    """Sums of all rows so far."""
    axis, reverse = e.params["axis"], e.params["reverse"]
    if inputs[0].axis != axis:
        return _elementwise(e, inputs, lengths)
    aval, bound = e.outvars[0].aval, _bound(e)

    def begin(_: Arrays) -> list[Any]:
        return [jnp.zeros(_with(aval.shape, axis, 1), aval.dtype)]

    def run(carry: list[Any], values: Arrays, n: int) -> tuple[list[Any], list[Any]]:
        sums = bound(*values)[0] + carry[0]
        at = 0 if reverse else n - 1
        return [lax.slice_in_dim(sums, at, at + 1, axis=axis)], [sums]

    return Recurrence((axis,), (axis,), 0, reverse, begin, run)


_ELEMENTWISE = """
    add add_any sub mul div rem pow max min neg sign floor ceil round is_finite exp exp2 log log1p expm1 tanh sin
    cos tan asin acos atan sinh cosh asinh acosh atanh atan2 logistic sqrt rsqrt cbrt square integer_pow lgamma
    digamma polygamma igamma igammac igamma_grad_a random_gamma_grad erf erfc erf_inv bessel_i0e bessel_i1e
    regularized_incomplete_beta zeta abs not and or xor eq ne lt gt le ge nextafter select_n clamp
    convert_element_type stop_gradient copy copy_p real imag complex conj population_count clz shift_left
    shift_right_logical shift_right_arithmetic reduce_precision
"""
_RULES: dict[str, Rule] = {
    **dict.fromkeys(_ELEMENTWISE.split(), _elementwise), "broadcast_in_dim": _broadcast, "reshape": _reshape,
    "squeeze": _squeeze, "transpose": _transpose, "rev": _along("dimensions"), "sort": _along("dimension"),
    "cumsum": _running, **{n: _along("axis") for n in ("cumprod", "cummax", "cummin", "cumlogsumexp")},
    "stack": _stack, "unstack": _unstack, "cholesky": _linear_algebra, "triangular_solve": _triangular,
    "concatenate": _concatenate, "split": _split, "slice": _slice, "pad": _pad, "dot_general": _product,
    "reduce_sum": _reduction("add"), "reduce_prod": _reduction("mul"), "reduce_max": _reduction("max"),
    "reduce_min": _reduction("min"), "reduce_and": _reduction("and"), "reduce_or": _reduction("or"),
    "gather": _gather, "scatter-add": _scatter, "scatter": _scatter, "scan": _scan,
}  # fmt: skip
