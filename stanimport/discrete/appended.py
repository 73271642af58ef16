"""Containers appended to each other, as variables that are set in parts: `append_array(known, z)` of data and elements.

Then a component is that of one of the parts, as data tell.
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import field
from typing import Any

from stanlib.dataclass import dataclass
from stanlib.types import dimensions, is_scalar

from ..ir import gprob, traversal, uses
from ..ir.calls import call
from ..ir.fresh import Fresh
from .components import component_type, not_negative, size
from .parameters import Stmts, variable

_APPENDING = ("append_array", "append_row", "append_col")


def in_parts(body: Stmts, tainted: Set[str], sizes: Mapping[str, gprob.Sized], names: Fresh) -> Stmts:
    """The body with a variable in place of every call that appends what depends on discrete parameters.

    Args:
        tainted: The variables that depend on those.
        sizes: The declarations of all variables, which tell how long the parts are.
    """
    return _Parts(set(tainted), dict(sizes), names).block(body)


@dataclass
class _Parts:
    tainted: set[str]
    sizes: dict[str, gprob.Sized]
    names: Fresh
    before: list[gprob.Stmt] = field(default_factory=list)  # the statement that calls stand in

    def block(self, body: Stmts) -> Stmts:
        return tuple(t for s in body for t in self.statement(s))

    def statement(self, s: gprob.Stmt) -> Iterator[gprob.Stmt]:
        """The statement, behind those that set the variables which it reads."""
        if isinstance(s, gprob.While):
            yield s
            return
        s = traversal.rewrite_parts(s, self.expression)
        yield from self.before
        self.before = []
        yield traversal.with_bodies(s, self.block)

    def expression(self, e: gprob.Expr) -> gprob.Expr:
        return traversal.rewrite(e, self.node)

    def node(self, e: object) -> Any:
        """The variable in place of a call, whose statements stand before; other nodes as they are."""
        if not isinstance(e, gprob.Apply) or e.function.name not in _APPENDING or dimensions(e.type) != 1:
            return e
        first, second = (gprob.int_const(1, e.span) if is_scalar(a.type) else size(a, self.sizes) for a in e.arguments)
        if first is None or second is None or not uses.mentions(e, self.tainted):
            return e
        first, second = not_negative(first), not_negative(second)
        joined = variable(e.type, e.span, self.names.helper("joined"))
        self.tainted.add(joined.name)
        self.sizes[joined.name] = gprob.Sized(e.type, (call("add", e.span, first, second),))
        self.before += self.set(joined, e, first)
        return joined

    def set(self, joined: gprob.Var, e: gprob.Apply, first: gprob.Expr) -> Iterator[gprob.Stmt]:
        """The declaration of the variable, and the assignments to its parts, the first one of so many components."""
        sized, one = self.sizes[joined.name], gprob.int_const(1, e.span)
        yield gprob.Declare(e.span, joined.name, sized)
        after = call("add", e.span, first, one)
        for (lower, upper), value in zip(((one, first), (after, sized.shape[0])), e.arguments):
            alone = is_scalar(value.type)
            index = gprob.Single(lower) if alone else gprob.Range(lower, upper)
            step = gprob.Step(component_type(e.type) if alone else e.type, (index,))
            yield gprob.Assign(e.span, gprob.Place(joined.name, e.type, e.span, (step,)), value)
