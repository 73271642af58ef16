"""Calls that add to the target (functions ending in _lp or _jacobian) become statements of their own.

`x = 1 + f_lp(y);` becomes `t = f_lp(y) [site]; x = 1 + t;`, so that targets see every increment as a statement. What
reads the target in an expression with such calls stands before it with them, in the order of the text.
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from stanlib.sites import JACOBIAN
from stanlib.types import INT, VOID, Type

from ..ir import gprob, traversal
from ..ir.fresh import Fresh, stem
from .call_graph import closure
from .normalize import map_blocks, unsized

Stmts = tuple[gprob.Stmt, ...]


def run(program: gprob.Program, names: Fresh) -> gprob.Program:
    """The program with effectful calls as Bind statements."""
    effectful = effectful_functions(program)
    if not effectful and not _has_library_effect(program):
        return program
    hoister = _Hoister(effectful, closure(program.functions, is_target_read), names)
    return map_blocks(program, lambda block: tuple(hoister.block(block)))


def effectful_functions(program: gprob.Program) -> frozenset[str]:
    """The unique names of the user's functions whose call adds to the target."""
    return closure(program.functions, _adds)


def is_target_read(node: object) -> bool:
    return isinstance(node, gprob.TargetValue)


def _adds(node: object) -> bool:
    if isinstance(node, gprob.Apply):
        return bool(node.function.effect)
    return isinstance(node, (gprob.Observe, gprob.Factor, gprob.Bind))


def _has_library_effect(program: gprob.Program) -> bool:
    blocks = (program.transformed_data, program.model, program.recomputed, program.generated_quantities)
    return any(isinstance(n, gprob.Apply) and n.function.effect for b in blocks for n in traversal.walk(b))


