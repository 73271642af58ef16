"""Where nodes are written to: a page, and the comments that belong between them."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from .boxes import PACKED, STACKED, Page
from .comments import Comment, Comments, Place, begin

_LONG_NAME = 16  # a longer one has its arguments below it, not behind it

T = TypeVar("T")
Taker = Callable[[Place], list[Comment]]


class Writer:
    """A page and the comments to write on it.

    Attributes:
        inline: whether the text of included files is written, and not the include.
        width: of a line.
    """

    def __init__(self, comments: Comments, inline: bool, width: int):
        self.page, self.comments, self.inline, self.width = Page(), comments, inline, width

    def is_hidden(self, at: Place) -> bool:
        """Whether what stands there is written as its include."""
        return at.is_included and not self.inline

    # --- comments --------------------------------------------------------------------------------------------------

    def comment(self, c: Comment) -> None:
        """One comment, without anything around it."""
        page = self.page
        if c.kind == "line":
            page.text("//" + c.lines[0])
        elif c.kind == "include":
            page.text("#include " + c.lines[0])
        else:
            with page.box(STACKED):
                page.text("/*" + c.lines[0])
                for line in c.lines[1:]:
                    page.cut()
                    page.text(line)
                page.text("*/")

    def inside(self, take: Taker, at: Place, before: str = "", none: str = "") -> None:
        """The comments that `take` gives up to a place, inside of a statement.

        Args:
            before: what is written in front of the first: "space", "blank" or nothing; without it a space follows.
            none: what is written where there are none, likewise.
        """
        found = take(at)
        self._gap(before if found else none)
        for i, c in enumerate(found):
            if i and not found[i - 1].to_line_end:
                self.page.text(" ")
            self.comment(c)
            if c.to_line_end:
                self.page.new_line()
        if found and not before and not found[-1].to_line_end:
            self.page.space()

    def _gap(self, kind: str) -> None:
        if kind == "space":
            self.page.space()
        elif kind == "blank":
            self.page.text(" ")

    def between(
        self, previous: Place | None, following: Place | None, found: Sequence[Comment], new_line: bool = True
    ) -> None:  # fmt: skip
        """Comments between two statements, and the lines between them: at most one that is blank.

        Args:
            previous, following: the end of the statement before, and the beginning of that behind, if there are any.
            new_line: whether the statement behind begins on a new line in any case.
        """
        after = new_line or bool(found) and found[-1].to_line_end
        late = self.comments.skipped()
        for c in (*late, *found):
            if previous is not None:
                self._lines(previous, c.begin, c in late)
            self.comment(c)
            previous = c.end
        if previous is not None and following is not None:
            self._lines(previous, following, after or bool(late))

    def _lines(self, previous: Place, following: Place, new_line: bool) -> None:
        """What is between two things that stood at these places."""
        if self.is_hidden(following):
            return
        if self.is_hidden(previous):
            previous = begin(previous.source.included_at.in_main())  # type: ignore[union-attr]
        if previous.source is not following.source or previous.line + 1 < following.line:
            self.page.cut()
            self.page.cut()
        elif new_line or previous.line < following.line:
            self.page.cut()
        else:
            self.page.text(" ")

    # --- what nodes share ------------------------------------------------------------------------------------------

    @contextmanager
    def arguments(self, name: str) -> Iterator[None]:
        """A name and parentheses, whose content is indented by what the name leaves."""
        if len(name) > _LONG_NAME:
            self.page.open(PACKED, 2)
            self.page.text(name)
        else:
            self.page.text(name)
            self.page.open(PACKED, 1)
        self.page.text("(")
        self.page.cut()
        yield
        self.page.text(")")
        self.page.close()

    def listed(self, items: Sequence[Any], write: Callable[[Any], None], first: Place, last: Place) -> None:
        """Items with commas, in which comments can stand.

        Args:
            write: writes an item; they have spans.
            first, last: where the node that they are in begins and ends.
        """
        comments = self.comments
        comments.skip(first)
        for i, item in enumerate(items):
            at = begin(item.span)
            if i:
                self.inside(comments.before_mark, at, before="space")
                self.page.text(",")
                self.inside(comments.before, at, before="blank", none="space")
            else:
                self.inside(comments.before, at)
            write(item)
        self.inside(comments.before, last, before="blank")

    def separated(self, items: Sequence[T], write: Callable[[T], None]) -> None:
        """Items with commas, behind each of which a line may end."""
        for i, item in enumerate(items):
            if i:
                self.page.text(",")
                self.page.space()
            write(item)

    def flat_list(self, items: Sequence[T], write: Callable[[T], None]) -> None:
        """Items with commas, on one line."""
        for i, item in enumerate(items):
            if i:
                self.page.text(", ")
            write(item)
