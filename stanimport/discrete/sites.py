"""Which elements of discrete parameters a term depends on: the axes of its table."""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from stanlib.types import INT, array

from ..ir import gprob, traversal, uses
from ..ir.fresh import Fresh
from .normal import same
from .parameters import Discrete, variable
from .terms import Term


@dataclass(frozen=True)
class Site:
    """`z[prefix]`: one element where there is an index for every dimension, else all those that begin so.

    `level` is how many loops around the term its indices need; `index` is the variable of the loop over its values, and
    `values` that of the list of all values where it stands for several elements.
    """

    discrete: Discrete
    prefix: tuple[gprob.Expr, ...]
    level: int
    index: str
    values: str = ""

    @property
    def missing(self) -> int:
        """The number of dimensions without an index."""
        return self.discrete.dims - len(self.prefix)

    def matches(self, name: str, indices: Sequence[gprob.IndexExpr]) -> bool:
        found = [i.value for i in indices[: len(self.prefix)] if isinstance(i, gprob.Single)]
        return name == self.discrete.name and len(found) == len(self.prefix) and all(map(same, found, self.prefix))

    def read(self, indices: Sequence[gprob.IndexExpr], e: gprob.Expr) -> gprob.Expr:
        """What stands in place of a read with these indices."""
        at = variable(INT, e.span, self.index)
        if not self.missing:
            return at
        values = variable(array(INT, 1 + self.missing), e.span, self.values)
        return gprob.Index(e.type, e.span, values, (gprob.Single(at), *indices[len(self.prefix) :]))


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
        if isinstance(s, (gprob.Break, gprob.Continue)):
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
        if not wrong:
            return found, loops[: max((s.level for s in found), default=0)]
        loops = loops[: min(wrong) - 1]


def sites(
    term: Term, loops: Sequence[gprob.For], discrete: Mapping[str, Discrete], static: Set[str], names: Fresh
) -> tuple[Site, ...]:  # fmt: skip
    """The sites of a term, those with fewer indices in place of those that they include."""
    level = {s.name: i for i, s in enumerate(loops, start=1)}
    found: list[tuple[Discrete, tuple[gprob.Expr, ...]]] = []
    for name, indices in _reads((*term.before, *term.top), discrete):
        begin: list[gprob.Expr] = []
        for i in indices[: discrete[name].dims]:
            if not isinstance(i, gprob.Single) or not uses.names_in(i.value) <= static | level.keys():
                break
            begin.append(i.value)
        found.append((discrete[name], tuple(begin)))
    kept: list[tuple[Discrete, tuple[gprob.Expr, ...]]] = []
    for d, prefix in sorted(found, key=lambda f: len(f[1])):
        if not any(d is e and all(map(same, other, prefix)) for e, other in kept):
            kept.append((d, prefix))
    return tuple(_site(d, p, level, names) for d, p in kept)


def _site(d: Discrete, prefix: tuple[gprob.Expr, ...], level: Mapping[str, int], names: Fresh) -> Site:
    at = max((level.get(n, 0) for n in uses.names_in(prefix)), default=0)
    values = names.helper(f"values_{d.declaration.site}") if len(prefix) < d.dims else ""
    return Site(d, prefix, at, names.helper(f"{d.declaration.site}"), values)


def _reads(node: Any, discrete: Mapping[str, Discrete]) -> Iterator[tuple[str, tuple[gprob.IndexExpr, ...]]]:
    if isinstance(node, gprob.Index) and isinstance(node.base, gprob.Var) and node.base.name in discrete:
        yield node.base.name, node.indices
        for i in node.indices:
            yield from _reads(i, discrete)
        return
    if isinstance(node, gprob.Var) and node.name in discrete:
        yield node.name, ()
    for c in node if isinstance(node, tuple) else traversal.children(node):
        yield from _reads(c, discrete)


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
