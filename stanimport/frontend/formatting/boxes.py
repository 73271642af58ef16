"""Text in nested boxes, whose breaks become spaces or new lines by what fits on a line.

Source: Oppen, "Prettyprinting", ACM Transactions on Programming Languages and Systems 2 (1980); the kinds of boxes and
when each breaks are those of OCaml's module Format, which is what stanc prints with.
"""
from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

LEAST_LEFT = 10  # columns: no box begins in the last ones of a line

PACKED, FILLED, FLAT, STACKED, EITHER = "packed", "filled", "flat", "stacked", "either"
_FITS = "fits"


@dataclass(slots=True)
class _Token:
    """A text, a break (of so many spaces), a forced new line, or the beginning or end of a box."""

    kind: str
    text: str = ""
    spaces: int = 0
    box: str = PACKED
    indent: int = 0
    size: float = math.inf  # of a box and of a break: what has to fit behind it


class Page:
    """A text that is laid out once all of it is there.

    The kinds of boxes: FILLED breaks where a line is full, PACKED also where that leads to less indentation; FLAT never
    breaks, STACKED at every break, EITHER at all breaks or at none.
    """

    def __init__(self) -> None:
        self.tokens: list[_Token] = []

    def text(self, text: str) -> None:
        self.tokens.append(_Token("text", text))

    def space(self) -> None:
        """A space, or a new line."""
        self.tokens.append(_Token("break", spaces=1))

    def cut(self) -> None:
        """Nothing, or a new line."""
        self.tokens.append(_Token("break"))

    def new_line(self) -> None:
        """A new line whatever the box."""
        self.tokens.append(_Token("line"))

    def open(self, kind: str = PACKED, indent: int = 0) -> None:
        """Begin a box, whose lines begin where it does, and so many columns to the right."""
        self.tokens.append(_Token("open", box=kind, indent=indent))

    def close(self) -> None:
        self.tokens.append(_Token("close"))

    @contextmanager
    def box(self, kind: str = PACKED, indent: int = 0) -> Iterator[None]:
        self.open(kind, indent)
        yield
        self.close()

    @contextmanager
    def indented(self) -> Iterator[None]:
        """A box two columns to the right."""
        with self.box(FLAT):
            self.text("  ")
            with self.box():
                yield

    def laid_out(self, width: int) -> str:
        """The text, with lines of less than so many columns, but for a mark at their end, where breaks allow that."""
        _measure(self.tokens)
        return _Lines(width).filled(self.tokens)


def _measure(tokens: list[_Token]) -> None:
    """Sizes: of a box its text on one line, of a break the text up to the next one of its box."""
    total, waiting = 0, list[tuple[_Token, int]]()

    def settle() -> None:
        token, begin = waiting.pop()
        token.size = total - begin

    for t in tokens:
        if t.kind in ("break", "close") and waiting and waiting[-1][0].kind == "break":
            settle()
        if t.kind == "close":
            settle()
        if t.kind in ("open", "break"):
            waiting.append((t, total))
        total += len(t.text) + t.spaces


class _Lines:
    """Lines as they are filled: the room that is left on the last one, and the boxes that are open."""

    def __init__(self, width: int):
        self.width, self.last_column = width, max(width - LEAST_LEFT, width // 2, 1)
        self.left, self.indent, self.is_new = width, 0, True
        self.open: list[tuple[str, int]] = []  # kind, and the room on a new line of the box
        self.parts: list[str] = []

    def filled(self, tokens: list[_Token]) -> str:
        """The text of measured tokens."""
        for t in tokens:
            if t.kind == "text":
                self._put(t.text)
            elif t.kind == "open":
                self._enter(t)
            elif t.kind == "close":
                self.open.pop()
            elif t.kind == "line":
                self._new_line(self.open[-1][1])
            else:
                self._break(t)
        return "".join(self.parts)

    def _put(self, text: str) -> None:
        self.parts.append(text)
        self.left -= len(text)
        self.is_new = self.is_new and not text

    def _enter(self, t: _Token) -> None:
        if self.width - self.left > self.last_column and self.open:
            kind, room = self.open[-1]
            if room > self.left and kind not in (_FITS, FLAT):
                self._new_line(room)
        fits = t.box != STACKED and t.size < self.left
        self.open.append((_FITS if fits else t.box, self.left - t.indent))

    def _break(self, t: _Token) -> None:
        kind, room = self.open[-1]
        full = t.size >= self.left
        packed = kind == PACKED and not self.is_new and (full or self.indent > self.width - room)
        if kind in (STACKED, EITHER) or packed or kind == FILLED and full:
            self._new_line(room)
        else:
            self.parts.append(" " * t.spaces)
            self.left -= t.spaces

    def _new_line(self, room: int) -> None:
        self.indent = min(self.width - room, self.last_column)
        self.left, self.is_new = self.width - self.indent, True
        self.parts.append("\n" + " " * self.indent)
