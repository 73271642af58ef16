"""Errors of runs, as scripts for CmdStanPy catch them.

CmdStanPy raises RuntimeError wherever CmdStan ends with an error, and ValueError where a program can't be compiled;
here each of the package's errors of data and indices, and of programs, is that, too.
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from stanlib.errors import StanDataError, StanDomainError, StanError, StanIndexError, StanUnknownError

from ..errors import StanSemanticError, StanSyntaxError


class CmdStanDataError(StanDataError, RuntimeError):
    """A datum or initial value that is missing, misnamed, or not what the program declares."""


class CmdStanDomainError(StanDomainError, RuntimeError):
    """A library function was given an argument outside its domain, where Stan throws."""


class CmdStanIndexError(StanIndexError, RuntimeError):
    """An index outside the container, or containers whose sizes do not go together."""


class CmdStanUnknownError(StanUnknownError, RuntimeError):
    """A size or a count that must be known when a program is compiled."""


class CmdStanSyntaxError(StanSyntaxError, ValueError):
    """The text is not a Stan program."""


class CmdStanSemanticError(StanSemanticError, ValueError):
    """The program breaks one of Stan's rules."""


_AS_CMDSTANPY: dict[type[StanError], type[StanError]] = {
    StanDataError: CmdStanDataError, StanDomainError: CmdStanDomainError, StanIndexError: CmdStanIndexError,
    StanUnknownError: CmdStanUnknownError,
}
_OF_PROGRAMS: dict[type[StanError], type[StanError]] = {
    StanSyntaxError: CmdStanSyntaxError, StanSemanticError: CmdStanSemanticError,
}  # fmt: skip


@contextmanager
def running() -> Iterator[None]:
    """What is raised within is a RuntimeError, whatever else it is; with the same message, place and traceback."""
    with _as(_AS_CMDSTANPY):
        yield


@contextmanager
def compiling() -> Iterator[None]:
    """What a program has wrong is a ValueError, whatever else it is."""
    with _as(_OF_PROGRAMS):
        yield


@contextmanager
def _as(kinds: Mapping[type[StanError], type[StanError]]) -> Iterator[None]:
    try:
        yield
    except StanError as e:
        e.__class__ = kinds.get(type(e), type(e))
        raise
