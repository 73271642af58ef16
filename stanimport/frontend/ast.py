"""The abstract syntax of Stan programs, as parsed: frozen nodes, close to the text, each ending in its span.

Source: Stan Reference Manual, "Language Syntax". The DeepStan nodes (networks, guide) follow section 5 of the paper.
"""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, Union

from stanlib.types import Type

from ..source import Span


@dataclass(frozen=True, slots=True)
class Node:
    """Base of all nodes."""


@dataclass(frozen=True, slots=True)
class Name(Node):
    """An identifier at one place of the text."""

    text: str
    span: Span


# --- expressions -----------------------------------------------------------------------------------------------------


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

# --- types and declarations ------------------------------------------------------------------------------------------


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


# --- statements ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Declaration(Node):
    declarators: tuple[Declarator, ...]
    span: Span

    @property
    def groups(self) -> list[list[Declarator]]:
        """The declarators of one type each: several where the old syntax gave the variables different types."""
        groups: list[list[Declarator]] = []
        for d in self.declarators:
            if groups and groups[-1][0].type is d.type:
                groups[-1].append(d)
            else:
                groups.append([d])
        return groups


@dataclass(frozen=True, slots=True)
class Assignment(Node):
    """`target operator value`, operator being "=", "+=", ... The target is checked to be assignable when parsed."""

    target: Expression
    operator: str
    value: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class CallStatement(Node):
    function: Name
    arguments: tuple[Expression, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Truncation(Node):
    lower: Expression | None
    upper: Expression | None
    span: Span


@dataclass(frozen=True, slots=True)
class Tilde(Node):
    """`value ~ distribution(arguments) T[lower, upper];`."""

    value: Expression
    distribution: Name
    arguments: tuple[Expression, ...]
    truncation: Truncation | None
    span: Span


@dataclass(frozen=True, slots=True)
class Increment(Node):
    """`target += value;` or `jacobian += value;`."""

    kind: str
    value: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class Break(Node):
    span: Span


@dataclass(frozen=True, slots=True)
class Continue(Node):
    span: Span


@dataclass(frozen=True, slots=True)
class Return(Node):
    value: Expression | None
    span: Span


@dataclass(frozen=True, slots=True)
class Message(Node):
    """`print(...)`, `reject(...)` or `fatal_error(...)`; items are string literals or expressions."""

    kind: str
    items: tuple[Union[str, Expression], ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Empty(Node):
    span: Span


@dataclass(frozen=True, slots=True)
class If(Node):
    condition: Expression
    then: "Statement"
    otherwise: "Statement | None"
    span: Span


@dataclass(frozen=True, slots=True)
class While(Node):
    condition: Expression
    body: "Statement"
    span: Span


@dataclass(frozen=True, slots=True)
class For(Node):
    variable: Name
    lower: Expression
    upper: Expression
    body: "Statement"
    span: Span


@dataclass(frozen=True, slots=True)
class ForEach(Node):
    variable: Name
    container: Expression
    body: "Statement"
    span: Span


@dataclass(frozen=True, slots=True)
class Profile(Node):
    name: str
    body: tuple["Statement", ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Block(Node):
    body: tuple["Statement", ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Argument(Node):
    """One argument of a function definition."""

    type: Type
    name: Name
    data_only: bool
    span: Span


@dataclass(frozen=True, slots=True)
class FunctionDefinition(Node):
    """A function; a forward declaration where the body is Empty."""

    result: Type
    name: Name
    arguments: tuple[Argument, ...]
    body: "Statement"
    span: Span


@dataclass(frozen=True, slots=True)
class NetworkDeclaration(Node):
    """`vector my_pkg.nets.mlp(array[,,] real imgs);` (DeepStan): a function that a Python module implements."""

    result: Type
    path: str
    name: Name
    arguments: tuple[Argument, ...]
    span: Span


Statement = Union[
    Declaration, Assignment, CallStatement, Tilde, Increment, Break, Continue, Return, Message, Empty, If, While, For,
    ForEach, Profile, Block, FunctionDefinition, NetworkDeclaration,
]  # fmt: skip

BLOCKS = (
    "networks", "functions", "data", "transformed data", "parameters", "transformed parameters", "model",
    "generated quantities", "guide parameters", "guide",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ProgramBlock(Node):
    name: str
    body: tuple[Statement, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Program(Node):
    """The blocks that are there, in the order of the text."""

    blocks: tuple[ProgramBlock, ...]
    span: Span

    def block(self, name: str) -> ProgramBlock | None:
        return next((b for b in self.blocks if b.name == name), None)


def children(node: Node) -> Iterator[Node]:
    """The nodes directly below a node, in the order of its fields."""
    for name in _parts(type(node)):  # type: ignore[arg-type]  # classes are hashable
        yield from _nodes(getattr(node, name))


@cache
def _parts(kind: type[Node]) -> tuple[str, ...]:
    """The fields of a kind of node in which nodes can stand."""
    plain = {"span", "text", "operator", "kind", "conditional", "data_only", "number", "path"}
    return tuple(f.name for f in fields(kind) if f.name not in plain)


def _nodes(value: Any) -> Iterator[Node]:
    if isinstance(value, Node):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _nodes(item)


def depth_exceeds(root: Node, limit: int) -> Node | None:
    """A node nested deeper than `limit` levels, or None. Uses no recursion."""
    stack = [(root, 0)]
    while stack:
        node, depth = stack.pop()
        if depth > limit:
            return node
        stack.extend((c, depth + 1) for c in children(node))
    return None
