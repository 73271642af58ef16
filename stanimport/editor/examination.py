"""What is wrong with a text that is being written, and what of it can be understood all the same."""
from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from .. import pipeline
from ..errors import Diagnostic, Diagnostics, StanSemanticError, StanSyntaxError
from ..frontend import ast
from ..frontend.lexer import Trivia
from ..includes import Includes
from ..source import Source, Span

MOST_ERRORS = 10  # of syntax: behind so many the rest of a text is guesswork


@dataclass(frozen=True)
class Settings:
    """How programs are examined: as `stanimport check` does with the same options."""

    include_paths: tuple[Path, ...] = ()
    strict: bool = False
    pedantic: bool = True
    functions: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Examination:
    """A program as far as it could be read.

    `program` lacks the statements that are no Stan; it is None where nothing could be read. `files` are the included
    ones, and the places where others were looked for.
    """

    source: Source
    diagnostics: tuple[Diagnostic, ...]
    program: ast.Program | None
    trivia: tuple[Trivia, ...]
    files: frozenset[Path]
    pedantic: frozenset[Diagnostic]  # the diagnostics that are only pedantic


def examine(source: Source, settings: Settings, texts: Mapping[str, str]) -> Examination:
    """Read and check a program.

    Args:
        texts: of files that may be included, where an editor has other ones than the disk, by their resolved path.
    """
    with pipeline.deep():
        reading = _Reading(source, settings, texts)
        reading.run()
        pedantic: list[Diagnostic] = []
        if reading.program is not None:
            pedantic = _check(reading, reading.program, settings)
        found = [*reading.errors, *reading.diagnostics.errors, *reading.diagnostics.warnings, *pedantic]
    return Examination(
        source, tuple(map(reading.in_own_text, found)), reading.program, tuple(reading.trivia),
        frozenset(reading.files), frozenset(map(reading.in_own_text, pedantic)),
    )  # fmt: skip


def _check(reading: _Reading, program: ast.Program, settings: Settings) -> list[Diagnostic]:
    """Add the errors of types to those of the reading; the result is what pedantic mode says if there are none."""
    try:
        checked = pipeline.types_of(program, reading.diagnostics, settings.strict, settings.functions)
    except StanSemanticError:
        reading.diagnostics.errors[:] = [e for e in reading.diagnostics.errors if not reading.made(e)]
        return []
    if reading.errors or not settings.pedantic:
        return []
    return pipeline.pedantic_warnings(checked)


