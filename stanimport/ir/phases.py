"""The phases of a program between passes: pipeline.py says which pass takes and gives which."""
from __future__ import annotations

from enum import IntEnum


class Phase(IntEnum):
    """What a program has become; a later phase keeps what the earlier ones promise."""

    COMPILED = 0  # as the scheme leaves it
    NORMAL = 1  # loops count, assignments have one place
    EXPLICIT = 2  # what adds to the target is a statement
    TRACKED = 3  # nothing reads the target
    STRUCTURED = 4  # nothing escapes under control that a backend traces
    LANES = 5  # loops whose iterations run at once, and recurrences
    PREDICTORS = 6  # sums of data times coefficients as products
    SPECIALISED = 7  # calls name the variants of functions, loops and branches tell how they run
