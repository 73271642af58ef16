"""GProb: typed expressions and statements of a first-order generative language.

The language of the paper (section 4): let, sample, observe, factor, for, while, if, return. Statements assign to
variables instead of binding them anew; targets make the state of a loop explicit where their backend asks for it.
All nodes are frozen and carry the span of the Stan text they come from. Names are unique within a function, so that
a pass may move statements without capturing; indices stay 1-based, as in Stan, until a target emits them.
"""
from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeGuard, Union

from stanlib.registry import Function
from stanlib.types import INT, Type

from ..source import Span

# --- expressions -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Expr:
    """Base of expressions: every one has a type and a place."""

    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class Const(Expr):
    value: Union[int, float, complex, str]


@dataclass(frozen=True, slots=True)
class Var(Expr):
    name: str


@dataclass(frozen=True, slots=True)
class Apply(Expr):
    """A call of a library function; operators are calls too."""

    function: Function
    arguments: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class CallUser(Expr):
    """A call of a user's function, by the unique name of the overload."""

    function: str
    arguments: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class FunctionValue(Expr):
    """A function passed as an argument: a user's by unique name, or a library record."""

    function: Union[str, Function]


@dataclass(frozen=True, slots=True)
class Logical(Expr):
    """`&&` or `||`: the right operand is evaluated only if the left one does not decide."""

    operator: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Cond(Expr):
    """`condition ? then : otherwise`; only one side is evaluated."""

    condition: Expr
    then: Expr
    otherwise: Expr


@dataclass(frozen=True, slots=True)
class Single:
    """The index `[i]`."""

    value: Expr


@dataclass(frozen=True, slots=True)
class Multi:
    """The index `[is]` by an integer array."""

    value: Expr


@dataclass(frozen=True, slots=True)
class Range:
    """The index `[a:b]`; an absent bound is the container's own."""

    lower: Expr | None
    upper: Expr | None


IndexExpr = Union[Single, Multi, Range]
ALL = Range(None, None)


@dataclass(frozen=True, slots=True)
class Index(Expr):
    base: Expr
    indices: tuple[IndexExpr, ...]


@dataclass(frozen=True, slots=True)
class Padded(Expr):
    """`base[lower:upper]` of a vector, as the argument of a function for which `fill` is neutral: it may be longer."""

    base: Expr
    lower: Expr
    upper: Expr
    fill: Expr


@dataclass(frozen=True, slots=True)
class Widest(Expr):
    """The largest value that an integer has in any of the iterations that run at once."""

    value: Expr


@dataclass(frozen=True, slots=True)
class Item(Expr):
    """Item `number` (from 1) of a tuple, or of every tuple in an array."""

    base: Expr
    number: int


@dataclass(frozen=True, slots=True)
class MakeArray(Expr):
    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class MakeRow(Expr):
    """`[a, b]`: a row vector of scalars or a matrix of rows."""

    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class MakeTuple(Expr):
    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Promote(Expr):
    """An int where a real is asked for, or a real where a complex number is."""

    value: Expr


@dataclass(frozen=True, slots=True)
class Predictor(Expr):
    """The sum of coefficients times columns of data, and the rest: passes make it of sums."""

    coefficients: tuple[Expr, ...]
    columns: tuple[Expr, ...]
    rest: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class TargetValue(Expr):
    """`target()`: the log density accumulated so far."""


# --- types with sizes, constraints, distributions --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sized:
    """A type and its sizes: one for each axis of the array that holds it; for tuples, the items' instead.

    An array of tuples has the array's own sizes in `shape` and the items in `items`.
    """

    type: Type
    shape: tuple[Expr, ...] = ()
    items: tuple["Sized", ...] = ()


@dataclass(frozen=True, slots=True)
class Constraint:
    """`kind` is "bounds", "offset_multiplier", or the name of the constrained type ("simplex", ...); "tuple" holds
    one constraint per item."""

    kind: str
    arguments: tuple[tuple[str, Expr], ...] = ()
    items: tuple["Constraint | None", ...] = ()

    def argument(self, name: str) -> Expr | None:
        return dict(self.arguments).get(name)


@dataclass(frozen=True, slots=True)
class Distribution:
    """The right side of `~`: a family of the library, or a user's density by unique name.

    `lpdf` is the record or unique name of the density; `lower` and `upper` truncate it, `lcdf` and `lccdf` are the
    functions that normalise the truncated density. With `on_domain` it is the domain of a parameter that truncates its
    law, by whose probability Stan does not divide.
    """

    family: str
    lpdf: Union[Function, str]
    arguments: tuple[Expr, ...]
    lower: Expr | None = None
    upper: Expr | None = None
    lcdf: Union[Function, str, None] = None
    lccdf: Union[Function, str, None] = None
    on_domain: bool = False

    @property
    def is_half(self) -> bool:
        """Whether the domain leaves one half of a symmetric law, so that no function need normalise it."""
        return self.on_domain and self.lcdf is None and self.lccdf is None


