"""The errors that users of translated programs see; the compiler's own derive from the same base."""
from __future__ import annotations

from .dataclass import dataclass


@dataclass(frozen=True)
class Place:
    """Where in a Stan program an error arose: line and column count from 1, the column is 0 if it is not known.

    `included_from` is the `#include` in the program's own file, for what stands in another one.
    """

    filename: str
    line: int
    column: int = 0
    text: str = ""  # what stands there
    included_from: Place | None = None

    @property
    def in_main(self) -> Place:
        """The place in the program's own file."""
        return self.included_from or self

    def __str__(self) -> str:
        column = f", column {self.column}" if self.column else ""
        quoted = f"`{self.text}`, " if self.text else ""
        at = self.included_from
        included = "" if at is None else f", included from {at.filename}, line {at.line}"
        return f"in {quoted}{self.filename}, line {self.line}{column}{included}"


class StanError(Exception):
    """Base of every error about a Stan program or its data.

    Attributes:
        place: of an error at run time, the Stan text where it arose, which its message ends with.
    """

    place: Place | None = None

    def __str__(self) -> str:
        message = super().__str__()
        return message if self.place is None else f"{message}; {self.place}"

    def add_note(self, note: str) -> None:
        """Add what Python shows below the message; not what JAX says of its own frames, which are of no use here."""
        if "JAX has removed its internal frames" not in note:
            super().add_note(note)


class StanDataError(StanError, ValueError):
    """A datum that is missing, misnamed, or not what the program declares.

    Attributes:
        variable: the variable's Stan name.
        filename, lineno: where the program declares it.
    """

    def __init__(self, message: str, variable: str = "", filename: str | None = None, lineno: int | None = None):
        super().__init__(message)
        self.variable, self.filename, self.lineno = variable, filename, lineno


class StanDomainError(StanError, ValueError):
    """A library function was given an argument outside its domain, where Stan throws."""


class StanIndexError(StanError, IndexError):
    """An index outside the container, or containers whose sizes do not go together."""


class StanUnknownError(StanIndexError):
    """A size or a count that must be known when a program is compiled, but depends on what is known when it runs."""


class StanReject(StanError, RuntimeError):
    """The program called `reject(...)`, or a declared constraint does not hold, outside the sampler."""


class StanFatalError(StanError, RuntimeError):
    """The program called `fatal_error(...)`."""


class StanRuntimeError(StanError, RuntimeError):
    """What a program asks for can't be computed: the error of the array library is the cause."""


class StanUnsupportedError(StanRuntimeError, NotImplementedError):
    """The backend, or a library under it, can't do what a program asks for."""


class StanDerivativeError(StanRuntimeError):
    """A function has no derivatives of the order that is asked for."""


class StanTracingError(StanRuntimeError):
    """A size or a choice of Python's depends on a value that JAX traces: the program runs, but can't be compiled."""


class MissingLibraryError(StanError, ImportError):
    """A function needs a library that is not installed; the message says what to install."""


LIMITS = (StanUnknownError, StanRuntimeError)  # what can't be run here; Stan does not throw, so no draw is rejected
# what Stan throws too, where it is no limit
THROWN = (StanDomainError, StanIndexError, StanReject, StanFatalError, StanDataError)
