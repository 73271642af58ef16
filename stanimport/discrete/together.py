"""Code that tells which values of counts can go together with each other, and with those of elements beside them.

A term is computed for those alone; stanlib/discrete/feasible.py finds them when data are known.
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from typing import Protocol

from stanlib.dataclass import dataclass
from stanlib.types import INT, Type, array

from ..ir import gprob
from ..ir.calls import raw
from ..ir.fresh import Fresh
from ..source import Span
from .parameters import Stmts, variable
from .sites import Site


class Told(Protocol):
    """What the sum is told of the program's parameters and of counts, whose names, and those without gaps, there are.
    """

    @property
    def described(self) -> Sequence[gprob.Expr]: ...

    @property
    def told(self) -> tuple[gprob.Expr, ...]: ...

    @property
    def counts(self) -> Set[str]: ...

    @property
    def stepwise(self) -> Set[str]: ...


@dataclass(frozen=True)
class Together:
    """What tells which values can go together, nothing if all can, and the variables for patterns and for values."""

    told: tuple[gprob.Expr, ...]
    sites: int
    loops: int
    patterns: str = ""
    possible: str = ""

    def made(self, elements: str, is_partial: bool, span: Span) -> Iterator[gprob.Stmt]:
        """Declares these, from the numbers of elements at all places, which are numbered where the term is partial."""
        if not self.told:
            return
        dims = 1 if is_partial else self.loops
        numbers = variable(array(INT, dims + 1), span, elements)
        of_places: Type = array(INT, dims) if dims else INT
        for name, function, t in (
            (self.patterns, "discrete_patterns__", of_places),
            (self.possible, "discrete_possible__", array(INT, self.sites + 1)),
        ):
            value = raw(function, t, span, numbers, *self.told)
            yield gprob.Declare(span, name, gprob.Sized(t), None, value)

    def pattern(self, at: Sequence[gprob.IndexExpr], span: Span) -> gprob.Expr:
        """The pattern of the place at some indices."""
        if not at:
            return variable(INT, span, self.patterns)
        return gprob.Index(INT, span, variable(array(INT, len(at)), span, self.patterns), tuple(at))

    def where(
        self, body: Stmts, positions: Sequence[gprob.IndexExpr], at: Sequence[gprob.IndexExpr], span: Span
    ) -> Stmts:
        """The body for values, at positions on their axes, that can go together at a place."""
        if not self.told:
            return body
        whole = variable(array(INT, self.sites + 1), span, self.possible)
        here = gprob.Index(INT, span, whole, (*positions, gprob.Single(self.pattern(at, span))))
        return (gprob.If(span, here, body),)


def together(sites: Sequence[Site], loops: int, tallies: Told | None, names: Fresh) -> Together:
    """For the sites of a term inside of so many loops: all can that are of one count without gaps, or of no counts."""
    counts = [s.discrete.name for s in sites if tallies is not None and s.discrete.name in tallies.counts]
    if tallies is None or not counts or len(sites) == 1 and counts[0] in tallies.stepwise:
        return Together((), len(sites), loops)
    told = (*tallies.described, *tallies.told)
    return Together(told, len(sites), loops, names.helper("patterns"), names.helper("possible"))
