"""Statements, and the places that they assign to."""
from __future__ import annotations

from enum import Enum
from typing import Any, Union

from stanlib.dataclass import dataclass
from stanlib.types import Type

from ...source import Span
from .declarations import Constraint, Distribution, Sized
from .expressions import Expr, Index, IndexExpr, Item, Limit, Var


@dataclass(frozen=True, slots=True)
class Stmt:
    """Base of statements."""

    span: Span


@dataclass(frozen=True, slots=True)
class Declare(Stmt):
    """A variable, with its initial value or (None) unset: NaN for reals, the least integer for ints.

    `site` is its Stan name where it is a program variable rather than a local one.
    """

    name: str
    sized: Sized
    constraint: Constraint | None = None
    value: Expr | None = None
    site: str | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One selection on the way to an assigned part: by indices, or by the number of a tuple item."""

    type: Type
    indices: tuple[IndexExpr, ...] = ()
    item: int = 0


@dataclass(frozen=True, slots=True)
class Place:
    """What an assignment writes: a variable (of type `base`), or the part of one that the steps select."""

    name: str
    base: Type
    span: Span
    steps: tuple[Step, ...] = ()

    @property
    def type(self) -> Type:
        return self.steps[-1].type if self.steps else self.base

    def read(self) -> Expr:
        """The value that the place holds."""
        out: Expr = Var(self.base, self.span, self.name)
        for s in self.steps:
            out = Item(s.type, self.span, out, s.item) if s.item else Index(s.type, self.span, out, s.indices)
        return out


@dataclass(frozen=True, slots=True)
class Assign(Stmt):
    """`place = value`. In loops whose iterations are lanes, `over` is the outermost of those that share the place.

    Where `reached` is given, indices may be out of range in lanes in which it is 0: those write nothing. `in_place`
    tells whether the array is changed itself, not a copy of it, once that is decided.
    """

    place: Place
    value: Expr
    over: str | None = None
    in_place: bool | None = None
    reached: Expr | None = None


@dataclass(frozen=True, slots=True)
class Accumulate(Stmt):
    """`place += value` in every lane of the loop `loop` and of those inside it.

    `over` is the outermost loop whose lanes share the place, if that is a loop around `loop`.
    """

    place: Place
    value: Expr
    loop: str
    over: str | None = None


@dataclass(frozen=True, slots=True)
class Last(Stmt):
    """At the end of a loop of lanes: a variable keeps the value of the last iteration, `copied` if it is changed."""

    name: str
    loop: str
    type: Type
    copied: bool | None = None


@dataclass(frozen=True, slots=True)
class Unpack(Stmt):
    """`(a, b[1]) = tuple;`: all parts are read before any is written. A nested pattern is a nested tuple."""

    places: tuple[Any, ...]
    value: Expr


@dataclass(frozen=True, slots=True)
class Sample(Stmt):
    """A parameter: from `distribution`, or (None) from the uniform or improper law on its domain.

    One that is `learned` is a guide's, from a normal law of the unconstrained parameter, which inference optimises;
    of one that is `free` the distribution is that of the unconstrained parameter. A `bounding` one is in bounds of
    others that the backend computes anew for every draw. In a guide `event` tells how many axes belong to one
    observation of the model's law of the parameter, where that is another number than of the guide's. One whose parts
    are `drawn` has them for its draw, and their laws stand in the density at the sites `laws`; of one that can't be,
    `undrawn` tells what is wrong with its law.
    """

    name: str
    site: str
    sized: Sized
    constraint: Constraint | None
    distribution: Distribution | None = None
    learned: bool = False
    free: bool = False
    bounding: bool | None = None
    event: int | None = None
    drawn: Expr | None = None
    laws: tuple[str, ...] = ()
    undrawn: str | None = None


@dataclass(frozen=True, slots=True)
class Param(Stmt):
    """A guide's parameter, which inference optimises: from `value`, or (None) from where Stan starts parameters."""

    name: str
    site: str
    sized: Sized
    constraint: Constraint | None
    value: Expr | None = None


@dataclass(frozen=True, slots=True)
class Observe(Stmt):
    """`value ~ distribution`: add its log density to the target. `site` names the statement.

    `of_data` tells whether the value comes from data alone, once that is known.
    """

    site: str
    distribution: Distribution
    value: Expr
    of_data: bool | None = None


@dataclass(frozen=True, slots=True)
class Factor(Stmt):
    """`target += value;`, or with `jacobian` `jacobian += value;`; a container counts by its sum.

    `outcomes` are those of densities that the value holds though they do not stand in it; one observation of each has
    `outcome_dims` axes. An increment `of_data` is made of densities of data. A `place` is none, but tells of an
    outcome, the value, where the increments of the site come in the same order.
    """

    site: str
    value: Expr
    jacobian: bool = False
    outcomes: tuple[Expr, ...] = ()
    of_data: bool | None = None
    place: bool = False
    outcome_dims: int = 0