# --- statements ------------------------------------------------------------------------------------------------------


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
    """`place = value`. In loops whose iterations are lanes, `over` is the outermost of those that share the place."""

    place: Place
    value: Expr
    over: str | None = None


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
    """At the end of a loop of lanes: a variable keeps the value of the last iteration."""

    name: str
    loop: str
    type: Type


@dataclass(frozen=True, slots=True)
class Unpack(Stmt):
    """`(a, b[1]) = tuple;`: all parts are read before any is written. A nested pattern is a nested tuple."""

    places: tuple[Any, ...]
    value: Expr


@dataclass(frozen=True, slots=True)
class Sample(Stmt):
    """A parameter: from `distribution`, or (None) from the uniform or improper law on its domain.

    One that is `learned` is a guide's, from a normal law of the unconstrained parameter, which inference optimises;
    of one that is `free` the distribution is that of the unconstrained parameter.
    """

    name: str
    site: str
    sized: Sized
    constraint: Constraint | None
    distribution: Distribution | None = None
    learned: bool = False
    free: bool = False


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
    """`value ~ distribution`: add its log density to the target. `site` names the statement."""

    site: str
    distribution: Distribution
    value: Expr


@dataclass(frozen=True, slots=True)
class Factor(Stmt):
    """`target += value;`, or with `jacobian` `jacobian += value;`; a container counts by its sum.

    `outcomes` are those of densities that the value holds though they do not stand in it.
    """

    site: str
    value: Expr
    jacobian: bool = False
    outcomes: tuple[Expr, ...] = ()


@dataclass(frozen=True, slots=True)
class Check(Stmt):
    """The declared constraint of a transformed or generated variable must hold here."""

    name: str
    site: str
    sized: Sized
    constraint: Constraint


@dataclass(frozen=True, slots=True)
class Deterministic(Stmt):
    """Record a transformed parameter's value as a site."""

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
    around it, so that what is long stays last in memory.
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
    `ragged` one the bounds differ between the lanes around, and so does `name`.
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
    traced: bool = False


@dataclass(frozen=True, slots=True)
class If(Stmt):
    """A branch. With `lanes` each side runs for the lanes in which it is taken, and `merged` are the variables of
    which every lane keeps the value of its side. The backend decides between the sides of a `traced` one."""

    condition: Expr
    then: tuple[Stmt, ...]
    otherwise: tuple[Stmt, ...] = ()
    lanes: bool = False
    merged: tuple[str, ...] = ()
    traced: bool = False


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


# --- programs --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Parameter:
    """An argument of a user's function."""

    name: str
    type: Type
    data_only: bool = False


@dataclass(frozen=True, slots=True)
class FunDef:
    """A user's function. `name` is unique among overloads, `stan_name` is the one written in the program."""

    name: str
    stan_name: str
    parameters: tuple[Parameter, ...]
    result: Type
    body: tuple[Stmt, ...]
    span: Span
    suffix: str = ""


@dataclass(frozen=True, slots=True)
class Variable:
    """A program variable: what `module.stan` tells of it."""

    name: str
    symbol: str
    sized: Sized
    constraint: Constraint | None
    span: Span


@dataclass(frozen=True, slots=True)
class Network:
    """A network: calls of function `name` pass the values of `lifted` parameters behind its own arguments.

    `path` is where Python finds it, `result` the type that it returns; `lifted` names parameters of the module.
    """

    name: str
    path: str
    parameters: tuple[Parameter, ...]
    result: Type
    lifted: tuple[str, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class External:
    """A function that the program declares without a body: `path` is where Python finds it."""

    name: str
    path: str
    parameters: tuple[Parameter, ...]
    result: Type
    span: Span


@dataclass(frozen=True, slots=True)
class Program:
    """A compiled program: what each function of the translated module does.

    `transformed_parameters` stands inside `model` and is run again before `generated_quantities`. The `discrete`
    parameters are summed out in `model`, and drawn at the start of `generated_quantities`.
    """

    functions: tuple[FunDef, ...]
    data: tuple[Variable, ...]
    transformed_data: tuple[Stmt, ...]
    transformed_data_variables: tuple[Variable, ...]
    parameters: tuple[Variable, ...]
    transformed_parameters: tuple[Variable, ...]
    quantities: tuple[Variable, ...]
    model: tuple[Stmt, ...]
    recomputed: tuple[Stmt, ...]
    generated_quantities: tuple[Stmt, ...]
    span: Span
    guide_parameters: tuple[Variable, ...] = ()
    guide: tuple[Stmt, ...] = ()
    networks: tuple[Network, ...] = ()
    discrete: tuple[Variable, ...] = ()
    externals: tuple[External, ...] = ()


def int_const(value: int, span: Span) -> Const:
    return Const(INT, span, value)


def is_density(node: Any) -> TypeGuard[Apply]:
    """Whether an expression is a log density of the library."""
    if not isinstance(node, Apply) or node.function.distribution is None:
        return False
    return node.function.name.endswith(("_lpdf", "_lpmf"))
