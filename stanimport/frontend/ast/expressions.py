"""Expressions and indices."""
from __future__ import annotations

from typing import Union

from stanlib.dataclass import dataclass

from ...source import Span
from .nodes import Name, Node


@dataclass(frozen=True, slots=True)
class Variable(Node):
    name: Name
    span: Span


@dataclass(frozen=True, slots=True)
class DottedName(Node):
    """`mlp.l1.weight`: a parameter of a network (DeepStan)."""

    parts: tuple[Name, ...]
    span: Span

    @property
    def text(self) -> str:
        return ".".join(p.text for p in self.parts)


@dataclass(frozen=True, slots=True)
class IntLiteral(Node):
    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class RealLiteral(Node):
    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class ImaginaryLiteral(Node):
    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Prefix(Node):
    operator: str
    operand: "Expression"
    span: Span


@dataclass(frozen=True, slots=True)
class Postfix(Node):
    operand: "Expression"
    operator: str
    span: Span


@dataclass(frozen=True, slots=True)
class Binary(Node):
    left: "Expression"
    operator: str
    right: "Expression"
    span: Span


@dataclass(frozen=True, slots=True)
class Conditional(Node):
    condition: "Expression"
    then: "Expression"
    otherwise: "Expression"
    span: Span


@dataclass(frozen=True, slots=True)
class Paren(Node):
    inner: "Expression"
    span: Span


@dataclass(frozen=True, slots=True)
class ArrayLiteral(Node):
    items: tuple["Expression", ...]
    span: Span


@dataclass(frozen=True, slots=True)
class RowVectorLiteral(Node):
    items: tuple["Expression", ...]
    span: Span


@dataclass(frozen=True, slots=True)
class TupleLiteral(Node):
    items: tuple["Expression", ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Call(Node):
    """`f(a, b)`; `conditional` where a bar follows the first argument: `normal_lpdf(y | mu, sigma)`."""

    function: Name
    arguments: tuple["Expression", ...]
    conditional: bool
    span: Span


@dataclass(frozen=True, slots=True)
class TargetValue(Node):
    """`target()`."""

    span: Span


@dataclass(frozen=True, slots=True)
class Indexed(Node):
    base: "Expression"
    indices: tuple["Index", ...]
    span: Span


@dataclass(frozen=True, slots=True)
class TupleItem(Node):
    """`x.1`."""

    base: "Expression"
    number: int
    span: Span


Expression = Union[
    Variable, DottedName, IntLiteral, RealLiteral, ImaginaryLiteral, Prefix, Postfix, Binary, Conditional, Paren,
    ArrayLiteral, RowVectorLiteral, TupleLiteral, Call, TargetValue, Indexed, TupleItem,
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class SingleIndex(Node):
    """`x[i]`; with an integer array, a multi-index."""

    value: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class RangeIndex(Node):
    """`x[a:b]`, `x[a:]`, `x[:b]`, `x[:]` and `x[]`."""

    lower: Expression | None
    upper: Expression | None
    span: Span


Index = Union[SingleIndex, RangeIndex]
