"""How a value depends on the rows of the data: on none, on each for itself, on their sum, or on all of them at once.

The rows are the entries along the axes that are declared with one size of the data. Where a call holds some of them,
a term that is a sum over rows is scaled to all, and one that depends on none stays as it is.
"""
from __future__ import annotations

from collections.abc import Iterable
from typing import Union

from stanlib.dataclass import dataclass

from ..source import Span

Axis = Union[int, str, None]


@dataclass(frozen=True)
class Kind:
    """How a value depends on rows.

    `tag` is one of

    - "zero", "one": the numbers 0 and 1 as they are written; like "free" otherwise.
    - "free": it depends on no row, nor on how many there are.
    - "size": how many rows there are.
    - "rows": a container, whose entry at place n of `axis` depends on row n alone. The axis is the name of a function
      where that has put the entries in an order of its own, and None for what a network returns.
    - "row": inside of a loop over rows, it depends on the row of the iteration alone.
    - "index": the index of such a loop.
    - "sum": a number that is a sum of one of each row.
    - "running": inside of a loop over rows, the sum so far of the variable `name`.
    - "all": it depends on rows in another way, first at `span`.
    """

    tag: str
    axis: Axis = 0
    span: Span | None = None
    name: str = ""

    @property
    def is_constant(self) -> bool:
        return self.tag in ("zero", "one", "free")

    @property
    def is_local(self) -> bool:
        """Whether at most one row decides it."""
        return self.is_constant or self.tag == "row"


ZERO, ONE, FREE, SIZE, ROW, INDEX, SUM = (
    Kind(t) for t in ("zero", "one", "free", "size", "row", "index", "sum")
)  # fmt: skip
NETWORK = Kind("rows", None)


def rows(axis: Axis) -> Kind:
    return Kind("rows", axis)


def everything(span: Span) -> Kind:
    """The kind of what depends on all rows, by what stands at `span`."""
    return Kind("all", span=span)


def worst(kinds: Iterable[Kind]) -> Kind | None:
    """The first of some kinds that depends on all rows."""
    return next((k for k in kinds if k.tag == "all"), None)


def alike(kinds: Iterable[Kind], span: Span) -> Kind:
    """The kind of what each entry of these values decides for itself: of a function of components."""
    given = list(kinds)
    found = worst(given)
    if found is not None:
        return found
    if all(k.is_local for k in given):
        return ROW if ROW in given else FREE
    if all(k.tag == "rows" or k.is_constant for k in given):
        axes = {k.axis for k in given if k.tag == "rows"}
        known = axes - {None}
        if len(known) <= 1:
            return rows(next(iter(known), None))
    return everything(span)


def added(left: Kind, right: Kind, span: Span) -> Kind:
    """The kind of a sum or difference of numbers."""
    for a, b in ((left, right), (right, left)):
        if a.tag == "running" and b.is_local:
            return a
        if a.tag in ("sum", "size") and b.tag in ("sum", "size", "zero"):
            return SUM
    return alike((left, right), span)


def scaled(value: Kind, factor: Kind, span: Span) -> Kind:
    """The kind of a number times, or divided by, another one."""
    return SUM if value.tag in ("sum", "size") and factor.is_constant else alike((value, factor), span)


def joined(left: Kind, right: Kind, span: Span) -> Kind:
    """The kind of a variable that is one of two values, by what depends on no row."""
    if left == right:
        return left
    pair = {left.tag, right.tag}
    if pair <= {"zero", "sum", "size"}:
        return SUM
    return alike((left, right), span)
