"""What equations do with the rows of arrays: each by itself, moved along, summed up, or one after the other."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Union

import jax.numpy as jnp
import numpy as np

from stanlib.dataclass import dataclass

Arrays = Sequence[Any]


@dataclass(frozen=True)
class Input:
    """An input of an equation: its shape, the axis of its rows if it has some, and whether they come from a step.

    Other arrays that have an axis as long as one of rows may be taken row by row, or whole.
    """

    shape: tuple[int, ...]
    axis: int | None
    is_made: bool

    @property
    def rows(self) -> int:
        return self.shape[self.axis] if self.axis is not None else 0


@dataclass(frozen=True)
class Each:
    """Row by row: `axes` are those on which inputs are taken by rows, `outs` those of the outputs.

    `run` makes some rows, of the inputs' ones and how many they are.
    """

    axes: tuple[int | None, ...]
    outs: tuple[int, ...]
    run: Callable[[Arrays, int], Arrays]


@dataclass(frozen=True)
class Part:
    """Rows `start` to `stop` of an output: an input's from `row` on."""

    start: int
    stop: int
    input: int
    row: int


@dataclass(frozen=True)
class Moved:
    """Rows in other places: the parts of each output. An input without rows stands in every row of its part."""

    axes: tuple[int | None, ...]
    outs: tuple[int, ...]
    parts: tuple[tuple[Part, ...], ...]
    run: Callable[[Any, Any, int], Any]  # the rows of a part, of its input's ones, the input, and how many


@dataclass(frozen=True)
class Total:
    """One of all rows, which `join` puts together of what the equation makes of some."""

    axes: tuple[int | None, ...]
    join: str


@dataclass(frozen=True)
class Added:
    """Rows that are added to places of an array, the first input."""

    axes: tuple[int | None, ...]


@dataclass(frozen=True)
class Picked:
    """Few rows, `start` to `stop`: `rest` takes the equation's part of their other axes."""

    axes: tuple[int | None, ...]
    start: int
    stop: int
    rest: Callable[[Any], Any]


@dataclass(frozen=True)
class Recurrence:
    """One row after the other: the first `state` outputs are carried along, the others have rows.

    `begin` makes the state from the inputs, `run` the state after some rows and their outputs.
    """

    axes: tuple[int | None, ...]
    outs: tuple[int | None, ...]
    state: int
    reverse: bool
    begin: Callable[[Arrays], list[Any]]
    run: Callable[[list[Any], Arrays, int], tuple[list[Any], list[Any]]]


Step = Union[Each, Moved, Total, Added, Picked, Recurrence]


_JOINS: dict[str, Callable[[Any, Any], Any]] = {
    "add": jnp.add, "mul": jnp.multiply, "max": jnp.maximum, "min": jnp.minimum,
    "and": jnp.logical_and, "or": jnp.logical_or,
}  # fmt: skip


def joined(join: str, left: object, right: object) -> Any:
    """What two sets of rows make together."""
    return _JOINS[join](left, right)


def nothing(join: str, aval: Any) -> Any:
    """What no rows make."""
    kind = np.dtype(aval.dtype)
    value = {"add": 0, "mul": 1, "and": True, "or": False}.get(join)
    if value is None:  # of complex numbers there is no largest
        lowest, highest = _range_of(kind)
        value = lowest if join == "max" else highest
    return jnp.full(aval.shape, value, kind)


def _range_of(kind: np.dtype[Any]) -> tuple[Any, Any]:
    """The least and the greatest number of a type."""
    if kind.kind == "f":
        return -np.inf, np.inf
    return (False, True) if kind.kind == "b" else (np.iinfo(kind).min, np.iinfo(kind).max)
