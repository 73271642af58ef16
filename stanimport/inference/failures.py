"""What a method raises that can't begin."""
from __future__ import annotations

from stanlib.errors import StanError


class InitialValueError(StanError, RuntimeError):
    """No initial value was found at which the log density and its gradient are finite.

    Attributes:
        line: of the Stan statement that is the reason, if it is known.
    """

    def __init__(self, message: str, line: int | None = None):
        super().__init__(message)
        self.line = line
