"""The comments of a program and where they stand, to be put between the nodes of its tree."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import total_ordering

from ...source import Source, Span
from ..lexer import Trivia


@total_ordering
@dataclass(frozen=True, eq=False, slots=True)
class Place:
    """A position in the program, in the order of the text with includes in place."""

    order: tuple[int, ...]
    source: Source
    line: int

    def __lt__(self, other: Place) -> bool:
        return self.order < other.order

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Place) and self.order == other.order

    @property
    def is_included(self) -> bool:
        return self.source.included_at is not None

    def below(self) -> Place:
        """The line after it."""
        return Place(self.order, self.source, self.line + 1)


def place(source: Source, offset: int) -> Place:
    """The place of an offset."""
    order, at = [offset], source.included_at
    while at is not None:
        order.insert(0, at.start)
        at = at.source.included_at
    return Place(tuple(order), source, source.position(offset)[0])


def begin(span: Span) -> Place:
    return place(span.source, span.start)


def end(span: Span) -> Place:
    return place(span.source, span.end)


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment or an include: its lines, without marks."""

    kind: str  # line, block or include
    lines: tuple[str, ...]
    begin: Place
    end: Place
    column: int  # from 0

    @property
    def to_line_end(self) -> bool:
        return self.kind != "block"


@dataclass(frozen=True, slots=True)
class _Separator:
    """A comma, an operator or another mark without a node: which comments stand in front of it, which behind."""

    end: Place


class Comments:
    """The comments that are not written yet."""

    def __init__(self, trivia: Sequence[Trivia], inline: bool = False, strip: bool = False):
        """
        Args:
            inline: whether the text of included files is printed, and not the include.
            strip: leave comments out.
        """
        kept = [t for t in trivia if inline or t.span.source.included_at is None]
        if inline:
            kept = [t for t in kept if t.kind != "include"]
        if strip:
            kept = [t for t in kept if t.kind not in ("line", "block")]
        self.rest = [_Separator(end(t.span)) if t.kind == "separator" else _comment(t) for t in kept][::-1]
        self.late: list[Comment] = []  # of a place where none can be written

    def before(self, at: Place) -> list[Comment]:
        """The comments up to a place."""
        found = []
        while self.rest:
            item = self.rest[-1]
            if isinstance(item, _Separator):
                if item.end > at:
                    break
            elif item.begin < at:
                found.append(item)
            else:
                break
            self.rest.pop()
        return found

    def before_mark(self, at: Place) -> list[Comment]:
        """The comments up to a place, or up to a comma or operator in front of it."""
        found = []
        while self.rest:
            item = self.rest[-1]
            if isinstance(item, _Separator) or not item.begin < at:
                break
            found.append(item)
            self.rest.pop()
        return found

    def skip(self, at: Place) -> None:
        """Comments up to a place are written at the next opportunity."""
        self.late += self.before(at)

    def skipped(self) -> list[Comment]:
        """The comments that were skipped."""
        found, self.late = self.late, []
        return found

    def remaining(self) -> list[Comment]:
        """All that are left."""
        found = [*self.late, *(c for c in self.rest[::-1] if isinstance(c, Comment))]
        self.rest, self.late = [], []
        return found


def _comment(t: Trivia) -> Comment:
    """A comment without its marks, or the file that an include names, with its place in the program."""
    text = t.span.text
    column = t.span.column - 1
    if t.kind == "include":
        lines = [_included(text)]
    elif t.kind == "line":
        lines = [text.removeprefix("//") if text.startswith("//") else text.removeprefix("#")]
    else:
        first, *rest = text[2:-2].splitlines() or [""]
        lines = [first, *_unindented(rest, column)]
    return Comment(t.kind, tuple(lines), begin(t.span), end(t.span), column)


def _included(directive: str) -> str:
    """The file that an include names, in quotes where it needs them."""
    name = directive[len("#include") :].strip()
    bare = name[1:-1] if name[:1] in ('"', "<") else name
    return f'"{bare}"' if not bare or any(c.isspace() for c in bare) else bare


def _unindented(lines: list[str], column: int) -> list[str]:
    """Lines without the indentation that the comment's first line has, as far as all of them have it.

    Spaces at the end go, but for those in front of the comment's end.
    """
    common = min([column, *(len(x) - len(x.lstrip(" ")) for x in lines if x.strip())])
    cut = [x[common:] if x.strip() else x[common:].rstrip("\r\n") for x in lines]
    return [*(x.rstrip() for x in cut[:-1]), *cut[-1:]]
