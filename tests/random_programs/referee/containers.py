"""Containers of the plain evaluation: NumPy's arrays, tuples of values, and of an array of tuples a tuple of arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stanimport.ir import gprob
from stanlib.errors import StanIndexError
from stanlib.types import INT, Tuple, Type, unwind

LEAST = -(2**31)  # an int that has no value yet


class Unable(Exception):
    """A program that is not evaluated statement by statement."""


@dataclass(frozen=True)
class Shape:
    """Number type and all sizes of a value that is no tuple; of a tuple, or an array of them, those of its items."""

    dtype: type = float
    sizes: tuple[int, ...] = ()
    items: tuple["Shape", ...] = ()


def sizes_of(sized: gprob.Sized, value: Callable[[gprob.Expr], int], outer: tuple[int, ...] = ()) -> Shape:
    sizes = (*outer, *map(value, sized.shape))
    if any(n < 0 for n in sizes):
        raise StanIndexError(f"negative size, {sizes}")
    if isinstance(unwind(sized.type)[0], Tuple):
        return Shape(items=tuple(sizes_of(i, value, sizes) for i in sized.items))
    return Shape(number_type(sized.type), sizes)


def number_type(kind: Type) -> type:
    element = unwind(kind)[0]
    return int if element == INT else complex if str(element).startswith("complex") else float


def unset(shape: Shape) -> Any:
    if shape.items:
        return tuple(map(unset, shape.items))
    fill = LEAST if shape.dtype is int else complex("nan+nanj") if shape.dtype is complex else float("nan")
    return np.full(shape.sizes, fill, shape.dtype) if shape.sizes else fill


def given(value: Any, shape: Shape) -> Any:
    """Data as JSON has them; a tuple's items by number, arrays of tuples one after the other."""
    if shape.items:
        return tuple(given(_item(value, k), s) for k, s in enumerate(shape.items, 1))
    if shape.dtype is complex:
        pairs = np.reshape(np.asarray(value, float), (*shape.sizes, 2))
        return (pairs[..., 0] + 1j * pairs[..., 1])[()]
    if not shape.sizes:
        return shape.dtype(value)
    return np.reshape(np.asarray(value, shape.dtype), shape.sizes)


def _item(value: Any, number: int) -> Any:
    if isinstance(value, dict):
        return value[str(number)]
    return [_item(v, number) for v in value]


def copied(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(copied, value))
    return np.array(value) if isinstance(value, np.ndarray) else value


def fitted(value: Any, variable: Any) -> Any:
    """A copy of a value for a variable, whose sizes it must have; without elements it depends on its block."""
    if isinstance(variable, tuple):
        return tuple(map(fitted, value, variable))
    if np.size(value) and not np.size(variable):
        raise Unable("a value with elements for a variable without any")
    if np.size(variable) and np.shape(value) != np.shape(variable):
        raise StanIndexError(f"a value of sizes {np.shape(value)} for a variable of sizes {np.shape(variable)}")
    return variable if not np.size(variable) else copied(value)


def length(container: Any) -> int:
    return length(container[0]) if isinstance(container, tuple) else len(container)


def positions(index: Any, size: int) -> int | list[int]:
    """Where an index points, from 0: an int, a list, or of a pair of bounds a list.

    Raises:
        StanIndexError: outside of the container.
    """
    if isinstance(index, tuple):
        lower, upper = (1 if index[0] is None else index[0]), (size if index[1] is None else index[1])
        index = list(range(lower, upper + 1))
    wrong = [i for i in (index if isinstance(index, list) else [index]) if not 1 <= i <= size]
    if wrong:
        raise StanIndexError(f"index {wrong[0]} of {size}")
    return [i - 1 for i in index] if isinstance(index, list) else index - 1


def picked(container: Any, indices: Sequence[Any]) -> Any:
    """`container[i, j, ...]`, one index after the other."""
    if isinstance(container, tuple):
        return tuple(picked(item, indices) for item in container)
    return container[_target(container, indices)]


def _target(container: np.ndarray, indices: Sequence[Any]) -> tuple[Any, ...]:
    """NumPy's index of a part: every list along an axis of its own."""
    found = [positions(i, n) for i, n in zip(indices, np.shape(container))]
    kept = [i for i in found if isinstance(i, list)]
    out, axis = [], 0
    for i in found:
        if isinstance(i, list):
            shape = [1] * len(kept)
            shape[axis] = len(i)
            out.append(np.reshape(np.array(i, int), shape))
            axis += 1
        else:
            out.append(i)
    return tuple(np.broadcast_arrays(*out)) if kept else tuple(out)


def stored(before: Any, steps: Sequence[Any], value: Any) -> Any:
    """A variable in which the part at the end of some steps, an item or indices each, is replaced."""
    if not steps:
        return fitted(value, before)
    step, *rest = steps
    if isinstance(step, int):
        return (*before[: step - 1], stored(before[step - 1], rest, value), *before[step:])
    if isinstance(before, tuple):
        if rest and isinstance(rest[0], int):  # one item of a tuple in an array
            return stored(before, [rest[0], step, *rest[1:]], value)
        if rest:  # further indices
            return stored(before, [[*step, *rest[0]], *rest[1:]], value)
        return tuple(stored(item, steps, v) for item, v in zip(before, value))
    out, at = np.array(before), _target(before, step)
    new = stored(out[at], rest, value)
    if np.shape(new) != np.shape(out[at]):
        raise StanIndexError(f"a value of sizes {np.shape(new)} for a part of sizes {np.shape(out[at])}")
    out[at] = new
    return out


def stacked(items: Sequence[Any], kind: Type) -> Any:
    """Items along a new axis in front."""
    element = unwind(kind)[0]
    if isinstance(element, Tuple):
        return tuple(stacked([i[k] for i in items], t) for k, t in enumerate(element.items))
    if len({np.shape(i) for i in items}) > 1:
        raise StanIndexError(f"items of sizes {[np.shape(i) for i in items]}")
    return np.array(items, number_type(kind))


def promoted(value: Any, kind: Type) -> Any:
    if isinstance(value, tuple):
        element = unwind(kind)[0]
        items = element.items if isinstance(element, Tuple) else (kind,) * len(value)
        return tuple(map(promoted, value, items))
    number = number_type(kind)
    return np.asarray(value).astype(number) if isinstance(value, np.ndarray) else number(value)


def entries(name: str, value: Any) -> dict[str, float]:
    """The numbers of a variable under Stan's names: "m[1,2]", "t.2[1]", "z.real"."""
    if isinstance(value, tuple):
        return {k: x for i, item in enumerate(value, 1) for k, x in entries(f"{name}.{i}", item).items()}
    return dict(_entries(name, np.asarray(value)))


def _entries(name: str, array: np.ndarray) -> Iterator[tuple[str, float]]:
    for at in np.ndindex(array.shape):
        label = f"{name}[{','.join(str(i + 1) for i in at)}]" if at else name
        if np.iscomplexobj(array):
            yield f"{label}.real", float(array[at].real)
            yield f"{label}.imag", float(array[at].imag)
        else:
            yield label, float(array[at])

