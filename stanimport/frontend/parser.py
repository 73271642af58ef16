"""From source text to AST: PLY's parser with our grammar and its tables."""
from __future__ import annotations

import copy
import logging
import os
from functools import lru_cache
from pathlib import Path
from typing import Any

from ply import yacc

from ..errors import Diagnostic, Diagnostics, StanSyntaxError
from ..source import Source, Span
from . import ast, grammar, messages, shape
from .lexer import IncludeResolver, TokenStream, Trivia

MAX_DEPTH = 1000
TABLES = "stanimport.frontend.parsetab"


class _Context:
    """What grammar actions can reach: the token stream, and where they note errors and deprecations."""

    def __init__(self, stream: TokenStream, diagnostics: Diagnostics, strict: bool):
        self.stream, self.diagnostics, self.strict = stream, diagnostics, strict
        self.errors: list[Diagnostic] = []

    def error(self, message: str, span: Span, hint: str = "") -> None:
        self.errors.append(Diagnostic(message, span, hint, code="syntax"))

    def removed(self, message: str, span: Span, hint: str) -> None:
        """Something that Stan had once: an error in strict mode, else a deprecation warning."""
        if self.strict:
            self.error(message, span, hint)
        else:
            self.diagnostics.deprecate(message, span, hint)


def parse(
    source: Source, resolve: IncludeResolver, diagnostics: Diagnostics, strict: bool = False,
    trivia: list[Trivia] | None = None,
) -> ast.Program:  # fmt: skip
    """The program in a source, with its includes.

    Args:
        trivia: a list to which comments and includes are added.

    Raises:
        StanSyntaxError: if the text is no Stan program; with all that the grammar's actions noted up to there.
    """
    stream = TokenStream(source, resolve, diagnostics, strict, trivia)
    context = _Context(stream, diagnostics, strict)
    try:
        program: ast.Program = _new_parser(context).parse(lexer=stream)
    except StanSyntaxError as e:
        raise StanSyntaxError([*context.errors, *e.diagnostics]) from None
    if context.errors:
        raise StanSyntaxError(context.errors)
    deep = ast.depth_exceeds(program, MAX_DEPTH)
    if deep is not None:
        span: Span = getattr(deep, "span", program.span)
        raise StanSyntaxError([Diagnostic(f"nested more than {MAX_DEPTH} levels deep", span, code="syntax")])
    shape.check(program)
    return program


def _new_parser(context: _Context) -> Any:
    """A parser of its own for each parse: PLY keeps the state of a parse in the parser."""

    def fail(t: object) -> None:
        expected = parser.action[parser.state]
        raise StanSyntaxError([messages.unexpected(t, expected, context.stream)])

    parser = copy.copy(build())
    parser.errorfunc, parser.context = fail, context
    return parser


@lru_cache(maxsize=1)
def build(write_to: Path | None = None) -> Any:
    """PLY's parser with the shipped tables if they are of this grammar, else with new ones (half a second).

    `write_to` is the folder in which to write the tables when they had to be built.
    """
    quiet = logging.getLogger("stanimport.ply")
    quiet.addHandler(logging.NullHandler())
    quiet.propagate = False
    return yacc.yacc(
        module=grammar.rules(), tabmodule=TABLES, outputdir=os.fspath(write_to or "."),
        write_tables=write_to is not None, debug=False, debuglog=yacc.NullLogger(), errorlog=quiet,
    )  # fmt: skip


if __name__ == "__main__":  # python -m stanimport.frontend.parser: write the tables beside this file
    build(Path(__file__).parent)
