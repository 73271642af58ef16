"""Building Python syntax trees whose every node stands where its Stan text does."""
from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TypeVar

from ..source import Span

Node = TypeVar("Node", bound=ast.AST)


def _position(span: Span) -> tuple[int, int, int, int]:
    """First line and column, last line and column; lines from 1 and columns from 0.

    Python knows one file for all of a module. So what is included stands in the line of the `#include`, behind its end,
    as far on as it stands in the texts of all included files: `stanlib.places` reads it.
    """
    main = span.in_main()
    line, column = main.source.position(main.start)
    if main is not span:
        behind = len(main.source.line(line)) + 1 + span.source.base
        return line, behind + span.start, line, behind + max(span.start, span.end)
    end_line, end_column = span.source.position(max(span.start, span.end))
    return line, column - 1, end_line, end_column - 1


class Builder:
    """Makes nodes at the place of one span."""

    def __init__(self, span: Span):
        line, column, end_line, end_column = _position(span)
        self.place = {
            "lineno": line, "col_offset": column, "end_lineno": end_line, "end_col_offset": end_column,
        }  # fmt: skip

    def make(self, kind: type[Node], **fields: object) -> Node:
        return kind(**fields, **self.place)

    # --- expressions

    def name(self, identifier: str) -> ast.expr:
        return self.make(ast.Name, id=identifier, ctx=ast.Load())

    def target(self, identifier: str) -> ast.expr:
        return self.make(ast.Name, id=identifier, ctx=ast.Store())

    def const(self, value: object) -> ast.expr:
        """A literal; negative numbers as Python writes them."""
        if isinstance(value, (int, float)) and not isinstance(value, bool) and value < 0:
            return self.make(ast.UnaryOp, op=ast.USub(), operand=self.make(ast.Constant, value=-value))
        return self.make(ast.Constant, value=value)

    def attribute(self, base: ast.expr | str, name: str) -> ast.expr:
        value = self.name(base) if isinstance(base, str) else base
        made = self.make(ast.Attribute, value=value, attr=name, ctx=ast.Load())
        # Python puts a call where the name of the method is if that ends on another line than the call begins on
        made.end_lineno, made.end_col_offset = made.lineno, made.col_offset
        return made

    def call(self, function: ast.expr | str, *arguments: ast.expr, **keywords: ast.expr) -> ast.expr:
        """A call; a function given as text may be dotted: "ppl.sample"."""
        named = [self.make(ast.keyword, arg=k, value=v) for k, v in keywords.items()]
        return self.make(ast.Call, func=self.dotted(function), args=list(arguments), keywords=named)

    def dotted(self, function: ast.expr | str) -> ast.expr:
        if not isinstance(function, str):
            return function
        first, *rest = function.split(".")
        out = self.name(first)
        for part in rest:
            out = self.attribute(out, part)
        return out

    def binary(self, left: ast.expr, operator: str, right: ast.expr) -> ast.expr:
        return self.make(ast.BinOp, left=left, op=_BINARY[operator](), right=right)

    def plus_one(self, e: ast.expr) -> ast.expr:
        if isinstance(e, ast.Constant) and isinstance(e.value, int):
            return self.const(e.value + 1)
        return self.binary(e, "+", self.const(1))

    def compare(self, left: ast.expr, operator: str, right: ast.expr) -> ast.expr:
        return self.make(ast.Compare, left=left, ops=[_COMPARE[operator]()], comparators=[right])

    def negative(self, operand: ast.expr) -> ast.expr:
        return self.make(ast.UnaryOp, op=ast.USub(), operand=operand)

    def both(self, left: ast.expr, operator: str, right: ast.expr) -> ast.expr:
        op = ast.And() if operator == "&&" else ast.Or()
        return self.make(ast.BoolOp, op=op, values=[left, right])

    def negated(self, operand: ast.expr) -> ast.expr:
        return self.make(ast.UnaryOp, op=ast.Not(), operand=operand)

    def conditional(self, test: ast.expr, then: ast.expr, otherwise: ast.expr) -> ast.expr:
        return self.make(ast.IfExp, test=test, body=then, orelse=otherwise)

    def tuple_(self, items: Sequence[ast.expr]) -> ast.expr:
        return self.make(ast.Tuple, elts=list(items), ctx=ast.Load())

    def tuple_target(self, names: Sequence[str]) -> ast.expr:
        return self.make(ast.Tuple, elts=[self.target(n) for n in names], ctx=ast.Store())

    def list_(self, items: Sequence[ast.expr]) -> ast.expr:
        return self.make(ast.List, elts=list(items), ctx=ast.Load())

    def dict_(self, items: Sequence[tuple[str, ast.expr]]) -> ast.expr:
        return self.make(ast.Dict, keys=[self.const(k) for k, _ in items], values=[v for _, v in items])

    def subscript(self, base: ast.expr, index: ast.expr) -> ast.expr:
        return self.make(ast.Subscript, value=base, slice=index, ctx=ast.Load())

    def slice_(self, lower: ast.expr | None, upper: ast.expr | None) -> ast.expr:
        return self.make(ast.Slice, lower=lower, upper=upper)

    def starred(self, value: ast.expr) -> ast.expr:
        return self.make(ast.Starred, value=value, ctx=ast.Load())

    def lambda_(self, parameters: Sequence[str], body: ast.expr) -> ast.expr:
        return self.make(ast.Lambda, args=self._arguments(parameters), body=body)

    # --- statements

    def assign(self, target: ast.expr | str, value: ast.expr) -> ast.stmt:
        where = self.target(target) if isinstance(target, str) else target
        return self.make(ast.Assign, targets=[where], value=value)

    def run(self, value: ast.expr) -> ast.stmt:
        return self.make(ast.Expr, value=value)

    def return_(self, value: ast.expr | None = None) -> ast.stmt:
        return self.make(ast.Return, value=value)

    def if_(self, test: ast.expr, then: list[ast.stmt], otherwise: list[ast.stmt]) -> ast.stmt:
        return self.make(ast.If, test=test, body=then or [self.pass_()], orelse=otherwise)

    def for_(self, name: str, iterable: ast.expr, body: list[ast.stmt]) -> ast.stmt:
        return self.make(ast.For, target=self.target(name), iter=iterable, body=body or [self.pass_()], orelse=[])

    def with_(self, context: ast.expr, name: str, body: list[ast.stmt]) -> ast.stmt:
        item = ast.withitem(context_expr=context, optional_vars=self.target(name))
        return self.make(ast.With, items=[item], body=body)

    def while_(self, test: ast.expr, body: list[ast.stmt]) -> ast.stmt:
        return self.make(ast.While, test=test, body=body or [self.pass_()], orelse=[])

    def pass_(self) -> ast.stmt:
        return self.make(ast.Pass)

    def break_(self) -> ast.stmt:
        return self.make(ast.Break)

    def continue_(self) -> ast.stmt:
        return self.make(ast.Continue)

    def function(
        self, name: str, parameters: Sequence[str], body: list[ast.stmt], decorators: Sequence[ast.expr] = (),
        keyword_only: bool = False,
    ) -> ast.stmt:  # fmt: skip
        return self.make(
            ast.FunctionDef, name=name, args=self._arguments(parameters, keyword_only), body=body or [self.pass_()],
            decorator_list=list(decorators), returns=None,
        )  # fmt: skip

    def _arguments(self, parameters: Sequence[str], keyword_only: bool = False) -> ast.arguments:
        made = [self.make(ast.arg, arg=p, annotation=None) for p in parameters]
        return ast.arguments(
            posonlyargs=[], args=[] if keyword_only else made, vararg=None, kwonlyargs=made if keyword_only else [],
            kw_defaults=[None] * len(made) if keyword_only else [], kwarg=None, defaults=[],
        )  # fmt: skip


_BINARY: dict[str, type[ast.operator]] = {
    "+": ast.Add, "-": ast.Sub, "*": ast.Mult, "/": ast.Div, "@": ast.MatMult, "**": ast.Pow, "//": ast.FloorDiv,
    "%": ast.Mod,
}  # fmt: skip
_COMPARE: dict[str, type[ast.cmpop]] = {
    "==": ast.Eq, "!=": ast.NotEq, "<": ast.Lt, "<=": ast.LtE, ">": ast.Gt, ">=": ast.GtE,
    "is not": ast.IsNot,
}  # fmt: skip
