"""Arrays of tuples, which are tuples of arrays."""
from __future__ import annotations

from stanlib.types import array

from ..ir import gprob


def in_array(sized: gprob.Sized, item: gprob.Sized, dims: int) -> gprob.Sized:
    """An item of an array of tuples, with the sizes of the array in front."""
    return gprob.Sized(array(item.type, dims), (*sized.shape, *item.shape), item.items)
