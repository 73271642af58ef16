"""Solutions of equations, differentiated: what an iteration has found becomes a function of what the equations hold."""
from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
ORDERS = 2  # derivatives are exact up to this order


def differentiable(step: Callable[[T], T], found: T) -> T:
    """A solution after a step of Newton's method for each order of the derivatives that it shall have.

    The steps move it by nothing. By the implicit function theorem the first one's value has the solution's first
    derivatives; that of each further one has those of one order more.

    Args:
        step: an array of the unknowns to one of the same shape; whoever differentiates does so through it. The matrix
            that it divides by may be a constant.
        found: the solution, as a constant.
    """
    for _ in range(ORDERS):
        found = step(found)
    return found
