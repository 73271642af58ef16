"""The abstract syntax of Stan programs, as parsed: frozen nodes, close to the text, each ending in its span.

Source: Stan Reference Manual, "Language Syntax". The DeepStan nodes (networks, guide) follow section 5 of the paper.
"""
from __future__ import annotations

from .declarations import Constraint, Declarator, SizedArray, SizedPrimitive, SizedTuple, SizedType
from .expressions import (
    ArrayLiteral,
    Binary,
    Call,
    Conditional,
    DottedName,
    Expression,
    ImaginaryLiteral,
    Index,
    Indexed,
    IntLiteral,
    Paren,
    Postfix,
    Prefix,
    RangeIndex,
    RealLiteral,
    RowVectorLiteral,
    SingleIndex,
    TargetValue,
    TupleItem,
    TupleLiteral,
    Variable,
)  # fmt: skip
from .nodes import Name, Node
from .programs import BLOCKS, Program, ProgramBlock
from .statements import (
    Argument,
    Assignment,
    Block,
    Break,
    CallStatement,
    Continue,
    Declaration,
    Empty,
    For,
    ForEach,
    FunctionDefinition,
    If,
    Increment,
    Message,
    NetworkDeclaration,
    Profile,
    Return,
    Statement,
    Tilde,
    Truncation,
    While,
)  # fmt: skip
from .traversal import children, depth_exceeds

__all__ = [
    "BLOCKS", "Argument", "ArrayLiteral", "Assignment", "Binary", "Block", "Break", "Call", "CallStatement",
    "Conditional", "Constraint", "Continue", "Declaration", "Declarator", "DottedName", "Empty", "Expression", "For",
    "ForEach", "FunctionDefinition", "If", "ImaginaryLiteral", "Increment", "Index", "Indexed", "IntLiteral",
    "Message", "Name", "NetworkDeclaration", "Node", "Paren", "Postfix", "Prefix", "Profile", "Program",
    "ProgramBlock", "RangeIndex", "RealLiteral", "Return", "RowVectorLiteral", "SingleIndex", "SizedArray",
    "SizedPrimitive", "SizedTuple", "SizedType", "Statement", "TargetValue", "Tilde", "Truncation", "TupleItem",
    "TupleLiteral", "Variable", "While", "children", "depth_exceeds",
]  # fmt: skip
