"""The R dump format of Stan's data: `y <- c(1, 2, 3)`, `structure(c(...), .Dim = c(2, 3))`, `1:10`.

Nothing takes memory before it is known that it is wanted: a line such as `x <- 1:1e12` is an error, and so is a shape
that its values don't fill.

Source: CmdStan Guide, "RDump format for CmdStan"; Stan's src/stan/io/dump.hpp.
"""
from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from stanlib.errors import StanDataError

_LARGEST = 10_000_000  # numbers that ranges and `integer(n)`, which take no room in the file, may make of it
_TRUTH = {"TRUE": 1, "FALSE": 0, "T": 1, "F": 0}  # R's logical values, which Stan takes for integers
# attributes that change no number
_NAMES = (".Dimnames", "dimnames", ".Names", "names", "levels", ".Label")
_PLAIN = {"factor", "ordered", "table", "matrix", "array"}  # classes that neither do
_DEEPEST, _LIMIT = 32, 2**31
_TOKEN = re.compile(r"""
    (?P<skip>[ \t\r\n;]+|\#[^\n]*)
  | (?P<number>[-+]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?L?|Inf(?:inity)?|NaN))(?![\w.])
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
        self.at, self.depth, self.room = 0, 0, _LARGEST

    def _scan(self) -> Iterator[tuple[str, str, int]]:
        """The kind, text and position of each token; the last one's kind is "end"."""
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

    def _wrong(self, problem: str) -> StanDataError:
        """The error at the token read last."""
        return self._error(self.tokens[max(0, self.at - 1)][2], problem)

    def variables(self) -> dict[str, Any]:
        out: dict[str, Any] = {}
        while self.tokens[self.at][0] != "end":
            name = self._next("name").strip("\"'`")
            if name in out:
                raise self._wrong(f"{name} is assigned twice")
            self._next("arrow", "=")
            out[name] = self._value()
        return out

    def _value(self) -> Any:
        """A number or an array; text, which R's users keep beside their data, stays text: no variable can be that."""
        if self._peek() == "structure":
            return self._structure()
        if self._peek() in ("c", "integer", "double", "numeric"):
            return self._vector()
        first = self._number()
        if self._peek() != ":":
            return first
        self.at += 1
        return self._range(first, self._number())

    def _number(self) -> str | float:
        """The next number, an int or a real; 1 or 0 for a logical value, and a string as it is, without quotes."""
        if self._peek()[:1] in ("'", '"'):
            return self._next("name")[1:-1]
        if self._peek() in _TRUTH:
            return _TRUTH[self._next("name")]
        if self._peek().startswith("NA"):
            raise self._error(self.tokens[self.at][2], "a value is missing (NA)")
        text = self._next("number")
        value = float(text.rstrip("L"))
        if math.isinf(value) and "Inf" not in text:
            raise self._wrong("a number is too large")
        if re.fullmatch(r"[-+]?\d+L?", text):
            return int(text.rstrip("L"))
        return int(value) if text.endswith("L") and value.is_integer() else value  # 1e5L

    def _range(self, first: object, last: object) -> np.ndarray:
        if not (isinstance(first, int) and isinstance(last, int)):
            raise self._wrong(f"{first}:{last} is no range of integers")
        step = 1 if last >= first else -1
        self._take(abs(last - first) + 1)
        return np.arange(first, last + step, step)

    def _take(self, count: object) -> int:
        """The number of entries that a range or zeros are to have."""
        if not isinstance(count, int) or count < 0:
            raise self._wrong(f"{count} is no size")
        self.room -= count
        if self.room < 0:
            raise self._wrong(f"ranges and zeros of more than {_LARGEST} numbers")
        return count

    def _vector(self) -> np.ndarray:
        """`c(1, 2:4, c(5))`, or `integer(0)`."""
        name = self._next("name")
        self._next("(")
        if name != "c":
            count = 0 if self._peek() == ")" else self._take(self._number())
            self._next(")")
            return np.zeros(count, int if name == "integer" else float)
        self._deeper()
        parts: list[np.ndarray] = []
        while self._peek() != ")":
            self._skip_name()
            parts.append(np.ravel(_array(self._value())))
            if self._peek() != ")":
                self._next(",")
        self._next(")")
        self.depth -= 1
        if len({part.dtype.kind == "U" for part in parts}) > 1:
            raise self._wrong("numbers and text in one vector")
        return np.concatenate(parts) if parts else np.zeros(0)

    def _structure(self) -> np.ndarray:
        """`structure(c(...), .Dim = c(2, 3))`: values in that shape, by columns; without it a vector."""
        self._next("name")
        self._next("(")
        if self._peek() == "structure":
            raise self._wrong("a structure in a structure")
        values, shape = np.atleast_1d(self._value()), None
        while self._peek() == ",":
            self._next(",")
            attribute = self._next("name").strip("\"'`")
            self._next("=", "arrow")
            if attribute in (".Dim", "dim"):
                shape = self._shape()
            elif attribute in _NAMES:
                self._labels()
            elif attribute == "class":
                self._class()
            else:
                raise self._wrong(f"there is no use for the attribute {attribute}: expected .Dim")
        self._next(")")
        if shape is None:
            return values
        if values.size != math.prod(shape):
            raise self._wrong(f"{values.size} values do not fill {shape}")
        return values.reshape(shape, order="F")

    def _class(self) -> None:
        """That of numbers that mean what they are, as the codes of a factor do, the numbers of its levels from 1."""
        other = sorted({*np.atleast_1d(self._value()).astype(str).tolist()} - _PLAIN)
        if other:
            raise self._wrong(f"values of the class {other[0]} are not plain numbers")

    def _labels(self) -> None:
        """Names of entries or dimensions, which data don't have: `c("a", "b")`, `NULL`, or a list of such, with names
        of its own as an attribute."""
        if self._peek() == "NULL":
            self.at += 1
        elif self._peek() not in ("list", "structure"):
            self._value()
        else:
            self.at += 1
            self._next("(")
            self._deeper()
            while self._peek() != ")":
                self._skip_name()
                self._labels()
                if self._peek() != ")":
                    self._next(",")
            self._next(")")
            self.depth -= 1

    def _skip_name(self) -> None:
        """The name of an entry, `a =`, if it has one."""
        if self.tokens[self.at][0] == "name" and self.tokens[self.at + 1][1] == "=":
            self.at += 2

    def _deeper(self) -> None:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self._wrong(f"vectors and lists are nested more than {_DEEPEST} deep")

    def _shape(self) -> tuple[int, ...]:
        shape = np.atleast_1d(self._value()).tolist()
        wrong = [n for n in shape if not isinstance(n, int) or not 0 <= n < _LIMIT]
        if wrong or len(shape) > _DEEPEST:
            raise self._wrong(f"{wrong[0]} is no size" if wrong else f"{len(shape)} dimensions")
        if 0 in shape and math.prod(n or 1 for n in shape) >= _LIMIT:
            raise self._wrong(f"{tuple(shape)} is too large a shape")
        return tuple(shape)


def _array(value: object) -> np.ndarray:
    """A part of a vector; an integer of more than 64 bits is real there."""
    made = np.asarray(value)
    return made.astype(float) if made.dtype.kind in "uO" else made
