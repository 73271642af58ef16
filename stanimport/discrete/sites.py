"""Which elements of discrete parameters a term depends on: the axes of its table."""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any

from stanlib.dataclass import dataclass
from stanlib.types import INT, array

from ..ir import gprob, traversal, uses
from ..ir.calls import call
from ..ir.fresh import Fresh
from ..ir.likeness import same
from ..source import Span
from .parameters import Discrete, variable
from .terms import LEAVES_THAT_ADD, Term
from .windows import Window, Windows

Pattern = tuple[gprob.Expr | Window | None, ...]


@dataclass(frozen=True)
class Site:
    """`z[i, j]`: one element where the pattern has an index for every dimension; else all those with these indices.

    Or those of a window of neighbours.

    `level` is how many loops around the term its indices need; `index` is the variable of the loop over its values, and
    `values` that of the list of all values where it stands for several elements. Places where no condition of `guards`
    holds don't read it; `guards` is empty where all do.
    """

    discrete: Discrete
    pattern: Pattern
    guards: tuple[gprob.Expr, ...]
    level: int
    index: str
    values: str = ""

    @property
    def missing(self) -> int:
        """The number of dimensions without an index of one element."""
        return sum(not isinstance(p, gprob.Expr) for p in self.pattern)

    @property
    def is_whole(self) -> bool:
        """Whether it stands for all elements of an array."""
        return all(p is None for p in self.pattern)

    @property
    def shape(self) -> tuple[gprob.Expr, ...]:
        """The sizes of those dimensions."""
        pairs = zip(self.discrete.shape, self.pattern)
        return tuple(p.count if isinstance(p, Window) else n for n, p in pairs if not isinstance(p, gprob.Expr))

    @property
    def indices(self) -> tuple[gprob.IndexExpr, ...]:
        """The indices that select its elements."""
        several = (p.range if isinstance(p, Window) else gprob.ALL for p in self.pattern)
        return tuple(gprob.Single(p) if isinstance(p, gprob.Expr) else s for p, s in zip(self.pattern, several))

    def guard(self, span: Span) -> gprob.Expr:
        """Whether a place reads it."""
        first, *others = self.guards
        for g in others:
            first = gprob.Logical(INT, span, "||", first, g)
        return first

    def matches(self, name: str, indices: Sequence[gprob.IndexExpr]) -> bool:
        """Whether a read with these indices reads no other elements."""
        return name == self.discrete.name and covers(self.pattern, tuple(indices))

    def read(self, indices: Sequence[gprob.IndexExpr], e: gprob.Expr) -> gprob.Expr:
        """What stands in place of a read with these indices."""
        at = variable(INT, e.span, self.index)
        if not self.missing:
            return at
        values = variable(array(INT, 1 + self.missing), e.span, self.values)
        pairs = ((i, p) for i, p in zip(indices, self.pattern) if not isinstance(p, gprob.Expr))
        rest = (p.within(i) if p else i for i, p in pairs)
        return gprob.Index(e.type, e.span, values, (gprob.Single(at), *rest))


def read_pattern(indices: Sequence[gprob.IndexExpr], dims: int) -> Pattern:
    """The single indices of a read by dimension."""
    given = [i.value if isinstance(i, gprob.Single) else None for i in indices]
    return (*given, *(None,) * (dims - len(given)))


def covers(a: Pattern, b: Sequence[gprob.IndexExpr]) -> bool:
    """Whether the elements that indices select are surely among those of a pattern."""
    given = (*b, *(gprob.ALL,) * (len(a) - len(b)))
    return all(p is None or _selects(p, i) for p, i in zip(a, given))


def _selects(p: gprob.Expr | Window, i: gprob.IndexExpr) -> bool:
    """Whether an index selects what stands in a pattern, or some of it."""
    return p.has(i) if isinstance(p, Window) else isinstance(i, gprob.Single) and same(p, i.value)


def includes(a: Pattern, b: Pattern) -> bool:
    """Whether the elements of a pattern are surely among those of another."""
    pairs = [(p, q) for p, q in zip(a, b) if p is not None]
    return all(p.is_of(q) if isinstance(p, Window) and isinstance(q, Window) else same(p, q) for p, q in pairs)


