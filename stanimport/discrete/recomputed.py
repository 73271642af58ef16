"""Components that statements add up step by step, computed anew where they are read.

    for (n in 1:N) { m[n] = a[z[n]]; for (j in 1:J) m[n] += b[j] * z[n]; }
    for (n in 1:N) y[n] ~ normal(m[n], s);

has in the second loop `real t; t = a[z[n]]; for (j in 1:J) t += b[j] * z[n]; y[n] ~ normal(t, s);`, whose term depends
on one element. Values that are one expression are replaced by that, see inlining.py.
"""
from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Set
from dataclasses import replace
from functools import partial
from typing import Any, TypeGuard

from stanlib.dataclass import dataclass
from stanlib.types import INT, Type, dimensions

from ..ir import gprob, traversal, typed, uses
from ..ir.calls import call
from ..ir.fresh import Fresh
from ..ir.likeness import same
from ..ir.renaming import renamed
from .components import component, component_type, flattened
from .parameters import Stmts, variable

_LEAVES = (gprob.Declare, gprob.Assign, typed.Tilde, typed.Increment)
_COMPUTES = (gprob.Declare, gprob.Assign, gprob.For, gprob.If)


def recomputed(body: Stmts, tainted: Set[str], names: Fresh, rows: bool = False) -> Stmts:
    """The body with such components computed where they are read, or with `rows` all that share the first indices."""
    writes = Counter(n for s in uses.walk_statements(body) for n in uses.writes(s))
    for s in body:
        if isinstance(s, gprob.Declare) and s.site is None and s.name in tainted and dimensions(s.sized.type):
            dims, several = dimensions(s.sized.type), writes[s.name] > 2 - (s.value is not None)
            for depth in range(dims - 1, 0, -1) if rows else (dims,) if several else ():
                if (found := _found(s, body, depth, tainted)) is not None:
                    body = (*body[: found.end], *_Reader(found, tainted, names).block(body[found.end :]))
    return body


@dataclass(frozen=True)
class _Part:
    """Statements that set the component, or row, at the indices `at`, of the loops around them."""

    loops: tuple[gprob.For, ...]
    at: tuple[str, ...]
    body: Stmts


@dataclass(frozen=True)
class _Components:
    """A container, the parts that set a component one after the other, and the statement behind the last.

    `depth` is how many indices select what they set.
    """

    declared: gprob.Declare
    parts: tuple[_Part, ...]
    end: int
    depth: int

    @property
    def name(self) -> str:
        return self.declared.name


def _found(declared: gprob.Declare, body: Stmts, depth: int, tainted: Set[str]) -> _Components | None:
    """How the components of a container are computed; None where that can't be told, or changes until they are read."""
    name, at = declared.name, next(i for i, s in enumerate(body) if s is declared)
    sets = [i for i in range(at + 1, len(body)) if name in uses.written((body[i],))]
    if not sets or any(_mentions(body[i], name) for i in range(at + 1, sets[-1]) if i not in sets):
        return None
    parts: list[_Part] = []
    for i in sets:
        part = _part(body[i], name, depth)
        own = uses.declared((body[i],)) | uses.loop_indices((body[i],)) | {name}
        if part is None or (uses.names_in((body[i],)) - own) & uses.written(body[i:]):
            return None
        if uses.mentions(tuple((s.lower, s.upper) for s in part.loops), tainted | {s.name for s in part.loops}):
            return None
        parts.append(part)
    if declared.value is not None and uses.names_in(declared.value) & uses.written(body[at + 1 :]):
        return None
    return _Components(declared, tuple(parts), sets[-1] + 1, depth)


def _mentions(s: gprob.Stmt, name: str) -> bool:
    return uses.mentions(s, {name})


def _part(s: gprob.Stmt, name: str, dims: int) -> _Part | None:
    """What a statement does to each component; None where it does more, or to several in one iteration."""
    loops: list[gprob.For] = []
    body: Stmts = (s,)
    while len(loops) < dims and len(body) == 1 and isinstance(body[0], gprob.For):
        loops.append(body[0])
        body = body[0].body
    inner = list(uses.walk_statements(body))
    own = uses.declared(body)
    set_ = [t.place for t in inner if isinstance(t, gprob.Assign) and t.place.name not in own]
    at = _selected(set_[0], dims) if set_ else ()
    indices = tuple(i.name for i in at if isinstance(i, gprob.Var))
    if sorted(indices) != sorted(loop.name for loop in loops) or len(indices) != dims:
        return None
    if not all(isinstance(t, _COMPUTES) for t in inner):
        return None
    if not all(p.name == name and same(_selected(p, dims), at) for p in set_):
        return None
    reads = [n for n in traversal.walk(body) if isinstance(n, gprob.Var) and n.name == name]
    here = [n for n in traversal.walk(body) if _is_read(n, name) and same(_single(n.indices[:dims]), at)]
    return _Part(tuple(loops), indices, body) if len(reads) == len(here) else None


def _selected(p: gprob.Place, depth: int) -> tuple[gprob.Expr, ...]:
    """The first indices of a place, if each selects one component; a place of one component has no others."""
    if not p.steps or p.steps[0].item:
        return ()
    return _single(p.steps[0].indices[:depth])


