"""What a syntax error says: the token that does not fit, and what would have."""
from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from stanlib import constraints

from ..errors import Diagnostic, nearest
from ..source import Span
from .ast import BLOCKS
from .lexer import KEYWORDS, OPERATORS, Token, TokenStream

_TYPES = {
    "INT", "REAL", "COMPLEX", "VECTOR", "ROW_VECTOR", "MATRIX", "COMPLEX_VECTOR", "COMPLEX_ROW_VECTOR",
    "COMPLEX_MATRIX", "TUPLE", "ARRAY", *(KEYWORDS[c.name] for c in constraints.types()),
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
_TEXTS = {v: repr(k) for k, v in (KEYWORDS | OPERATORS).items()}
_TEXTS |= {"STRING": "a string", "TRUNCATE": "a truncation T[..., ...]"}


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
        return Diagnostic(message, span, _of_types(token, stream) or "choose another name", code="syntax")
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
        return _block_for(token.value.span)
    if (before, token.type) in _HABITS:
        half = token.type == "SEMICOLON" and not _DOUBLED.search(_line_before(token))
        return "" if half else _HABITS[before, token.type]
    habit = _of_other_languages(token, before, wanted, stream)
    if habit:
        return habit
    if token.type in _HABITS_ANYWHERE and _HABITS_ANYWHERE[token.type][0] & wanted:
        return _HABITS_ANYWHERE[token.type][1]
    if stream.open and token.type in _BLOCKS and before in (";", "}", "{"):
        return _unclosed(stream.open[-1])
    if re.search(r"\b(?:elif|elseif|elsif)\b[^;{}]*$", _line_before(token)):
        return "write else if"
    ends_line = stream.last is not None and stream.last.span.line < token.value.span.line
    if "SEMICOLON" in wanted and ends_line and stream.last is not None and before not in (";", "}", "{"):
        return f"is there a ';' missing at the end of line {stream.last.span.line}?"
    return ""


def _of_types(token: Any, stream: TokenStream) -> str:
    """What is meant by a type in the place of a name."""
    before, around = (t.text if t is not None else "" for t in (stream.last, stream.enclosing))
    if token.type not in _TYPES:
        return ""
    if around == "(" and re.search(r"\bfor\s*\($", _line_before(token).rstrip()):
        return "write for (i in 1:N)"
    return f"declarations end with a semicolon: ...; {token.value.text} ..." if (before, around) == (",", "{") else ""


_DOUBLED = re.compile(r"(\+\+|--)\s*$")
# By the text before and the token that does not fit; of signs in front of a semicolon where they are doubled.
_HABITS = {
    (":", "ASSIGN"): "write = to assign", ("*", "TIMES"): "write ^ for powers", ("=", "ASSIGN"): "write = to assign",
    ("real", "LBRACKET"): "write array[N] real, or vector[N]", ("int", "LBRACKET"): "write array[N] int",
    ("]", "LESS"): "constraints stand before the sizes: vector<lower=0>[N]",
    ("+", "PLUS"): "write += 1 to add one", ("+", "SEMICOLON"): "write += 1 to add one",
    ("-", "SEMICOLON"): "write -= 1 to subtract one", ("target", "ASSIGN"): "write target += ...",
    ("-", "GREATER"): "Stan has no arrows", ("=", "TILDE"): "write ~ for a distribution, = to assign",
    ("~", "ASSIGN"): "write ~ for a distribution, = to assign",
    ("array", "IDENTIFIER"): "array[...] stands in front of the type: array[M] vector[N] x",
}  # fmt: skip
_WORDS = {"and": "write && for and", "or": "write || for or", "not": "write ! for not"}
_TYPE_NAMES = {
    "float": "real", "double": "real", "number": "real", "numeric": "real", "integer": "int", "bool": "int",
    "boolean": "int", "logical": "int", "long": "int", "list": "array[N] real", "string": "", "str": "", "char": "",
}  # fmt: skip
_SIZED = {"vector", "row_vector", *(c.name for c in constraints.types() if c.base == "vector")}
_ANY_TYPE = {"let", "var", "const", "auto"}
_SIZES = {"matrix": "a matrix has two sizes: matrix[M, N]", "complex_matrix": "a complex_matrix has two sizes"}


def _of_other_languages(token: Any, before: str, wanted: set[str], stream: TokenStream) -> str:
    """What is written otherwise in Python, R, C or BUGS."""
    text, around = token.value.text, stream.enclosing.text if stream.enclosing is not None else ""
    if text in _WORDS or before in _WORDS:
        return _WORDS.get(text) or _WORDS[before]
    if token.type == "IDENTIFIER" and before in _ANY_TYPE:
        return f"declare it by its type, such as real {text} = ..."
    if token.type == "IDENTIFIER" and _type_named(before) is not None:
        return f"write {_type_named(before)}" if _type_named(before) else "Stan has no type for texts"
    if token.type == "IDENTIFIER" and {"VOID", "RBRACE"} <= wanted and around == "{":
        return f"the type of a function's result stands in front of its name: real {text}(...), or void {text}(...)"
    if token.type == "IDENTIFIER" and around == "(" and wanted & _TYPES and not wanted & _EXPRESSION:
        return f"the type of an argument stands in front of its name: real {text}"
    if token.type in _TYPES and around == "{" and re.fullmatch(r"[A-Za-z]\w*", before) and before not in KEYWORDS:
        return f"the type stands in front of the name: {text} {before}"
    if token.type == "IDENTIFIER" and "LBRACKET" in wanted and before in _SIZED:
        return f"give its size: {before}[N] {text}"
    if before in ("for", "while", "if") and "LPAREN" in wanted:
        return "write for (i in 1:N)" if before == "for" else f"the condition stands in parentheses: {before} (...)"
    if token.type == "ASSIGN" and around == "(" and not re.search(r"\b(?:if|while)\s*\([^;{}]*$", _line_before(token)):
        return "arguments have no names: give them in their order"
    if token.type == "LESS" and "SEMICOLON" in wanted and around == "{":
        return "constraints stand behind the type: real<lower=0> x"
    if token.type in ("IDENTIFIER", "LOWER", "UPPER") and (hint := _misspelt(token)):
        return hint
    return _of_brackets(token, before, wanted, stream)


def _of_brackets(token: Any, before: str, wanted: set[str], stream: TokenStream) -> str:
    """What is wrong within the brackets of a declaration."""
    opened = stream.enclosing
    if token.type == "LPAREN" and before in KEYWORDS and KEYWORDS[before] in _TYPES:
        return f"bounds stand in <>, sizes in []: {before}{'[N]' if before in _SIZED else '<lower=0>'}"
    declared = re.search(r"(\w+)\s*(?:<[^\[\]]*>\s*)?\[[^\[\]]*\]$", _line_before(token).rstrip())
    if token.type == "LBRACKET" and declared is not None and KEYWORDS.get(declared.group(1)) in _TYPES:
        return f"an array of such values: array[M] {declared.group(1)}[...]"
    if token.value.text == "lower" and "LOWER" in wanted or token.value.text == "upper" and "UPPER" in wanted:
        return f"write {token.value.text}=..."
    if before == "<" and {"LOWER", "UPPER"} <= wanted:
        return "name the bounds: <lower=0, upper=1>"
    if opened is None or opened.text != "[" and token.type != "RBRACKET":
        return ""
    word = re.search(r"(\w+)\s*(?:<[^\[\]]*>\s*)?\[[^\[\]]*$", _line_before(token))
    kind = word.group(1) if word else ""
    if token.type == "RBRACKET" and kind in _SIZES:
        return _SIZES[kind]
    if token.type == "COMMA" and kind in KEYWORDS and KEYWORDS[kind] in _TYPES:
        return f"an array of such values: array[N] {kind}[...]"
    if token.type in ("INTEGER", "IDENTIFIER") and {"COMMA", "RBRACKET"} == wanted:
        return f"the types of arguments have no sizes: {kind}"
    return ""


def _type_named(word: str) -> str | None:
    """Stan's type for what another language calls one; "" if there is none, None for a word that is no type."""
    if word in _TYPE_NAMES:
        return _TYPE_NAMES[word]
    lower = word.lower()
    return lower if lower != word and KEYWORDS.get(lower) in _TYPES else None


def _misspelt(token: Any) -> str:
    """The type that is meant by a word which stands where one does, with its sizes or without, before a name."""
    word = re.search(r"(?:^|[;{}(,])\s*(\w+)\s*(?:<|\[[^\[\]]*\])?\s*$", _line_before(token))
    if word is None or word.group(1) in KEYWORDS:
        return ""
    names = [n for n, kind in KEYWORDS.items() if kind in _TYPES]
    known = _type_named(word.group(1)) or nearest(word.group(1).lower(), names)
    return f"did you mean {known!r}?" if known else ""


def _line_before(token: Any) -> str:
    span: Span = token.value.span
    return span.source.line(span.line)[: span.column - 1]


# By the token alone, where one of these tokens was expected.
_HABITS_ANYWHERE = {
    "ASSIGN": ({"EQUALS"}, "write == to compare"), "TRANSPOSE": ({"STRING"}, 'strings are written in "double quotes"'),
    "COLON": ({"ASSIGN"}, "write = to assign"), "EQUALS": ({"ASSIGN"}, "write = to assign"),
}  # fmt: skip


def _block_for(at: Span) -> str:
    """Between blocks: the block that misspelt words may mean."""
    blocks = [b for b in BLOCKS if b not in ("networks", "guide", "guide parameters")]
    words = re.match(r"[^{};]*", at.source.line(at.line)[at.column - 1 :])
    whole = " ".join(words.group().replace("_", " ").lower().split()) if words else ""
    similar = nearest(whole, blocks) or nearest(at.text.replace("_", " ").lower(), blocks)
    return f"did you mean {similar!r}?" if similar else "expected a block: is there a '}' too many before?"


def _describe(token: Any) -> str:
    if token.type == "IDENTIFIER":
        return f"name {token.value.text!r}"
    if token.type in ("INTEGER", "REAL_NUMBER", "DOT_NUMBER", "IMAGINARY"):
        return f"number {token.value.text}"
    return f"string {token.value.text}" if token.type == "STRING" else repr(token.value.text)


def _hint(wanted: set[str]) -> str:
    """What could stand there, in the order in which a reader would look for it."""
    options = _kinds(wanted)
    named = _TYPES | _STATEMENTS | _BLOCKS | _OPERATORS | _ASSIGNMENTS | _EXPRESSION
    rest = [_TEXTS[t] for t in sorted(wanted - named) if t in _TEXTS and _TEXTS[t] not in options]
    if len(options) < 3 and len(rest) < 6 and "an expression" not in options:
        options += rest
    if not options:
        return ""
    return "expected " + (", ".join(options[:-1]) + " or " if len(options) > 1 else "") + options[-1]


def _kinds(wanted: set[str]) -> list[str]:
    """The marks that could stand there, and what else by its kind."""
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
    for kind, most, name in (
        (_BLOCKS, 1, "a block"), (_ASSIGNMENTS, 1, "an assignment"), (_OPERATORS, 2, "an operator")
    ):  # fmt: skip
        if len(kind & wanted) > most:
            options.append(name)
    return options
