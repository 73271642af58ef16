"""Declared sizes that stay true: one that later statements would change is kept in a variable of its own.

A container has the sizes that its declaration found, `int n = 3; vector[n] x; n = 2;`, and passes ask for these
anywhere behind it. Random sizes are drawn once. Source: Stan reference, variable declaration.
"""
from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

from stanlib.types import INT

from ..ir import gprob, traversal
from ..ir.fresh import Fresh
from ..ir.uses import assigned, declared
from .loops.affine import mentions_values
from .normalize import map_blocks, unsized

Stmts = tuple[gprob.Stmt, ...]


def run(program: gprob.Program, names: Fresh) -> gprob.Program:
    """The program with sizes that are the same wherever they are asked for."""
    random = frozenset(f.name for f in program.functions if f.suffix == "rng")
    return map_blocks(program, lambda block: _Sizes(names, random).block(block, frozenset()))


class _Sizes:
    """Sizes of declarations; `random` are the functions of the program that draw random numbers."""

    def __init__(self, names: Fresh, random: Set[str]):
        self.names, self.random = names, random

    def block(self, block: Stmts, later: frozenset[str]) -> Stmts:
        """The statements of a block; those behind it assign to the variables in `later`."""
        made: list[Stmts] = []
        for i, s in reversed(list(enumerate(block))):
            made.append(self._statement(s, later))
            if i:  # there is one before it, which it stands behind
                later = later.union(assigned((s,)))
        return tuple(t for statements in reversed(made) for t in statements)

    def _statement(self, s: gprob.Stmt, later: frozenset[str]) -> Stmts:
        if isinstance(s, gprob.Declare):
            before: list[gprob.Stmt] = []
            sized = self._lasting(s.sized, later, before)
            return (*before, replace(s, sized=sized) if before else s)
        if isinstance(s, (gprob.For, gprob.While)):  # the next iteration comes behind this one, with its own variables
            later = later.union(set(assigned(s.body)) - declared(s.body))
        return (traversal.with_bodies(s, lambda b: self.block(b, later)),)

    def _lasting(self, sized: gprob.Sized, later: frozenset[str], before: list[gprob.Stmt]) -> gprob.Sized:
        """Declared sizes in which nothing changes any more, and in `before` the variables that keep them."""
        shape = tuple(self._size(e, later, before) for e in sized.shape)
        return replace(sized, shape=shape, items=tuple(self._lasting(i, later, before) for i in sized.items))

    def _size(self, e: gprob.Expr, later: frozenset[str], before: list[gprob.Stmt]) -> gprob.Expr:
        if not mentions_values(e, later) and not self._draws(e):
            return e
        name = self.names.helper("size")
        before.append(gprob.Declare(e.span, name, unsized(INT), None, e))
        return gprob.Var(INT, e.span, name)

    def _draws(self, e: gprob.Expr) -> bool:
        return any(
            n.function.random if isinstance(n, gprob.Apply) else n.function in self.random
            for n in traversal.walk(e) if isinstance(n, (gprob.Apply, gprob.CallUser))
        )  # fmt: skip
