"""Loops inside of one another, and what can be told of the inner ones before the outermost begins."""
from __future__ import annotations

from collections.abc import Container, Mapping, Set
from typing import Protocol

from ..ir import gprob, traversal
from ..ir.uses import assigned, counts, defines, mentions, walk_statements, writes

Stmts = tuple[gprob.Stmt, ...]
Limit = tuple[gprob.Expr, gprob.Expr, tuple[tuple[str, gprob.Expr, gprob.Expr], ...]]


class Callees(Protocol):
    """What a nest asks of user functions."""

    def is_of_arguments(self, key: str) -> bool:
        """Whether a call only has a value, which its arguments tell."""


class Times(Protocol):
    """What a nest asks of the binding times."""

    @property
    def callees(self) -> Callees: ...

    def is_dynamic(self, e: object) -> bool:
        """Whether an expression may depend on parameters."""


class Nest:
    """A traced loop, those inside of it around a place, and the definitions that stand between them.

    `inline` writes an expression in terms of what is known before the outermost loop and the loops' indices.
    """

    def __init__(
        self, times: Times, assigned: Container[str], written: Container[str], declared: Container[str],
        loops: tuple[gprob.For, ...], definitions: Mapping[str, gprob.Expr],
    ):  # fmt: skip
        self.times, self.assigned, self.written, self.declared = times, assigned, written, declared
        self.loops, self.definitions = loops, dict(definitions)

    @classmethod
    def of(cls, loop: gprob.For, times: Times) -> Nest:
        """The nest whose outermost loop this is."""
        inner = {name for s in walk_statements(loop.body) for name in (*counts(s), *writes(s))}
        return cls(times, assigned(loop.body), inner, _defined(loop.body), (loop,), {})

    @property
    def indices(self) -> set[str]:
        return {loop.name for loop in self.loops}

    def inside(self, loop: gprob.For) -> Nest:
        loops = (*self.loops, loop)
        return Nest(self.times, self.assigned, self.written, self.declared, loops, self.definitions)

    def define(self, name: str, value: gprob.Expr) -> None:
        inlined = None if name in self.assigned else self.inline(value)
        if inlined is not None:
            self.definitions[name] = inlined

    def limit(self, loop: gprob.For, apart: Set[str] = frozenset()) -> Limit | None:
        """The bounds of an inner loop, and the loops around which they depend on with theirs, all known before.

        None if they can't be told. `apart` is what lanes around the nest have for themselves.
        """
        lower, upper = self.inline(loop.lower), self.inline(loop.upper)
        if lower is None or upper is None:
            return None
        ranges: list[tuple[str, gprob.Expr, gprob.Expr]] = []
        for n in reversed(self.loops):
            low, high = self.inline(n.lower), self.inline(n.upper)
            if low is not None and high is not None and not mentions((low, high), apart):
                ranges.insert(0, (n.name, low, high))
            elif mentions((lower, upper, tuple(ranges)), {n.name}):
                return None
        return lower, upper, tuple(ranges)

    def inline(self, e: gprob.Expr) -> gprob.Expr | None:
        """The expression over static variables and loop indices alone, or None."""
        indices, sized = self.indices, self._only_sized(e)
        failed = False

        def change(node: object) -> object:
            nonlocal failed
            if isinstance(node, gprob.Var) and node.name not in indices and id(node) not in sized:
                if node.name in self.definitions:
                    return self.definitions[node.name]
                failed = failed or node.name in self.written or self.times.is_dynamic(node)
            elif isinstance(node, gprob.CallUser):
                failed = failed or not self.times.callees.is_of_arguments(node.function)
            elif isinstance(node, gprob.TargetValue):
                failed = True
            elif isinstance(node, gprob.Apply):
                failed = failed or node.function.random
            return node

        made: gprob.Expr = traversal.rewrite(e, change)
        return None if failed else made

    def _only_sized(self, e: gprob.Expr) -> set[int]:
        """The variables in an expression, by identity, of which it asks what is known whatever their values: sizes.

        An assignment does not change the size of a variable that is declared around the outermost loop.
        """
        changing, out = {*self.indices, *self.definitions}, set[int]()
        for n in (n for n in traversal.walk(e) if isinstance(n, gprob.Apply) and not self.times.is_dynamic(n)):
            inside = [v for v in traversal.walk(n) if isinstance(v, gprob.Var)]
            is_size = n.function.shape_only and isinstance(n.arguments[0], gprob.Var)
            fixed = self.declared if is_size else self.written
            if not any(v.name in changing or v.name in fixed for v in inside):
                out |= set(map(id, inside))
        return out


def _defined(body: Stmts) -> set[str]:
    """What comes into being inside of a loop, indices among it."""
    return {name for s in walk_statements(body) for name in (*counts(s), *defines(s))}
