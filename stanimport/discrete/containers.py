"""Statements over whole containers as loops over their components."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from dataclasses import field, replace

from stanlib import registry
from stanlib.dataclass import dataclass
from stanlib.registry import Function
from stanlib.types import INT, MATRIX, VECTOR, dimensions

from ..ir import gprob, traversal, typed, uses
from ..ir.calls import call
from ..ir.fresh import Fresh
from ..ir.gprob import is_density
from ..ir.likeness import same
from .components import component, component_at, is_container, not_negative, size
from .parameters import Stmts


def by_component(body: Stmts, tainted: Set[str], sizes: dict[str, gprob.Sized], names: Fresh) -> Iterator[gprob.Stmt]:
    for s in body:
        if isinstance(s, gprob.Declare):
            sizes[s.name] = s.sized
        if isinstance(s, (typed.Tilde, typed.Increment)) and uses.mentions(s, tainted):
            yield from _Components(tainted, sizes, names).statement(s)
        else:
            yield traversal.with_bodies(s, lambda b: tuple(by_component(b, tainted, sizes, names)))


Exprs = tuple[gprob.Expr, ...]
Rebuild = Callable[[list[gprob.Expr]], gprob.Stmt]


@dataclass
class _Components:
    tainted: Set[str]
    sizes: dict[str, gprob.Sized]
    names: Fresh

    def statement(self, s: gprob.Stmt) -> Iterator[gprob.Stmt]:
        """A law over many outcomes as a loop with a law over one."""
        if isinstance(s, typed.Tilde):
            law = s.distribution
            if isinstance(law.lpdf, Function) and law.lpdf.distribution is not None:
                made = self.loop(s, (s.value, *law.arguments), law.lpdf, lambda a: self.tilde(s, a))
                yield from made or (s,)
                return
        elif isinstance(s, typed.Increment) and is_density(s.value):
            e = s.value
            yield from self.loop(s, e.arguments, e.function, lambda a: self.increment(s, a)) or (s,)
            return
        elif isinstance(s, typed.Increment) and is_container(s.value.type):
            made = self.sum(s)
            yield from made or (s,)
            return
        yield s

    def tilde(self, s: typed.Tilde, arguments: list[gprob.Expr]) -> gprob.Stmt:
        return replace(s, value=arguments[0], distribution=replace(s.distribution, arguments=tuple(arguments[1:])))

    def increment(self, s: typed.Increment, arguments: list[gprob.Expr]) -> gprob.Stmt:
        assert isinstance(s.value, gprob.Apply)
        return replace(s, value=replace(s.value, arguments=tuple(arguments)))

    def loop(self, s: gprob.Stmt, arguments: Exprs, law: Function, rebuilt: Rebuild) -> Stmts:
        """The loop; nothing where the law is that of one outcome, or the parts of its arguments can't be told apart."""
        own = law.distribution.dims
        many = [dimensions(a.type) > d for a, d in zip(arguments, own)]
        if not any(many) or not any(m and uses.mentions(a, self.tainted) for a, m in zip(arguments, many)):
            return ()
        index, kept = self.names.helper("n"), _Kept(self, s)
        arguments = tuple(map(self.by_rows, arguments))
        i = gprob.Var(INT, s.span, index)
        arguments = tuple(map(kept, arguments))
        found = [n for a, m in zip(arguments, many) if m and (n := self.size(a)) is not None]
        stretch = next((r for a, m in zip(arguments, many) if m and (r := self.stretch(a)) is not None), None)
        at = i if stretch is None else component_at(stretch[0], i)
        parts = [component(a, at) if m else a for a, m in zip(arguments, many)]
        if not found:
            return ()
        if registry.exact(law.name).get(tuple(p.type for p in parts)) is None:
            return ()
        checks = [self.agree(s, found[0], n) for n in found[1:] if not same(n, found[0])]
        body = rebuilt(parts)
        bounds = (gprob.int_const(1, s.span), found[0]) if stretch is None else stretch
        return (*kept.made, *checks, gprob.For(s.span, index, *bounds, (body,)))

    def stretch(self, e: gprob.Expr) -> tuple[gprob.Expr, gprob.Expr] | None:
        """The bounds of `e = x[s:t]`, where elements say which is the first component: the loop is over places in x."""
        if not isinstance(e, gprob.Index) or not isinstance(e.base, gprob.Var):
            return None
        several = [(at, x) for at, x in enumerate(e.indices) if not isinstance(x, gprob.Single)]
        at, part = several[0] if len(several) == 1 else (0, None)
        if not isinstance(part, gprob.Range) or part.lower is None:
            return None
        upper = part.upper
        if upper is None and e.base.name in self.sizes:
            upper = self.sizes[e.base.name].shape[at]
        if upper is None or not uses.mentions(part.lower, self.tainted):
            return None
        return part.lower, upper

    def by_rows(self, e: gprob.Expr) -> gprob.Expr:
        """Products of a matrix, whose rows depend on elements of their own, and a vector row by row."""
        e = traversal.rewrite_parts(e, self.by_rows)
        if not isinstance(e, gprob.Apply) or e.function.name != "multiply" or e.type != VECTOR:
            return e
        m, v = e.arguments
        if m.type != MATRIX or not uses.mentions(m, self.tainted) or uses.mentions(v, self.tainted):
            return e
        rows = self.size(m)
        if rows is None:
            return e
        return call("rows_dot_product", e.span, m, call("rep_matrix", e.span, call("transpose", e.span, v), rows))

    def agree(self, s: gprob.Stmt, a: gprob.Expr, b: gprob.Expr) -> gprob.Stmt:
        """Containers of different sizes are an error."""
        a, b = not_negative(a), not_negative(b)
        message = gprob.Message(s.span, "reject", ("containers that belong together have the sizes ", a, " and ", b))
        return gprob.If(s.span, call("logical_neq", s.span, a, b), (message,))

    def size(self, e: gprob.Expr) -> gprob.Expr | None:
        """The number of components of a container; None where only running tells it."""
        found = size(e, self.sizes)
        if found is None and not uses.mentions(e, self.tainted):
            return call("size", e.span, e)
        return found

    def sum(self, s: typed.Increment) -> tuple[gprob.Stmt, ...]:
        count = self.size(s.value)
        if count is None:
            return ()
        index = self.names.helper("n")
        one = component(s.value, gprob.Var(INT, s.span, index))
        term = tuple(self.statement(typed.Increment(s.span, s.kind, one)))
        return (gprob.For(s.span, index, gprob.int_const(1, s.span), count, term),)


@dataclass
class _Kept:
    """Containers that no discrete parameter decides are computed once, before the loop over their components."""

    components: _Components
    statement: gprob.Stmt
    made: list[gprob.Stmt] = field(default_factory=list)

    def __call__(self, e: gprob.Expr) -> gprob.Expr:
        if not isinstance(e, (gprob.Apply, gprob.CallUser)) or not is_container(e.type):
            return e
        if uses.mentions(e, self.components.tainted):
            return replace(e, arguments=tuple(map(self, e.arguments)))
        if dimensions(e.type) != 1:
            return e
        count = self.components.size(e)
        assert count is not None
        sized = gprob.Sized(e.type, (count,))
        name = self.components.names.helper("kept")
        self.made.append(gprob.Declare(self.statement.span, name, sized, None, e))
        self.components.sizes[name] = sized
        return gprob.Var(e.type, e.span, name)
