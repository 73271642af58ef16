"""Counts of Poisson laws, whose rates may be drawn themselves, within the range of Stan's integers."""
from __future__ import annotations

from ..arrays.base import Array, Namespace
from ..domains import Domain, guard
from ..random.base import Random

MOST = 2.0**30  # Stan Math's POISSON_MAX_RATE: counts of greater rates may not be integers of 32 bits
RATE = Domain(f"less than {MOST:.0f}", lambda xp, x: x < MOST, safe=1.0)


def poisson_counts(xp: Namespace, random: Random, function: str, rate: Array, name: str = "the rate drawn") -> Array:
    """Poisson counts of a rate that is at least 0; `name` is what messages call it.

    Raises:
        StanDomainError: for a rate that is NaN or too great, as Stan does.
    """
    return random.poisson(guard(xp, function, (rate,), [(0, name, RATE)])[0])
