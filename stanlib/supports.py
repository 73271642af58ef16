"""Regions that a declaration can promise: intervals of the line, and the values of constrained types.

Records use them twice: for the support of a distribution, and for what its arguments have to be. Compilers read from
them which declarations qualify, backends which of their own constraints it is.
"""
from __future__ import annotations

from .dataclass import dataclass


@dataclass(frozen=True)
class Interval:
    """Numbers between two bounds (None for no bound); `closed` if the bounds belong to it."""

    name: str
    lower: float | None = None
    upper: float | None = None
    closed: bool = False

    def contains(self, x: float) -> bool:
        if self.closed:
            return (self.lower is None or x >= self.lower) and (self.upper is None or x <= self.upper)
        return (self.lower is None or x > self.lower) and (self.upper is None or x < self.upper)

    @property
    def declaration(self) -> str:
        """How a variable is declared to be inside."""
        bounds = (f"{word}={x:g}" for word, x in (("lower", self.lower), ("upper", self.upper)) if x is not None)
        return f"with <{', '.join(bounds)}>"

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Kind:
    """The values of a constrained type, by its name; other types may have some of them alone."""

    name: str

    @property
    def declaration(self) -> str:
        return f"as {self.name}"

    def __str__(self) -> str:
        return f"of type {self.name}"


Region = Interval | Kind

REAL = Interval("real", closed=True)
POSITIVE = Interval("positive", 0.0)
NONNEGATIVE = Interval("nonnegative", 0.0, closed=True)
UNIT = Interval("between 0 and 1", 0.0, 1.0)
PROBABILITY = Interval("in [0, 1]", 0.0, 1.0, closed=True)
SIMPLEX, ORDERED = Kind("simplex"), Kind("ordered")
COVARIANCE, CHOLESKY_FACTOR = Kind("cov_matrix"), Kind("cholesky_factor_cov")

# The supports of univariate continuous laws, by the names that records give them. Those of integers are data's alone.
INTERVALS: dict[str, Interval] = {"real": REAL, "positive": POSITIVE, "nonnegative": NONNEGATIVE, "unit": UNIT}


def region(support: str) -> Region:
    """The region of real values that a support is, by its name."""
    return REAL if support == "vector" else INTERVALS.get(support) or Kind(support)
