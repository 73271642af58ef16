"""What does not depend on the past is computed before a recurrence, for all iterations at once."""
from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence, Set
from dataclasses import replace
from typing import TypeGuard

from stanlib.types import INT, REAL, Tuple, array, dimensions, unwind

from ...ir import gprob, traversal
from ...ir.calls import apply
from ...ir.fresh import Fresh
from ...ir.uses import declared, loop_indices, mentions, written
from .affine import is_nonnegative, key, linear
from .private import as_sum, summands


def chosen(s: gprob.Stmt) -> gprob.Stmt:
    """`if (c) x = a; else x = b;` as `x = c ? a : b;`."""
    if not isinstance(s, gprob.If) or s.lanes or len(s.then) != 1 or len(s.otherwise) != 1:
        return s
    a, b = s.then[0], s.otherwise[0]
    if isinstance(a, gprob.Assign) and isinstance(b, gprob.Assign) and key(a.place) == key(b.place):
        if a.value.type == b.value.type:
            return replace(a, span=s.span, value=gprob.Cond(a.value.type, s.span, s.condition, a.value, b.value))
    return s


def renamed(node: gprob.Expr, names: Mapping[str, str]) -> gprob.Expr:
    """The expression with variables under other names."""

    def change(n: object) -> object:
        return replace(n, name=names[n.name]) if isinstance(n, gprob.Var) and n.name in names else n

    out: gprob.Expr = traversal.rewrite(node, change)
    return out


class Hoist:
    """Moves expressions that nothing in the recurrence changes out of it; those of inner loops into arrays, which have
    one size: `varies` tells whether a bound may differ between the lanes around, or is not known while tracing."""

    def __init__(self, loop: gprob.For, names: Fresh, changing: Set[str], varies: Callable[[object], bool]):
        self.loop, self.names, self.changing, self.varies = loop, names, changing, varies
        self.statements: list[gprob.Stmt] = []
        self.inner: list[gprob.For] = []
        self.known: dict[object, gprob.Expr] = {}

    def block(self, body: Sequence[gprob.Stmt]) -> tuple[gprob.Stmt, ...]:
        return tuple(self._statement(s) for s in body)

    def _statement(self, s: gprob.Stmt) -> gprob.Stmt:
        """A statement without what is hoisted out of it; a loop inside whose bounds change stays as it is."""
        if isinstance(s, gprob.For):
            if not self._is_fixed(s):
                return s
            self.inner.append(s)
            made = replace(s, body=self.block(s.body))
            self.inner.pop()
            return made
        if isinstance(s, gprob.If):
            return replace(s, condition=self._expression(s.condition))
        if isinstance(s, (gprob.Assign, gprob.Declare)) and s.value is not None:
            return replace(s, value=self._expression(s.value))
        return s

    def _is_fixed(self, s: gprob.For) -> bool:
        """Whether an inner loop always runs over 1, ..., the same number."""
        one = isinstance(s.lower, gprob.Const) and s.lower.value == 1
        others = self.changing | {self.loop.name} | {f.name for f in self.inner}
        return one and not mentions(s.upper, others) and not self.varies(s.upper)

    def _expression(self, e: gprob.Expr) -> gprob.Expr:
        """An expression with what is hoisted read instead of computed; parts that might not be computed stay."""
        if not mentions(e, self.changing) and self._is_pure(e):
            return self._hoisted(e) if _is_work(e) else e
        regrouped = self._regrouped(e)
        if regrouped is not None:
            return regrouped
        if isinstance(e, gprob.Cond):
            return self._conditional(e)
        if isinstance(e, gprob.Logical):
            return replace(e, left=self._expression(e.left))
        if isinstance(e, gprob.Index):
            return replace(e, base=e.base if isinstance(e.base, gprob.Var) else self._expression(e.base))
        if isinstance(e, (gprob.Apply, gprob.CallUser)):
            return replace(e, arguments=tuple(map(self._expression, e.arguments)))
        if isinstance(e, gprob.Promote):
            return replace(e, value=self._expression(e.value))
        return e

    def _regrouped(self, e: gprob.Expr) -> gprob.Expr | None:
        """A sum of numbers with the summands that can be hoisted put together: a + (b + c) for a + b + c."""
        if e.type != REAL:
            return None
        fixed: dict[object, list[tuple[int, gprob.Expr]]] = {}
        others: list[tuple[int, gprob.Expr]] = []
        for sign, term in summands(e):
            if mentions(term, self.changing) or not self._is_pure(term):
                others.append((sign, term))
            else:
                fixed.setdefault(self._loops_of(term), []).append((sign, term))
        if not others or max(map(len, fixed.values()), default=0) < 2:
            return None
        together = [(1, self._expression(as_sum(terms))) for terms in fixed.values()]
        return as_sum([*((sign, self._expression(term)) for sign, term in others), *together])

    def _loops_of(self, e: gprob.Expr) -> object:
        """The loops that an expression depends on: what depends on the same ones is computed together."""
        return tuple(f.name for f in (self.loop, *self.inner) if mentions(e, {f.name}))

    def _conditional(self, e: gprob.Cond) -> gprob.Expr:
        """A choice between sums with what they have in common in front: a + (c ? b : d) for c ? a + b : a + d."""
        sides = [list(summands(x)) for x in (e.then, e.otherwise)] if e.type == REAL else [[], []]
        shared = {(sign, key(t)) for sign, t in sides[0]} & {(sign, key(t)) for sign, t in sides[1]}
        common = [(sign, t) for sign, t in sides[0] if (sign, key(t)) in shared]
        if not common or not any(mentions(t, self.changing) for _, t in common):
            return replace(e, condition=self._expression(e.condition))
        rests = [[(sign, t) for sign, t in side if (sign, key(t)) not in shared] for side in sides]
        then, otherwise = (as_sum(r) if r else gprob.Const(REAL, e.span, 0.0) for r in rests)
        return self._expression(as_sum([*common, (1, replace(e, then=then, otherwise=otherwise))]))

    def _is_pure(self, e: gprob.Expr) -> bool:
        for n in traversal.walk(e):
            if isinstance(n, (gprob.CallUser, gprob.TargetValue, gprob.FunctionValue)):
                return False
            if isinstance(n, gprob.Apply) and (n.function.random or n.function.effect or n.function.raw):
                return False
        return not isinstance(unwind(e.type)[0], Tuple)

    def _hoisted(self, e: gprob.Expr) -> gprob.Expr:
        loops = [f for f in self.inner if mentions(e, {f.name})]
        same = (key(e), tuple(f.name for f in loops), tuple(key(c) for c in self._reached(loops)))
        if same not in self.known:
            self.known[same] = self._computed(e, loops)
        return replace(self.known[same], span=e.span)

    def _computed(self, e: gprob.Expr, loops: Sequence[gprob.For]) -> gprob.Expr:
        """A variable that holds an expression for all iterations, and where it is computed."""
        name, span = self.names.helper("each"), e.span
        if not loops:
            self._declared(gprob.Var(e.type, span, name), e)
            return gprob.Var(e.type, span, name)
        kind = array(e.type, len(loops))
        sizes = tuple(_count(f) for f in loops)
        if dimensions(e.type):
            return e
        indices = {f.name: self.names.helper(f.name) for f in loops}
        value = renamed(e, indices)
        places = tuple(gprob.Single(gprob.Var(INT, span, indices[f.name])) for f in loops)
        place = gprob.Place(name, kind, span, (gprob.Step(e.type, places),))
        filled: gprob.Stmt = gprob.Assign(span, place, value)
        for f in reversed(loops):
            filled = replace(f, name=indices[f.name], body=(filled,))
        self.statements += [gprob.Declare(span, name, gprob.Sized(kind, sizes)), self._where_reached(filled, loops)]
        own = tuple(gprob.Single(gprob.Var(INT, span, f.name)) for f in loops)
        return gprob.Index(e.type, span, gprob.Var(kind, span, name), own)

    def _declared(self, variable: gprob.Var, e: gprob.Expr) -> None:
        span = e.span
        if not self._reached(()):
            self.statements.append(gprob.Declare(span, variable.name, gprob.Sized(e.type), None, e))
            return
        place = gprob.Place(variable.name, e.type, span, ())
        assigned = self._where_reached(gprob.Assign(span, place, e), ())
        self.statements += [gprob.Declare(span, variable.name, gprob.Sized(e.type)), assigned]

    def _where_reached(self, s: gprob.Stmt, loops: Sequence[gprob.For]) -> gprob.Stmt:
        """A statement for what no iteration reaches where one of the other loops around has none: Stan may throw."""
        for condition in reversed(self._reached(loops)):
            s = gprob.If(s.span, condition, (s,))
        return s

    def _reached(self, loops: Sequence[gprob.For]) -> list[gprob.Expr]:
        """Whether the inner loops around have iterations, but for those as long as given ones or known to have some."""
        lengths = {key(f.upper): f for f in self.inner if not _has_some(f)}
        others = [f for length, f in lengths.items() if length not in {key(g.upper) for g in loops}]
        return [apply("logical_gte", f.upper, gprob.int_const(1, f.span)) for f in others]