class _Hoister:
    def __init__(self, effectful: frozenset[str], readers: frozenset[str], names: Fresh):
        self.effectful, self.readers, self.names = effectful, readers, names
        self.in_order = False  # whether the expression at hand adds to the target

    def block(self, block: Sequence[gprob.Stmt]) -> Iterator[gprob.Stmt]:
        for s in block:
            yield from self._statement(s)

    def _statement(self, s: gprob.Stmt) -> Iterator[gprob.Stmt]:
        """A statement behind the Binds of calls in it that add to the target; such a call alone becomes a Bind."""
        if isinstance(s, gprob.For):
            yield from self._replaced(s, ("lower", "upper"), body=tuple(self.block(s.body)))
        elif isinstance(s, gprob.While):
            yield self._while(s)
        elif isinstance(s, gprob.If):
            then, otherwise = tuple(self.block(s.then)), tuple(self.block(s.otherwise))
            yield from self._replaced(s, ("condition",), then=then, otherwise=otherwise)
        elif isinstance(s, gprob.Run) and self.is_effectful(s.call):
            yield from self._call(s.call, None)
        else:
            yield from self._generic(s)

    def _while(self, s: gprob.While) -> gprob.While:
        """An increment in the condition happens before each test: the loop is left from inside."""
        body = tuple(self.block(s.body))
        if not self._has_effect(s.condition):
            return replace(s, body=body)
        before: list[gprob.Stmt] = []
        condition = self._whole(s.condition, before)
        test = gprob.If(s.span, condition, (), (gprob.Break(s.span),))
        return replace(s, condition=gprob.int_const(1, s.span), body=(*before, test, *body))

    def _has_effect(self, e: gprob.Expr | gprob.Stmt) -> bool:
        return any(self.is_effectful(node) for node in traversal.walk(e))

    def is_effectful(self, e: object) -> bool:
        if isinstance(e, gprob.CallUser):
            return e.function in self.effectful
        return isinstance(e, gprob.Apply) and bool(e.function.effect)

    def _replaced(self, s: Any, names: tuple[str, ...], **parts: Any) -> Iterator[gprob.Stmt]:
        before: list[gprob.Stmt] = []
        made = {n: self._whole(getattr(s, n), before) for n in names}
        yield from before
        yield replace(s, **made, **parts)

    def _generic(self, s: gprob.Stmt) -> Iterator[gprob.Stmt]:
        before: list[gprob.Stmt] = []
        self.in_order = self._has_effect(s)
        if isinstance(s, gprob.Observe):  # from left to right as it is written
            s = replace(s, value=self._expression(s.value, before))
        changed = traversal.rewrite_parts(s, lambda e: self._expression(e, before))
        self.in_order = False
        yield from before
        yield changed

    def _whole(self, e: gprob.Expr, before: list[gprob.Stmt]) -> gprob.Expr:
        self.in_order = self._has_effect(e)
        changed = self._expression(e, before)
        self.in_order = False
        return changed

    def _expression(self, e: gprob.Expr, before: list[gprob.Stmt]) -> gprob.Expr:
        """The expression without effectful calls, which go before it in the order of evaluation, reads with them."""
        if isinstance(e, gprob.Cond) and (self._has_effect(e.then) or self._has_effect(e.otherwise)):
            return self._conditional(e, before)
        if isinstance(e, gprob.Logical) and self._has_effect(e.right):
            return self._logical(e, before)
        e = traversal.rewrite_parts(e, lambda part: self._expression(part, before))
        if not self.is_effectful(e) and not (self.in_order and self._reads(e)):
            return e
        name = self.names.helper("value")
        before.extend(self._bind(e, name) if self.is_effectful(e) else (self._kept(e, name),))
        return gprob.Var(e.type, e.span, name)

    def _reads(self, e: gprob.Expr) -> bool:
        return is_target_read(e) or (isinstance(e, gprob.CallUser) and e.function in self.readers)

    def _kept(self, e: gprob.Expr, name: str) -> gprob.Stmt:
        return gprob.Declare(e.span, name, unsized(e.type), None, e)

    def _conditional(self, e: gprob.Cond, before: list[gprob.Stmt]) -> gprob.Expr:
        """An increment that happens in one of the two cases only: a branch sets the value."""
        name = self.names.helper("value")
        condition = self._expression(e.condition, before)
        then, otherwise = (self._assigned(name, e.type, side) for side in (e.then, e.otherwise))
        before += [gprob.Declare(e.span, name, unsized(e.type)), gprob.If(e.span, condition, then, otherwise)]
        return gprob.Var(e.type, e.span, name)

    def _logical(self, e: gprob.Logical, before: list[gprob.Stmt]) -> gprob.Expr:
        """`a && b` and `a || b` where b adds to the target, which it does only if a does not decide."""
        name, one = self.names.helper("value"), gprob.int_const(1, e.span)
        yes = self._assigned(name, INT, one)
        right: list[gprob.Stmt] = []
        tested = gprob.If(e.span, self._expression(e.right, right), yes, ())
        rest = (*right, tested)
        then, otherwise = (yes, rest) if e.operator == "||" else (rest, ())
        left = self._expression(e.left, before)
        start = gprob.Declare(e.span, name, unsized(INT), None, gprob.int_const(0, e.span))
        before += [start, gprob.If(e.span, left, then, otherwise)]
        return gprob.Var(INT, e.span, name)

    def _assigned(self, name: str, t: Type, value: gprob.Expr) -> Stmts:
        before: list[gprob.Stmt] = []
        value = self._expression(value, before)
        return (*before, gprob.Assign(value.span, gprob.Place(name, t, value.span), value))

    def _call(self, call: gprob.Expr, name: str | None) -> Iterator[gprob.Stmt]:
        before: list[gprob.Stmt] = []
        self.in_order = True
        call = traversal.rewrite_parts(call, lambda part: self._expression(part, before))
        self.in_order = False
        yield from before
        yield from self._bind(call, name)

    def _bind(self, call: gprob.Expr, name: str | None) -> Iterator[gprob.Stmt]:
        if name is not None and call.type != VOID:
            yield gprob.Declare(call.span, name, unsized(call.type))
        site = self.names.site(f"{JACOBIAN}call" if _is_jacobian(call) else "target__call")
        yield gprob.Bind(call.span, name, site, call)


def _is_jacobian(call: gprob.Expr) -> bool:
    """Whether what a call adds is the log of the Jacobian of a transform."""
    if isinstance(call, gprob.CallUser):
        return stem(call.function).endswith("_jacobian")
    return isinstance(call, gprob.Apply) and call.function.name.endswith("_jacobian")
