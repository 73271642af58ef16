"""What the parts of the grammar are written with: rules whose actions are functions of the symbols' values."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...source import Span
from .. import ast
from ..lexer import Token


def rule(*productions: str) -> Callable[[Callable[..., Any]], Callable[[Any], None]]:
    """Make an action of a function of the symbols' values, for all of these productions.

    The productions are no docstring, so that they are there under `python -OO` too. An action whose first argument is
    called `context` gets the parse's context.
    """

    def decorate(build: Callable[..., Any]) -> Callable[[Any], None]:
        wants_context = build.__code__.co_varnames[:1] == ("context",)

        def action(p: Any) -> None:
            values = p.slice[1:]
            values = [v.value for v in values]
            p[0] = build(p.parser.context, *values) if wants_context else build(*values)

        action.__doc__ = "\n".join(productions)
        action.__name__ = build.__name__
        return action

    return decorate


def span_of(first: Any, last: Any) -> Span:
    """From the begin of a token or node to the end of another."""
    span: Span = first.span.to(last.span)
    return span


def name_of(t: Token) -> ast.Name:
    return ast.Name(t.text, t.span)
