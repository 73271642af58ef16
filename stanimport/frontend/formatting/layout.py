"""Formatting a program: its text in stanc's layout."""
from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence

from ...errors import Diagnostic, Diagnostics, InternalError, StanSyntaxError
from ...source import Source, Span
from .. import ast
from ..lexer import IncludeResolver, Trivia
from ..parser import parse
from . import canonical, statements
from .comments import Comments
from .upgrading import upgraded
from .writer import Writer


def formatted(
    source: Source, resolver: Callable[[Source], IncludeResolver], canonicalize: Collection[str], width: int,
    strict: bool,
) -> str:  # fmt: skip
    """The text of a program with one layout: the same program with the same comments, which formats to itself.

    Args:
        resolver: gives what finds the files that a source includes.
        canonicalize: some of "deprecations", "parentheses", "braces", "includes" and "strip-comments".
        width: of a line, where the text has places to break.

    Raises:
        StanSyntaxError: for a text that is no program, and where an include holds only a part of a statement.
    """
    text = _once(source, resolver, canonicalize, width, strict)
    for _ in range(_MOST):
        again = _once(Source(source.name, text), resolver, canonicalize, width, strict)
        if again == text:
            break
        text = again
    return text


_MOST = 8  # comments at odd places inside of expressions move more than once until they stay


def _once(
    source: Source, resolver: Callable[[Source], IncludeResolver], canonicalize: Collection[str], width: int,
    strict: bool,
) -> str:  # fmt: skip
    """The text after one round of layout, verified to be the same program; a second round may still change it."""
    program, trivia = _parsed(source, resolver, strict)
    inline = "includes" in canonicalize
    for name, change in _CHANGES.items():
        if name in canonicalize:
            program = change(program)
    program = canonical.with_needed_braces(program)
    writer = Writer(Comments(trivia, inline, "strip-comments" in canonicalize), inline, width)
    statements.program(writer, program)
    lines = writer.page.laid_out(width).rstrip().splitlines()
    text = "".join(f"{line.rstrip()}\n" for line in lines)
    _verify(program, trivia, Source(source.name, text), resolver, canonicalize, strict)
    return text


_CHANGES: dict[str, Callable[[ast.Program], ast.Program]] = {
    "deprecations": upgraded, "parentheses": canonical.without_parentheses,
    "braces": canonical.with_braces,
}  # fmt: skip


def _parsed(
    source: Source, resolver: Callable[[Source], IncludeResolver], strict: bool
) -> tuple[ast.Program, list[Trivia]]:  # fmt: skip
    trivia: list[Trivia] = []
    return parse(source, resolver(source), Diagnostics(), strict, trivia), trivia


def _verify(
    program: ast.Program, trivia: Sequence[Trivia], made: Source, resolver: Callable[[Source], IncludeResolver],
    canonicalize: Collection[str], strict: bool,
) -> None:  # fmt: skip
    """Read what was made: nothing may be lost.

    Raises:
        StanSyntaxError: where it is another program, as when an include holds a part of a statement.
    """
    try:
        again, comments = _parsed(made, resolver, strict)
        same = canonical.shape(again) == canonical.shape(program)
    except StanSyntaxError:
        same = False
    if not same:
        raise _not_possible(program, trivia)
    if "strip-comments" not in canonicalize and _told(comments, canonicalize) != _told(trivia, canonicalize):
        raise InternalError("formatting this program would lose a comment")


def _not_possible(program: ast.Program, trivia: Sequence[Trivia]) -> Exception:
    include = next((t.span for t in trivia if t.kind == "include"), None)
    if include is None:
        return InternalError("formatting would change this program")
    message = "a file that holds a part of a statement can't stay an include where the program is formatted"
    hint = "format the text with the file in its place (canonicalize 'includes')"
    return StanSyntaxError([Diagnostic(message, include, hint, code="include")])


def _told(trivia: Sequence[Trivia], canonicalize: Collection[str]) -> Counter[str]:
    """What the comments say, whatever the space in them."""
    seen = (t.span for t in trivia if t.kind in ("line", "block"))
    return Counter("".join(_marked(s).split()) for s in seen if "includes" in canonicalize or not _is_included(s))


def _marked(span: Span) -> str:
    return span.text if span.text.startswith("/") else "//" + span.text.removeprefix("#")


def _is_included(span: Span) -> bool:
    return span.source.included_at is not None
