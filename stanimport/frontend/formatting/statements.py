"""Statements and blocks, written with the comments between them."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from stanlib.types import Type

from ...source import Span
from .. import ast
from .boxes import EITHER, FILLED, FLAT, PACKED, STACKED
from .comments import Place, begin, end
from .expressions import expression, expressions, sized_type, target, unsized_type
from .writer import Writer


def program(w: Writer, p: ast.Program) -> None:
    """Write a whole program."""
    with w.page.box(STACKED):
        for block in p.blocks:
            if w.is_hidden(begin(block.span)) and w.is_hidden(end(block.span)):
                continue
            at = begin(block.span)
            w.between(None, at, w.comments.before(at))
            w.page.text(f"{block.name} ")
            _braced(w, block.body, block.span)
            w.page.cut()
        w.between(None, None, w.comments.remaining())


def statement(w: Writer, s: ast.Statement) -> None:
    """Write a statement."""
    _STATEMENTS[type(s)](w, s)


def _braced(w: Writer, body: Sequence[ast.Statement], around: Span) -> None:
    w.page.text("{")
    w.page.cut()
    with w.page.indented():
        _statements(w, body, around)
    w.page.cut()
    w.page.text("}")


def _statements(w: Writer, body: Sequence[ast.Statement], around: Span) -> None:
    """Statements below each other, with the blank lines between them, but never two."""
    previous: Place | None = None
    with w.page.box(STACKED):
        for s in body:
            at = begin(s.span)
            if previous is not None:
                w.comments.skip(previous)
            w.between(previous, at, w.comments.before(at))
            if not w.is_hidden(at):
                statement(w, s)
            previous = end(s.span)
        if previous is not None:
            w.comments.skip(previous)
        w.between(previous, None, w.comments.before(end(around)))


def _body(w: Writer, s: ast.Statement, head: Place) -> None:
    """What a loop or a branch does: a block behind its head, another statement below it."""
    if isinstance(s, ast.Block):
        statement(w, s)
        return
    at = begin(s.span)
    w.between(head, at, w.comments.before(at))
    with w.page.indented():
        statement(w, s)


def _if(w: Writer, s: ast.If) -> None:
    """A chain of if and else if, in a loop, so that its length costs no recursion."""
    rest: ast.Statement = s
    with w.page.box(STACKED):
        while isinstance(rest, ast.If):
            w.page.text("if (")
            expression(w, rest.condition)
            w.page.text(") ")
            _body(w, rest.then, end(rest.condition.span))
            if rest.otherwise is None:
                return
            here, at = end(rest.then.span), begin(rest.otherwise.span)
            w.between(here, here, w.comments.before_mark(at), new_line=not isinstance(rest.then, ast.Block))
            w.page.text("else ")
            w.inside(w.comments.before, at)
            rest = rest.otherwise
        _body(w, rest, here.below())


def _for(w: Writer, s: ast.For) -> None:
    with w.page.box(STACKED):
        w.page.text(f"for ({s.variable.text} in ")
        expression(w, s.lower)
        w.page.text(" : ")
        expression(w, s.upper)
        w.page.text(") ")
        _body(w, s.body, end(s.upper.span))


def _for_each(w: Writer, s: ast.ForEach) -> None:
    w.page.text(f"for ({s.variable.text} in ")
    expression(w, s.container)
    w.page.text(") ")
    _body(w, s.body, end(s.container.span))


def _while(w: Writer, s: ast.While) -> None:
    w.page.text("while (")
    expression(w, s.condition)
    w.page.text(") ")
    statement(w, s.body)


def _profile(w: Writer, s: ast.Profile) -> None:
    w.page.text(f'profile("{s.name}") ')
    _braced(w, s.body, s.span)


def _declaration(w: Writer, s: ast.Declaration) -> None:
    """One declaration, or several where the old syntax gave its variables different types."""
    for i, group in enumerate(s.groups):
        if i:
            w.page.cut()
        with w.page.box(FLAT):
            sized_type(w, group[0].type)
            w.page.text(" ")
            w.listed(group, lambda d: _declarator(w, d), begin(s.span), end(s.span if i else group[-1].span))
            w.page.text(";")


def _declarator(w: Writer, d: ast.Declarator) -> None:
    w.page.text(d.name.text)
    if d.value is not None:
        w.page.text(" = ")
        expression(w, d.value)


def _function(w: Writer, s: ast.FunctionDefinition) -> None:
    _signature(w, s.result, s.name.text, s.arguments, begin(s.span), begin(s.body.span))
    if isinstance(s.body, ast.Empty):
        w.page.text(";")
    else:
        w.page.text(" ")
        statement(w, s.body)


def _signature(
    w: Writer, result: Type, name: str, arguments: Sequence[ast.Argument], first: Place, last: Place
) -> None:  # fmt: skip
    """A result, a name and arguments: one a line where they are many, below a name that is long."""

    def argument(a: ast.Argument) -> None:
        w.page.text("data " if a.data_only else "")
        unsized_type(w, a.type)
        w.page.text(f" {a.name.text}")

    with w.page.box():
        unsized_type(w, result)
        w.page.space()
    if len(name) > w.width // 3:
        with w.page.box():
            with w.page.box(EITHER, 2):
                w.page.text(f"{name}(")
                w.page.cut()
                w.listed(arguments, argument, first, last)
            w.page.cut()
            w.page.text(")")
        return
    w.page.text(f"{name}(")
    with w.page.box(EITHER if len(arguments) > w.width // 10 else PACKED):
        w.listed(arguments, argument, first, last)
        w.page.text(")")


def _assignment(w: Writer, s: ast.Assignment) -> None:
    with w.page.box(FLAT):
        target(w, s.target)
        w.page.text(f" {s.operator} ")
        expression(w, s.value)
        w.page.text(";")


def _call(w: Writer, s: ast.CallStatement) -> None:
    with w.arguments(s.function.text):
        expressions(w, s.arguments, s.span)
    w.page.text(";")


def _tilde(w: Writer, s: ast.Tilde) -> None:
    """Write `value ~ name(...) T[lower, upper];`, with a blank for a bound that is missing."""
    expression(w, s.value)
    w.page.text(" ~ ")
    with w.arguments(s.distribution.text):
        expressions(w, s.arguments, s.span)
    if s.truncation is not None:
        w.page.text(" T[")
        if s.truncation.lower is not None:
            expression(w, s.truncation.lower)
        else:
            w.page.text(" ")
        w.page.text(", ")
        if s.truncation.upper is not None:
            expression(w, s.truncation.upper)
        w.page.text("]")
    w.page.text(";")


def _increment(w: Writer, s: ast.Increment) -> None:
    w.page.text(f"{s.kind} += ")
    expression(w, s.value)
    w.page.text(";")


def _return(w: Writer, s: ast.Return) -> None:
    if s.value is None:
        w.page.text("return;")
        return
    w.page.text("return ")
    with w.page.box(FLAT):
        expression(w, s.value)
    w.page.text(";")


def _message(w: Writer, s: ast.Message) -> None:
    w.page.text(f"{s.kind}(")
    with w.page.box(FILLED):
        w.separated(s.items, lambda i: w.page.text(f'"{i}"') if isinstance(i, str) else expression(w, i))
    w.page.text(");")


def _network(w: Writer, s: ast.NetworkDeclaration) -> None:
    _signature(w, s.result, s.path, s.arguments, begin(s.span), end(s.span))
    w.page.text(";")


_STATEMENTS: dict[type, Callable[[Writer, Any], None]] = {
    ast.Declaration: _declaration, ast.Assignment: _assignment, ast.CallStatement: _call, ast.Tilde: _tilde,
    ast.Increment: _increment, ast.Return: _return, ast.Message: _message, ast.If: _if, ast.While: _while,
    ast.For: _for, ast.ForEach: _for_each, ast.Profile: _profile, ast.FunctionDefinition: _function,
    ast.NetworkDeclaration: _network,
    ast.Block: lambda w, s: _braced(w, s.body, s.span),
    ast.Break: lambda w, s: w.page.text("break;"),
    ast.Continue: lambda w, s: w.page.text("continue;"),
    ast.Empty: lambda w, s: w.page.text(";"),
}  # fmt: skip
