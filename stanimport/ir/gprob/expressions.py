"""Expressions, each with its type and span."""
from __future__ import annotations

from typing import TypeGuard, Union

from stanlib.dataclass import dataclass
from stanlib.registry import Function
from stanlib.types import INT, Type

from ...source import Span


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
    """A call of a library function; operators are calls too.

    `plain` tells whether Python's operator is used, which is decided last; a comparison's, or a negation's, where only
    its truth matters. A density that is `added` makes the target NaN wherever it is NaN itself.
    """

    function: Function
    arguments: tuple[Expr, ...]
    plain: bool | None = None
    added: bool = False


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
    """`&&` or `||`: the right operand is evaluated only if the left one does not decide.

    Python can't tell the truth of the operands of a `traced` one.
    """

    operator: str
    left: Expr
    right: Expr
    traced: bool | None = None


@dataclass(frozen=True, slots=True)
class Cond(Expr):
    """`condition ? then : otherwise`; only one side is evaluated, of a `traced` one as the backend chooses."""

    condition: Expr
    then: Expr
    otherwise: Expr
    traced: bool | None = None


@dataclass(frozen=True, slots=True)
class Single:
    """The index `[i]`. It `numbers` if it is an element of an array in which no number occurs twice."""

    value: Expr
    numbers: bool = False


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
    """`base[indices]`; one that is `loose` may be any part where they are out of range: nothing then reads it."""

    base: Expr
    indices: tuple[IndexExpr, ...]
    loose: bool = False


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
class Unbroken(Expr):
    """A real in lanes of a loop: that of each iteration up to the first one that is negative, NaN behind it."""

    value: Expr
    loop: str


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
class Copied(Expr):
    """An array of its own, as one that is changed in place has to be."""

    value: Expr


@dataclass(frozen=True, slots=True)
class Converted(Expr):
    """Data as the backend's array, where what changes the variable takes those alone."""

    value: Expr


@dataclass(frozen=True, slots=True)
class Decided(Expr):
    """A condition, or a loop's bound, on parameters that decides what Python runs."""

    value: Expr


@dataclass(frozen=True, slots=True)
class Bound(Expr):
    """An argument of a constraint that depends on parameters, which are told with their `sites`: computed anew for
    every draw.
    """

    value: Expr
    sites: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Limit(Expr):
    """The most iterations that a loop from `lower` to `upper` has, over all indices of the loops around in `ranges`."""

    lower: Expr
    upper: Expr
    ranges: tuple[tuple[str, Expr, Expr], ...]


@dataclass(frozen=True, slots=True)
class TargetValue(Expr):
    """`target()`: the log density accumulated so far."""


def int_const(value: int, span: Span) -> Const:
    return Const(INT, span, value)


def is_density(node: object) -> TypeGuard[Apply]:
    """Whether an expression is a log density of the library."""
    if not isinstance(node, Apply) or node.function.distribution is None:
        return False
    return node.function.name.endswith(("_lpdf", "_lpmf"))
