"""Terms in loops that are the same wherever some data are: `y[n] ~ poisson(lambda)` where y[n] is the same count.

Their tables have a row for each of the different values of those data, and places are told the number of their row.
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from typing import Any

from stanlib.types import INT, array

from ..ir import gprob, traversal, uses
from ..ir.fresh import Fresh
from .nodes import same, substituted
from .parameters import Stmts, raw, variable


@dataclass(frozen=True)
class Alike:
    """The loops around a term, its statements inside of them, and the ints of data that differ between iterations."""

    loops: tuple[gprob.For, ...]
    body: Stmts
    keys: tuple[gprob.Expr, ...]
    codes: str  # the variables for the numbers of rows at all places,
    count: str  # how many rows there are,
    row: str  # the index of the loop over rows,
    firsts: tuple[str, ...]  # and by loop the indices of the place that has a row first

    def made(self, counts: Sequence[gprob.Expr], at: Sequence[gprob.IndexExpr], names: Fresh) -> Iterator[gprob.Stmt]:
        """Statements that declare codes, count and firsts; places stand at `at` in arrays of the shape `counts`."""
        span, t = self.body[0].span, array(INT, len(counts))
        indices = [variable(INT, span, loop.name) for loop in self.loops]
        recorded = [names.helper("key") for _ in (*self.keys, *indices)]
        zero = raw("discrete_filled__", t, span, gprob.int_const(0, span), *counts)
        sets: Stmts = ()
        for name, e in zip(recorded, (*self.keys, *indices)):
            yield gprob.Declare(span, name, gprob.Sized(t, tuple(counts)), None, zero)
            sets += (gprob.Assign(span, gprob.Place(name, t, span, (gprob.Step(INT, tuple(at)),)), e),)
        for loop in reversed(self.loops):
            sets = (gprob.For(span, loop.name, loop.lower, loop.upper, sets),)
        yield from sets
        arrays = [variable(t, span, name) for name in recorded]
        codes = variable(t, span, self.codes)
        rows = raw("discrete_alike__", t, span, *arrays[: len(self.keys)])
        yield gprob.Declare(span, self.codes, gprob.Sized(t, tuple(counts)), None, rows)
        yield gprob.Declare(span, self.count, gprob.Sized(INT), None, raw("discrete_rows__", INT, span, codes))
        shape = (variable(INT, span, self.count),)
        for name, index in zip(self.firsts, arrays[len(self.keys) :]):
            first = raw("discrete_first__", array(INT, 1), span, codes, index)
            yield gprob.Declare(span, name, gprob.Sized(array(INT, 1), shape), None, first)

    def at_row(self) -> Stmts:
        """The statements at the first place of a row."""
        span = self.body[0].span
        at = (gprob.Single(variable(INT, span, self.row)),)
        own: dict[str, gprob.Expr] = {
            loop.name: gprob.Index(INT, span, variable(array(INT, 1), span, first), at)
            for loop, first in zip(self.loops, self.firsts)
        }  # fmt: skip
        out: Stmts = substituted(self.body, own)
        return out

    def over_rows(self, body: Stmts) -> Stmts:
        """The loop over rows."""
        span = self.body[0].span
        return (gprob.For(span, self.row, gprob.int_const(1, span), variable(INT, span, self.count), body),)


def alike(top: Stmts, loops: Sequence[gprob.For], static: Set[str], names: Fresh) -> Alike | None:
    """What a term in these loops depends on; None where it is more than ints of data, or data alone."""
    body, found = top, []
    for loop in loops:
        if len(body) != 1 or not isinstance(body[0], gprob.For) or body[0].name != loop.name:
            return None
        found.append(body[0])
        body = body[0].body
    indices = {loop.name for loop in loops}
    keys: list[gprob.Expr] = []
    if not body or not _collect(body, indices, static, keys) or not keys or _read(body) <= static | indices:
        return None
    bounds = uses.names_in(tuple((loop.lower, loop.upper) for loop in found))
    if bounds & indices:
        return None
    firsts = tuple(names.helper("first") for _ in loops)
    helper = names.helper
    return Alike(tuple(found), body, tuple(keys), helper("codes"), helper("rows"), helper("row"), firsts)


def _read(body: Stmts) -> set[str]:
    """The names from outside that statements read."""
    own = uses.declared(body) | uses.loop_indices(body)
    return {n for s in uses.walk_statements(body) for n in uses.reads(s)} - own


def _collect(node: Any, indices: Set[str], static: Set[str], keys: list[gprob.Expr]) -> bool:
    """Adds the ints of data in which indices of loops stand; whether they stand nowhere else."""
    if isinstance(node, gprob.Index) and node.type == INT and uses.mentions(node, indices):
        if uses.names_in(node) <= static | indices:
            if not any(same(node, k) for k in keys):
                keys.append(node)
            return True
    if isinstance(node, gprob.Var) and node.name in indices:
        return False
    parts = node if isinstance(node, tuple) else traversal.children(node)
    return all([_collect(c, indices, static, keys) for c in parts])
