"""Tuple patterns as single assignments."""
from __future__ import annotations

from collections.abc import Iterator

from stanlib.types import Tuple

from . import gprob
from .fresh import Fresh


def unpacked(s: gprob.Unpack, names: Fresh) -> Iterator[gprob.Stmt]:
    """`(a, b) = value;` as a tuple of its own, and an assignment of each item."""
    name = names.helper("tuple")
    yield gprob.Declare(s.span, name, gprob.Sized(s.value.type), None, s.value)
    yield from _assign_items(s.places, gprob.Var(s.value.type, s.span, name), s)


def _assign_items(places: tuple[object, ...], value: gprob.Expr, s: gprob.Unpack) -> Iterator[gprob.Stmt]:
    assert isinstance(value.type, Tuple)
    for i, (place, t) in enumerate(zip(places, value.type.items), start=1):
        item = gprob.Item(t, s.span, value, i)
        if isinstance(place, gprob.Place):
            yield gprob.Assign(s.span, place, item)
        else:
            assert isinstance(place, tuple)
            yield from _assign_items(place, item, s)
