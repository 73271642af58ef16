"""Neighbours that a term reads: `z[t - l]` in a loop over lags, `z[(t - 2):(t - 1)]`; as many wherever it stands.

Its table is over these then, not over the whole array. Loops over a few of them are written out, where their number is
no data.
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import replace

from stanlib.dataclass import dataclass

from ..ir import gprob, traversal, uses
from ..ir.calls import call
from ..ir.likeness import same
from .components import not_negative
from .parameters import Stmts

_ONE = 1
_FEW = 4  # iterations that are written out


@dataclass(frozen=True)
class Window:
    """The elements from `lower` to `upper`, which are `count` everywhere; `reads` are the single indices among them."""

    lower: gprob.Expr
    upper: gprob.Expr
    count: gprob.Expr
    reads: tuple[gprob.Expr, ...] = ()

    @property
    def range(self) -> gprob.Range:
        return gprob.Range(self.lower, self.upper)

    def is_of(self, other: "Window | gprob.Range") -> bool:
        """Whether these are the same elements."""
        return same(self.lower, other.lower) and same(self.upper, other.upper)

    def reading(self, other: "Window") -> "Window":
        """The window with what is read of the same elements elsewhere."""
        return replace(self, reads=(*self.reads, *other.reads))

    def has(self, index: gprob.IndexExpr) -> bool:
        """Whether an index reads some of the elements."""
        if isinstance(index, gprob.Single):
            return any(same(index.value, r) for r in self.reads)
        return isinstance(index, gprob.Range) and self.is_of(index)

    def within(self, index: gprob.IndexExpr) -> gprob.IndexExpr:
        """The index counted from the first of them."""
        if not isinstance(index, gprob.Single):
            return gprob.ALL
        span = index.value.span
        return gprob.Single(_plus_one(call("subtract", span, index.value, self.lower)))


def _plus_one(e: gprob.Expr) -> gprob.Expr:
    return call("add", e.span, e, gprob.int_const(_ONE, e.span))


def written_out(body: Stmts, tainted: Set[str]) -> Stmts:
    """The body without loops of a few iterations over neighbours, each of which is an element of its own then."""
    out: list[gprob.Stmt] = []
    for s in body:
        inner = traversal.with_bodies(s, lambda b: written_out(b, tainted))
        out += _each(inner) if isinstance(inner, gprob.For) and _is_short(inner, tainted) else [inner]
    return tuple(out)


def _each(loop: gprob.For) -> Iterator[gprob.Stmt]:
    """The iterations of a loop between two numbers."""
    for i in range(_number(loop.lower), _number(loop.upper) + 1):
        yield from traversal.substituted(loop.body, {loop.name: gprob.int_const(i, loop.span)})


def _number(e: gprob.Expr) -> int:
    assert isinstance(e, gprob.Const) and isinstance(e.value, int)
    return e.value


def _is_short(loop: gprob.For, tainted: Set[str]) -> bool:
    """Whether it goes through a few neighbours of elements, and adds no terms."""
    if not isinstance(loop.lower, gprob.Const) or not isinstance(loop.upper, gprob.Const):
        return False
    plain = all(isinstance(s, (gprob.Assign, gprob.If)) for s in uses.walk_statements(loop.body))
    return plain and _number(loop.upper) - _number(loop.lower) < _FEW and any(
        isinstance(e, gprob.Index) and uses.mentions(e.base, tainted) and _is_moved(e.indices, loop.name)
        for e in traversal.walk(loop.body)
    )


def _is_moved(indices: Sequence[gprob.IndexExpr], name: str) -> bool:
    """Whether one of the indices is a variable and something else."""
    found = (i.value for i in indices if isinstance(i, gprob.Single) and uses.mentions(i.value, {name}))
    return any(uses.names_in(e) != {name} for e in found)


class Windows:
    """Finds those of a term's code, in the loops that are its own.

    Args:
        code: the statements of the term.
        known: variables that data and the loops around the term decide.
        static: those that data decide.
        discrete: the names of discrete parameters.
    """

    def __init__(self, code: Stmts, known: Set[str], static: Set[str], discrete: Set[str]):
        self.known, self.static, self.discrete = known, static, discrete
        inner = [s for s in uses.walk_statements(code) if isinstance(s, gprob.For) and s.name not in known]
        self.loops = {s.name: s for s in inner if self._is_run_through(s)}

    def _is_run_through(self, loop: gprob.For) -> bool:
        """Whether all iterations of a loop read what one of them does."""
        if not uses.names_in((loop.lower, loop.upper)) <= self.known or uses.escapes(loop.body):
            return False
        own = uses.declared(loop.body) | uses.written(loop.body) | {loop.name}
        return not any(self._outside(c) & own for c in _conditions(loop.body))

    def _outside(self, node: object) -> Set[str]:
        """What a condition depends on beside discrete parameters."""
        if isinstance(node, gprob.Index) and isinstance(node.base, gprob.Var) and node.base.name in self.discrete:
            return frozenset()
        own = {node.name} if isinstance(node, gprob.Var) else set()
        return own.union(*map(self._outside, traversal.children(node)))

    def of(self, index: gprob.IndexExpr) -> Window | None:
        """The elements that an index reads, if they are neighbours."""
        if isinstance(index, gprob.Range) and index.lower is not None and index.upper is not None:
            return self._between(index.lower, index.upper, ())
        if not isinstance(index, gprob.Single):
            return None
        loop = next((self.loops[n] for n in sorted(uses.names_in(index.value) & self.loops.keys())), None)
        step = None if loop is None else _coefficient(index.value, loop.name)
        if loop is None or step is None or abs(step) != 1:
            return None
        lower, upper = (traversal.substituted(index.value, {loop.name: e}) for e in (loop.lower, loop.upper))
        lower, upper = (lower, upper) if step > 0 else (upper, lower)
        return self._between(lower, upper, (index.value,))

    def _between(self, lower: gprob.Expr, upper: gprob.Expr, reads: tuple[gprob.Expr, ...]) -> Window | None:
        """The elements between two, if data tell how many these are and both are known."""
        if not uses.names_in((lower, upper)) <= self.known:
            return None
        count = _sum([*_terms(upper), *_terms(lower, -1), (gprob.int_const(_ONE, lower.span), 1)])
        return Window(lower, upper, not_negative(count), reads) if uses.names_in(count) <= self.static else None


def _conditions(body: Stmts) -> Iterator[gprob.Expr]:
    """What decides which part of the body runs."""
    for node in traversal.walk(body):
        if isinstance(node, (gprob.If, gprob.Cond, gprob.While)):
            yield node.condition
        elif isinstance(node, gprob.Logical):
            yield node.left
        elif isinstance(node, gprob.For):
            yield from (node.lower, node.upper)


_Term = tuple[gprob.Expr, int]


def _terms(e: gprob.Expr, sign: int = 1) -> Iterator[_Term]:
    """What is added up in an int, and how often each is."""
    name = e.function.name if isinstance(e, gprob.Apply) else ""
    if isinstance(e, gprob.Apply) and name in ("add", "subtract") and len(e.arguments) == 2:
        yield from _terms(e.arguments[0], sign)
        yield from _terms(e.arguments[1], sign if name == "add" else -sign)
    else:
        yield e, sign


def _coefficient(e: gprob.Expr, name: str) -> int | None:
    """How often a variable is added in an int; None if it stands elsewhere in it."""
    found = [(t, n) for t, n in _terms(e) if uses.mentions(t, {name})]
    return sum(n for _, n in found) if all(isinstance(t, gprob.Var) for t, _ in found) else None


def _sum(terms: Sequence[_Term]) -> gprob.Expr:
    """The terms added up, without those that come to 0."""
    number = 0
    rest: list[_Term] = []
    for e, n in terms:
        if isinstance(e, gprob.Const) and isinstance(e.value, int):
            number += n * e.value
        elif (at := next((i for i, (other, _) in enumerate(rest) if same(e, other)), None)) is not None:
            rest[at] = (e, rest[at][1] + n)
        else:
            rest.append((e, n))
    out: gprob.Expr = gprob.int_const(number, terms[0][0].span)
    for e, n in rest:
        for _ in range(abs(n)):
            out = call("add" if n > 0 else "subtract", e.span, out, e)
    return out
