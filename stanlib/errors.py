"""The errors that users of translated programs see; the compiler's own derive from the same base."""
from __future__ import annotations


class StanError(Exception):
    """Base of every error about a Stan program or its data."""


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


class StanReject(StanError, RuntimeError):
    """The program called `reject(...)`, or a declared constraint does not hold, outside the sampler."""


class StanFatalError(StanError, RuntimeError):
    """The program called `fatal_error(...)`."""


class MissingLibraryError(StanError, ImportError):
    """A function needs a library that is not installed; the message says what to install."""