@dataclass(frozen=True, slots=True)
class Check(Stmt):
    """The declared constraint of a transformed or generated variable must hold here."""

    name: str
    site: str
    sized: Sized
    constraint: Constraint


@dataclass(frozen=True, slots=True)
class Deterministic(Stmt):
    """Record a transformed parameter's value, in a model as a site."""

    name: str
    site: str


class Loop(Enum):
    """How a loop runs."""

    STATIC = "in Python, over data"
    UNROLLED = "in Python, while tracing: one copy of the body per iteration"
    TRACED = "in the backend, on explicit state"


@dataclass(frozen=True, slots=True)
class For(Stmt):
    """`for (name in lower:upper) body`.

    With `lanes` the body runs once for all iterations, `name` standing for every index at the same time. If it makes
    values whose shapes differ between iterations, it runs once for each choice of the numbers `alike` that decide them.
    A `dense` loop does nothing but add up, so that iterations that there are not may count as 0. `runs` tells how the
    iterations run, once that is decided. A `leading` loop has few iterations: its axis comes before those of the loops
    around it, so that what is long stays last in memory. `most` limits the number of iterations where the bounds are
    known in the backend alone, or those of a loop inside such a one.
    """

    name: str
    lower: Expr
    upper: Expr
    body: tuple[Stmt, ...]
    lanes: bool = False
    alike: tuple[Expr, ...] = ()
    dense: bool = False
    leading: bool = False
    runs: Loop | None = None
    most: Limit | None = None


@dataclass(frozen=True, slots=True)
class Window:
    """An array that a recurrence reads as it was some iterations before, and writes at the current one.

    `row` holds what the iteration writes, `before[d - 1]` what was written d iterations earlier, and `first[d - 1]` is
    that for the first iteration.
    """

    row: str
    type: Type
    before: tuple[str, ...]
    first: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Cumulate(Stmt):
    """Inside a loop of lanes: `name` is `first` plus the sum of `value` over all iterations up to the current one."""

    name: str
    first: Expr
    value: Expr
    loop: str


@dataclass(frozen=True, slots=True)
class Recur(Stmt):
    """Inside a loop of lanes: the statements whose iterations need the ones before, one after the other.

    `name` is the index within `body`, `loop` that of the lanes. `state` are the variables carried from one iteration to
    the next, `windows` the arrays, `outputs` the variables of the body that the rest of the loop reads. `inputs` are
    variables of the lanes, `given` how the body calls them: what differs between iterations and is only read has
    another name there, since it is known beforehand in all lanes, but not to an iteration that the backend traces. Of a
    `ragged` one the bounds differ between the lanes around, and so does `name`. The backend traces what is `traced`,
    as far as it is not known after all; Python runs the others.
    """

    name: str
    loop: str
    body: tuple[Stmt, ...]
    windows: tuple[Window, ...]
    state: tuple[str, ...]
    inputs: tuple[str, ...]
    given: tuple[str, ...]
    outputs: tuple[str, ...]
    ragged: bool = False
    traced: bool | None = None


@dataclass(frozen=True, slots=True)
class ForEach(Stmt):
    """`for (name in container) body`; a matrix is read row by row, and `break` leaves the row."""

    name: str
    element: Type
    container: Expr
    body: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class While(Stmt):
    """`while (condition) body`; a `traced` one runs in the backend, on explicit state."""

    condition: Expr
    body: tuple[Stmt, ...]
    traced: bool | None = None


@dataclass(frozen=True, slots=True)
class If(Stmt):
    """A branch. With `lanes` each side runs for the lanes in which it is taken, and `merged` are the variables of
    which every lane keeps the value of its side. The backend decides between the sides of a `traced` one;
    where it `sums`, what a side adds to the target is one term."""

    condition: Expr
    then: tuple[Stmt, ...]
    otherwise: tuple[Stmt, ...] = ()
    lanes: bool = False
    merged: tuple[str, ...] = ()
    traced: bool | None = None
    sums: bool | None = None


@dataclass(frozen=True, slots=True)
class Break(Stmt):
    pass


@dataclass(frozen=True, slots=True)
class Continue(Stmt):
    pass


@dataclass(frozen=True, slots=True)
class Return(Stmt):
    value: Expr | None = None


@dataclass(frozen=True, slots=True)
class Run(Stmt):
    """A call of a void function."""

    call: Expr


@dataclass(frozen=True, slots=True)
class Bind(Stmt):
    """`name = call` for a call that adds to the target, under `site`; name is None where nothing is returned.

    `term` names what the call adds, where something else asks for it.
    """

    name: str | None
    site: str
    call: Expr
    term: str | None = None


@dataclass(frozen=True, slots=True)
class Message(Stmt):
    """`print`, `reject` or `fatal_error` with its items."""

    kind: str
    items: tuple[Union[str, Expr], ...]
