"""Stan's tokens, by PLY, and the stream of them that the parser reads.

Source: Stan Reference Manual, "Language Syntax", "Includes", "Comments" and "Reserved names".
"""
from __future__ import annotations

import copy
import re
import unicodedata
from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

from ply import lex
from ply.lex import TOKEN

from stanlib import constraints
from stanlib.dataclass import dataclass

from ..errors import Diagnostic, Diagnostics, StanSyntaxError
from ..source import Source, Span

MAX_NESTING = 256

KEYWORDS = {
    "functions": "FUNCTIONS", "data": "DATA", "parameters": "PARAMETERS", "model": "MODEL",
    "return": "RETURN", "if": "IF", "else": "ELSE", "while": "WHILE", "profile": "PROFILE", "for": "FOR", "in": "IN",
    "break": "BREAK", "continue": "CONTINUE", "void": "VOID", "int": "INT", "real": "REAL", "complex": "COMPLEX",
    "vector": "VECTOR", "row_vector": "ROW_VECTOR", "matrix": "MATRIX", "complex_vector": "COMPLEX_VECTOR",
    "complex_row_vector": "COMPLEX_ROW_VECTOR", "complex_matrix": "COMPLEX_MATRIX", "tuple": "TUPLE",
    "array": "ARRAY", **{c.name: c.name.upper() for c in constraints.types()},
    **{word: word.upper() for word in constraints.all_words()}, "jacobian": "JACOBIAN",
    "print": "PRINT", "reject": "REJECT", "fatal_error": "FATAL_ERROR", "T": "TRUNCATE", "target": "TARGET",
}  # fmt: skip

OPERATORS = {
    "%/%": "INTEGER_DIVIDE", ".*=": "ELT_TIMES_ASSIGN", "./=": "ELT_DIVIDE_ASSIGN", ".*": "ELT_TIMES",
    "./": "ELT_DIVIDE", ".^": "ELT_POWER", "||": "OR", "&&": "AND", "==": "EQUALS", "!=": "NOT_EQUALS", "<=": "LEQ",
    ">=": "GEQ", "+=": "PLUS_ASSIGN", "-=": "MINUS_ASSIGN", "*=": "TIMES_ASSIGN", "/=": "DIVIDE_ASSIGN",
    "{": "LBRACE", "}": "RBRACE", "(": "LPAREN", ")": "RPAREN", "[": "LBRACKET", "]": "RBRACKET", "<": "LESS",
    ">": "GREATER", ",": "COMMA", ";": "SEMICOLON", "|": "BAR", "?": "QUESTION", ":": "COLON", "!": "NOT",
    "-": "MINUS", "+": "PLUS", "^": "POWER", "'": "TRANSPOSE", "*": "TIMES", "/": "DIVIDE", "%": "MODULO",
    "\\": "LEFT_DIVIDE", "~": "TILDE", "=": "ASSIGN", ".": "DOT",
}  # fmt: skip

# "TRANSFORMED_DATA" and its like are two words; ARROW is the assignment of before Stan 2.33; NETWORKS and the GUIDE
# tokens are DeepStan's, and only recognised between blocks.
_OTHER = (
    "TRANSFORMED_DATA", "TRANSFORMED_PARAMETERS", "GENERATED_QUANTITIES", "INTEGER", "REAL_NUMBER", "DOT_NUMBER",
    "IMAGINARY", "STRING", "IDENTIFIER", "ARROW", "INCREMENT_LOG_PROB", "NETWORKS", "GUIDE", "GUIDE_PARAMETERS",
)  # fmt: skip
tokens = tuple(dict.fromkeys([*KEYWORDS.values(), *OPERATORS.values(), *_OTHER]))

_INTEGER = r"[0-9]+(?:_[0-9]+)*"
_EXPONENT = rf"[eE][+-]?{_INTEGER}"
_REAL = rf"(?:{_INTEGER}\.(?:{_INTEGER})?(?:{_EXPONENT})?|\.{_INTEGER}{_EXPONENT}|{_INTEGER}{_EXPONENT})"
_DOT = rf"\.{_INTEGER}"


class PlyToken(Protocol):
    """A token in PLY's form."""

    type: str
    value: Any  # the text as PLY found it; from `TokenStream` on a `Token`
    lexpos: int


class PlyLexer(Protocol):
    """What gives tokens."""

    def token(self) -> PlyToken | None: ...


# Where PLY looks for a rule: a function's place in this file decides its priority, operators are tried longest first.
@TOKEN(r'#include[ \t\f\r\n]+(?:"[^"\r\n]*"|<[^>\r\n]*>|[^ \t\f\r\n]*)')
def t_INCLUDE(t: PlyToken) -> PlyToken:
    return t


