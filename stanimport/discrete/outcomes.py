"""Outcomes that a value of a discrete parameter can't explain: more successes than trials, a count below 0.

Stan throws for them. Summed over, such a value is impossible: its term is -inf, and the law is not computed.
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from typing import Any

from stanlib.distribution import Distribution
from stanlib.domains import NONNEGATIVE, Interval
from stanlib.registry import Function
from stanlib.types import INT, REAL, contains_int, dimensions

from ..ir import gprob, traversal, typed, uses
from ..ir.calls import call
from ..source import Span
from .parameters import Stmts
from .terms import LEAVES_THAT_ADD


def with_impossible_ones(body: Stmts, tainted: Set[str]) -> Stmts:
    """The body in which laws stand only where their outcome is possible."""
    return tuple(t for s in body for t in _explained(s, tainted))


def _explained(s: gprob.Stmt, tainted: Set[str]) -> Iterator[gprob.Stmt]:
    """A statement with its laws under the condition that the outcome is possible; it adds -inf where it is not."""
    if not isinstance(s, LEAVES_THAT_ADD):
        yield traversal.with_bodies(s, lambda b: with_impossible_ones(b, tainted))
        return
    tests: list[gprob.Expr] = []
    if isinstance(s, typed.Tilde):
        d = s.distribution
        tests = _tests(d.lpdf, (s.value, *d.arguments), tainted)
    elif gprob.is_density(s.value):
        tests = _tests(s.value.function, s.value.arguments, tainted)
    if not tests:
        yield s if isinstance(s, typed.Tilde) else traversal.rewrite_parts(s, lambda e: _inside(e, tainted))
        return
    possible = _all(tests)
    yield typed.Increment(s.span, "target", _where(possible, gprob.Const(REAL, s.span, 0.0)))  # which data decide
    yield gprob.If(s.span, possible, (s,), ())


def _inside(e: Any, tainted: Set[str]) -> Any:
    """An expression with laws that stand inside of it."""
    e = traversal.rewrite_parts(e, lambda part: _inside(part, tainted))
    tests = _tests(e.function, e.arguments, tainted) if gprob.is_density(e) else []
    return _where(_all(tests), e) if tests else e


def _where(possible: gprob.Expr, e: gprob.Expr) -> gprob.Expr:
    return gprob.Cond(e.type, e.span, possible, e, call("negative_infinity", e.span))


def _all(tests: Sequence[gprob.Expr]) -> gprob.Expr:
    first, *others = tests
    for t in others:
        first = gprob.Logical(INT, t.span, "&&", first, t)
    return first


def _tests(law: Function | str, arguments: Sequence[gprob.Expr], tainted: Set[str]) -> list[gprob.Expr]:
    """What has to hold of an outcome and counts that discrete parameters decide."""
    record = law.distribution if isinstance(law, Function) else None
    if not isinstance(record, Distribution) or record.density != "lpmf":
        return []
    given = dict(zip((record.variate_name, *record.argument_names), arguments))
    found = [(given[a], given[b] if b else None) for a, b in _ordered(record)]
    return [
        _at_least(a, b, a.span) for a, b in found
        if uses.mentions((a, b), tainted) and contains_int(a.type) and (b is None or contains_int(b.type))
    ]  # fmt: skip


def _ordered(record: Distribution) -> tuple[tuple[str, str], ...]:
    """Which of the arguments of a law must not be less than which others; "" is 0."""
    outcomes, name = record.variate.get("lpmf"), record.variate_name
    if isinstance(outcomes, Interval) and outcomes.lower == 0 and isinstance(outcomes.upper, str):
        return (name, ""), (outcomes.upper, name)
    return ((name, ""),) if outcomes is NONNEGATIVE else ()


def _at_least(a: gprob.Expr, b: gprob.Expr | None, span: Span) -> gprob.Expr:
    """Whether all components of a are at least those of b, or 0."""
    zero = gprob.int_const(0, span)
    if a.type == INT and (b is None or b.type == INT):
        return call("logical_gte", span, a, b or zero)
    difference = _line(a) if b is None else call("subtract", span, _line(a), _line(b))
    return call("logical_gte", span, call("min", span, difference), zero)


def _line(e: gprob.Expr) -> gprob.Expr:
    """An int as a real, or an array of ints as a vector."""
    if e.type == INT:
        return gprob.Promote(REAL, e.span, e)
    flat = e if dimensions(e.type) == 1 else call("to_array_1d", e.span, e)
    return call("to_vector", e.span, flat)
