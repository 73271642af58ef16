"""Statements of GProb as Python statements: one function for each kind."""
from __future__ import annotations

import ast

from ..ir import gprob
from . import branches, lanes, loops, sites, variables
from .asty import Builder
from .context import Context, Emit


def statement(st: Context, s: gprob.Stmt, b: Builder) -> list[ast.stmt]:
    """The Python statements for one of GProb."""
    return _METHODS[type(s)](st, s, b)


def for_(st: Context, s: gprob.For, b: Builder) -> list[ast.stmt]:
    return lanes.for_(st, s, b) if s.lanes else loops.for_(st, s, b)


def if_(st: Context, s: gprob.If, b: Builder) -> list[ast.stmt]:
    return lanes.if_(st, s, b) if s.lanes else branches.if_(st, s, b)


def break_(st: Context, s: gprob.Break, b: Builder) -> list[ast.stmt]:
    return [b.break_()]


def continue_(st: Context, s: gprob.Continue, b: Builder) -> list[ast.stmt]:
    return [b.continue_()]


def return_(st: Context, s: gprob.Return, b: Builder) -> list[ast.stmt]:
    value = None if s.value is None else st.expr(s.value)
    return [b.return_(st.effects.returned(value, b))]


def run(st: Context, s: gprob.Run, b: Builder) -> list[ast.stmt]:
    return [b.run(st.expr(s.call))]


def message(st: Context, s: gprob.Message, b: Builder) -> list[ast.stmt]:
    parts = [b.const(i) if isinstance(i, str) else st.expr(i) for i in s.items]
    return [b.run(b.call("ppl.message" if s.kind == "print" else f"ppl.{s.kind}", *parts))]


_METHODS: dict[type, Emit] = {
    gprob.Declare: variables.declare, gprob.Assign: variables.assign, gprob.Sample: sites.sample,
    gprob.Param: sites.param, gprob.Observe: sites.observe, gprob.Factor: sites.factor,
    gprob.Bind: sites.bind,
    gprob.Deterministic: sites.deterministic, gprob.Check: sites.check, gprob.For: for_,
    gprob.While: loops.while_, gprob.If: if_, gprob.Break: break_,
    gprob.Continue: continue_, gprob.Return: return_, gprob.Run: run,
    gprob.Message: message, gprob.Recur: lanes.recur, gprob.Cumulate: lanes.cumulate,
    gprob.Accumulate: lanes.accumulate, gprob.Last: lanes.last,
}  # fmt: skip
