"""Variables that may be read before anything has been assigned to them.

Assigning a part counts for the whole, and the body of a loop as run: arrays are filled that way.
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...errors import Diagnostic
from ...ir import gprob, traversal
from ...ir.uses import ESCAPES
from .dependence import Facts

_BLOCKS = ("transformed data", "transformed parameters", "model", "generated quantities")


def rule(facts: Facts) -> Iterator[Diagnostic]:
    run = _Run()
    for block in _BLOCKS:
        run.block(facts.program.block(block))
    for f in facts.program.functions:
        run.empty = set()
        run.block(f.body)
    yield from run.found.values()


class _Run:
    def __init__(self) -> None:
        self.empty: set[str] = set()  # declared without a value, nothing assigned so far
        self.found: dict[Any, Diagnostic] = {}

    def block(self, statements: Sequence[gprob.Stmt]) -> bool:
        """Run statements; whether control leaves the block before its end."""
        for s in statements:
            self._statement(s)
            if isinstance(s, ESCAPES):
                return True
            if isinstance(s, gprob.Message) and s.kind != "print":
                return True
        return False

    def _statement(self, s: gprob.Stmt) -> None:
        """Run a statement: what it reads is looked at before what it assigns counts as set."""
        if isinstance(s, gprob.Declare):
            self._read(s.sized)
            self._read(s.value)
            if s.value is None and 0 not in _known_sizes(s.sized):
                self.empty.add(s.name)
            else:
                self.empty.discard(s.name)
        elif isinstance(s, (gprob.Assign, gprob.Unpack)):
            self._read(s.value)
            for place in _places(s.place if isinstance(s, gprob.Assign) else s.places):
                self._read(place.steps)
                self.empty.discard(place.name)
        elif isinstance(s, gprob.If):
            self._if(s)
        elif isinstance(s, (gprob.For, gprob.ForEach, gprob.While)):
            self._head(s)
            self.block(s.body)
        else:
            self._read(s)

    def _head(self, s: gprob.For | gprob.ForEach | gprob.While) -> None:
        if isinstance(s, gprob.For):
            self._read((s.lower, s.upper))
        else:
            self._read(s.condition if isinstance(s, gprob.While) else s.container)

    def _if(self, s: gprob.If) -> None:
        self._read(s.condition)
        before = set(self.empty)
        left = self.block(s.then)
        after_then, self.empty = self.empty, before
        left_otherwise = self.block(s.otherwise)
        if left:
            return
        self.empty = after_then if left_otherwise else self.empty | after_then

    def _read(self, node: object) -> None:
        if node is None:
            return
        for part in traversal.walk(node):
            if isinstance(part, gprob.Var) and part.name in self.empty:
                self.empty.discard(part.name)
                message = f"{part.name!r} may be used before it has a value"
                self.found[part.span.start, part.name] = Diagnostic(message, part.span, "", "warning", "unassigned")


def _known_sizes(sized: gprob.Sized) -> list[object]:
    return [e.value for e in sized.shape if isinstance(e, gprob.Const)]


def _places(place: Any) -> Iterator[gprob.Place]:
    if isinstance(place, tuple):
        for p in place:
            yield from _places(p)
    else:
        yield place
