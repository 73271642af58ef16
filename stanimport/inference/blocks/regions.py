"""Rows that are computed in blocks, between those where parts begin and end."""
from __future__ import annotations

from collections.abc import Sequence

from stanlib.dataclass import dataclass


@dataclass(frozen=True)
class Region:
    """Rows of a class, `start` to `stop`: so many blocks, or all at once if `blocks` is 0."""

    start: int
    stop: int
    blocks: int

    @property
    def rows(self) -> int:
        return (self.stop - self.start) // (self.blocks or 1)


def regions_of(breaks: Sequence[int], most: int, devices: int = 1) -> list[Region]:
    """Blocks between rows where parts begin and end; what is left over goes with the short parts beside it.

    Every device can have as many blocks as the others.
    """
    out: list[Region] = []
    short = None
    for start, stop in zip(breaks, breaks[1:]):
        blocks = -(-(stop - start) // (most * devices)) * devices
        if blocks < 2 or stop - start < blocks:
            short = start if short is None else short
            continue
        rest = (stop - start) % blocks
        before = rest if short is not None else 0
        if short is not None:
            out.append(Region(short, start + before, 0))
        out.append(Region(start + before, stop - (rest - before), blocks))
        short = stop - (rest - before) if rest > before else None
    if short is not None:
        out.append(Region(short, breaks[-1], 0))
    return out