def _single(indices: tuple[gprob.IndexExpr, ...]) -> tuple[gprob.Expr, ...]:
    """The values of indices, if each selects one component."""
    found = tuple(i.value for i in indices if isinstance(i, gprob.Single))
    return found if len(found) == len(indices) else ()


def _is_read(e: object, name: str) -> TypeGuard[gprob.Index]:
    return isinstance(e, gprob.Index) and isinstance(e.base, gprob.Var) and e.base.name == name


@dataclass(frozen=True)
class _Reader:
    of: _Components
    tainted: Set[str]
    names: Fresh

    def block(self, body: Stmts) -> Iterator[gprob.Stmt]:
        """The statements, before each what computes the components that it reads."""
        for s in body:
            if isinstance(s, _LEAVES) and self.of.name not in uses.writes(s):
                for e in dict.fromkeys(self.reads(s)):
                    name = self.names.helper(self.of.name)
                    yield from self.computed(e, name)
                    s = self.with_variable(s, e, variable(self.type, e.span, name))
                yield s
            else:
                yield traversal.with_bodies(s, lambda b: tuple(self.block(b)))

    def reads(self, node: object) -> Iterator[gprob.Index]:
        """The reads of single components, at indices that data decide, that are evaluated in any case."""
        found: list[gprob.Index] = []
        for e in self.certain(node):
            at = _single(e.indices[: self.of.depth])
            known = len(at) == self.of.depth and not uses.mentions(at, self.tainted)
            if known and not any(same(at, _single(f.indices)) for f in found):
                found.append(gprob.Index(self.type, e.span, e.base, e.indices[: self.of.depth]))
        yield from found

    @property
    def type(self) -> Type:
        """That of what is computed anew."""
        t = self.of.declared.sized.type
        for _ in range(self.of.depth):
            t = component_type(t)
        return t

    def certain(self, node: object) -> Iterator[gprob.Index]:
        if isinstance(node, (gprob.Cond, gprob.Logical)):
            return
        if isinstance(node, gprob.Index) and _is_read(flattened(node), self.of.name):
            yield flattened(node)
            return
        for c in node if isinstance(node, tuple) else traversal.children(node):
            yield from self.certain(c)

    def computed(self, e: gprob.Index, name: str) -> Iterator[gprob.Stmt]:
        """Statements that compute one component as a variable."""
        start = self.of.declared.value
        if start is not None:
            for i in _single(e.indices):
                start = component(start, i)
        sized = self.of.declared.sized
        own = replace(sized, type=self.type, shape=sized.shape[self.of.depth :])
        yield gprob.Declare(e.span, name, own, None, start)
        for p in self.of.parts:
            at = dict(zip(p.at, _single(e.indices)))
            inner = renamed(traversal.rewrite(p.body, partial(self.swapped, name=name, at=at)), self.names)
            inside = self.inside(p, at, e)
            yield from inner if inside is None else (gprob.If(e.span, inside, inner, ()),)

    def swapped(self, n: object, name: str, at: dict[str, gprob.Expr]) -> Any:
        """A node of a part with a variable in place of the component, and indices in place of those of its loops."""
        if isinstance(n, gprob.Var):
            return at.get(n.name, n)
        if _is_read(n, self.of.name):
            return self.rest(n, variable(self.type, n.span, name))
        if isinstance(n, gprob.Place) and n.name == self.of.name:
            step, *others = n.steps
            inner = (replace(step, indices=left),) if (left := step.indices[self.of.depth :]) else ()
            return gprob.Place(name, self.type, n.span, (*inner, *others))
        return n

    def rest(self, e: gprob.Index, row: gprob.Var) -> gprob.Expr:
        """What indices behind the first ones select."""
        left = e.indices[self.of.depth :]
        return gprob.Index(e.type, e.span, row, left) if left else row

    def with_variable(self, s: gprob.Stmt, old: gprob.Index, new: gprob.Var) -> gprob.Stmt:
        """A statement with a variable in place of what it reads at the indices of `old`."""

        def change(e: Any) -> Any:
            if isinstance(e, gprob.Index) and _is_read(flattened(e), self.of.name):
                found = flattened(e)
                if same(_single(found.indices[: self.of.depth]), _single(old.indices)):
                    e = self.rest(found, new)
            return traversal.rewrite_parts(e, change)

        out: gprob.Stmt = traversal.rewrite_parts(s, change)
        return out

    def inside(self, p: _Part, at: dict[str, gprob.Expr], e: gprob.Index) -> gprob.Expr | None:
        """Whether a component is one of those that a part sets; None where that sets all."""
        tests: list[gprob.Expr] = []
        one = gprob.int_const(1, e.span)
        for loop in p.loops:
            size = self.of.declared.sized.shape[p.at.index(loop.name)]
            if not same(loop.lower, one):
                tests.append(call("logical_gte", e.span, at[loop.name], loop.lower))
            if not same(loop.upper, size):
                tests.append(call("logical_lte", e.span, at[loop.name], loop.upper))
        out: gprob.Expr | None = None
        for t in tests:
            out = t if out is None else gprob.Logical(INT, e.span, "&&", out, t)
        return out
