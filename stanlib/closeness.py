"""How far from what Stan asks for a sum, a length or an entry may be: what rounding makes of it."""
from __future__ import annotations

import math
from typing import Any

from .arrays.base import Array, Namespace

DOUBLE = 1e-12  # the rounding of double precision is below, that of single precision above
TOLERANCE = 1e-8  # Stan's CONSTRAINT_TOLERANCE, of numbers in double precision


def tolerance(xp: Namespace, x: Array) -> float:
    """Stan's in double precision; in single precision as large a part of the digits, about half of them.

    A softmax in single precision sums to 1 up to some 1e-7: by Stan's own tolerance a third of them would be none.
    """
    return TOLERANCE if is_double(xp, x) else math.sqrt(xp.rounding(x))


def is_one(xp: Namespace, total: Array) -> Array:
    """Whether sums or squared lengths are 1 up to rounding."""
    return xp.abs(total - 1.0) <= tolerance(xp, total)


def asymmetric(xp: Namespace, m: Array) -> Any:
    """Where square matrices (..., n, n) are not symmetric, NaN included.

    In double precision entries may differ by as much as in Stan, however large they are; in single precision by a part
    of the largest one, since a covariance of scales around 100 is rounded to 1e-3.
    """
    apart = xp.abs(m - xp.swapaxes(m, -1, -2))
    if is_double(xp, m) or 0 in xp.shape(m):
        return ~(apart <= TOLERANCE)
    largest = xp.max(xp.abs(m), axis=(-2, -1), keepdims=True)
    return ~(apart <= tolerance(xp, m) * xp.maximum(1.0, largest))


def is_double(xp: Namespace, x: Array) -> bool:
    """Whether numbers have double precision; integers are exact."""
    return xp.is_integer(x) or xp.rounding(x) < DOUBLE