class _Reading:
    """A parse that goes on behind errors of syntax.

    The first error ends a parse. So the text is mended where it is wrong, without moving what follows, and read again:
    by a mark that lacks before the error, if that lets the parser come further, else by blanks in place of the
    statement.
    """

    def __init__(self, source: Source, settings: Settings, texts: Mapping[str, str]):
        self.source, self.settings, self.texts = source, settings, texts
        self.errors: list[Diagnostic] = []
        self.blanked: list[str] = []  # texts that were left out
        self.program: ast.Program | None = None
        self.diagnostics = Diagnostics()
        self.trivia: list[Trivia] = []
        self.files: set[Path] = set()

    def run(self) -> None:
        text = self.source.text
        failed = self._parse(text)
        while failed and len(self.errors) < MOST_ERRORS:
            self.errors += failed
            text, failed = self._mended(text, failed)
        self.errors += failed
        self.errors = list({(d.span.in_main().start, d.message): d for d in self.errors}.values())

    def _parse(self, text: str) -> list[Diagnostic]:
        """Read a text; the result is its errors of syntax."""
        source = Source(self.source.name, text)
        includes = Includes(source, self.settings.include_paths, self.texts)
        self.diagnostics, self.trivia, self.program = Diagnostics(), [], None
        try:
            self.program = pipeline.syntax_of(source, includes, self.diagnostics, self.settings.strict, self.trivia)
        except StanSyntaxError as e:
            return list(e.diagnostics)
        finally:
            self.files |= {*includes.files, *includes.seen}
        return []

    def _mended(self, text: str, failed: Sequence[Diagnostic]) -> tuple[str, list[Diagnostic]]:
        """A text without some of its errors, the last at least, and the errors that it has."""
        *_, at = starts = [d.span.in_main().start for d in failed]
        for candidate in _with_marks(text, at):
            left, further = self._parse(candidate), len(candidate) == len(text)  # else what is put behind it is wrong
            if all(further and d.span.in_main().start > at or d.span.in_main().start in starts[:-1] for d in left):
                return candidate, left
        for d in failed:
            begin, end = _statement_around(text, d.span.in_main())
            self.blanked.append(text[begin:end])
            text = text[:begin] + re.sub(r"[^\r\n]", " ", text[begin:end]) + text[end:]
        text += _closing(text) if at >= len(text.rstrip()) else ""
        return text, [] if text == self.source.text else self._parse(text)

    def made(self, d: Diagnostic) -> bool:
        """Whether an error of types is owed to what was left out."""
        if not self.blanked:
            return False
        words = {w for text in self.blanked for w in re.findall(r"\w+", text)}
        return bool(words & set(re.findall(r"\w+", d.span.text))) if d.code == "scope" else d.code in _OF_LACK

    def in_own_text(self, d: Diagnostic) -> Diagnostic:
        """A diagnostic of a mended text, at its place in the text as it is."""
        if d.span.source.name != self.source.name or d.span.source.included_at is not None:
            return d
        return replace(d, span=Span(self.source, d.span.start, d.span.end))


_OF_LACK = ("return", "undefined")  # errors that a statement more could take away
_MOST_LACKING = 100  # closing brackets that are made up for
_TOKENS = re.compile(r'//[^\r\n]*|/\*(?:[^*]|\*(?!/))*(?:\*/)?|"[^"\r\n]*"|[;{}]|[^\s;{}/"]+|[/"]')


def _tokens(text: str) -> Iterator[tuple[int, int, str]]:
    """Where the tokens that divide a text into statements begin and end, with what they are; others are "x"."""
    for m in _TOKENS.finditer(text):
        if not m.group().startswith(("//", "/*")):
            yield m.start(), m.end(), m.group() if m.group() in ";{}" else "x"


def _with_marks(text: str, at: int) -> Iterator[str]:
    """Texts with one mark more before an offset, in place of a blank."""
    before = [end for _, end, _ in _tokens(text[:at])]
    place, closing = before[-1] if before else 0, _closing(text)
    if "\n" in text[place:at]:  # who forgets one in the middle of a line has more in mind
        for mark in ";}" if closing else ";":
            yield text[:place] + mark + text[place + 1 :]
    if closing and at >= len(text.rstrip()):
        yield text + closing
        yield text + "\n;" + closing


def _closing(text: str) -> str:
    """The brackets that lack at the end of a text, on a line of their own: the last may be a comment."""
    kinds = [kind for _, _, kind in _tokens(text)]
    lacking = min(kinds.count("{") - kinds.count("}"), _MOST_LACKING)
    return "\n" + "}" * lacking if lacking > 0 else ""


def _statement_around(text: str, at: Span) -> tuple[int, int]:
    """The part of a text to leave out for an error: from the end of the statement before it to its own end."""
    if text[at.start : at.start + 2] == "/*":
        return at.start, len(text)  # a comment that is never closed
    begin, depth = 0, 0
    for start, end, kind in _tokens(text):
        if start < at.start:
            begin = end if kind in ";{}" else begin
        elif kind == "}" and depth == 0:
            return (begin, start) if text[begin:start].strip() and start >= at.start else (start, end)
        elif kind == ";" and depth == 0:
            return begin, end
        elif kind in "{}":
            depth += 1 if kind == "{" else -1
            if depth == 0:
                return begin, end
    return begin, len(text)