def _has_some(s: gprob.For) -> bool:
    return isinstance(s.upper, gprob.Const) and isinstance(s.upper.value, int) and s.upper.value > 0


def _count(s: gprob.For) -> gprob.Expr:
    """How many iterations a loop over 1, ..., the upper bound has: none where that is negative."""
    if is_nonnegative(linear(s.upper), {}) or isinstance(s.upper, gprob.Apply) and s.upper.function.shape_only:
        return s.upper
    return apply("max", s.upper, gprob.int_const(0, s.span))


def _is_work(e: gprob.Expr) -> bool:
    """Whether an expression is more than a constant or a variable."""
    return not isinstance(e, (gprob.Const, gprob.Var)) and any(
        isinstance(n, gprob.Index) or isinstance(n, gprob.Apply) and n.arguments and not n.function.shape_only
        for n in traversal.walk(e)
    )


def sizes_before(
    body: tuple[gprob.Stmt, ...], private: Set[str], names: Fresh
) -> tuple[list[gprob.Stmt], tuple[gprob.Stmt, ...]]:
    """The sizes of what a recurrence only asks for its size, before it, and its statements with these.

    A recurrence of data alone would else refer to parameters, and be traced for that.
    """
    inside = written(body) | declared(body) | loop_indices(body) | private
    sizes = [n for n in traversal.walk(body) if _is_size(n) and not mentions(n, inside)]
    values = {id(v) for n in sizes for v in traversal.walk(n)}
    read = {n.name for n in traversal.walk(body) if isinstance(n, gprob.Var) and id(n) not in values}
    made: dict[Hashable, gprob.Declare] = {}
    for n in sizes:
        if not mentions(n, read):
            made.setdefault(key(n), gprob.Declare(n.span, names.helper("size"), gprob.Sized(INT), None, n))

    def change(n: object) -> object:
        known = made.get(key(n)) if made and _is_size(n) else None
        return n if known is None else gprob.Var(INT, known.span, known.name)

    return list(made.values()), traversal.rewrite(body, change)


def _is_size(n: object) -> TypeGuard[gprob.Apply]:
    """Whether a node asks for a number of a variable's shape."""
    if not isinstance(n, gprob.Apply) or not n.function.shape_only:
        return False
    return n.type == INT and isinstance(n.arguments[0], gprob.Var)
