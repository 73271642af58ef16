"""Terms in loops that are the same wherever some ints are: `y[n] ~ poisson(lambda)` where y[n] is the same count.

So is `z[i, t] ~ bernoulli(phi[t - 1] * z[i, t - 1])` for all i. Their tables have a row for each of the different
values of those ints, data or indices of loops, and places are told the number of their row.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from functools import partial

from stanlib.dataclass import dataclass
from stanlib.types import INT, array

from ..ir import gprob, uses
from ..ir.calls import raw
from ..ir.fresh import Fresh
from ..ir.traversal import substituted
from .distributing import distributed
from .ints import collect, nothing
from .origins import Reading
from .parameters import Stmts, variable


@dataclass(frozen=True)
class Alike:
    """The loops around a term, its statements inside of them, and the ints that it depends on there.

    `numbers` are statements that set some of these.
    """

    loops: tuple[gprob.For, ...]
    body: Stmts
    keys: tuple[gprob.Expr, ...]
    codes: str  # the variables for the numbers of rows at all places,
    count: str  # how many rows there are,
    row: str  # the index of the loop over rows,
    firsts: tuple[str, ...]  # and by loop the indices of the place that has a row first
    numbers: Stmts = ()

    def made(
        self, counts: Sequence[gprob.Expr], at: Sequence[gprob.IndexExpr], around: Callable[[Stmts], Stmts],
        names: Fresh,
    ) -> Iterator[gprob.Stmt]:  # fmt: skip
        """Statements that declare codes, count and firsts; places stand at `at` in arrays of the shape `counts`.

        `around` puts statements inside the loops.
        """
        span, t = self.body[0].span, array(INT, len(counts))
        indices = [variable(INT, span, loop.name) for loop in self.loops]
        recorded = [names.helper("key") for _ in (*self.keys, *indices)]
        zero = raw("discrete_filled__", t, span, gprob.int_const(0, span), *counts)
        yield from self.numbers
        sets: Stmts = ()
        for name, e in zip(recorded, (*self.keys, *indices)):
            yield gprob.Declare(span, name, gprob.Sized(t, tuple(counts)), None, zero)
            sets += (gprob.Assign(span, gprob.Place(name, t, span, (gprob.Step(INT, tuple(at)),)), e),)
        yield from around(sets)
        arrays = [variable(t, span, name) for name in recorded]
        codes = variable(t, span, self.codes)
        rows = raw("discrete_alike__", t, span, *arrays[: len(self.keys)])
        yield gprob.Declare(span, self.codes, gprob.Sized(t, tuple(counts)), None, rows)
        yield gprob.Declare(span, self.count, gprob.Sized(INT), None, raw("discrete_rows__", INT, span, codes))
        shape = (variable(INT, span, self.count),)
        for name, index in zip(self.firsts, arrays[len(self.keys) :]):
            first = raw("discrete_first__", array(INT, 1), span, codes, index)
            yield gprob.Declare(span, name, gprob.Sized(array(INT, 1), shape), None, first)

    def over_rows(self, body: Stmts, static: Set[str]) -> Stmts:
        """Statements of one iteration, for the first place of every row."""
        span = self.body[0].span
        at = (gprob.Single(variable(INT, span, self.row)),)
        own: dict[str, gprob.Expr] = {
            loop.name: gprob.Index(INT, span, variable(array(INT, 1), span, first), at)
            for loop, first in zip(self.loops, self.firsts)
        }  # fmt: skip
        inner: Stmts = distributed(substituted(body, own), {*static, *self.firsts, self.row})
        return (gprob.For(span, self.row, gprob.int_const(1, span), variable(INT, span, self.count), inner),)


def alike(
    top: Stmts, loops: Sequence[gprob.For], bounds: Sequence[gprob.Expr], static: Set[str], names: Fresh,
    reading: Reading | None = None,
) -> Alike | None:  # fmt: skip
    """What a term in these loops, whose values have these bounds, depends on.

    None where that is no ints, or in every iteration others, or data alone. `reading` tells of containers
    that it reads.
    """
    indices = {loop.name for loop in loops}
    found = _inside(top, loops, static | indices)
    if found is None or not found[1]:
        return None
    around, body = found
    keys: list[gprob.Expr] = []
    collect((*body, *bounds), indices, static, keys, nothing if reading is None else partial(reading.number, indices))
    bare = {k.name for k in keys if isinstance(k, gprob.Var)}
    if not keys or bare == indices or _read(body) <= static | indices:
        return None
    firsts = tuple(names.helper("first") for _ in loops)
    helper = names.helper
    numbers = () if reading is None else tuple(reading.statements(uses.names_in(tuple(keys))))
    return Alike(around, body, tuple(keys), helper("codes"), helper("rows"), helper("row"), firsts, numbers)


def _inside(
    top: Stmts, loops: Sequence[gprob.For], known: Set[str]
) -> tuple[tuple[gprob.For, ...], Stmts] | None:  # fmt: skip
    """The loops, and what is inside of them and of branches that data decide; None where there is something beside."""
    found: list[gprob.For] = []
    body = top
    while len(found) < len(loops):
        s = body[0] if len(body) == 1 else None
        if isinstance(s, gprob.For) and s.name == loops[len(found)].name:
            found.append(s)
            body = s.body
        elif isinstance(s, gprob.If) and not (s.then and s.otherwise) and uses.names_in(s.condition) <= known:
            body = s.then or s.otherwise
        else:
            return None
    return tuple(found), body


def _read(body: Stmts) -> set[str]:
    """The names from outside that statements read."""
    own = uses.declared(body) | uses.loop_indices(body)
    return {n for s in uses.walk_statements(body) for n in uses.reads(s)} - own
