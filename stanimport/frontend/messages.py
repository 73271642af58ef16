"""What a syntax error says: the token that does not fit, and what would have."""
from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from ..errors import Diagnostic, nearest
from ..source import Span
from .ast import BLOCKS
from .lexer import KEYWORDS, OPERATORS, Token, TokenStream

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
        unclosed = stream.open[-1] if stream.open else None
        hint = _hint(wanted) if unclosed is None else _unclosed(unclosed)
        return Diagnostic("the program ends too early", stream.end, hint, code="syntax")
    span: Span = token.value.span
    if "IDENTIFIER" in wanted and token.type in KEYWORDS.values() and "INTEGER" not in wanted:
        message = f"{token.value.text!r} is a keyword of Stan and can't be a name"
        return Diagnostic(message, span, "choose another name", code="syntax")
    wanted = _inside(wanted, stream.enclosing)
    hint = advice(token, wanted, stream) or _hint(wanted)
    return Diagnostic(f"unexpected {_describe(token)}", span, hint, code="syntax")


def _unclosed(bracket: Token) -> str:
    return f"{bracket.text!r} in line {bracket.span.line}, column {bracket.span.column} is not closed"


def _inside(wanted: set[str], bracket: Token | None) -> set[str]:
    """What could stand there given the bracket that is open: the parser's tables know many places as one."""
    closers = {"(": {"RPAREN", "COMMA"}, "[": {"RBRACKET", "COMMA"}, "{": {"RBRACE", "SEMICOLON", "COMMA"}}
    if bracket is None:
        return wanted
    out = wanted - ({"RPAREN", "RBRACKET", "RBRACE", "SEMICOLON", "COMMA"} - closers[bracket.text])
    return out if bracket.text == "{" else out - _ASSIGNMENTS


def advice(token: Any, wanted: set[str], stream: TokenStream) -> str:
    """What was probably meant, where the mistake is one that many make."""
    before = stream.last.text if stream.last is not None else ""
    if token.type == "SEMICOLON" and stream.enclosing is not None and stream.enclosing.text in "([":
        return _unclosed(stream.enclosing)
    if not stream.open and token.type == "IDENTIFIER":
        return _block_for(token.value.text)
    if (before, token.type) in _HABITS:
        return _HABITS[before, token.type]
    if token.type in _HABITS_ANYWHERE and _HABITS_ANYWHERE[token.type][0] & wanted:
        return _HABITS_ANYWHERE[token.type][1]
    if stream.open and token.type in _BLOCKS and before in (";", "}", "{"):
        return _unclosed(stream.open[-1])
    if re.match(r"\s*}?\s*(?:elif|elseif|elsif)\b", token.value.span.source.line(token.value.span.line)):
        return "write else if"
    ends_line = stream.last is not None and stream.last.span.line < token.value.span.line
    if "SEMICOLON" in wanted and ends_line and stream.last is not None and before not in (";", "}", "{"):
        return f"is there a ';' missing at the end of line {stream.last.span.line}?"
    return ""


# By the text before and the token that does not fit.
_HABITS = {
    (":", "ASSIGN"): "write = to assign", ("*", "TIMES"): "write ^ for powers", ("=", "ASSIGN"): "write = to assign",
    ("real", "LBRACKET"): "write array[N] real, or vector[N]", ("int", "LBRACKET"): "write array[N] int",
    ("]", "LESS"): "constraints stand before the sizes: vector<lower=0>[N]",
    ("+", "PLUS"): "write += 1 to add one", ("-", "GREATER"): "Stan has no arrows",
}  # fmt: skip
# By the token alone, where one of these tokens was expected.
_HABITS_ANYWHERE = {
    "ASSIGN": ({"EQUALS"}, "write == to compare"), "TRANSPOSE": ({"STRING"}, 'strings are written in "double quotes"'),
    "COLON": ({"ASSIGN"}, "write = to assign"),
}  # fmt: skip


def _block_for(word: str) -> str:
    """Between blocks: the block that a misspelt word may mean."""
    blocks = [b for b in BLOCKS if b not in ("networks", "guide", "guide parameters")]
    similar = nearest(word.replace("_", " ").lower(), blocks)
    return f"did you mean {similar!r}?" if similar else "expected a block: is there a '}' too many before?"


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
