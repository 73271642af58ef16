"""The grammar of Stan 2.39 with the deprecated forms and the DeepStan blocks, in PLY's form.

A file for each part, whose rules only build nodes. What the grammar accepts beyond Stan, so that errors can be told
precisely, is refused by `shape.py` after the parse. PLY swallows a SyntaxError raised in an action, so actions note
errors in the context.

Source: Stan Reference Manual, "Language Syntax"; the deprecated forms: its "Removed Features".
"""
from __future__ import annotations

from types import SimpleNamespace

from ..lexer import tokens
from . import blocks, declarations, expressions, functions, statements

_PARTS = (blocks, functions, declarations, statements, expressions)  # of two rules that both apply the first one counts
_START = "program"
_PRECEDENCE = (
    ("nonassoc", "LOWEST"),  # so that `x <- 1;` is the old assignment and not a comparison
    ("right", "QUESTION", "COLON"),
    ("left", "OR"),
    ("left", "AND"),
    ("left", "EQUALS", "NOT_EQUALS"),
    ("left", "LEQ", "LESS", "GEQ", "GREATER", "ARROW"),
    ("left", "PLUS", "MINUS"),
    ("left", "TIMES", "DIVIDE", "MODULO", "ELT_TIMES", "ELT_DIVIDE"),
    ("left", "INTEGER_DIVIDE", "LEFT_DIVIDE"),
    ("nonassoc", "UNARY"),
    ("right", "POWER", "ELT_POWER"),
    ("left", "TRANSPOSE"),
    ("nonassoc", "BELOW_ELSE"),
    ("nonassoc", "ELSE"),
)


def _unexpected(t: object) -> None:
    """PLY's error hook; the parser sets its own for every parse."""
    raise AssertionError("the parser's own hook is missing")


def rules() -> SimpleNamespace:
    """The grammar as PLY reads it: an object whose attributes are its rules, in the order of their lines."""
    actions = {n: a for part in _PARTS for n, a in vars(part).items() if n.startswith("p_")}
    for line, action in enumerate(actions.values(), 1):
        action.co_firstlineno = line
    return SimpleNamespace(
        start=_START, tokens=tokens, precedence=_PRECEDENCE, p_error=_unexpected, __file__=__file__, **actions
    )  # fmt: skip
