"""Declarations move into the loop or branch that alone uses them: an iteration carries nothing on that it has alone.

What Stan throws for, a negative size, is asked for where the declaration stood.
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ...ir import gprob, traversal
from ...ir.uses import mentions, written
from ..surroundings import Surroundings
from .accesses import of_statement
from .natural import Naturals
from .private import is_private

Stmts = tuple[gprob.Stmt, ...]


def run(body: Stmts, around: Surroundings) -> Stmts:
    """The body with declarations as far inside as they can stand."""
    return _block(body, around.sizes_in(body), Naturals.in_body(body, around))


def _block(body: Sequence[gprob.Stmt], sizes: Mapping[str, gprob.Sized], natural: Naturals) -> Stmts:
    candidates = [s for s in body if isinstance(s, gprob.Declare) and s.value is None and s.site is None]
    block = _Block(body, sizes, natural) if candidates else None
    for s in candidates:
        assert block is not None
        block.sink(s)
    return tuple(_inside(s, sizes, natural) for s in (block.statements if block is not None else body))


class _Block:
    """The statements of a block, and which of them use each variable."""

    def __init__(self, body: Sequence[gprob.Stmt], sizes: Mapping[str, gprob.Sized], natural: Naturals):
        self.sizes, self.natural = sizes, natural
        self.rejections: dict[int, Stmts] = {}  # by the place of the declaration that moved
        self.places: dict[int, gprob.Stmt] = dict(enumerate(body))
        self.users: dict[str, set[int]] = {}
        self.number = {id(s): i for i, s in enumerate(body)}
        for i, s in enumerate(body):
            self._count(s, i)

    @property
    def statements(self) -> Iterator[gprob.Stmt]:
        for place in range(len(self.number)):
            yield from self.rejections.get(place, ())
            if place in self.places:
                yield self.places[place]

    def _count(self, s: gprob.Stmt, place: int) -> None:
        for name in _uses(s):
            self.users.setdefault(name, set()).add(place)

    def sink(self, declaration: gprob.Declare) -> None:
        """Move a declaration into the statement that alone uses the variable, if it needs nothing from before."""
        place = self.number[id(declaration)]
        users = self.users[declaration.name] - {place}
        around = self._with(self.places[min(users)], declaration) if len(users) == 1 else None
        if around is None:
            return
        if _may_be_skipped(self.places[min(users)], declaration.name):
            self.rejections[place] = tuple(self.natural.rejections(declaration.sized, declaration.name))
        self.places[min(users)] = around
        del self.places[place]
        for using in self.users.values():
            using.discard(place)
        self._count(declaration, min(users))

    def _with(self, s: gprob.Stmt, declaration: gprob.Declare) -> gprob.Stmt | None:
        """A statement with a declaration inside: in the body of a loop, or in the sides of a branch that need it."""
        if isinstance(s, gprob.For) and self._is_private(s, declaration):
            return replace(s, body=(declaration, *s.body))
        if isinstance(s, gprob.If) and not mentions(s.condition, {declaration.name}):
            used = (_use(side, declaration.name) for side in (s.then, s.otherwise))
            then, otherwise = ((declaration, *b) if u else b for u, b in zip(used, (s.then, s.otherwise)))
            return replace(s, then=then, otherwise=otherwise)
        return None

    def _is_private(self, loop: gprob.For, declaration: gprob.Declare) -> bool:
        if mentions(declaration.sized, written(loop.body) | {loop.name}):
            return False
        return is_private(loop.body, declaration.name, self.sizes, lasting=None)


def _uses(s: gprob.Stmt) -> set[str]:
    """The variables that a statement uses, or that it records or checks."""
    kept = {n.name for n in traversal.walk(s) if isinstance(n, (gprob.Deterministic, gprob.Check))}
    return kept | {a.name for a in of_statement(s)}


def _may_be_skipped(s: gprob.Stmt, name: str) -> bool:
    """Whether a declaration that moves into a statement may not run there: in a loop, or in one side of a branch."""
    return not isinstance(s, gprob.If) or not all(_use(side, name) for side in traversal.bodies(s))


def _use(body: Stmts, name: str) -> bool:
    return any(name in _uses(s) for s in body)


def _inside(s: gprob.Stmt, sizes: Mapping[str, gprob.Sized], natural: Naturals) -> gprob.Stmt:
    known = natural.inside(s)
    return traversal.with_bodies(s, lambda body: _block(body, sizes, known))
