"""What the statements of a loop's body read and write."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from stanlib.dataclass import dataclass

from ...ir import gprob, traversal
from .affine import Linear, linear


@dataclass(frozen=True)
class Access:
    """A read or write of a variable, or of a part of it.

    `indices` has a linear form for each single index and None for a range or multi-index; an access without indices
    is one to the whole variable.
    """

    name: str
    writes: bool
    indices: tuple[Linear | None, ...] = ()
    node: Any = None

    @property
    def needs_value(self) -> bool:
        """Whether the variable must have its value: one of which a part is written does."""
        return not self.writes or bool(self.indices)


def of_statement(s: gprob.Stmt) -> list[Access]:
    """All accesses of a statement, in nested ones too."""
    out: list[Access] = []
    stack = [s]
    while stack:
        top = stack.pop()
        out += _own(top)
        for body in reversed(traversal.bodies(top)):
            stack += reversed(body)
    return out


def _own(s: gprob.Stmt) -> Iterator[Access]:
    """The accesses of a statement without those inside of it, what it reads before what it writes."""
    if isinstance(s, gprob.Declare):
        yield from _parts((s.value, s.sized, s.constraint))
        yield Access(s.name, True, (), s)
    elif isinstance(s, gprob.Assign):
        yield from reads(s.value)
        yield from _place(s.place)
        yield Access(s.place.name, True, place_indices(s.place), s)
    elif isinstance(s, gprob.Bind):
        yield from reads(s.call)
        for name in filter(None, (s.name, s.term)):
            yield Access(name, True, (), s)
    else:
        for child in traversal.children(s):
            if not isinstance(child, gprob.Stmt):
                yield from reads(child)


def _parts(nodes: Sequence[object]) -> Iterator[Access]:
    for node in nodes:
        if node is not None:
            yield from reads(node)


def _place(place: gprob.Place) -> Iterator[Access]:
    for step in place.steps:
        for i in step.indices:
            yield from reads(i)


def reads(node: object) -> Iterator[Access]:
    """The reads of an expression or index."""
    if isinstance(node, gprob.Index):
        base, indices = flattened(node)
        if isinstance(base, gprob.Var):
            yield Access(base.name, False, forms(indices), node)
            for i in indices:
                yield from reads(i)
            return
    if isinstance(node, gprob.Var):
        yield Access(node.name, False, (), node)
        return
    for child in traversal.children(node):
        yield from reads(child)


def flattened(e: gprob.Index) -> tuple[gprob.Expr, tuple[gprob.IndexExpr, ...]]:
    """`x[i][j]` as x and (i, j), as long as the indices before the last are single ones."""
    base: gprob.Expr = e.base
    indices = e.indices
    while isinstance(base, gprob.Index):
        inner: gprob.Index = base
        if not all(isinstance(i, gprob.Single) for i in inner.indices):
            break
        base, indices = inner.base, (*inner.indices, *indices)
    return base, indices


def forms(indices: Sequence[gprob.IndexExpr]) -> tuple[Linear | None, ...]:
    """The linear forms of indices; in place of a number of another array's element those of that one's indices."""
    out: list[Linear | None] = []
    for i in indices:
        if isinstance(i, gprob.Single) and i.numbers and isinstance(i.value, gprob.Index):
            out += forms(i.value.indices)
        else:
            out.append(linear(i.value) if isinstance(i, gprob.Single) else None)
    return tuple(out)


def place_indices(place: gprob.Place) -> tuple[Linear | None, ...]:
    """The indices of an assigned part; behind the item of a tuple nothing is known."""
    out: list[Linear | None] = []
    for step in place.steps:
        if step.item:
            return (*out, None)
        out += forms(step.indices)
    return tuple(out)


def step_indices(place: gprob.Place) -> tuple[gprob.IndexExpr, ...] | None:
    """The index expressions of an assigned part, None where an item of a tuple is among the steps."""
    if any(s.item for s in place.steps):
        return None
    return tuple(i for s in place.steps for i in s.indices)
