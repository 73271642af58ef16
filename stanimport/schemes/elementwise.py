"""Laws of a container's elements, one after the other in a loop, as one law of the container.

`for (i in 1:N) c[i] ~ normal(m[i], 1);` becomes `for (i in 1:N) means[i] = m[i]; c ~ normal(means, 1);`: what samples a
parameter samples all of it.
"""
from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

from stanlib.registry import Function
from stanlib.types import INT, REAL, array, is_scalar

from ..ir import gprob, traversal
from ..ir.fresh import Fresh
from ..ir.uses import mentions

Stmts = tuple[gprob.Stmt, ...]


def gather(body: Sequence[gprob.Stmt], parameters: Collection[str], names: Fresh) -> Stmts:
    """The statements with loops that hold nothing but laws of elements of parameters as laws of these."""
    out: list[gprob.Stmt] = []
    for s in body:
        if isinstance(s, gprob.For) and s.body and all(_is_of_element(law, s, parameters) for law in s.body):
            out += _gathered(s, names)
        else:
            out.append(s)
    return tuple(out)


def _is_of_element(s: gprob.Stmt, loop: gprob.For, parameters: Collection[str]) -> bool:
    """Whether a statement is the law of the element of a parameter that a loop from 1 counts."""
    if not isinstance(s, gprob.Observe) or not isinstance(s.value, gprob.Index):
        return False
    counted = isinstance(loop.lower, gprob.Const) and loop.lower.value == 1
    base = s.value.base
    known = isinstance(base, gprob.Var) and base.name in parameters and s.value.type == REAL
    return counted and known and _selects(s.value, loop.name) and _is_of_number(s.distribution, loop.name)


def _selects(value: gprob.Index, index: str) -> bool:
    """Whether the index of a loop alone selects an element."""
    first = value.indices[0]
    if len(value.indices) > 1 or not isinstance(first, gprob.Single):
        return False
    return isinstance(first.value, gprob.Var) and first.value.name == index


def _is_of_number(d: gprob.Distribution, index: str) -> bool:
    """Whether a law of the library is that of one number, whose parameters are numbers, and its bounds one pair."""
    record = d.lpdf.distribution if isinstance(d.lpdf, Function) else None
    bounds = [b for b in (d.lower, d.upper) if b is not None]
    whole = record is not None and record.event_dims == 0 and not any(mentions(b, {index}) for b in bounds)
    return whole and bool(d.arguments) and all(is_scalar(a.type) for a in d.arguments)


def _gathered(loop: gprob.For, names: Fresh) -> Iterator[gprob.Stmt]:
    """For each law in the loop: arrays for its arguments that vary, a loop that fills them, the container's law."""
    for s in loop.body:
        assert isinstance(s, gprob.Observe) and isinstance(s.value, gprob.Index)
        arguments = list(s.distribution.arguments)
        varying = [i for i, a in enumerate(arguments) if mentions(a, {loop.name})] or [0]  # one tells the size
        assigned: list[gprob.Stmt] = []
        for i in varying:
            name = names.helper("each")
            yield gprob.Declare(s.span, name, gprob.Sized(array(REAL, 1), (loop.upper,)))
            assigned.append(_element(arguments[i], name, loop, s))
            arguments[i] = gprob.Var(array(REAL, 1), s.span, name)
        index = names.helper(loop.name)

        def renamed(node: Any, index: str = index) -> Any:
            return replace(node, name=index) if isinstance(node, gprob.Var) and node.name == loop.name else node

        yield replace(loop, name=index, body=tuple(traversal.rewrite(a, renamed) for a in assigned))
        yield replace(s, value=s.value.base, distribution=replace(s.distribution, arguments=tuple(arguments)))


def _element(value: gprob.Expr, name: str, loop: gprob.For, s: gprob.Observe) -> gprob.Assign:
    """The assignment of a parameter of the law to its place in the container of all."""
    value = gprob.Promote(REAL, value.span, value) if value.type == INT else value
    at = gprob.Step(REAL, (gprob.Single(gprob.Var(INT, s.span, loop.name)),))
    return gprob.Assign(s.span, gprob.Place(name, array(REAL, 1), s.span, (at,)), value)
