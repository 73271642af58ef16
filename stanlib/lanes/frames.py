"""Axes and frames: the loops, selections and masks around the code that runs."""
from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..dataclass import dataclass

if TYPE_CHECKING:
    import numpy as np


class Axis:
    """The lanes of one loop, or a choice among the lanes of axes around it.

    `maps` tells of each axis that this one stands for which of its lanes each lane here belongs to; `around` is the
    frame that the loop stands in.
    """

    __slots__ = ("size", "maps", "around")

    def __init__(self, size: int, around: "Frame", parents: Mapping["Axis", np.ndarray] | None = None):
        self.size, self.around = size, around
        self.maps: dict[Axis, np.ndarray] = {}
        for parent, lanes in (parents or {}).items():
            self.maps[parent] = lanes
            for ancestor, lanes_of_parent in parent.maps.items():
                self.maps[ancestor] = lanes_of_parent[lanes]

    def __repr__(self) -> str:
        return f"Axis({self.size})"


@dataclass(frozen=True, eq=False)
class Frame:
    """What is around the current code: the axes of its values, and the lanes that a dynamic condition lets through.

    `mask` is a Lanes of truth values, or None.
    """

    axes: tuple[Axis, ...] = ()
    mask: Any = None

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(a.size for a in self.axes)

    def replaced(self, old: tuple[Axis, ...], new: tuple[Axis, ...]) -> tuple[Axis, ...]:
        """The axes with `new` where the first of `old` was."""
        if not old:
            return (*self.axes, *new)
        out: list[Axis] = []
        for a in self.axes:
            if a is old[0]:
                out += new
            elif a not in old:
                out.append(a)
        return tuple(out)


OUTSIDE = Frame()


class _State(threading.local):
    def __init__(self) -> None:
        self.frame = OUTSIDE


_state = _State()


def current() -> Frame:
    """The frame of the code that runs."""
    return _state.frame


class entered:
    """Run code in another frame: `with entered(frame, n) as n`."""

    __slots__ = ("frame", "value", "before")

    def __init__(self, frame: Frame, value: object = None):
        self.frame, self.value = frame, value

    def __enter__(self) -> Any:
        self.before, _state.frame = _state.frame, self.frame
        return self.value

    def __exit__(self, *error: object) -> None:
        _state.frame = self.before


def outside() -> entered:
    """A context in which no loop is around: where a program's function begins, whatever failed before."""
    return entered(OUTSIDE)