def key_loops(term: Term, static: Set[str]) -> tuple[gprob.For, ...]:
    """The loops around a term whose iterations are known from data, up to the first that is not."""
    known, out = set(static), []
    for s in term.path:
        if isinstance(s, gprob.If):
            continue
        if not isinstance(s, gprob.For) or not uses.names_in((s.lower, s.upper)) <= known or _is_left(s.body):
            break
        known.add(s.name)
        out.append(s)
    return tuple(out)


def _is_left(body: Sequence[gprob.Stmt]) -> bool:
    """Whether an iteration of a loop may end early."""
    for s in body:
        if isinstance(s, uses.BREAKS):
            return True
        if isinstance(s, gprob.If) and (_is_left(s.then) or _is_left(s.otherwise)):
            return True
    return False


def carries(term: Term, loop: gprob.For) -> bool:
    """Whether what a term needs in an iteration of a loop is made of what depends on discrete parameters in others.

    So it is where the statements that have to run for each of their values assign to a variable from outside the loop.
    """
    body = next(s.body for s in uses.walk_statements(term.top) if isinstance(s, gprob.For) and s.name == loop.name)
    middle = term.parts(body)[1]
    inside = {n for s in uses.walk_statements(middle) for n in uses.defines(s)}
    return not set(uses.assigned(middle)) <= inside


def own_sites(
    term: Term, discrete: Mapping[str, Discrete], static: Set[str], names: Fresh
) -> tuple[tuple[Site, ...], tuple[gprob.For, ...]]:  # fmt: skip
    """The sites of a term, and the loops around it that their indices need."""
    loops = key_loops(term, static)
    while True:
        found = sites(term, loops, discrete, static, names)
        wrong = [s.level for s in found if s.level and carries(term, loops[s.level - 1])]
        own = min(wrong) - 1 if wrong else max((s.level for s in found), default=0)
        if own == len(loops):
            return found, loops
        loops = loops[:own]


@dataclass
class _Found:
    """Elements that a term reads, and under which conditions: none where it always does."""

    discrete: Discrete
    pattern: Pattern
    guards: tuple[gprob.Expr, ...]

    def merge(self, other: "_Found") -> None:
        """Adds a read of the same elements, or of some of them."""
        pairs = zip(self.pattern, other.pattern)
        self.pattern = tuple(p.reading(q) if isinstance(p, Window) and isinstance(q, Window) else p for p, q in pairs)
        if not other.guards or not self.guards:
            self.guards = ()
        else:
            self.guards += tuple(g for g in other.guards if not any(same(g, h) for h in self.guards))


def sites(
    term: Term, loops: Sequence[gprob.For], discrete: Mapping[str, Discrete], static: Set[str], names: Fresh
) -> tuple[Site, ...]:  # fmt: skip
    """The sites of a term, those with fewer indices in place of those that they include."""
    level = {s.name: i for i, s in enumerate(loops, start=1)}
    known = static | level.keys()
    found: list[_Found] = []
    code = (*term.before, *term.top)
    windows = Windows(code, known, static, discrete.keys())
    for name, indices, guard in _Reads(discrete, known).of(code):
        none = (None,) * (discrete[name].dims - len(indices))
        certain = (*(_certain(i, known, windows) for i in indices), *none)
        found.append(_Found(discrete[name], certain, () if guard is None else (guard,)))
    kept: list[_Found] = []
    for f in sorted(found, key=lambda f: -sum(p is None for p in f.pattern)):
        wider = next((k for k in kept if k.discrete is f.discrete and includes(k.pattern, f.pattern)), None)
        if wider is None:
            kept.append(f)
        else:
            wider.merge(f)
    return tuple(_site(f, level, names) for f in kept)


def _certain(index: gprob.IndexExpr, known: Set[str], windows: Windows) -> gprob.Expr | Window | None:
    """Which element an index selects, or which neighbours; None if that is not known, or all of them."""
    if isinstance(index, gprob.Single) and uses.names_in(index.value) <= known:
        return index.value
    return windows.of(index)


