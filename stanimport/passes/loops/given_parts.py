"""Parts of varying length that a function in a loop is given: it takes its items from what they are parts of.

In `f(y[s[g]:e[g]])` every iteration over g gives f a vector of its own length, and each length would need a call of its
own. Where f reads `x[i]` for i in 1:size(x), it reads `y[s[g] + i - 1]` in a loop of its own number of iterations,
which are lanes like others. An index is compared with the part's own ends wherever nothing shows that it lies inside.
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from stanlib.dataclass import dataclass
from stanlib.types import COMPLEX_MATRIX, INT, MATRIX, ROW_VECTOR, VECTOR, Type, array, dimensions, unwind

from ...ir import gprob, traversal
from ...ir.calls import apply
from ...ir.fresh import Fresh
from ...ir.uses import walk_statements
from ..normalize import first_items
from .affine import Linear, Ranges, is_nonnegative, linear, mentions_values, with_loop
from .components import shifted
from .parts import as_range, count_of
from .sizes import beside_range, outside, rejected

Stmts = tuple[gprob.Stmt, ...]


@dataclass(frozen=True)
class Part:
    """A part that a parameter of a function stands for.

    Attributes:
        selection: the part.
        axis: which of its indices is the range of varying length.
        count: the variable that holds how many items the range has.
    """

    selection: gprob.Index
    axis: int
    count: gprob.Var

    @property
    def range(self) -> gprob.Range:
        found = self.selection.indices[self.axis]
        assert isinstance(found, gprob.Range)
        return found

    def statements(self, varying: set[str]) -> Iterator[gprob.Stmt]:
        """What stands before the function's statements: the count, and what Stan throws for ends that are no indices.

        Ranges that end before they begin are empty.
        """
        span, (lower, upper) = self.selection.span, _ends(self.range)
        zero, one = (gprob.int_const(n, span) for n in (0, 1))
        length = _length(self.selection, self.axis)
        yield gprob.Declare(span, self.count.name, gprob.Sized(INT), None, apply("max", count_of(self.range), zero))
        some = apply("logical_gt", self.count, zero)
        for end, wrong in ((lower, apply("logical_lt", lower, one)), (upper, apply("logical_gt", upper, length))):
            if end is lower and linear(lower).is_constant and linear(lower).constant >= 1:
                continue
            message = "index: index ", end, " out of range; expecting index to be between 1 and ", length
            yield rejected(gprob.Logical(INT, span, "&&", some, wrong), *message)
        for number in beside_range(self.selection, varying):
            yield from outside(*number)


def part_of(e: gprob.Expr, varying: set[str], names: Fresh) -> Part | None:
    """The part that an argument is, if it is one of varying length, in one of its dimensions; None for others."""
    e = as_range(e, varying)
    if not isinstance(e, gprob.Index) or not all(isinstance(i, (gprob.Single, gprob.Range)) for i in e.indices):
        return None
    ranges = [k for k, i in enumerate(e.indices) if isinstance(i, gprob.Range) and i != gprob.ALL]
    if len(ranges) != 1:
        return None
    found = e.indices[ranges[0]]
    assert isinstance(found, gprob.Range)
    if found.lower is None or found.upper is None or not mentions_values(count_of(found), varying):
        return None
    before = e.indices[: min(ranges[0], unwind(e.base.type)[1])]
    if not all(isinstance(i, gprob.Single) for i in before):
        return None
    return Part(e, ranges[0], gprob.Var(INT, e.span, names.helper("count")))


def _ends(r: gprob.Range) -> tuple[gprob.Expr, gprob.Expr]:
    assert r.lower is not None and r.upper is not None
    return r.lower, r.upper


def _length(e: gprob.Index, axis: int) -> gprob.Expr:
    """How many items there are to select by one of the indices, behind indices of single items."""
    element, dims = unwind(e.base.type)
    outer = e.indices[: min(axis, dims)]
    kind = array(element, dims - len(outer))
    whole = gprob.Index(kind, e.span, e.base, outer) if outer else e.base
    if kind in (MATRIX, COMPLEX_MATRIX):
        return apply("rows" if axis == dims else "cols", whole)
    return apply("size", first_items(whole))


# --- inside the function


def taken(body: Stmts, parts: Mapping[str, Part]) -> Stmts:
    """The statements of a function with items of parts, by the names that stand for these, taken from the whole."""
    return _Taken(parts, body).block(body, {})


class _Taken:
    """`same` has variables that are always as large as a part, or by a number larger or smaller."""

    def __init__(self, parts: Mapping[str, Part], body: Stmts):
        self.parts, self.same = parts, dict[str, Linear]()
        self.counts = {p.count.name for p in parts.values()}
        self.once = _assigned_once(body)

    def block(self, body: Sequence[gprob.Stmt], ranges: Ranges) -> Stmts:
        return tuple(t for s in body for t in self._statement(s, ranges))

    def _statement(self, s: gprob.Stmt, ranges: Ranges) -> Iterator[gprob.Stmt]:
        """A statement behind tests of the indices in it that may lie outside of a part."""
        asked: list[gprob.Stmt] = []
        again = isinstance(s, gprob.While)  # its condition is computed in every step
        made = traversal.rewrite_parts(s, lambda e: self._expression(e, ranges, None if again else asked))
        yield from asked
        name, value = _given_value(made)
        if name in self.once and value is not None and value.type == INT:
            form = self._form(value)
            if form.terms and all(t in self.counts for t in form.terms):
                self.same[name] = form
        inside = with_loop(ranges, made) if isinstance(made, gprob.For) else ranges
        yield traversal.with_bodies(made, lambda b: self.block(b, inside))

    def _expression(self, e: Any, ranges: Ranges, asked: list[gprob.Stmt] | None) -> Any:
        """An expression with items taken from the whole; `asked` gets the tests, None where none can stand before."""
        first = {gprob.Cond: "condition", gprob.Logical: "left"}.get(type(e))
        sure = None if first is None else getattr(e, first)  # what else is in it may not be computed
        inner = lambda part: self._expression(part, ranges, asked if first is None or part is sure else None)
        e = traversal.rewrite_parts(e, inner)
        if isinstance(e, gprob.Apply) and e.function.shape_only and (part := self._part(e.arguments[0])) is not None:
            return _size(e, part) or e
        if isinstance(e, gprob.Index) and (part := self._part(e.base)) is not None:
            return self._item(e, part, ranges, asked)
        return e

    def _part(self, e: object) -> Part | None:
        return self.parts.get(e.name) if isinstance(e, gprob.Var) else None

    def _item(self, e: gprob.Index, part: Part, ranges: Ranges, asked: list[gprob.Stmt] | None) -> gprob.Index:
        """Items of a part, selected from what it is a part of; as it stands where that can't be tested."""
        given, indices = list(e.indices), list[gprob.IndexExpr]()
        for k, own in enumerate(part.selection.indices):
            if isinstance(own, gprob.Single) or not given:
                indices.append(own)
                continue
            index = given.pop(0)
            if k != part.axis or index == gprob.ALL:
                indices.append(own if k == part.axis else index)
                continue
            if not isinstance(index, gprob.Single):
                return e
            if not self._is_inside(index.value, part, ranges):
                if asked is None:
                    return e
                asked += outside("index", index.value, part.count, part.count)
            indices.append(gprob.Single(shifted(_ends(part.range)[0], index.value)))
        return replace(e, base=part.selection.base, indices=(*indices, *given))

    def _is_inside(self, index: gprob.Expr, part: Part, ranges: Ranges) -> bool:
        """Whether it shows that an index counts an item of the part."""
        form = self._form(index)
        known = {name: (self._same(low), self._same(high)) for name, (low, high) in ranges.items()}
        first, last = form.plus(Linear({}, 1), -1), linear(part.count).plus(form, -1)
        return is_nonnegative(first, known) and is_nonnegative(last, known)

    def _form(self, e: gprob.Expr) -> Linear:
        return self._same(linear(e))

    def _same(self, form: Linear) -> Linear:
        for name, value in self.same.items():
            form = form.at(name, value)
        return form


