"""Source texts, and spans of them: every node of a program knows where it stands."""
from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property


@dataclass(frozen=True, eq=False)
class Source:
    """One Stan file. `included_at` is the `#include` that brought it in, None for the program itself.

    `includes` are the texts of files that it includes, by what it calls them, where they are known: no file is read.
    `base` is where the text of an included file begins among those of all included files, each with an end of line.
    """

    name: str
    text: str = field(repr=False)
    included_at: "Span | None" = None
    includes: Mapping[str, str] = field(default_factory=dict, repr=False)
    base: int = 0

    @cached_property
    def _starts(self) -> list[int]:
        starts = [0]
        for i, c in enumerate(self.text):
            if c == "\n" or c == "\r" and self.text[i + 1 : i + 2] != "\n":
                starts.append(i + 1)
        return starts

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both from 1."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def offset(self, line: int) -> int:
        """Where a line begins; the end of the text for one that it does not have."""
        return self._starts[line - 1] if line <= len(self._starts) else len(self.text)

    def line(self, number: int) -> str:
        """The text of a line, without its end."""
        start = self._starts[number - 1]
        end = self._starts[number] if number < len(self._starts) else len(self.text)
        return self.text[start:end].rstrip("\r\n")


@dataclass(frozen=True, slots=True)
class Span:
    """The characters [start, end) of a source."""

    source: Source
    start: int
    end: int

    @property
    def line(self) -> int:
        return self.source.position(self.start)[0]

    @property
    def column(self) -> int:
        return self.source.position(self.start)[1]

    @property
    def text(self) -> str:
        return self.source.text[self.start : self.end]

    def to(self, other: "Span") -> "Span":
        """From the start of this span to the end of another; this one alone when they lie in different files."""
        return Span(self.source, self.start, max(self.end, other.end)) if other.source is self.source else self

    def in_main(self) -> "Span":
        """The place in the program's own file: the `#include` directive for what was included."""
        span = self
        while span.source.included_at is not None:
            span = span.source.included_at
        return span


def include_chain(span: Span) -> list[Span]:
    """The `#include` directives that lead to the source of a span, the innermost first."""
    chain: list[Span] = []
    at = span.source.included_at
    while at is not None:
        chain.append(at)
        at = at.source.included_at
    return chain
