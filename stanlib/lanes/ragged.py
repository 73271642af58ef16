"""Recurrences that are longer in some lanes than in others: as long as the longest, in all that have an iteration.

The lanes of such a loop are all its iterations in all lanes around, one after the other (`lanes`). For a recurrence
they become a table of lanes and steps. Where a lane has no iteration left, it computes its first one once more, from
what it began with, and drops the result: so nothing is computed, and nothing enters a derivative, that the program does
not compute by itself.
"""
from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np

from ..arrays import namespace
from ..dataclass import dataclass
from .control import masked_by, merge
from .frames import Axis, Frame, current, entered
from .values import Lanes, full, known, move_front, moved_behind, operand, refined

State = tuple[Any, ...]
Step = Callable[..., tuple[State, State]]
Run = Callable[[Lanes, Step, State, State], Any]


def is_ragged(loop: Lanes) -> bool:
    """Whether the lanes of a loop stand for those of loops around it too."""
    return bool(_parents(loop.axes[0]))


def recur(run: Run, loop: Lanes, step: Step, carry: State, inputs: State, adds: bool) -> Any:
    """The last carry and the outputs of a recurrence; `run` computes one that is as long in all lanes.

    A step that `adds` to the target does so in the lanes that have an iteration.
    """
    table, frame = _table(loop.axes[0]), current()
    around = Frame(tuple(table.lane if a is table.flat else a for a in frame.axes), frame.mask)
    begin = tuple(table.at_start(c) for c in carry)
    moved = [k for k, v in enumerate(inputs) if type(v) is Lanes and table.flat in v.axes]

    def even(_: object, *given: Any) -> tuple[State, State]:
        before, (active, index, *rest) = given[: len(carry)], given[len(carry) :]
        now = list(inputs)
        for k, value in zip(moved, rest):
            now[k] = value
        started = tuple(merge(active, b, a) for b, a in zip(before, begin))
        holds = known(active)
        whole = holds is not None and bool(holds.all())
        with entered(masked_by(active, current())) if adds and not whole else nullcontext():
            after, outputs = step(index, *started, *now)
        return tuple(merge(active, a, b) for a, b in zip(after, before)), tuple(map(_here, outputs))

    with entered(Frame((*around.axes, table.step), around.mask)):
        steps = Lanes(np.arange(table.step.size), (table.step,))
        given = (table.active, *(table.spread(v) for v in (loop, *(inputs[k] for k in moved))))
        final, outputs = run(steps, even, begin, given)
    place = frame.axes.index(table.flat)
    gathered = tuple(table.terms(o, around, place) if isinstance(o, tuple) else table.gathered(o) for o in outputs)
    return tuple(map(table.afterwards, final, carry)), gathered


def _here(output: object) -> object:
    """An output by the axes of the table: what began as a value of the loops around may still have theirs."""
    return refined(output, current()) if type(output) is Lanes else output


def _parents(axis: Axis) -> tuple[Axis, ...]:
    """The axes around a loop that its own stands for."""
    return tuple(a for a in axis.around.axes if a in axis.maps)