def _size(e: gprob.Apply, part: Part) -> gprob.Expr | None:
    """What a function of a part's shape tells, without the part; None where it can't be told."""
    axis = _axis(e.function.name, e.arguments[0].type)
    free = [k for k, i in enumerate(part.selection.indices) if not isinstance(i, gprob.Single)]
    if axis is None or axis >= len(free):
        return None
    if free[axis] == part.axis:
        return part.count
    dims = unwind(part.selection.base.type)[1]
    return _length(part.selection, free[axis]) if part.axis >= dims and free[axis] >= dims else None


def _given_value(s: gprob.Stmt) -> tuple[str, gprob.Expr | None]:
    """The variable to which a statement gives a value as a whole, and the value."""
    if isinstance(s, gprob.Declare):
        return s.name, s.value
    if isinstance(s, gprob.Assign) and not s.place.steps:
        return s.place.name, s.value
    return "", None


def _assigned_once(body: Stmts) -> set[str]:
    """The variables that are given one value in all, where all that follows sees it."""
    names = [n for s in walk_statements(body) for n in _written_by(s)]
    at_top = {_given_value(s)[0] for s in body}
    return {n for n in names if names.count(n) == 1 and n in at_top}


def _written_by(s: gprob.Stmt) -> list[str]:
    if isinstance(s, gprob.Assign):
        return [s.place.name]
    return [s.name] if isinstance(s, gprob.Declare) and s.value is not None else []


def _axis(name: str, kind: Type) -> int | None:
    """Which dimension of a container a function of its shape tells the length of; None for other functions."""
    if name == "size" or name == "num_elements" and dimensions(kind) == 1:
        return 0
    if kind in (MATRIX, COMPLEX_MATRIX):
        return {"rows": 0, "cols": 1}.get(name)
    return 0 if (name, kind) in (("rows", VECTOR), ("cols", ROW_VECTOR)) else None
