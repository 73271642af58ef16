"""What a method raises that can't begin or does not arrive, and what is left of a fit that failed among many."""
from __future__ import annotations

from typing import Any, Literal

from stanlib.dataclass import dataclass
from stanlib.errors import StanError

__all__ = ["ConvergenceError", "Failure", "InitialValueError"]


class InitialValueError(StanError, RuntimeError):
    """No initial value was found at which the log density and its gradient are finite.

    Attributes:
        line: of the Stan statement that is the reason, if it is known; of the `#include` for an included one.
    """

    def __init__(self, message: str, line: int | None = None):
        super().__init__(message)
        self.line = line


class ConvergenceError(StanError, RuntimeError):
    """An optimization, of a mode or of an approximation, that has not arrived, or can't take its steps."""


@dataclass(frozen=True)
class Failure:
    """A fit that failed.

    Attributes:
        index: of the data set.
        error: what was raised.
        key: of the data set, if data sets have keys.
    """

    index: int
    error: Exception
    key: Any = None

    def __bool__(self) -> Literal[False]:
        return False