@TOKEN(r"//[^\r\n]*|/\*(?:[^*]|\*(?!/))*\*/")
def t_COMMENT(t: PlyToken) -> PlyToken:
    return t


@TOKEN(r"/\*")
def t_UNCLOSED_COMMENT(t: PlyToken) -> PlyToken:
    raise _LexicalError("this comment is never closed", t.lexpos, 2)


@TOKEN(r"#[^\r\n]*")
def t_HASH_COMMENT(t: PlyToken) -> PlyToken:
    return t


@TOKEN(r"(?:transformed[ \t\f]+(?:data|parameters)|generated[ \t\f]+quantities)(?![A-Za-z0-9_])")
def t_TWO_WORDS(t: PlyToken) -> PlyToken:
    t.type = "_".join(t.value.upper().split())
    return t


@TOKEN(rf"(?:{_REAL}|{_DOT}|{_INTEGER})i")
def t_IMAGINARY(t: PlyToken) -> PlyToken:
    return t


@TOKEN(_REAL)
def t_REAL_NUMBER(t: PlyToken) -> PlyToken:
    return t


@TOKEN(_DOT)
def t_DOT_NUMBER(t: PlyToken) -> PlyToken:
    return t


@TOKEN(_INTEGER)
def t_INTEGER(t: PlyToken) -> PlyToken:
    return t


@TOKEN(r'"[^"\r\n]*"')
def t_STRING(t: PlyToken) -> PlyToken:
    return t


@TOKEN(r"[A-Za-z][A-Za-z0-9_]*")
def t_WORD(t: PlyToken) -> PlyToken:
    t.type = KEYWORDS.get(t.value, "IDENTIFIER")
    return t


_CHARACTERS = {
    '"': "a string must end on its line", "&": "write && for a logical and", "@": "write * for a matrix product",
    "_": "a name must begin with a letter", "$": "a name is made of letters, digits and underscores",
}  # fmt: skip


# What word processors and web pages put in the place of a character.
_TYPOGRAPHY = {
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u2018\u2019\u201a\u00ab\u00bb", '"'),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"), **dict.fromkeys("\u00d7\u00b7\u22c5", "*"),
    "\u00f7": "/", "\u2264": "<=", "\u2265": ">=", "\u2260": "!=", "\u2190": "=", "\u02c6": "^", "\u223c": "~",
}  # fmt: skip


def _ascii_for(shown: str) -> str:
    """What to write instead of a character that is none of Stan's."""
    meant = _TYPOGRAPHY.get(shown) or unicodedata.normalize("NFKC", shown)
    if meant.isspace() or not shown.isprintable():
        return f"write a space: the character is U+{ord(shown):04X}, which looks like one or like nothing"
    if meant.isascii() and meant != shown:
        return f"write {meant} instead"
    return "Stan programs are written in ASCII characters"


def t_error(t: PlyToken) -> None:
    shown = t.value[0]
    hint = _CHARACTERS.get(shown) or _ascii_for(shown)
    raise _LexicalError(f"unexpected character {shown!r}", t.lexpos, 1, hint)


class _LexicalError(Exception):
    """A text that starts no token, at an offset of the current source."""

    def __init__(self, message: str, offset: int, length: int, hint: str = ""):
        super().__init__(message)
        self.message, self.offset, self.length, self.hint = message, offset, length, hint


_MATCHED = (t_INCLUDE, t_COMMENT, t_UNCLOSED_COMMENT, t_HASH_COMMENT, t_TWO_WORDS, t_IMAGINARY, t_REAL_NUMBER,
            t_DOT_NUMBER, t_INTEGER, t_STRING, t_WORD)  # fmt: skip
_prototype: Any = None


def _new_lexer(text: str) -> PlyLexer:
    global _prototype  # PLY compiles the rules once; clones share them
    if _prototype is None:
        # a test lets PLY check the rules, which takes as long as all the rest
        _prototype = lex.lex(module=_Rules(), reflags=0, errorlog=lex.NullLogger(), optimize=True, lextab="")
    lexer = _prototype.clone()
    lexer.input(text)
    ready: PlyLexer = lexer
    return ready


