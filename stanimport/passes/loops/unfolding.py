"""Vector operations whose length differs between the iterations of a loop, as loops over their components.

`dot_product(a[1:n], b[1:n])` and `y[s[n]:e[n]] ~ normal(mu[n], sigma)` inside a loop over n have a shape of their own
in every iteration; as sums and observations in a loop inside they are array code again. So are
`x[1:n] = rep_vector(0, n)`, and `prod(x[n:m])`, which takes ranges as long as the longest, filled up with ones.
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from stanlib.registry import Function
from stanlib.types import INT, REAL, dimensions, scalar_of

from ...ir import gprob, traversal
from ...ir.calls import apply, call
from ...ir.fresh import Fresh
from ...ir.uses import differing, mentions
from ..callees import Functions
from ..surroundings import Surroundings
from .accesses import step_indices
from .affine import difference, key, linear, mentions_values
from .components import component, containers_in, count_in, has_size, shifted, size_of
from .parts import as_range, closed, count_of
from .sizes import rejected

Stmts = tuple[gprob.Stmt, ...]
_SUMS = ("sum", "dot_product", "dot_self")
_ORDERS = ("sort_asc", "sort_desc", "reverse")
_WHOLE = (gprob.CallUser, gprob.Index, gprob.Item, gprob.MakeArray, gprob.MakeRow, gprob.MakeTuple)  # read all parts


def run(body: Stmts, around: Surroundings) -> Stmts:
    """The body with operations of varying length unfolded; where control flow is traced, of unknown length too."""
    unknown = around.times(body).dynamic if around.traces else ()
    return _Unfold(around.names, around.functions).block(body, set(unknown))


class _Unfold:
    """What is done in a loop, and outside of it: there nobody knows how long a range is that parameters end.

    In a loop sizes that differ between iterations may be known in each, which then run one after the other: ranges
    that are open at one end, means and sums of integers are left to that.
    """

    def __init__(self, names: Fresh, functions: Functions, in_loop: bool = False):
        self.names, self.functions, self.in_loop = names, functions, in_loop
        self.before: list[gprob.Stmt] = []

    def block(self, body: Sequence[gprob.Stmt], varying: set[str]) -> Stmts:
        return tuple(t for s in body for t in self.statement(s, varying))

    def statement(self, s: gprob.Stmt, varying: set[str]) -> Iterator[gprob.Stmt]:
        """A statement with operations unfolded whose length depends on `varying`, what differs between iterations."""
        if isinstance(s, gprob.For):
            inside = _Unfold(self.names, self.functions, in_loop=True)
            yield replace(s, body=inside.block(s.body, varying | differing(s)))
        elif isinstance(s, gprob.While):
            yield s
        elif isinstance(s, gprob.If):
            condition = self._with_filled_up(s.condition, varying)
            if not self.in_loop:
                condition = self._sums_in(condition, varying)
                yield from self._hoisted()
            then, otherwise = (self.block(b, varying) for b in traversal.bodies(s))
            yield replace(s, condition=condition, then=then, otherwise=otherwise)
        elif not varying:
            yield s
        else:
            yield from self._leaf(self._with_filled_up(s, varying), varying)

    def _leaf(self, s: gprob.Stmt, varying: set[str]) -> Iterator[gprob.Stmt]:
        """A statement of a loop that holds no others."""
        if isinstance(s, gprob.Observe):
            one = self._observe(s, varying) or self._with_sums(s, varying)
            yield from self._hoisted()
            yield one
        elif isinstance(s, gprob.Assign) and (loop := self._assigned(s, varying)) is not None:
            yield loop
        elif isinstance(s, (gprob.Declare, gprob.Assign, gprob.Factor, gprob.Return)) and s.value is not None:
            made = self._sums_in(s.value, varying)
            yield from self._hoisted()
            yield replace(s, value=made)
        else:
            yield s

    def _hoisted(self) -> Stmts:
        """The statements that compute the sums of the next one."""
        before, self.before = self.before, []
        return tuple(before)

    def _with_sums(self, s: gprob.Observe, varying: set[str]) -> gprob.Observe:
        """An observation with variables for the sums of unknown length that it and its law's arguments are made of."""
        if self.in_loop:
            return s
        arguments = tuple(self._sums_in(a, varying) for a in s.distribution.arguments)
        distribution = replace(s.distribution, arguments=arguments)
        return replace(s, value=self._sums_in(s.value, varying), distribution=distribution)

    def _with_filled_up(self, node: object, varying: set[str]) -> Any:
        """A node with the calls in it that take ranges of varying length, each with a range that may be longer."""

        def change(n: object) -> object:
            n = n if self.in_loop else closed(n, varying)
            made = _filled_up(n, varying, self.in_loop) if isinstance(n, gprob.Apply) else None
            return n if made is None or self.functions.draws(n) else made

        return traversal.rewrite(node, change)

    # --- observations

    def _observe(self, s: gprob.Observe, varying: set[str]) -> gprob.Stmt | None:
        """A loop over the observations of a law of numbers whose count varies; None for other observations."""
        d = s.distribution
        parts = (s.value, *d.arguments)
        if not isinstance(d.lpdf, Function) or not is_law_of_numbers(d.lpdf):
            return None
        if d.lower is not None or d.upper is not None:
            return None
        count = _varying_count(parts, varying)
        if count is None:
            return None
        index = gprob.Var(INT, s.span, self.names.helper("i"))
        elements = [component(e, index) for e in parts]
        if any(e is None for e in elements):
            return None
        self._compare_sizes(d.lpdf.name, parts, count)
        value, *arguments = (e for e in elements if e is not None)
        one = replace(s, value=value, distribution=replace(d, arguments=tuple(arguments)))
        return gprob.For(s.span, index.name, gprob.int_const(1, s.span), count, (one,))

    # --- assignments

    def _assigned(self, s: gprob.Assign, varying: set[str]) -> gprob.For | None:
        """An assignment to a range of varying length, number by number: only where the value's size is the range's."""
        indices = step_indices(s.place)
        if not indices or dimensions(s.place.type) != 1 or _is_impure(s.value) or _reads_other_parts(s):
            return None
        ranges = [i for i in indices if isinstance(i, gprob.Range) and i.upper is not None]
        if len(ranges) != 1 or not all(isinstance(i, gprob.Single) or i is ranges[0] for i in indices):
            return None
        first = gprob.int_const(1, s.span) if ranges[0].lower is None else ranges[0].lower
        count = count_of(replace(ranges[0], lower=first))
        if not mentions_values(count, varying) or not has_size(s.value, count):
            return None
        index = gprob.Var(INT, s.span, self.names.helper("i"))
        value = component(s.value, index)
        if value is None:
            return None
        single = tuple(gprob.Single(shifted(first, index)) if i is ranges[0] else i for i in indices)
        place = replace(s.place, steps=(gprob.Step(scalar_of(s.place.type), single),))
        one = replace(s, place=place, value=value)
        return gprob.For(s.span, index.name, gprob.int_const(1, s.span), count, (one,))

    def _compare_sizes(self, name: str, parts: Sequence[gprob.Expr], count: gprob.Expr) -> None:
        """What Stan throws for where containers are of other sizes than one that has `count` components."""
        asked: list[Any] = []
        for part in containers_in(parts):
            size = size_of(part)
            if difference(linear(size), linear(count)) == 0 or linear(size) in asked:
                continue
            asked.append(linear(size))
            differ = apply("logical_neq", size, count)
            zero = gprob.int_const(0, count.span)  # all ranges that end before they begin are empty
            some = apply("logical_gt", apply("max", size, count), zero)
            items = (f"{name}: sizes ", size, " and ", count, " must match!")
            wrong = gprob.Logical(INT, count.span, "&&", differ, some)
            self.before.append(gprob.If(count.span, wrong, (gprob.Message(count.span, "reject", items),), ()))

    # --- sums

    def _sums_in(self, e: gprob.Expr, varying: set[str]) -> gprob.Expr:
        """The expression with variables for the sums of varying length in it."""
        if isinstance(e, gprob.Apply):
            summed = self._mean(e, varying) if e.function.name == "mean" else self._summed(e, varying)
            if summed is not None:
                return summed
            return replace(e, arguments=tuple(self._sums_in(a, varying) for a in e.arguments))
        if isinstance(e, gprob.Promote):
            return replace(e, value=self._sums_in(e.value, varying))
        if isinstance(e, _WHOLE) and not self.in_loop:
            return traversal.rewrite_parts(e, lambda part: self._sums_in(part, varying))
        return e

    def _summed(self, e: gprob.Apply, varying: set[str]) -> gprob.Expr | None:
        """The variable of a sum of varying length, which `before` computes in a loop; None for other expressions."""
        if not (e.function.name in _SUMS or is_law_of_numbers(e.function)):
            return None
        if e.type != REAL and (e.type != INT or self.in_loop):
            return None
        count = _varying_count(e.arguments, varying)
        if count is None or self.functions.draws(e):
            return None  # a number that all components share is drawn once
        index = gprob.Var(INT, e.span, self.names.helper("i"))
        term = _term(e, index)
        if term is None:
            return None
        self._compare_sizes(e.function.name, e.arguments, count)
        total = gprob.Var(e.type, e.span, self.names.helper("sum"))
        zero = gprob.int_const(0, e.span) if e.type == INT else gprob.Const(REAL, e.span, 0.0)
        self.before.append(gprob.Declare(e.span, total.name, gprob.Sized(e.type), None, zero))
        add = gprob.Assign(e.span, gprob.Place(total.name, e.type, e.span), apply("add", total, term))
        self.before.append(gprob.For(e.span, index.name, gprob.int_const(1, e.span), count, (add,)))
        return total

    def _mean(self, e: gprob.Apply, varying: set[str]) -> gprob.Expr | None:
        """The mean of a range of varying length, as a sum divided by its length; Stan has none of nothing."""
        count, whole = _varying_count(e.arguments, varying), apply("sum", *e.arguments)
        if self.in_loop or count is None or not isinstance(whole, gprob.Apply):
            return None
        summed = self._summed(whole, varying)
        if summed is None or summed.type != REAL:
            return None
        none = apply("logical_lt", count, gprob.int_const(1, e.span))
        self.before.append(rejected(none, "mean: m has size ", count, ", but must have a non-zero size"))
        return call("divide", e.span, summed, gprob.Promote(REAL, e.span, count))


