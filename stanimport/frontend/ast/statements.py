"""Statements, definitions of functions, declarations of networks."""
from __future__ import annotations

from typing import Union

from stanlib.dataclass import dataclass
from stanlib.types import Type

from ...source import Span
from .declarations import Declarator
from .expressions import Expression
from .nodes import Name, Node


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
