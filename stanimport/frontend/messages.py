"""What a syntax error says: the token that does not fit, and what would have."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..errors import Diagnostic
from ..source import Span
from .lexer import KEYWORDS, OPERATORS, TokenStream

_TYPES = {
    "INT", "REAL", "COMPLEX", "VECTOR", "ROW_VECTOR", "MATRIX", "COMPLEX_VECTOR", "COMPLEX_ROW_VECTOR",
    "COMPLEX_MATRIX", "TUPLE", "ARRAY", "ORDERED", "POSITIVE_ORDERED", "SIMPLEX", "UNIT_VECTOR", "SUM_TO_ZERO_VECTOR",
    "SUM_TO_ZERO_MATRIX", "CHOLESKY_FACTOR_CORR", "CHOLESKY_FACTOR_COV", "CORR_MATRIX", "COV_MATRIX",
    "COLUMN_STOCHASTIC_MATRIX", "ROW_STOCHASTIC_MATRIX",
}  # fmt: skip
_OPERATORS = {
    "PLUS", "MINUS", "TIMES", "DIVIDE", "INTEGER_DIVIDE", "MODULO", "LEFT_DIVIDE", "ELT_TIMES", "ELT_DIVIDE", "POWER",
    "ELT_POWER", "OR", "AND", "EQUALS", "NOT_EQUALS", "LESS", "LEQ", "GREATER", "GEQ", "TRANSPOSE", "QUESTION",
    "ARROW",
}  # fmt: skip
_BLOCKS = {
    "FUNCTIONS", "DATA", "TRANSFORMED_DATA", "PARAMETERS", "TRANSFORMED_PARAMETERS", "MODEL", "GENERATED_QUANTITIES",
    "NETWORKS", "GUIDE", "GUIDE_PARAMETERS",
}  # fmt: skip
_STATEMENTS = {"IF", "WHILE", "FOR", "RETURN", "BREAK", "CONTINUE", "PRINT", "REJECT", "FATAL_ERROR", "PROFILE"}
_EXPRESSION = {"INTEGER", "REAL_NUMBER", "LPAREN"}
_ASSIGNMENTS = {
    "ASSIGN", "PLUS_ASSIGN", "MINUS_ASSIGN", "TIMES_ASSIGN", "DIVIDE_ASSIGN", "ELT_TIMES_ASSIGN", "ELT_DIVIDE_ASSIGN",
}  # fmt: skip
_TEXTS = {v: repr(k) for k, v in (KEYWORDS | OPERATORS).items()} | {"STRING": "a string"}


def unexpected(token: Any, expected: Iterable[str], stream: TokenStream) -> Diagnostic:
    """The complaint about a token (None: the end of the text) where one of `expected` should stand."""
    wanted = set(expected)
    if token is None:
        return Diagnostic("the program ends too early", stream.end, _hint(wanted), code="syntax")
    span: Span = token.value.span
    message = f"unexpected {_describe(token)}"
    if "IDENTIFIER" in wanted and token.type in KEYWORDS.values() and "INTEGER" not in wanted:
        message = f"{token.value.text!r} is a keyword of Stan and can't be a name"
    return Diagnostic(message, span, _hint(wanted), code="syntax")


def _describe(token: Any) -> str:
    if token.type == "IDENTIFIER":
        return f"name {token.value.text!r}"
    if token.type in ("INTEGER", "REAL_NUMBER", "DOT_NUMBER", "IMAGINARY"):
        return f"number {token.value.text}"
    return f"string {token.value.text}" if token.type == "STRING" else repr(token.value.text)


def _hint(wanted: set[str]) -> str:
    """What could stand there, in the order in which a reader would look for it."""
    options = [_TEXTS[t] for t in ("SEMICOLON", "COMMA", "RPAREN", "RBRACKET", "RBRACE", "LPAREN") if t in wanted]
    if _EXPRESSION <= wanted:
        options = [o for o in options if o != _TEXTS["LPAREN"]]
        options.append("an expression")
    elif "IDENTIFIER" in wanted:
        options.append("a name")
    if _TYPES <= wanted:
        options.append("a declaration" if "SIMPLEX" in wanted else "a type")
    elif len(_TYPES & wanted) > 3:
        options.append("a type")
    if _STATEMENTS <= wanted:
        options.append("a statement")
    if len(_BLOCKS & wanted) > 1:
        options.append("a block")
    if len(_ASSIGNMENTS & wanted) > 1:
        options.append("an assignment")
    if len(_OPERATORS & wanted) > 2:
        options.append("an operator")
    named = _TYPES | _STATEMENTS | _BLOCKS | _OPERATORS | _ASSIGNMENTS | _EXPRESSION
    rest = [_TEXTS[t] for t in sorted(wanted - named) if t in _TEXTS and _TEXTS[t] not in options]
    if len(options) < 3 and len(rest) < 6 and "an expression" not in options:
        options += rest
    if not options:
        return ""
    return "expected " + (", ".join(options[:-1]) + " or " if len(options) > 1 else "") + options[-1]
