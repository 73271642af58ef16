"""The code that tabulates a term for all values of the elements that it depends on, and tells which elements those are.

    array[K, N] real table;
    for (n in 1:N) for (k in 1:K) { real sum = 0; sum += normal_lpdf(y[n] | mu[k], sigma); table[k, n] = sum; }
    array[N, 1] int elements;
    for (n in 1:N) elements[n] = {element_of_z[n]};

A term that is the same in all iterations of the loops around it has one table for all of them. Where it does not stand
in all of them, or they differ in length, the places where it stands are numbered, and tables have an axis for those.
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import reduce
from typing import Any

from stanlib.dataclass import dataclass
from stanlib.types import INT, REAL, array

from ..ir import gprob, traversal, uses
from ..ir.calls import call, raw
from ..ir.fresh import Fresh
from ..ir.renaming import renamed, with_names
from . import values
from .alike import Alike, alike
from .observed import Observing, observed
from .origins import Reading
from .parameters import Discrete, Stmts, text, variable
from .pinned import may_be_zero
from .probable import is_probable, valued
from .repeated import repeated, without_loops
from .segments import excluded, grid, numbered, segments, without_conditions
from .sites import own_sites, with_values
from .standing import chosen, standing
from .terms import Term
from .together import Told, together

_UNREAD = -1  # as stanlib/discrete/problem.py has it


@dataclass(frozen=True)
class Table:
    """Statements, and what sum and draw are told.

    That is a name, numbers of elements, how many on each axis, the table, its row at every place, 0 for places in
    their order, whether it holds probabilities in place of their logarithms, and where in it the term stands, or 0.
    What is `observed` is told as stanlib/discrete/units.py reads it.
    """

    statements: Stmts
    arguments: tuple[gprob.Expr, ...]
    observed: tuple[gprob.Expr, ...]


def table(
    term: Term, discrete: Mapping[str, Discrete], static: Set[str], sizes: Mapping[str, gprob.Sized],
    excluding: Stmts, names: Fresh, tallies: Told | None = None, reading: Reading | None = None,
    observing: Observing | None = None,
) -> Table:  # fmt: skip
    """The code for a term.

    Args:
        static: The variables that depend on data alone.
        sizes: The declarations of all variables.
        excluding: Empty branches on what makes all terms impossible.
        tallies, reading: The counts among the discrete parameters; what is known of containers.
        observing: What is known of the data, where their outcomes are to be told.
    """
    return _Builder(term, discrete, static, sizes, excluding, names, tallies, reading).build(observing)


class _Builder:
    def __init__(
        self, term: Term, discrete: Mapping[str, Discrete], static: Set[str], sizes: Mapping[str, gprob.Sized],
        excluding: Stmts, names: Fresh, tallies: Told | None = None, reading: Reading | None = None,
    ):  # fmt: skip
        self.term, self.names, self.static, self.sizes, self.reading = term, names, static, sizes, reading
        self.span = term.statement.span
        self.sites, loops = own_sites(term, discrete, static, names)
        self.excluding = self._conditions(excluding, discrete.keys())
        self.loops = repeated(term, self.sites, loops, static, self.excluding, names)
        self.level = len(self.loops)
        self.indices = {s.name for s in self.loops}
        self.table, self.elements, self.sum = (names.helper(n) for n in ("table", "elements", "sum"))
        self.place = names.helper("place") if self._is_partial() else ""
        self.copies = {n: names.helper(n) for n in term.changed}
        self.made: list[gprob.Stmt] = []
        self.stands: gprob.Expr = gprob.int_const(0, self.span)
        self.only: dict[str, int] = {}
        self.together = together(self.sites, len(self.loops), tallies, names)
        self.probable = is_probable(term, self.sites, self.loops, discrete.keys())
        self.dense: Set[str] = frozenset()  # the indices of sites that are tabulated beyond the bounds of elements

    def build(self, observing: Observing | None) -> Table:
        """The table of the term over sites and loops; over sites alone if all iterations are the same."""
        self.made += [values.list_of_all(s, self.span) for s in self.sites if s.missing]
        counts = self._counts()
        if self.place:
            counts = [self._places(counts)]
        self._elements(counts)
        self._find_together()
        code = with_values((*self.term.before, *self.term.top), self.sites)
        before, top = code[: len(self.term.before)], code[len(self.term.before) :]
        dims, codes = self._filled(before, top, counts)
        label = text(f"line {self.span.in_main().line}", self.span)
        found = variable(array(INT, len(counts) + 1), self.span, self.elements)
        widths = gprob.MakeArray(array(INT, 1), self.span, tuple(values.width(s, self.span) for s in self.sites))
        table_ = variable(array(REAL, dims + len(self.sites)), self.span, self.table)
        probable = gprob.int_const(int(self.probable), self.span)
        seen = () if observing is None else tuple(self._observed(observing, counts))
        return Table(tuple(self.made), (label, found, widths, table_, codes, probable, self.stands), seen)

    def _observed(self, known: Observing, counts: Sequence[gprob.Expr]) -> Iterator[gprob.Expr]:
        """The variable of the data that the term observes, outcomes if each place has one, and the statement."""
        found = observed(self.term, known, self.static | self.indices, self.sizes)
        told: gprob.Expr = text("", self.span)
        if found.value is not None and found.loops == len(self.loops):
            shape = counts if found.length is None else (*counts, found.length)
            name, t = self.names.helper("outcomes"), array(REAL, len(shape))
            self._declare(name, t, shape, gprob.Const(REAL, self.span, 0.0))
            self.made += self._renamed(self._around((self._set(name, t, self._at(), found.value),)))
            told = variable(t, self.span, name)
        yield text(found.variable, self.span)
        yield told
        yield gprob.int_const(known.number(self.span), self.span)

    def _filled(self, before: Stmts, top: Stmts, counts: Sequence[gprob.Expr]) -> tuple[int, gprob.Expr]:
        """Declares and fills the table; how many axes it has beside those of sites, and the rows at all places."""
        none = gprob.int_const(0, self.span)
        told = self.together.told or self.term.changed
        bare = None if told else without_loops(top, self.loops, self._is_static)
        if bare is not None:
            self._tabulate([], self._wrapped((*before, *bare), 0, True))
            return 0, none
        if not self.place and not self.together.told and (stretches := self._stretches(top)) is not None:
            self.probable = False
            self._tabulate_stretches(stretches, counts)
            return len(counts), none
        self.dense = {s.index for s in self.sites if may_be_zero(s, top)}
        if (alike_ := self._alike(top)) is not None:
            return 1, self._tabulate_rows(alike_, counts)
        nested = with_names(self._nested(top, 0), self.copies)
        self._tabulate(counts, self._wrapped((*self._copies(), *before, *nested), 0, False))
        return len(counts), none

    def _find_together(self) -> None:
        """Declares which values can go together."""
        found = tuple(self.together.made(self.elements, bool(self.place), self.span))
        self.made += found
        self.static = self.static | uses.declared(found) | {self.place}

    def _where_possible(self, body: Stmts) -> Stmts:
        """The body for values that can go together."""
        return self.together.where(body, tuple(self._positions()), self._at(), self.span)

    # --- places

    def _counts(self) -> list[gprob.Expr]:
        """The most iterations of each loop, as variables."""
        out: list[gprob.Expr] = []
        for i, loop in enumerate(self.loops):
            name, zero = self.names.helper("count"), gprob.int_const(0, self.span)
            self.made.append(gprob.Declare(self.span, name, gprob.Sized(INT), None, zero))
            here = variable(INT, self.span, name)
            length = values.plus_one(call("subtract", self.span, loop.upper, loop.lower), self.span)
            longer = call("max", self.span, here, length)
            most = gprob.Assign(self.span, gprob.Place(name, INT, self.span), longer)
            depends = uses.names_in((loop.lower, loop.upper)) & self.indices
            around = self.loops[:i] if depends else ()
            self.made += self._renamed(reduce(lambda body, s: (replace(s, body=body),), reversed(around), (most,)))
            out.append(here)
        return out

    def _is_partial(self) -> bool:
        """Whether loops differ in length, or branches in them that data decide leave the term out."""
        differ = any(uses.names_in((s.lower, s.upper)) & self.indices for s in self.loops)
        return differ or any(isinstance(s, gprob.If) for s in self._taken()) and bool(self.loops)

    def _places(self, counts: Sequence[gprob.Expr]) -> gprob.Expr:
        """Numbers the iterations in which the term stands; how many there are."""
        t, one = array(INT, len(counts)), gprob.int_const(1, self.span)
        stands = self.names.helper("stands")
        self._declare(stands, t, counts, gprob.int_const(0, self.span))
        self.made += self._renamed(self._around((self._set(stands, t, self._iteration(), one),)))
        numbers = raw("discrete_places__", t, self.span, variable(t, self.span, stands))
        self.made.append(gprob.Declare(self.span, self.place, gprob.Sized(t, tuple(counts)), None, numbers))
        count = self.names.helper("count")
        total = raw("discrete_standing__", INT, self.span, variable(t, self.span, stands))
        self.made.append(gprob.Declare(self.span, count, gprob.Sized(INT), None, total))
        return variable(INT, self.span, count)

    def _number(self) -> gprob.Expr:
        """The number of the current iteration among those in which the term stands, 0 where it does not."""
        whole = variable(array(INT, len(self.loops)), self.span, self.place)
        return gprob.Index(INT, self.span, whole, tuple(self._iteration()))

    def _at(self) -> list[gprob.IndexExpr]:
        """Where the current iteration stands in arrays over the places of the term."""
        return [gprob.Single(self._number(), numbers=True)] if self.place else self._iteration()

    def _iteration(self) -> list[gprob.IndexExpr]:
        """Where the current iteration stands in arrays over the loops."""
        out: list[gprob.IndexExpr] = []
        for loop in self.loops:
            i: gprob.Expr = variable(INT, self.span, loop.name)
            if not isinstance(loop.lower, gprob.Const) or loop.lower.value != 1:
                i = values.plus_one(call("subtract", self.span, i, loop.lower), self.span)
            out.append(gprob.Single(i))
        return out

    # --- elements

    def _elements(self, counts: Sequence[gprob.Expr]) -> None:
        """Declares and sets the numbers of the elements at every place.

        They are 0 where the term does not stand, and -1 where it does not read them.
        """
        t = array(INT, len(counts) + 1)
        set_: list[gprob.Stmt] = []
        last: gprob.Expr = gprob.int_const(0, self.span)
        for s in self.sites:
            width = values.width(s, self.span)
            first, last = values.plus_one(last, self.span), call("add", self.span, last, width)
            at = (*self._at(), gprob.Range(first, last) if s.missing else gprob.Single(first))
            one = self._set(self.elements, t, at, values.numbers(s, self.span))
            if s.guards:
                none: gprob.Expr = gprob.int_const(_UNREAD, self.span)
                if s.missing:
                    none = call("rep_array", self.span, none, width)
                one = gprob.If(self.span, s.guard(self.span), (one,), (self._set(self.elements, t, at, none),))
            set_.append(one)
        self._declare(self.elements, t, (*counts, last), gprob.int_const(0, self.span))
        self.made += self._renamed(self._around(tuple(set_)))

    def _taken(self) -> Iterator[gprob.Stmt]:
        """The loops and branches around the term, up to the first loop that is not one of its own."""
        keys = len(self.loops)
        for s in self.term.path:
            if not isinstance(s, gprob.If) and not (keys and isinstance(s, gprob.For)):
                return
            keys -= isinstance(s, gprob.For)
            if isinstance(s, gprob.For) or isinstance(s, gprob.If) and self._is_static(s.condition):
                yield s

    def _around(self, body: Stmts) -> Stmts:
        """The body inside the loops, and inside the branches that data decide, up to the next loop."""
        below = dict(zip(map(id, self.term.path), [*self.term.path[1:], self.term.statement]))
        for s in reversed(tuple(self._taken())):
            if isinstance(s, gprob.For):
                body = (replace(s, body=body),)
            elif isinstance(s, gprob.If):
                there = any(x is below[id(s)] for x in s.then)
                body = (replace(s, then=body if there else (), otherwise=() if there else body),)
        return body

    def _is_static(self, e: gprob.Expr) -> bool:
        return uses.names_in(e) <= self.static | self.indices

    # --- tables

    def _declare(self, name: str, t: Any, shape: Sequence[gprob.Expr], start: gprob.Expr) -> None:
        value = raw("discrete_filled__", t, self.span, start, *shape)
        self.made.append(gprob.Declare(self.span, name, gprob.Sized(t, tuple(shape)), None, value))

    def _set(self, name: str, t: Any, indices: Sequence[gprob.IndexExpr], value: gprob.Expr) -> gprob.Stmt:
        place = gprob.Place(name, t, self.span, (gprob.Step(value.type, tuple(indices)),))
        return gprob.Assign(self.span, place, value)

    def _tabulate(self, counts: Sequence[gprob.Expr], code: Stmts) -> None:
        """Declares the table, an axis for each site and count, zero where not all of it is computed, and fills it."""
        shape = (*(values.size(s, self.span) for s in self.sites), *counts)
        zero = gprob.Const(REAL, self.span, float(self.probable))
        t = array(REAL, len(shape))
        if self.place or self.only or self.together.told or any(s.discrete.varies for s in self.sites):
            self._declare(self.table, t, shape, zero)
        else:
            self.made.append(gprob.Declare(self.span, self.table, gprob.Sized(t, shape)))
        self.made += self._renamed(code)

    def _alike(self, top: Stmts) -> Alike | None:
        """What the term depends on, if it reads single elements, and needs nothing but its own code."""
        if self.term.changed or self.term.before or any(s.missing or s.guards for s in self.sites):
            return None
        varying = [s for s in self.sites if s.discrete.varies and s.index not in self.dense]
        bounds = [values.own_bound(s, name, self.span) for s in varying for name in ("lower", "upper")]
        bounds += [self.together.pattern(self._at(), self.span)] if self.together.told else []
        return alike(top, self.loops, bounds, self.static, self.names, self.reading)

    def _tabulate_rows(self, a: Alike, counts: Sequence[gprob.Expr]) -> gprob.Expr:
        """Declares and fills a table with one row for places that are alike; the numbers of rows at all places."""
        self.made += self._renamed_loops(tuple(a.made(counts, self._at(), self._around, self.names)))
        self._stand(a.body)
        row = gprob.Single(variable(INT, self.span, a.row))
        inner = self._where_possible(self._valued(a.body, self.table, [*self._positions(), row]))
        for s in self.sites:
            inner = values.over_all(s, inner, s.index in self.dense, self.span)
        rows = variable(INT, self.span, a.count)
        self._tabulate([rows], a.over_rows(inner, self.static))
        return variable(array(INT, len(counts)), self.span, a.codes)

    def _stretches(self, top: Stmts) -> Alike | None:
        """What the term depends on, if elements matter to its iterations by comparisons alone."""
        if self.term.changed or self.term.before or any(s.missing or s.guards or s.discrete.varies for s in self.sites):
            return None
        return segments(without_conditions(top, self.excluding), self.sites, self.loops, self.static, self.names)

    def _conditions(self, excluding: Stmts, discrete: Set[str]) -> list[gprob.Expr]:
        """What makes values of the sites impossible."""
        found = (s.condition for s in with_values(excluding, self.sites) if isinstance(s, gprob.If))
        return [e for e in found if not uses.mentions(e, discrete)]

    def _tabulate_stretches(self, a: Alike, counts: Sequence[gprob.Expr]) -> None:
        """Declares and fills an array of all that the term can be in an iteration, and the table of sums of those."""
        span, real, dims = self.span, array(REAL, 1), array(REAL, len(self.sites) + len(counts))
        rows = self.names.helper("terms")
        if (found := grid(a, len(self.sites), self.names)) is not None:
            self.made += self._renamed_loops(found.made)
            t = array(REAL, len(found.sizes))
            self.made.append(gprob.Declare(span, rows, gprob.Sized(t, found.sizes)))
            self.made += self._renamed(found.terms(lambda body, at: self._valued(body, rows, at), self.static))
            numbers: tuple[gprob.Expr, ...] = (found.codes, found.groups, variable(t, span, rows))
        else:
            numbers = self._numbered_terms(a, rows, real)
        never = self.names.helper("excluded")
        self.made += self._renamed_loops(tuple(excluded(a, len(self.sites), self.excluding, never)))
        impossible = variable(array(INT, len(self.sites)), span, never)
        sums = raw("discrete_segments__", dims, span, *numbers, impossible)
        sizes = (*(values.size(s, span) for s in self.sites), *counts)
        self.made.append(gprob.Declare(span, self.table, gprob.Sized(dims, sizes), None, sums))

    def _numbered_terms(self, a: Alike, rows: str, real: Any) -> tuple[gprob.Expr, ...]:
        """Fills an array of terms that are numbered for all values, series and iterations."""
        span, count, groups = self.span, variable(INT, self.span, a.count), self.names.helper("groups")
        t = array(INT, len(a.loops))
        self.made += self._renamed_loops(tuple(numbered(a, len(self.sites), groups, self.names)))
        self.made.append(gprob.Declare(span, rows, gprob.Sized(real, (count,))))
        inner = self._valued(a.body, rows, [gprob.Single(variable(INT, span, a.row))])
        self.made += self._renamed(a.over_rows(inner, self.static))
        return (variable(t, span, a.codes), variable(t, span, groups), variable(real, span, rows))

    def _renamed_loops(self, body: Stmts) -> Stmts:
        """Statements with names of their own for loops."""
        return with_names(body, {n: self.names.helper(n) for n in sorted(uses.loop_indices(body))})

    def _valued(self, body: Stmts, name: str, at: Sequence[gprob.IndexExpr]) -> Stmts:
        """The statements with a sum in place of the target, which an entry of a table is set to."""
        t, total = array(REAL, len(at)), variable(REAL, self.span, self.sum)
        return (*valued(body, self.sum, self.probable, self.span), self._set(name, t, at, total))

    def _copies(self) -> Iterator[gprob.Stmt]:
        """Variables from outside that the code changes, with their values before it."""
        for name, copy in self.copies.items():
            sized = self.sizes[name]
            yield gprob.Declare(self.span, copy, sized, None, variable(sized.type, self.span, name))

    def _nested(self, body: Stmts, level: int) -> Stmts:
        out: list[gprob.Stmt] = []
        for s in body:
            if isinstance(s, gprob.For) and s.name in self.indices:
                before, middle, after = self._parts(s, self._nested(s.body, level + 1))
                out.append(replace(s, body=(*before, *self._wrapped(middle, level + 1, False), *after)))
            else:
                out.append(traversal.with_bodies(s, lambda b: self._nested(b, level)))
        return tuple(out)

    def _parts(self, loop: gprob.For, body: Stmts) -> tuple[Stmts, Stmts, Stmts]:
        """The body of a loop in three, as the term's own code tells: only the middle runs for each value."""
        loops = (s for s in uses.walk_statements(self.term.top) if isinstance(s, gprob.For))
        original = next(s for s in loops if s.name == loop.name)
        before, middle, _ = self.term.parts(original.body)
        end = len(before) + len(middle)
        return body[: len(before)], body[len(before) : end], body[end:]

    def _wrapped(self, body: Stmts, level: int, shared: bool) -> Stmts:
        """The body for every value of the sites that begin at a level; where all are known the sum is kept."""
        if shared or level == self.level:
            self._stand(body)
            self.only, body = chosen(body, self.sites)
            body = self._valued(body, self.table, [*self._positions(), *([] if shared else self._at())])
            body = self._where_possible(body)
        for s in reversed(self.sites):
            if shared or s.level == level:
                body = values.over_all(s, body, shared or s.index in self.dense, self.span, self.only.get(s.index))
        if self.place and level == self.level and not shared:
            body = (gprob.If(self.span, self._number(), body),)
        return body

    def _stand(self, body: Stmts) -> None:
        """Declares in which entries the term stands, if those are not of data alone."""
        known = self.static | self.indices | {s.index for s in self.sites}
        if not self.probable and not uses.names_in(body) <= known:
            made, self.stands = standing(body, self.sites, self.span, self.names)
            self.made += (*made[:1], *self._renamed(made[1:]))

    def _positions(self) -> Iterator[gprob.IndexExpr]:
        return (values.position(s, self.span) for s in self.sites)

    def _renamed(self, body: Stmts) -> Stmts:
        return renamed(body, self.names)