class _Rules:
    """The rules as PLY asks for them: tokens that never leave this file included."""

    def __init__(self) -> None:
        vars(self).update({f.__name__: f for f in _MATCHED})
        vars(self).update({f"t_{name}": re.escape(text) for text, name in OPERATORS.items()})
        self.t_ARROW, self.t_ignore, self.t_error = r"<-", " \t\f\r\n", t_error
        self.tokens = (*tokens, "INCLUDE", "COMMENT", "UNCLOSED_COMMENT", "HASH_COMMENT", "TWO_WORDS", "WORD")
        self.__file__ = __file__


@dataclass(frozen=True, slots=True)
class Token:
    """The value of every terminal: its text and span."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Trivia:
    """What the parser does not see and a formatter keeps: comments ("line" or "block"), and includes ("include").

    Marks that no node of the tree has ("separator") tell on which side of them a comment stands.
    """

    kind: str
    span: Span


_SEPARATORS = {
    "LESS", "GREATER", "COMMA", "BAR", "ELSE", "QUESTION", "MINUS", "PLUS", "POWER", "TIMES", "DIVIDE", "MODULO",
    "INTEGER_DIVIDE", "LEFT_DIVIDE", "ELT_TIMES", "ELT_POWER", "ELT_DIVIDE", "OR", "AND", "EQUALS", "NOT_EQUALS",
    "LEQ", "GEQ",
}  # fmt: skip


# Words that became keywords in Stan 2.26 to 2.37: outside strict mode they are only where a keyword can stand, told
# by the token before (for the constraints) and the one behind.
_SOFT_AFTER = {"LOWER": "ASSIGN", "UPPER": "ASSIGN", "OFFSET": "ASSIGN", "MULTIPLIER": "ASSIGN", "ARRAY": "LBRACKET",
               "TUPLE": "LPAREN", "JACOBIAN": "PLUS_ASSIGN", "PROFILE": "LPAREN", "FATAL_ERROR": "LPAREN"}  # fmt: skip
_BEHIND_VALUES = _SEPARATORS - {"ELSE"} | {
    "ASSIGN", "PLUS_ASSIGN", "MINUS_ASSIGN", "TIMES_ASSIGN", "DIVIDE_ASSIGN", "SEMICOLON", "RPAREN", "RBRACKET",
    "RBRACE", "LBRACKET", "COLON", "TILDE", "TRANSPOSE", "DOT",
}  # fmt: skip
_CONSTRAINTS = {"LOWER", "UPPER", "OFFSET", "MULTIPLIER"}

IncludeResolver = Callable[[str, Span], Source]


class TokenStream:
    """The tokens of a program, includes spliced in; what PLY's parser takes for its lexer.

    What a formatter keeps is added to `trivia`, if that is a list.
    """

    def __init__(
        self, source: Source, resolve: IncludeResolver, diagnostics: Diagnostics, strict: bool,
        trivia: list[Trivia] | None = None,
    ):  # fmt: skip
        self.resolve, self.diagnostics, self.strict = resolve, diagnostics, strict
        self.trivia = trivia
        self.stack: list[tuple[Source, PlyLexer]] = [(source, _new_lexer(source.text))]
        self.ahead: deque[PlyToken] = deque()
        self.previous = ""
        self.last: Token | None = None  # the token before the latest
        self.latest: Token | None = None
        self.open: list[Token] = []  # the brackets around the latest token
        self.enclosing: Token | None = None  # the innermost of them when it was read
        self.end = Span(source, len(source.text), len(source.text))

    def token(self) -> PlyToken | None:
        """The next token in PLY's form, None at the end."""
        t = self._peek(0)
        if t is None:
            return None
        self.ahead.popleft()
        self._classify(t)
        self._count(t)
        self.previous = t.type
        self.last, self.latest = self.latest, t.value
        return t

    def _peek(self, n: int) -> PlyToken | None:
        while len(self.ahead) <= n:
            t = self._read()
            if t is None:
                return None
            self.ahead.append(t)
        return self.ahead[n]

    def _read(self) -> PlyToken | None:
        """The next token of the innermost source, comments and includes done with."""
        while self.stack:
            source, lexer = self.stack[-1]
            try:
                t = lexer.token()
            except _LexicalError as e:
                raise syntax_error(e.message, Span(source, e.offset, e.offset + e.length), e.hint) from None
            if t is None:
                self.stack.pop()
                continue
            span = Span(source, t.lexpos, t.lexpos + len(t.value))
            if self.trivia is not None:
                self._note(t.type, span)
            if t.type == "INCLUDE":
                self._include(t.value, span)
            elif t.type == "HASH_COMMENT":
                self._hash_comment(span)
            elif t.type != "COMMENT":
                return self._given(t, span)
        return None

    def _given(self, t: PlyToken, span: Span) -> PlyToken:
        """A token of the program, as the parser gets it."""
        if t.type == "ARROW" and self.strict:
            return self._split_arrow(t, span)
        if t.type == "DOT" and self.strict:
            raise syntax_error("unexpected character '.'", span)
        t.value = Token(t.value, span)
        return t

    def _note(self, kind: str, span: Span) -> None:
        """Keep what a formatter needs."""
        assert self.trivia is not None
        kinds = {"INCLUDE": "include", "HASH_COMMENT": "line"}
        if kind in _SEPARATORS:
            self.trivia.append(Trivia("separator", span))
        elif kind == "COMMENT":
            self.trivia.append(Trivia("block" if span.text.startswith("/*") else "line", span))
        elif kind in kinds:
            self.trivia.append(Trivia(kinds[kind], span))

    def _include(self, directive: str, span: Span) -> None:
        name = directive[len("#include") :].strip()
        if name[:1] in ('"', "<"):
            name = name[1:-1]
        source = self.resolve(name, span)
        self.stack.append((source, _new_lexer(source.text)))

    def _hash_comment(self, span: Span) -> None:
        if self.strict:
            raise syntax_error("comments that begin with # have been removed from Stan", span, "write // instead")
        self.diagnostics.deprecate("comments that begin with # are deprecated", span, "write // instead")

    def _split_arrow(self, t: PlyToken, span: Span) -> PlyToken:
        """Without the old assignment, `<-` is a comparison with a negative number: two tokens."""
        minus = copy.copy(t)
        minus.type, minus.value, minus.lexpos = "MINUS", "-", t.lexpos + 1
        t.type, t.value = "LESS", Token("<", Span(span.source, span.start, span.start + 1))
        self.stack.append((span.source, _Pushed(minus)))
        return t

    def _classify(self, t: PlyToken) -> None:
        """Settle what a word is where its place decides."""
        if t.type == "IDENTIFIER":
            if not self.strict and not self.open and t.value.text in ("networks", "guide"):
                self._deepstan_block(t)
            elif not self.strict and t.value.text == "increment_log_prob":
                t.type = "INCREMENT_LOG_PROB"
        elif t.type in _SOFT_AFTER and not self.strict:
            behind = self._peek(0)
            follows = behind is not None and behind.type == _SOFT_AFTER[t.type]
            follows = follows and not (t.type == "ARRAY" and self._is_indexed())
            if not follows or t.type in _CONSTRAINTS and self.previous not in ("LESS", "COMMA"):
                self.diagnostics.deprecate(f"{t.value.text!r} is a keyword since Stan 2.33", t.value.span, "rename it")
                t.type = "IDENTIFIER"

    def _is_indexed(self) -> bool:
        """Whether what goes on behind brackets, which come next, are no type but the rest of an expression."""
        depth, n = 1, 1
        while depth:
            t = self._peek(n)
            if t is None:
                return False
            depth += {"LBRACKET": 1, "RBRACKET": -1}.get(t.type, 0)
            n += 1
        behind = self._peek(n)
        return behind is not None and behind.type in _BEHIND_VALUES

    def _deepstan_block(self, t: PlyToken) -> None:
        """Make `networks`, `guide` and `guide parameters`, one token, keywords where a block of the name begins."""
        behind = self._peek(0)
        if t.value.text == "networks" and behind is not None and behind.type == "LBRACE":
            t.type = "NETWORKS"
        elif t.value.text == "guide" and behind is not None and behind.type in ("LBRACE", "PARAMETERS"):
            t.type = "GUIDE"
            if behind.type == "PARAMETERS":
                self.ahead.popleft()
                t.type = "GUIDE_PARAMETERS"
                t.value = Token("guide parameters", t.value.span.to(behind.value.span))

    def _count(self, t: PlyToken) -> None:
        self.enclosing = self.open[-1] if self.open else None
        if t.type in ("LBRACE", "LPAREN", "LBRACKET"):
            self.open.append(t.value)
            if len(self.open) > MAX_NESTING:
                raise syntax_error(f"nested more than {MAX_NESTING} levels deep", t.value.span)
        elif t.type in ("RBRACE", "RPAREN", "RBRACKET") and self.open:
            self.open.pop()


class _Pushed:
    """A lexer that holds one token."""

    def __init__(self, t: PlyToken):
        self.held = [t]

    def token(self) -> PlyToken | None:
        return self.held.pop() if self.held else None


def syntax_error(message: str, span: Span, hint: str = "") -> StanSyntaxError:
    return StanSyntaxError([Diagnostic(message, span, hint, code="syntax")])
