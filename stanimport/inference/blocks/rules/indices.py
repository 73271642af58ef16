"""Rules for equations that select by indices, or add at them."""
from __future__ import annotations

from collections.abc import Collection, Sequence

from ..steps import Added, Arrays, Each, Input, Step
from .equations import Equation, function_of, shape_of, with_size


def gather(e: Equation, inputs: Sequence[Input], lengths: Collection[int]) -> Step | None:
    """For each row of indices a part of the whole array, or of each row of an array what the same indices select."""
    (array, indices), numbers = inputs, e.params["dimension_numbers"]
    if numbers.operand_batching_dims or numbers.start_indices_batching_dims:
        return None
    if indices.axis is not None and indices.axis < len(indices.shape) - 1:
        batch = [d for d in range(len(shape_of(e))) if d not in numbers.offset_dims]
        run = function_of(e)
        return Each((None, indices.axis), (batch[indices.axis],), lambda v, _: run(*v))
    sizes, axis = e.params["slice_sizes"], array.axis
    if axis is None or axis in numbers.start_index_map or axis in numbers.collapsed_slice_dims:
        return None
    windows = [d for d in range(len(array.shape)) if d not in numbers.collapsed_slice_dims]
    out = numbers.offset_dims[windows.index(axis)]

    def some(values: Arrays, n: int) -> Arrays:
        return function_of(e, slice_sizes=with_size(sizes, axis, n))(*values)

    return Each((axis, None), (out,), some) if sizes[axis] == array.rows and not indices.is_made else None


def scatter(e: Equation, inputs: Sequence[Input], lengths: Collection[int]) -> Step | None:
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
    run = function_of(e)
    return Each((axis, None, updates.axis), (axis,), lambda v, _: run(*v))
