"""The R dump format of Stan's data: `y <- c(1, 2, 3)`, `structure(c(...), .Dim = c(2, 3))`, `1:10`.

Source: CmdStan Guide, "RDump format for CmdStan".
"""
from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from stanlib.errors import StanDataError

_TOKEN = re.compile(r"""
    (?P<skip>[ \t\r\n;]+|\#[^\n]*)
  | (?P<number>[-+]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?L?|Inf(?:inity)?|NaN|NA))(?![\w.])
  | (?P<name>[A-Za-z.][\w.]*|"[^"\n]*"|'[^'\n]*'|`[^`\n]*`)
  | (?P<arrow><-)
  | (?P<mark>[(),:=])
""", re.VERBOSE)  # fmt: skip


def parse(text: str, filename: str = "<R dump>") -> dict[str, Any]:
    """The variables that an R dump assigns.

    Raises:
        StanDataError: with the line that can't be read.
    """
    return _Parser(text, filename).variables()


class _Parser:
    def __init__(self, text: str, filename: str):
        self.filename, self.text = filename, text
        self.tokens = list(self._scan())
        self.at = 0

    def _scan(self) -> Iterator[tuple[str, str, int]]:
        position = 0
        while position < len(self.text):
            found = _TOKEN.match(self.text, position)
            if found is None:
                raise self._error(position, "unexpected character")
            if found.lastgroup != "skip":
                yield str(found.lastgroup), found.group(), position
            position = found.end()
        yield "end", "", len(self.text)

    def _error(self, position: int, problem: str) -> StanDataError:
        line = self.text.count("\n", 0, position) + 1
        return StanDataError(f"{self.filename}, line {line}: no readable R dump: {problem}")

    def _next(self, *wanted: str) -> str:
        """The text of the next token, which must be of one of these kinds or texts."""
        kind, text, position = self.tokens[self.at]
        if wanted and kind not in wanted and text not in wanted:
            raise self._error(position, f"expected {' or '.join(wanted)} instead of {text or 'the end'!r}")
        self.at += 1
        return text

    def _peek(self) -> str:
        return self.tokens[self.at][1]

    def variables(self) -> dict[str, Any]:
        out = {}
        while self.tokens[self.at][0] != "end":
            name = self._next("name").strip("\"'`")
            self._next("arrow", "=")
            value = self._value()
            if np.asarray(value).dtype.kind != "U":  # names that R's users keep beside their data
                out[name] = value
        return out

    def _value(self) -> Any:
        if self._peek() == "structure":
            return self._structure()
        if self._peek() in ("c", "integer", "double", "numeric"):
            return np.asarray(self._vector())
        first = self._number()
        if self._peek() != ":":
            return first
        self.at += 1
        return np.asarray(_range(first, self._number()))

    def _number(self) -> Any:
        if self._peek()[:1] in ("'", '"'):
            return self._next("name")[1:-1]
        text = self._next("number").rstrip("L")
        if re.fullmatch(r"[-+]?\d+", text):
            return int(text)
        return float("nan") if text == "NA" else float(text)

    def _vector(self) -> list[Any]:
        """`c(1, 2:4, c(5))`, or `integer(0)`."""
        name = self._next("name")
        self._next("(")
        if name != "c":
            count = 0 if self._peek() == ")" else self._number()
            self._next(")")
            return [0 if name == "integer" else 0.0] * count
        items: list[Any] = []
        while self._peek() != ")":
            items.extend(np.ravel(self._value()).tolist())
            if self._peek() != ")":
                self._next(",")
        self._next(")")
        return items

    def _structure(self) -> Any:
        self._next("name")
        self._next("(")
        values = np.asarray(self._value())
        self._next(",")
        if self._next("name").strip("\"'`") not in (".Dim", "dim"):
            raise self._error(self.tokens[self.at - 1][2], "expected .Dim")
        self._next("=", "arrow")
        shape = tuple(int(n) for n in np.atleast_1d(self._value()))
        self._next(")")
        if values.size != int(np.prod(shape)):
            raise self._error(self.tokens[self.at - 1][2], f"{values.size} values do not fill {shape}")
        return values.reshape(shape, order="F")


def _range(first: int, last: int) -> list[int]:
    step = 1 if last >= first else -1
    return list(range(first, last + step, step))
