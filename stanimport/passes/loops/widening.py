"""Local arrays whose size differs between the iterations of a loop, as arrays of the largest size.

`vector[n[i]] x;` in a loop over i would make every iteration one of its own shape. With room for the longest the
iterations are alike; what reads x as a whole reads `x[1:n[i]]`, of which `unfolding` makes loops and padded ranges. An
index is compared with the iteration's own size wherever nothing shows that it can't be larger.
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from stanlib.dataclass import dataclass
from stanlib.types import INT, REAL, dimensions, scalar_of

from ...ir import gprob, traversal
from ...ir.calls import apply
from ...ir.uses import differing, written
from ..binding_times import BindingTimes
from ..surroundings import Surroundings
from .affine import Ranges, is_nonnegative, linear, mentions_values, with_loop

Stmts = tuple[gprob.Stmt, ...]


def run(body: Stmts, around: Surroundings) -> Stmts:
    """The body with such arrays widened, where all that is done with them allows it."""
    return _Widen(around.times(body, flat=True)).block(body, set(), {})


class Unfit(Exception):
    """A use of an array that has to know its size."""


class _Widen:
    def __init__(self, times: BindingTimes):
        self.times = times

    def block(self, body: Sequence[gprob.Stmt], varying: set[str], ranges: Ranges) -> Stmts:
        """`varying` is what may differ between the iterations around, whose indices have `ranges`."""
        out: list[gprob.Stmt] = []
        rest = list(body)
        while rest:
            s = rest.pop(0)
            if isinstance(s, gprob.Declare) and self._is_candidate(s, varying):
                try:
                    made = _Array(s, ranges).widened(rest)
                except Unfit:
                    out.append(s)
                else:
                    out.append(made[0])
                    rest = list(made[1:])
                continue
            out.append(self._inside(s, varying, ranges))
        return tuple(out)

    def _inside(self, s: gprob.Stmt, varying: set[str], ranges: Ranges) -> gprob.Stmt:
        if isinstance(s, gprob.For):
            inside = varying | differing(s)
            return replace(s, body=self.block(s.body, inside, with_loop(ranges, s)))
        if isinstance(s, gprob.If):
            then, otherwise = (self.block(b, varying, ranges) for b in traversal.bodies(s))
            return replace(s, then=then, otherwise=otherwise)
        return s

    def _is_candidate(self, s: gprob.Declare, varying: set[str]) -> bool:
        shape = s.sized.shape
        if len(shape) != 1 or dimensions(s.sized.type) != 1 or scalar_of(s.sized.type) not in (INT, REAL):
            return False
        if self.times.draws(shape[0]):  # it is drawn once
            return False
        return mentions_values(shape[0], varying) and not self.times.is_dynamic(shape[0]) and s.site is None


@dataclass(frozen=True)
class _Array:
    """A declaration of an array, and the ranges of the loops around what uses it."""

    declaration: gprob.Declare
    ranges: Ranges

    @property
    def name(self) -> str:
        return self.declaration.name

    @property
    def size(self) -> gprob.Expr:
        return self.declaration.sized.shape[0]

    def widened(self, rest: Sequence[gprob.Stmt]) -> Stmts:
        """The declaration, and the statements behind it, of an array that has room for the longest.

        Raises:
            Unfit: if a statement must know the size, or changes what it is made of.
        """
        s = self.declaration
        if _names(self.size) & written(tuple(rest)):
            raise Unfit(self.name)
        sized = replace(s.sized, shape=(gprob.Widest(INT, s.span, self.size),))
        filled = () if s.value is None else (self._filled(s.span, s.value),)
        after = tuple(t for r in rest for t in self._statement(r, self.ranges))
        return (replace(s, sized=sized, value=None), *filled, *after)

    def _filled(self, span: Any, value: gprob.Expr) -> gprob.Stmt:
        """The array assigned as a whole."""
        kind = self.declaration.sized.type
        return gprob.Assign(span, gprob.Place(self.name, kind, span, (gprob.Step(kind, (self._all(span),)),)), value)

    def _all(self, span: Any) -> gprob.Range:
        return gprob.Range(gprob.int_const(1, span), self.size)

    # --- uses

    def _statement(self, s: gprob.Stmt, ranges: Ranges) -> Iterator[gprob.Stmt]:
        """A statement that uses the array as the wider one, behind tests of indices that may be beyond the size.

        Raises:
            Unfit: for a use that has to know the size, and for one in a `while` loop.
        """
        if not any(isinstance(n, (gprob.Var, gprob.Place)) and n.name == self.name for n in traversal.walk(s)):
            yield s
        elif isinstance(s, gprob.For):
            lower, upper = (self._checked(e, ranges, []) for e in (s.lower, s.upper))
            inside = with_loop(ranges, s)
            body = tuple(t for b in s.body for t in self._statement(b, inside))
            yield replace(s, lower=lower, upper=upper, body=body)
        elif isinstance(s, gprob.If):
            asked: list[gprob.Expr] = []
            condition = self._checked(s.condition, ranges, asked)
            sides = (tuple(t for b in side for t in self._statement(b, ranges)) for side in (s.then, s.otherwise))
            then, otherwise = sides
            yield from map(self._test, asked)
            yield replace(s, condition=condition, then=then, otherwise=otherwise)
        elif isinstance(s, gprob.While):
            raise Unfit(self.name)
        else:
            yield from self._leaf(s, ranges)

    def _leaf(self, s: gprob.Stmt, ranges: Ranges) -> Iterator[gprob.Stmt]:
        """The same of a statement that holds no others; the whole array is assigned as the range of its own size."""
        asked: list[gprob.Expr] = []
        if isinstance(s, gprob.Assign) and s.place.name == self.name:
            value = self._checked(s.value, ranges, asked)
            if not s.place.steps:
                made: gprob.Stmt = self._filled(s.span, value)
            else:
                made = replace(s, value=value, place=self._place(s.place, ranges, asked))
        else:
            made = traversal.rewrite_parts(s, lambda part: self._checked(part, ranges, asked))
        yield from map(self._test, asked)
        yield made

    def _place(self, place: gprob.Place, ranges: Ranges, asked: list[gprob.Expr]) -> gprob.Place:
        if len(place.steps) != 1 or len(place.steps[0].indices) != 1:
            raise Unfit(self.name)
        (index,) = place.steps[0].indices
        return replace(place, steps=(replace(place.steps[0], indices=(self._index(index, ranges, asked),)),))

    def _checked(
        self, e: gprob.Expr, ranges: Ranges, asked: list[gprob.Expr], certain: bool = True
    ) -> gprob.Expr:
        """An expression in which the array is read as it is; `asked` gets the indices that have to be compared.

        Those of what is not `certain` to be computed can't be.
        """
        if isinstance(e, gprob.Var):
            whole = gprob.Index(e.type, e.span, e, (self._all(e.span),))
            return whole if e.name == self.name else e
        if isinstance(e, gprob.Index) and isinstance(e.base, gprob.Var) and e.base.name == self.name:
            if len(e.indices) != 1:
                raise Unfit(self.name)
            own: list[gprob.Expr] = []
            index = self._index(e.indices[0], ranges, own)
            if own and not certain:
                raise Unfit(self.name)
            asked += own
            return replace(e, indices=(index,))
        if isinstance(e, gprob.Apply) and e.function.shape_only and self._is_array(e.arguments[0]):
            if e.function.name in ("size", "num_elements"):
                return self.size
            raise Unfit(self.name)
        first = {gprob.Cond: "condition", gprob.Logical: "left"}.get(type(e))
        if first is not None:  # what else is in it may not be computed
            sure = getattr(e, first)
            change = lambda part: self._checked(part, ranges, asked, certain and part is sure)
            return traversal.rewrite_parts(e, change)
        return traversal.rewrite_parts(e, lambda part: self._checked(part, ranges, asked, certain))

    def _is_array(self, e: gprob.Expr) -> bool:
        return isinstance(e, gprob.Var) and e.name == self.name

    def _index(self, i: gprob.IndexExpr, ranges: Ranges, asked: list[gprob.Expr]) -> gprob.IndexExpr:
        """An index of the array, which Stan compares with the size. A range may end beyond it if it is empty."""
        if isinstance(i, gprob.Range) and i.lower is not None and i.upper is not None:
            lower, upper = (self._checked(e, ranges, asked) for e in (i.lower, i.upper))
            if not self._is_within(upper, ranges):
                raise Unfit(self.name)
            return replace(i, lower=lower, upper=upper)
        if not isinstance(i, gprob.Single):
            raise Unfit(self.name)
        value = self._checked(i.value, ranges, asked)
        if not self._is_within(value, ranges):
            asked.append(value)
        return replace(i, value=value)

    def _is_within(self, index: gprob.Expr, ranges: Ranges) -> bool:
        """Whether it shows that an index is not beyond the size."""
        return is_nonnegative(linear(self.size).plus(linear(index), -1), ranges)

    def _test(self, index: gprob.Expr) -> gprob.Stmt:
        beyond = apply("logical_gt", index, self.size)
        items = ("index ", index, " is out of range: the size is ", self.size)
        return gprob.If(index.span, beyond, (gprob.Message(index.span, "reject", items),), ())


def _names(e: gprob.Expr) -> set[str]:
    return {n.name for n in traversal.walk(e) if isinstance(n, gprob.Var)}
