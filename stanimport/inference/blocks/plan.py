"""Which values of a program are computed row by row, what leaves the rows, and in what order all is computed."""
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from typing import Any

from stanlib.dataclass import dataclass

from .flat import Flat, is_literal
from .steps import Moved, Part, Recurrence, Step

ALL = -(2**62), 2**62  # rows of a class
_MOST = 20  # how often the rows of one value may be needed with different shifts


@dataclass(frozen=True)
class Demand:
    """Rows of a value, while the block roams from row `start` to `stop` of its class: those `shift` further on."""

    variable: Any
    shift: int
    start: int
    stop: int


@dataclass(frozen=True)
class Root:
    """What leaves the rows: the total of an equation's, additions to an array, some rows, or a state after all.

    Attributes:
        variable: what it is.
        equation: the number of its equation.
        kind: "total", "added", "rows" or "state".
        reads: the variables whose rows it takes.
        start, stop: which of their rows.
    """

    variable: Any
    equation: int
    kind: str
    reads: tuple[Any, ...]
    start: int
    stop: int


@dataclass
class Sweep:
    """Roots of one class that are computed together."""

    group: Any
    roots: list[Root]


@dataclass
class Plan:
    """A program whose values with rows are computed in blocks.

    Attributes:
        flat: the program.
        axes: of each value with rows, their axis.
        steps: of each equation that has to do with rows, how it treats them.
        offsets: of each value with rows, its class, and the row of the class where its first one lies.
        order: numbers of equations, and sweeps, in the order of their computation.
        guesses: totals that other totals of the same rows need: they are what they are if no row is out of bounds.
    """

    flat: Flat
    axes: dict[Any, int]
    steps: dict[int, Step]
    offsets: dict[Any, tuple[Any, int]] = field(default_factory=dict)
    order: list[int | Sweep] = field(default_factory=list)
    guesses: list[Root] = field(default_factory=list)

    def is_made(self, atom: object) -> bool:
        """Whether something is computed by rows."""
        return not is_literal(atom) and atom in self.axes

    def rows_of(self, variable: Any) -> int:
        n: int = variable.aval.shape[self.axes[variable]]
        return n

    def read_rows(self, i: int) -> list[tuple[Any, int]]:
        """What an equation takes by rows, and along which axes."""
        pairs = zip(self.flat.equations[i].invars, self.steps[i].axes)
        return [(v, axis) for v, axis in pairs if axis is not None]

    def read_whole(self, i: int) -> list[Any]:
        """What an equation takes as a whole."""
        e = self.flat.equations[i]
        taken = self.steps[i].axes if i in self.steps else (None,) * len(e.invars)
        return [v for v, axis in zip(e.invars, taken) if axis is None and not is_literal(v)]

    def demands(self, demand: Demand, within: tuple[int, int]) -> list[Demand]:
        """What rows of a value are computed from: rows of values that are computed by rows, too.

        `within` are the rows of the class that are computed together.
        """
        i, at = self.flat.makers[demand.variable]
        step, invars = self.steps[i], self.flat.equations[i].invars
        if isinstance(step, Moved):
            return [d for part, d in self.parts(demand) if self.is_made(invars[part.input])]
        shift, (start, stop) = demand.shift, (demand.start, demand.stop)
        if isinstance(step, Recurrence):
            shift, start, stop = self.span(i, within)
            if demand.shift != shift:
                raise Misplaced(i)
        return [Demand(v, shift, start, stop) for v, _ in self.read_rows(i) if self.is_made(v)]

    def parts(self, demand: Demand) -> list[tuple[Part, Demand]]:
        """The parts of a moved value in which its rows lie, and the rows of inputs that are there."""
        i, at = self.flat.makers[demand.variable]
        step, invars = self.steps[i], self.flat.equations[i].invars
        assert isinstance(step, Moved)
        found = []
        for part in step.parts[at]:
            start = max(demand.start, part.start - demand.shift)
            stop = min(demand.stop, part.stop - demand.shift)
            if start < stop:
                shift = demand.shift - part.start + part.row
                found.append((part, Demand(invars[part.input], shift, start, stop)))
        return found

    def span(self, i: int, within: tuple[int, int]) -> tuple[int, int, int]:
        """The shift of a recurrence, and the rows of its class among some in which it runs."""
        (one, axis), *_ = self.read_rows(i)
        offset = self.offsets[self.placed(i)][1]
        return -offset, max(within[0], offset), min(within[1], offset + one.aval.shape[axis])

    def placed(self, i: int) -> Any:
        """A variable that lies where an equation's rows do."""
        candidates = [v for v in self.flat.equations[i].outvars if v in self.axes]
        return (candidates or [v for v, _ in self.read_rows(i) if self.is_made(v)])[0]

    def root_span(self, root: Root) -> tuple[int, int, int]:
        """The shift of a root, and its rows in the class."""
        at = self.placed(root.equation) if root.kind == "state" else next(v for v in root.reads if self.is_made(v))
        offset = self.offsets[at][1]
        return -offset, root.start + offset, root.stop + offset

    def group_of(self, root: Root) -> Any:
        """The class of the rows that a root takes."""
        at = self.placed(root.equation) if root.kind == "state" else next(v for v in root.reads if self.is_made(v))
        return self.offsets[at][0]

    def cone(self, root: Root) -> "Cone":
        """All that a root is computed from."""
        made = Cone()
        shift, start, stop = self.root_span(root)
        made.breaks |= {start, stop}
        whole = self.read_whole(root.equation) if root.kind != "rows" else []
        made.whole.update(dict.fromkeys(whole))
        waiting = [Demand(v, shift, start, stop) for v in root.reads if self.is_made(v)]
        if root.kind == "state":
            made.recurrences.add(root.equation)
        seen = set[Demand]()
        while waiting:
            demand = waiting.pop()
            if demand in seen:
                continue
            seen.add(demand)
            self._take(made, demand)
            waiting += self.demands(demand, ALL)  # a recurrence runs over rows before the root's, too
            if len(seen) > _MOST * len(self.flat.equations):
                raise Misplaced(self.flat.makers[demand.variable][0])
        made.read((v, shift) for v in root.reads if not is_literal(v) and v not in self.axes)
        return made

    def _take(self, made: "Cone", demand: Demand) -> None:
        """Add the equation that makes the rows of a demand, and what it reads of whole values and of data."""
        i, _ = self.flat.makers[demand.variable]
        made.whole.update(dict.fromkeys(self.read_whole(i)))
        if isinstance(self.steps[i], Moved):
            made.breaks |= {d.start for _, d in self.parts(demand)} | {d.stop for _, d in self.parts(demand)}
            made.read((d.variable, d.shift) for _, d in self.parts(demand)
                      if not is_literal(d.variable) and d.variable not in self.axes)  # fmt: skip
            return
        own = demand.shift
        if isinstance(self.steps[i], Recurrence):
            made.recurrences.add(i)
            own = self.span(i, ALL)[0]
        made.read((v, own) for v, _ in self.read_rows(i) if v not in self.axes and not is_literal(v))


@dataclass
class Cone:
    """What a root depends on: other values as a whole, recurrences, and the rows where its parts begin or end.

    `reads` are values of which it takes rows that nothing computes, with the shifts of these rows.
    """

    whole: dict[Any, None] = field(default_factory=dict)
    reads: set[tuple[Any, int]] = field(default_factory=set)
    recurrences: set[int] = field(default_factory=set)
    breaks: set[int] = field(default_factory=set)

    def read(self, found: Iterable[tuple[object, int]]) -> None:
        """Take rows of values with these shifts."""
        pairs = list(found)
        self.reads.update(pairs)
        self.whole.update((v, None) for v, _ in pairs)


class Misplaced(Exception):
    """An equation can't be computed by rows after all."""

    def __init__(self, equation: int):
        self.equation = equation
