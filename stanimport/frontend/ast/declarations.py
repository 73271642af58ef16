"""Types with sizes, constraints, declarators."""
from __future__ import annotations

from typing import Union

from stanlib.dataclass import dataclass
from stanlib.types import Type

from ...source import Span
from .expressions import DottedName, Expression
from .nodes import Name, Node


@dataclass(frozen=True, slots=True)
class Constraint(Node):
    """`<lower=a, upper=b>` and its like, or a constrained type's own: kind "simplex", "ordered", ..."""

    kind: str
    arguments: tuple[tuple[str, Expression], ...]
    span: Span

    def argument(self, name: str) -> Expression | None:
        return dict(self.arguments).get(name)


@dataclass(frozen=True, slots=True)
class SizedPrimitive(Node):
    """`vector<lower=0>[N]`: base type, sizes, constraint."""

    base: Type
    sizes: tuple[Expression, ...]
    constraint: Constraint | None
    span: Span


@dataclass(frozen=True, slots=True)
class SizedArray(Node):
    element: "SizedType"
    sizes: tuple[Expression, ...]
    span: Span

    @property
    def joined(self) -> "tuple[list[Expression], SizedType]":
        """The sizes and elements; arrays of arrays, which only the old syntax can write, are one."""
        sizes, element = list(self.sizes), self.element
        while isinstance(element, SizedArray):
            sizes += element.sizes
            element = element.element
        return sizes, element


@dataclass(frozen=True, slots=True)
class SizedTuple(Node):
    items: tuple["SizedType", ...]
    span: Span


SizedType = Union[SizedPrimitive, SizedArray, SizedTuple]


@dataclass(frozen=True, slots=True)
class Declarator(Node):
    """One variable of a declaration; its type may carry array sizes of its own in the old syntax."""

    name: Name | DottedName
    type: SizedType
    value: Expression | None
    span: Span
