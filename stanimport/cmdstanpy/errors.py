"""Errors of runs, as scripts for CmdStanPy catch them.

CmdStanPy raises RuntimeError wherever CmdStan ends with an error; here each of the package's errors of data and
indices is that, too.
"""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from stanlib.errors import StanDataError, StanDomainError, StanError, StanIndexError, StanUnknownError


class CmdStanDataError(StanDataError, RuntimeError):
    """A datum or initial value that is missing, misnamed, or not what the program declares."""


class CmdStanDomainError(StanDomainError, RuntimeError):
    """A library function was given an argument outside its domain, where Stan throws."""


class CmdStanIndexError(StanIndexError, RuntimeError):
    """An index outside the container, or containers whose sizes do not go together."""


class CmdStanUnknownError(StanUnknownError, RuntimeError):
    """A size or a count that must be known when a program is compiled."""


_AS_CMDSTANPY: dict[type[StanError], type[StanError]] = {
    StanDataError: CmdStanDataError, StanDomainError: CmdStanDomainError, StanIndexError: CmdStanIndexError,
    StanUnknownError: CmdStanUnknownError,
}  # fmt: skip


@contextmanager
def running() -> Iterator[None]:
    """What is raised within is a RuntimeError, whatever else it is; with the same message, place and traceback."""
    try:
        yield
    except StanError as e:
        e.__class__ = _AS_CMDSTANPY.get(type(e), type(e))
        raise