def is_law_of_numbers(f: Function) -> bool:
    """Whether a function is the density or a log distribution function of a law whose arguments are all numbers."""
    d, method = f.distribution, f.name.rpartition("_")[2]
    if d is None or method not in ("lpdf", "lpmf", "lcdf", "lccdf", "lupdf", "lupmf"):
        return False
    return d.event_dims == 0 and not d.argument_dims and all(d.vectorized)


def _varying_count(parts: Sequence[gprob.Expr], varying: set[str]) -> gprob.Expr | None:
    """The number of components of the operands, where it differs between iterations."""
    for e in parts:
        count = count_in(e)
        if count is not None and mentions_values(count, varying):
            return count
    return None


def _filled_up(e: gprob.Apply, varying: set[str], in_loop: bool) -> gprob.Expr | None:
    """A call that takes a range of varying length, or all of it in another order, with one that may be longer."""
    if e.type != REAL or e.function.neutral is None or len(e.arguments) != 1:
        return None
    given = e.arguments[0]
    order = given if isinstance(given, gprob.Apply) and given.function.name in _ORDERS and not in_loop else None
    if e.function.name in _SUMS and order is None:
        return None
    part = as_range(given if order is None else order.arguments[0], varying)
    if not isinstance(part, gprob.Index) or dimensions(part.type) != 1:
        return None
    ranges = [i for i in part.indices if isinstance(i, gprob.Range) and i.lower is not None and i.upper is not None]
    if len(ranges) != 1 or not all(isinstance(i, gprob.Single) or i is ranges[0] for i in part.indices):
        return None
    lower, upper = ranges[0].lower, ranges[0].upper
    assert lower is not None and upper is not None
    if not mentions_values(count_of(ranges[0]), varying):
        return None
    whole = replace(part, indices=tuple(gprob.ALL if i is ranges[0] else i for i in part.indices))
    base = part.base if len(part.indices) == 1 else whole
    fill = gprob.Const(REAL, e.span, e.function.neutral)
    filled: gprob.Expr = gprob.Padded(part.type, part.span, base, lower, upper, fill)
    return replace(e, arguments=(filled if order is None else replace(order, arguments=(filled,)),))


def _reads_other_parts(s: gprob.Assign) -> bool:
    """Whether the value of a part is made of any other part of the variable."""

    def outside(node: object) -> Any:
        same = isinstance(node, gprob.Index) and key(node) == key(s.place.read())
        return gprob.int_const(0, s.span) if same else node

    return mentions(traversal.rewrite(s.value, outside), {s.place.name})


def _is_impure(e: gprob.Expr) -> bool:
    """Whether an expression may not be computed once for each component."""
    nodes = list(traversal.walk(e))
    if any(isinstance(n, (gprob.CallUser, gprob.TargetValue)) for n in nodes):
        return True
    return any(isinstance(n, gprob.Apply) and (n.function.random or n.function.raw) for n in nodes)


def _term(e: gprob.Apply, index: gprob.Expr) -> gprob.Expr | None:
    """The summand of a sum for one component."""
    elements = [component(a, index) for a in e.arguments]
    known = [x for x in elements if x is not None]
    if len(known) < len(elements):
        return None
    if e.function.name == "dot_product":
        return apply("multiply", known[0], known[1])
    if e.function.name == "dot_self":
        return apply("multiply", known[0], known[0])
    if e.function.name == "sum":
        return known[0]
    return replace(e, arguments=tuple(known))
