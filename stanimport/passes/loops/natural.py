"""Integers that are certainly zero or more, as sizes must be: Stan throws where a declaration has another."""
from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import copy
from functools import cache

from ...ir import gprob, traversal
from ...ir.calls import apply
from ...ir.uses import mentions, written
from ..surroundings import Surroundings
from .affine import key, linear
from .sizes import rejected

Stmts = tuple[gprob.Stmt, ...]

_CLOSED = ("add", "multiply", "divide", "modulus")  # of what is zero or more, these are


class Naturals:
    """What is known to be zero or more: the expressions that are told, and the indices of loops from there on."""

    def __init__(self, expressions: Iterable[gprob.Expr], indices: frozenset[str] = frozenset()):
        self.expressions, self.indices = tuple(expressions), indices
        self.keys = cache(lambda: {key(e) for e in self.expressions})  # most bodies declare nothing that moves

    @staticmethod
    def in_body(body: Stmts, around: Surroundings) -> "Naturals":
        """What is told of a body's surroundings, and holds all through the body."""
        changing = written(body)
        return Naturals(e for e in around.natural if not mentions(e, changing))

    def inside(self, s: gprob.Stmt) -> "Naturals":
        """What is known in the body of a loop, or in the sides of a branch."""
        if not isinstance(s, gprob.For):
            return self
        first = linear(s.lower)
        begins = self.holds(s.lower) or first.is_constant and first.constant >= 0
        made = copy(self)
        made.indices = self.indices | {s.name} if begins else self.indices - {s.name}
        return made

    def holds(self, e: gprob.Expr) -> bool:
        """Whether an expression is certainly zero or more."""
        if isinstance(e, gprob.Const):
            return isinstance(e.value, int) and e.value >= 0
        if isinstance(e, gprob.Var) and e.name in self.indices or key(e) in self.keys():
            return True
        if isinstance(e, gprob.Index):
            return self.holds(e.base)
        if isinstance(e, gprob.Apply):
            return e.function.shape_only or e.function.name in _CLOSED and all(map(self.holds, e.arguments))
        return False

    def rejections(self, sized: gprob.Sized, name: str) -> Iterator[gprob.Stmt]:
        """Conditions that reject the sizes of a variable that may be negative."""
        for size in (e for n in traversal.walk(sized) if isinstance(n, gprob.Sized) for e in n.shape):
            if not self.holds(size):
                negative = apply("logical_lt", size, gprob.int_const(0, size.span))
                yield rejected(negative, f"a size of {name} is negative: ", size)