def _site(f: _Found, level: Mapping[str, int], names: Fresh) -> Site:
    ends = (e for p in f.pattern if isinstance(p, Window) for e in (p.lower, p.upper))
    needed = uses.names_in((*(p for p in f.pattern if isinstance(p, gprob.Expr)), *ends, *f.guards))
    at = max((level.get(n, 0) for n in needed), default=0)
    site = f.discrete.declaration.site
    several = any(not isinstance(p, gprob.Expr) for p in f.pattern)
    values = names.helper(f"values_{site}") if several else ""
    return Site(f.discrete, f.pattern, f.guards, at, names.helper(f"{site}"), values)


_Read = tuple[str, tuple[gprob.IndexExpr, ...], gprob.Expr | None]


@dataclass(frozen=True)
class _Reads:
    """Finds reads of discrete parameters, each with the condition on what is known under which it happens."""

    discrete: Mapping[str, Discrete]
    known: Set[str]

    def of(self, node: object, guard: gprob.Expr | None = None, inner: bool = False) -> Iterator[_Read]:
        """Name and indices of each read in a node, and the condition, `guard` included, for it; None for always.

        A node that is `inner` stands in a loop of which all iterations belong to one place of the term.
        """
        if isinstance(node, gprob.Index) and isinstance(node.base, gprob.Var) and node.base.name in self.discrete:
            yield node.base.name, node.indices, guard
            for i in node.indices:
                yield from self.of(i, guard, inner)
        elif isinstance(node, gprob.Var):
            if node.name in self.discrete:
                yield node.name, (), guard
        elif (parts := self._alternatives(node, inner)) is not None:
            condition, then, otherwise = parts
            yield from self.of(condition, guard, inner)
            yield from self.of(then, _both(guard, condition), inner)
            yield from self.of(otherwise, _both(guard, call("logical_negation", condition.span, condition)), inner)
        else:
            inner = inner or isinstance(node, gprob.For) and node.name not in self.known
            for c in node if isinstance(node, tuple) else traversal.children(node):
                yield from self.of(c, guard, inner)

    def _alternatives(self, node: object, inner: bool) -> tuple[gprob.Expr, Any, Any] | None:
        """A condition on what is known, and the parts of a node that are evaluated where it holds, or not."""
        if isinstance(node, gprob.Cond):
            found: tuple[gprob.Expr, Any, Any] = node.condition, node.then, node.otherwise
        elif isinstance(node, gprob.Logical):
            found = (node.left, node.right, ()) if node.operator == "&&" else (node.left, (), node.right)
        elif isinstance(node, gprob.If) and (inner or not _adds(node)):
            found = node.condition, node.then, node.otherwise
        else:
            return None
        return found if uses.names_in(found[0]) <= self.known else None


def _adds(s: gprob.Stmt) -> bool:
    """Whether a term stands inside: in its own loops the branch decides whether it stands, not what it reads."""
    return any(isinstance(t, LEAVES_THAT_ADD) for t in uses.walk_statements((s,)))


def _both(a: gprob.Expr | None, b: gprob.Expr) -> gprob.Expr:
    return b if a is None else gprob.Logical(INT, b.span, "&&", a, b)


def with_values(node: Any, found: Sequence[Site]) -> Any:
    """Statements with the variables of the loops over values in place of discrete parameters."""

    def swapped(e: gprob.Expr) -> gprob.Expr:
        if isinstance(e, gprob.Index) and isinstance(e.base, gprob.Var):
            for s in found:
                if s.matches(e.base.name, e.indices):
                    return s.read([_swapped_index(i) for i in e.indices], e)
        if isinstance(e, gprob.Var):
            return next((s.read((), e) for s in found if s.matches(e.name, ())), e)
        out: gprob.Expr = traversal.rewrite_parts(e, swapped)
        return out

    def _swapped_index(i: gprob.IndexExpr) -> gprob.IndexExpr:
        out: gprob.IndexExpr = traversal.rewrite_parts(i, swapped)
        return out

    def statement(s: gprob.Stmt) -> gprob.Stmt:
        return traversal.with_bodies(traversal.rewrite_parts(s, swapped), lambda b: tuple(map(statement, b)))

    return tuple(map(statement, node))