@dataclass(frozen=True)
class Table:
    """The iterations of a ragged loop by lane and step.

    Attributes:
        flat: the axis of all iterations; `lane` and `step` those of the table.
        starts: the first iteration of each lane; row, column: the lane and the step of each iteration.
        active: in which steps a lane has an iteration.
    """

    flat: Axis
    lane: Axis
    step: Axis
    starts: np.ndarray
    row: np.ndarray
    column: np.ndarray
    active: Lanes

    def at_start(self, value: object) -> object:
        """What a lane begins with: of a value of iterations, that of the first one."""
        if type(value) is not Lanes or self.flat not in value.axes:
            return value
        return self._placed(value, self.starts, (self.lane,))

    def spread(self, value: Lanes) -> Lanes:
        """A value of iterations as one of lanes and steps; where there is no iteration, that of the lane's first."""
        place = np.broadcast_to(self.starts[:, None], (self.lane.size, self.step.size)).copy()
        place[self.row, self.column] = np.arange(self.flat.size)
        return self._placed(value, place, (self.lane, self.step))

    def gathered(self, output: object) -> object:
        """An output of lanes and steps as a value of iterations."""
        if type(output) is not Lanes:
            return output
        own = [a for a in (self.lane, self.step) if a in output.axes]
        place = tuple(self.row if a is self.lane else self.column for a in own)
        return self._placed(output, place, (self.flat,), own) if own else output

    def terms(self, output: tuple[Any], frame: Frame, place: int) -> tuple[Any]:
        """What all steps add to the target, of the iterations alone, their axis behind so many others of the frame."""
        (data,), shape = output, (*frame.shape, self.step.size)
        if tuple(data.shape)[: len(shape)] != shape:  # there are steps that add nothing
            return output
        table = move_front(data, [frame.axes.index(self.lane), len(frame.axes)])
        return (moved_behind(namespace((table,)).get(table, (self.row, self.column)), place),)

    def afterwards(self, final: Any, begun: Any) -> Any:
        """What is carried behind the loop, in the lanes around it: those without iterations keep what they had.

        Rows that were read for the first iteration of each lane are not read any more.
        """
        if isinstance(final, tuple):
            return tuple(map(self.afterwards, final, begun))
        parents = _parents(self.flat)
        shape, frame = tuple(a.size for a in parents), Frame(self.flat.around.axes)
        is_everywhere, own = self.lane.size == math.prod(shape), _axes(final)
        if begun is None or self.flat in _axes(begun) or is_everywhere and self.lane not in own:
            return final
        begun = operand(begun, frame)
        needed = {*own, *(() if is_everywhere else _axes(begun))}
        others = tuple(a for a in frame.axes if a in needed and a not in parents)
        made = full(final, Frame((self.lane, *others)))
        if not is_everywhere:
            place = np.ravel_multi_index(tuple(self.lane.maps[p] for p in parents), shape)
            made = _in_places(place, made, _leading(full(begun, Frame((*parents, *others))), shape))
        return refined(Lanes(made.reshape(shape + tuple(made.shape)[1:]), (*parents, *others)), frame)

    def _placed(self, value: Lanes, place: Any, axes: tuple[Axis, ...], own: Any = None) -> Lanes:
        """The value with its axes `own`, that of all iterations by default, looked up at places along other axes."""
        own = [self.flat] if own is None else own
        data = move_front(value.data, [value.axes.index(a) for a in own])
        picked = namespace((data,)).get(data, place if isinstance(place, tuple) else (place,))
        return Lanes(picked, (*axes, *(a for a in value.axes if a not in own)))


def _axes(value: object) -> tuple[Axis, ...]:
    return value.axes if type(value) is Lanes else ()


def _leading(data: Any, shape: tuple[int, ...]) -> object:
    """The array with its first dimensions, of this shape, as one."""
    return data.reshape((math.prod(shape), *tuple(data.shape)[len(shape) :]))


def _in_places(place: np.ndarray, made: Any, old: Any) -> object:
    """The rows of `old` with those at some places replaced."""
    xp = namespace((made, old))
    source = np.arange(old.shape[0])
    source[place] = old.shape[0] + np.arange(place.size)
    return xp.get(xp.concatenate(list(xp.convert([old, made])), 0), (source,))


def _table(flat: Axis) -> Table:
    """The iterations of a loop by lane and step: `lanes` has those of one lane next to each other."""
    parents = _parents(flat)
    owner = np.ravel_multi_index(tuple(flat.maps[p] for p in parents), tuple(p.size for p in parents))
    _, starts, row, counts = np.unique(owner, return_index=True, return_inverse=True, return_counts=True)
    column = np.arange(flat.size) - starts[row]
    lane = Axis(starts.size, flat.around, {p: flat.maps[p][starts] for p in parents})
    step = Axis(int(counts.max()), flat.around)
    active = np.arange(step.size) < counts[:, None]
    return Table(flat, lane, step, starts, row, column, Lanes(active, (lane, step)))
