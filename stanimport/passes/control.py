"""Dynamic escapes: break, continue and return whose condition is only known at run time, as flags and branches.

What is left of a block behind a statement that may escape becomes conditional on the flag. A `return` at the end of
both sides of a branch stays one: targets emit it as the value of the branch.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from stanlib.dataclass import dataclass
from stanlib.types import INT, VOID, Type

from ..ir import gprob, traversal
from ..ir.calls import apply
from ..ir.fresh import Fresh
from ..ir.gprob import Loop
from ..ir.uses import always_returns, escapes, walk_statements
from ..source import Span
from .binding_times import BindingTimes, escapes_dynamically
from .surroundings import Surroundings

Stmts = tuple[gprob.Stmt, ...]


def run(body: Stmts, around: Surroundings) -> Stmts:
    """The body without dynamic escapes, unless they are returns in tail position."""
    times = around.times(body)
    if not needs_structure(body, times):
        return body
    body = tail_returns(body)
    times = around.times(body)  # what stands behind a return depends on its condition now
    if not _escapes_outside_tail(body, times):
        return body
    return _Flags(times, around.names, around.result).function(body)


def needs_structure(body: Stmts, times: BindingTimes) -> bool:
    """Whether anything escapes under dynamic control."""
    if escapes_dynamically(body, times):
        return True
    for s in walk_statements(body):
        if isinstance(s, (gprob.For, gprob.While)) and _is_traced(s, times) and escapes(s.body):
            return True
        if isinstance(s, (gprob.For, gprob.While)) and escapes_dynamically(s.body, times):
            return True
    return False


def _is_traced(s: gprob.Stmt, times: BindingTimes) -> bool:
    if isinstance(s, gprob.For):
        return times.loops.get(id(s)) == Loop.TRACED
    return isinstance(s, gprob.While) and times.is_dynamic(s.condition)


def tail_returns(body: Stmts) -> Stmts:
    """`if (c) return a; rest` as `if (c) return a; else rest`, and so on inside."""
    out: list[gprob.Stmt] = []
    for i, s in enumerate(body):
        if isinstance(s, gprob.If) and escapes((s,)):
            rest = body[i + 1 :]
            if always_returns(s.then) and not always_returns(s.otherwise):
                s, rest = replace(s, otherwise=(*s.otherwise, *rest)), ()
            elif always_returns(s.otherwise) and not always_returns(s.then):
                s, rest = replace(s, then=(*s.then, *rest)), ()
            s = replace(s, then=tail_returns(s.then), otherwise=tail_returns(s.otherwise))
            out.append(s)
            if not rest:
                return tuple(out)
            continue
        out.append(s)
    return tuple(out)


def _escapes_outside_tail(body: Sequence[gprob.Stmt], times: BindingTimes) -> bool:
    """Whether a dynamic escape is left that is no return at the end of a path."""
    *front, last = body or (None,)
    if front and needs_structure(tuple(s for s in front if s is not None), times):
        return True
    if isinstance(last, gprob.If):
        if times.is_dynamic(last.condition) and escapes((last,)):
            if not (always_returns(last.then) and always_returns(last.otherwise)):
                return True
        return any(_escapes_outside_tail(b, times) for b in traversal.bodies(last))
    return last is not None and needs_structure((last,), times)


@dataclass(frozen=True)
class _Loop:
    """The flags of a loop: whether it has been left, and whether the current iteration is over."""

    broken: str
    continued: str


class _Flags:
    """The general case: flags say what has escaped."""

    def __init__(self, times: BindingTimes, names: Fresh, result: Type):
        self.times, self.names, self.result = times, names, result
        self.returned = names.helper("returned")  # whether the function has
        self.value = names.helper("result")

    def function(self, body: Stmts) -> Stmts:
        """A body with its returns as a flag and a result, which one return at the end gives if there are any."""
        span = body[0].span
        if not any(isinstance(s, gprob.Return) for s in walk_statements(body)):
            return self.block(body, None)
        declared: list[gprob.Stmt] = [_declare_flag(self.returned, span)]
        value = None
        if self.result != VOID:
            declared.append(gprob.Declare(span, self.value, gprob.Sized(self.result)))
            value = gprob.Var(self.result, span, self.value)
        return (*declared, *self.block(body, None), gprob.Return(span, value))

    def block(self, body: Sequence[gprob.Stmt], loop: _Loop | None) -> Stmts:
        """The statements, those behind a possible escape under the condition that none has happened."""
        out: list[gprob.Stmt] = []
        for i, s in enumerate(body):
            out += self._statement(s, loop)
            flags = self._flags_set_by(s, loop)
            rest = body[i + 1 :]
            if flags and rest:
                condition = _none_of(flags, s.span)
                out.append(gprob.If(s.span, condition, self.block(rest, loop), ()))
                break
        return tuple(out)

    def _statement(self, s: gprob.Stmt, loop: _Loop | None) -> list[gprob.Stmt]:
        """What becomes of a statement: an escape sets a flag of `loop` or of the function; blocks inside go by them."""
        if isinstance(s, gprob.Break) and loop is not None:
            return [_set_flag(loop.broken, s.span)]
        if isinstance(s, gprob.Continue) and loop is not None:
            return [_set_flag(loop.continued, s.span)]
        if isinstance(s, gprob.Return):
            assign: list[gprob.Stmt] = []
            if s.value is not None:
                assign = [gprob.Assign(s.span, gprob.Place(self.value, self.result, s.span), s.value)]
            return [*assign, _set_flag(self.returned, s.span)]
        if isinstance(s, gprob.If):
            return [replace(s, then=self.block(s.then, loop), otherwise=self.block(s.otherwise, loop))]
        if isinstance(s, (gprob.For, gprob.While)) and escapes(s.body):
            return self._loop(s)
        return [s]

    def _loop(self, s: gprob.For | gprob.While) -> list[gprob.Stmt]:
        """A loop whose remaining iterations do nothing once it has been left."""
        loop = _Loop(self.names.helper("broken"), self.names.helper("continued"))
        body = self.block(s.body, loop)
        before: list[gprob.Stmt] = []
        if _contains(s.body, gprob.Continue):
            body = (_declare_flag(loop.continued, s.span), *body)
        flags = []
        if _contains(s.body, gprob.Break):
            before.append(_declare_flag(loop.broken, s.span))
            flags.append(loop.broken)
        if any(isinstance(x, gprob.Return) for x in walk_statements(s.body)):
            flags.append(self.returned)
        if not flags:
            return [*before, replace(s, body=body)]
        if isinstance(s, gprob.While):
            condition = gprob.Logical(INT, s.span, "&&", _none_of(flags, s.span), s.condition)
            return [*before, replace(s, condition=condition, body=body)]
        return [*before, replace(s, body=(gprob.If(s.span, _none_of(flags, s.span), body, ()),))]

    def _flags_set_by(self, s: gprob.Stmt, loop: _Loop | None) -> list[str]:
        flags = []
        if loop is not None and _contains((s,), gprob.Break):
            flags.append(loop.broken)
        if loop is not None and _contains((s,), gprob.Continue):
            flags.append(loop.continued)
        if any(isinstance(x, gprob.Return) for x in walk_statements((s,))):
            flags.append(self.returned)
        return flags


def _contains(body: Sequence[gprob.Stmt], kind: type) -> bool:
    """Whether a break or continue of this very loop stands in its body: not one of a loop inside."""
    for s in body:
        if isinstance(s, kind):
            return True
        if isinstance(s, gprob.If) and any(_contains(b, kind) for b in traversal.bodies(s)):
            return True
    return False


def _declare_flag(name: str, span: Span) -> gprob.Stmt:
    return gprob.Declare(span, name, gprob.Sized(INT), None, gprob.int_const(0, span))


def _set_flag(name: str, span: Span) -> gprob.Stmt:
    return gprob.Assign(span, gprob.Place(name, INT, span), gprob.int_const(1, span))


def _none_of(flags: Sequence[str], span: Span) -> gprob.Expr:
    """No flag is set: their sum is 0."""
    total: gprob.Expr = gprob.Var(INT, span, flags[0])
    for f in flags[1:]:
        total = apply("add", total, gprob.Var(INT, span, f))
    return apply("logical_eq", total, gprob.int_const(0, span))
